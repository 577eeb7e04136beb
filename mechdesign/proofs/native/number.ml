(* Texts, and rational numbers as files write them: without floats. *)
open Checker

exception Stop of int * string

let need condition ?(status = 2) words = if not condition then raise (Stop (status, words))

(* White space as in Unicode, which labels may not begin or end with: the length of one at a place, or before it. *)
let is_space = function
  | "\t" | "\n" | "\011" | "\012" | "\r" | "\028" | "\029" | "\030" | "\031" | " " -> true
  | "\xC2\x85" | "\xC2\xA0" | "\xE1\x9A\x80" | "\xE2\x80\xA8" | "\xE2\x80\xA9" | "\xE2\x80\xAF" | "\xE2\x81\x9F"
  | "\xE3\x80\x80" -> true
  | s -> String.length s = 3 && String.sub s 0 2 = "\xE2\x80" && s.[2] >= '\x80' && s.[2] <= '\x8A'

let strip s =
  let fits start size = start >= 0 && start + size <= String.length s && is_space (String.sub s start size) in
  let rec first i = match List.find_opt (fits i) [ 1; 2; 3 ] with Some n -> first (i + n) | None -> i in
  let rec last low j =
    match List.find_opt (fun n -> j - n >= low && fits (j - n) n) [ 1; 2; 3 ] with
    | Some n -> last low (j - n)
    | None -> j
  in
  let i = first 0 in
  String.sub s i (last i (String.length s) - i)

let letters s =
  let rec count i n = if i >= String.length s then n else count (i + Json.letter ~halves:true s i) (n + 1) in
  count 0 0

let has_half s =
  let rec found i = i + 1 < String.length s && ((s.[i] = '\xED' && s.[i + 1] >= '\xA0') || found (i + 1)) in
  found 0

let has_control s =
  let rec found i =
    i < String.length s
    && (s.[i] < ' ' || s.[i] = '\x7F' || (s.[i] = '\xC2' && s.[i + 1] >= '\x80' && s.[i + 1] < '\xA0') || found (i + 1))
  in
  found 0

let text ?(longest = 2000) = function
  | Json.Text s ->
    need (letters s <= longest && not (has_half s)) "a text is too long, or holds half of a letter";
    s
  | _ -> raise (Stop (2, "something is not a text"))

let words s = List.filter (( <> ) "") (String.split_on_char ' ' s)

(* One line for people, of at most so many bytes. *)
let line ?(longest = 60) s =
  let plain = String.map (fun c -> if c < ' ' || c = '\x7F' then ' ' else c) s in
  let whole = String.concat " " (words plain) in
  if String.length whole <= longest then whole
  else
    let rec cut i = if i > 0 && Char.code whole.[i] land 0xC0 = 0x80 then cut (i - 1) else i in
    String.sub whole 0 (cut longest) ^ ".."

(* Integers. *)

let z n = Integers.of_digits (string_of_int n)
let zero, unit = (z 0, z 1)
let ( +! ) = Z.add
let ( *! ) = Z.mul
let ( -! ) a b = a +! Z.opp b
let less a b = Z.compare a b = Lt
let at_most a b = Z.compare a b <> Gt
let equal a b = Z.compare a b = Eq
let ( /! ) a b = fst (Z.div_eucl a b)
let lcm a b = a *! (b /! Z.gcd a b)
let sum = List.fold_left ( +! ) zero
let rec power a n = if n = 0 then unit else a *! power a (n - 1)
let rec nat n = nat_from O n
and nat_from found n = if n = 0 then found else nat_from (S found) (n - 1)
let rec int_from n = function O -> n | S m -> int_from (n + 1) m
let int_of = int_from 0

(* Rational numbers in lowest terms, with a denominator above 0. *)
type t = { over : Integers.z; under : Integers.z }

let make a b =
  let d = Z.gcd a b in
  let d = if less b zero then Z.opp d else d in
  { over = a /! d; under = b /! d }

