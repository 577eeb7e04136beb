(** [check_by_columns] as a program of OCaml with the integers of Zarith in the place of Coq's: the table of the standard library
    says which function stands for which. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
Require Import Check Columns.
Extraction "checker.ml" check_by_columns refused Z.add Z.mul Z.opp Z.div_eucl Z.gcd Z.compare.
