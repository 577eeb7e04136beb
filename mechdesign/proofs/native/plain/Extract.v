(** [check_by_columns] as a program of OCaml whose integers are Coq's own: bits one after the other. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic.
Require Import Check Columns.
Extraction "checker.ml" check_by_columns refused Z.add Z.mul Z.opp Z.div_eucl Z.gcd Z.compare.
