(** [check_by_columns], [secret_check], [support] and [support_by_sums] as programs of OCaml whose integers are Coq's own: bits one after the other. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic.
Require Import ExpLow Check Columns Secret Limits Learnt Observed.
Extraction "checker.ml"
  check_by_columns refused secret_check secret_refused support support_by_sums rises falls rare chain below_exp Z.add Z.mul Z.opp Z.div_eucl Z.gcd Z.compare.
