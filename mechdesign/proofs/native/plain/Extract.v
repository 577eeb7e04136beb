(** [check_by_columns], [secret_check], [records_check_by_columns], [support] and [support_by_sums] as programs of OCaml whose integers are Coq's own: bits one after the other. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic.
Require Import ExpLow Check Columns Secret Records RecordsColumns Limits Learnt Observed.
Extraction "checker.ml"
  check_by_columns refused secret_check secret_refused records_check_by_columns records_refused bound
  support support_by_sums rises falls rare chain below_exp Z.add Z.mul Z.opp Z.div_eucl Z.gcd Z.compare.
