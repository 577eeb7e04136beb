(** [drawn] as a program of OCaml: the table of the standard library, and what it lacks, with Zarith's integers. *)
From Coq Require Import Arith Extraction ExtrOcamlBasic ExtrOcamlNatBigInt.
Require Import Sampler.
Extract Constant Nat.leb => "Big_int_Z.le_big_int".
Extract Constant Nat.ltb => "Big_int_Z.lt_big_int".
Extract Constant Nat.div => "Big_int_Z.div_big_int".
Extract Constant Nat.pow => "Big_int_Z.power_big_int_positive_big_int".
Extraction "sampler.ml" looked_up drawn.
