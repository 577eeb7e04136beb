(* Integers of the program that Coq extracts, as decimal texts: Coq's own, bits one after the other. *)
open Checker

type z = Checker.z

let name = "Coq"

let rec positive_of_int n =
  if n = 1 then XH else if n land 1 = 1 then XI (positive_of_int (n lsr 1)) else XO (positive_of_int (n lsr 1))

let of_int n = if n = 0 then Z0 else if n > 0 then Zpos (positive_of_int n) else Zneg (positive_of_int (-n))

(* Sixteen digits at a time. *)
let of_digits text =
  let sign, first = if text.[0] = '-' then (Z.opp, 1) else (Fun.id, 0) in
  let rec read from value =
    if from = String.length text then value
    else
      let size = min 16 (String.length text - from) in
      let part = int_of_string ("0u" ^ String.sub text from size) in
      let scale = int_of_string ("1" ^ String.make size '0') in
      read (from + size) (Z.add (Z.mul value (of_int scale)) (of_int part))
  in
  sign (read first Z0)

(* Twice the number, and perhaps one more, in parts of nine digits, lowest first. *)
let rec doubled carry = function
  | [] -> if carry = 0 then [] else [ carry ]
  | part :: rest ->
    let next = (2 * part) + carry in
    (next mod 1_000_000_000) :: doubled (next / 1_000_000_000) rest

let rec parts = function XH -> [ 1 ] | XO p -> doubled 0 (parts p) | XI p -> doubled 1 (parts p)

let digits p =
  match List.rev (parts p) with
  | [] -> "0"
  | first :: rest -> String.concat "" (string_of_int first :: List.map (Printf.sprintf "%09d") rest)

let to_digits = function Z0 -> "0" | Zpos p -> digits p | Zneg p -> "-" ^ digits p
let positive = function Zpos p -> p | Z0 | Zneg _ -> invalid_arg "positive"
let of_positive p = Zpos p