let whole a = { over = a; under = unit }
let add p q = make ((p.over *! q.under) +! (q.over *! p.under)) (p.under *! q.under)
let sub p q = add p { q with over = Z.opp q.over }
let mul p q = make (p.over *! q.over) (p.under *! q.under)
let le p q = at_most (p.over *! q.under) (q.over *! p.under)
let lt p q = less (p.over *! q.under) (q.over *! p.under)
let none, one = (whole zero, whole unit)
let sum_of = List.fold_left add none
let greatest p q = if le p q then q else p
let magnitude p = if lt p none then sub none p else p
let shown p =
  Integers.to_digits p.over ^ if equal p.under unit then "" else "/" ^ Integers.to_digits p.under

let shares weights =
  let total = sum weights in
  List.map (fun w -> make w total) weights

(* A decimal, such as 1e-9, or a ratio, such as 9/8. *)

let split_at s test =
  let rec find i = if i < String.length s && not (test s.[i]) then find (i + 1) else i in
  let i = find 0 in
  if i = String.length s then (s, None) else (String.sub s 0 i, Some (String.sub s (i + 1) (String.length s - i - 1)))

let is_digits s = s <> "" && (let ok = ref true in String.iter (fun c -> if c < '0' || c > '9' then ok := false) s; !ok)
let ten n = power (z 10) n

let rational s =
  let wrong () = raise (Stop (2, "not a number: " ^ line ~longest:40 s)) in
  let s = strip s in
  let signed = s <> "" && (s.[0] = '+' || s.[0] = '-') in
  let body = if signed then String.sub s 1 (String.length s - 1) else s in
  let turn q = if signed && s.[0] = '-' then sub none q else q in
  match split_at body (( = ) '/') with
  | a, Some b ->
    if not (is_digits a && is_digits b) then wrong ();
    let d = Integers.of_digits b in
    if equal d zero then wrong ();
    turn (make (Integers.of_digits a) d)
  | decimal, None ->
    let digits, exponent = split_at decimal (fun c -> c = 'e' || c = 'E') in
    let before, after = split_at digits (( = ) '.') in
    let after = Option.value after ~default:"" in
    if not (is_digits (before ^ after)) then wrong ();
    let power_of_ten =
      match exponent with
      | None -> 0
      | Some e ->
        let bare = if e <> "" && (e.[0] = '+' || e.[0] = '-') then String.sub e 1 (String.length e - 1) else e in
        if not (is_digits bare && String.length bare <= 4) then wrong ();
        let n = int_of_string ("0u" ^ bare) in
        if n > 400 then wrong ();
        if e.[0] = '-' then -n else n
    in
    let value = Integers.of_digits (before ^ after) and places = String.length after - power_of_ten in
    turn (if places > 0 then make value (ten places) else whole (value *! ten (-places)))

(* A number of a file, which a text may hold as well. A decimal outside of texts is read as Python's decimals are
   printed: with an exponent where the first digit is far from the point, and that is at most 400. *)
let number = function
  | Json.Text s -> rational (text (Json.Text s))
  | Json.Number s ->
    let digits, exponent = split_at s (fun c -> c = 'e' || c = 'E') in
    let before, after = split_at digits (( = ) '.') in
    let after = Option.value after ~default:"" in
    let e = match exponent with None -> 0 | Some e -> int_of_string (if e.[0] = '+' then String.sub e 1 (String.length e - 1) else e) in
    let size =
      let all = before ^ after in
      let rec leading i = if i < String.length all - 1 && (all.[i] = '0' || all.[i] = '-') then leading (i + 1) else i in
      String.length all - leading 0
    in
    let last = e - String.length after in
    let first = last + size in
    let plain = last <= 0 && first > -6 in
    need (plain || abs (first - 1) <= 400) ("not a number: " ^ line ~longest:40 s);
    need (size <= 2000) "a number is too long";
    let bare = String.concat "" [ before; after ] in
    let value = Integers.of_digits bare in
    if last < 0 then make value (ten (-last)) else whole (value *! ten last)
  | _ -> raise (Stop (2, "something is not a number"))

(* Whole numbers over the common denominator of numbers, which has at most so many digits, and that. *)
let over_common ?digits numbers =
  let joined common q =
    let common = lcm common q.under in
    Option.iter (fun n -> need (String.length (Integers.to_digits common) <= n) "a common denominator is too long") digits;
    common
  in
  let common = List.fold_left joined unit numbers in
  (List.rev (List.rev_map (fun q -> q.over *! (common /! q.under)) numbers), common)
