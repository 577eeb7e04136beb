(** [check_by_columns] and [support] as programs of OCaml whose integers are Coq's own: bits one after the other. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic.
Require Import ExpLow Check Columns Limits Learnt.
Extraction "checker.ml"
  check_by_columns refused support rises falls rare chain below_exp Z.add Z.mul Z.opp Z.div_eucl Z.gcd Z.compare.
