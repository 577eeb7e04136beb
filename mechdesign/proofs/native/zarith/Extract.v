(** [check_by_columns], [secret_check], [records_check_by_columns], [support] and [support_by_sums] as programs of OCaml with the integers of Zarith in the place of Coq's: the table of the
    standard library says which function stands for which, and here logarithms and powers are added. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt.
Require Import ExpLow Check Columns Secret Records RecordsColumns Limits Learnt Observed.
Extract Constant Z.log2 =>
  "Big_int_Z.(fun x -> if sign_big_int x <= 0 then zero_big_int else big_int_of_int (Z.numbits x - 1))".
Extract Constant Z.pow =>
  "Big_int_Z.(fun x n -> if sign_big_int n < 0 then zero_big_int else power_big_int_positive_big_int x n)".
Extraction "checker.ml"
  check_by_columns refused secret_check secret_refused records_check_by_columns records_refused bound
  support support_by_sums rises falls rare chain below_exp Z.add Z.mul Z.opp Z.div_eucl Z.gcd Z.compare.
