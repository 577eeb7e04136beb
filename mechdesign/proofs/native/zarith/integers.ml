(* Integers of the program that Coq extracts, as decimal texts: those of Zarith. *)

type z = Big_int_Z.big_int

let name = "Zarith"
let of_digits = Big_int_Z.big_int_of_string
let to_digits = Big_int_Z.string_of_big_int
let positive z = z
let of_positive p = p
