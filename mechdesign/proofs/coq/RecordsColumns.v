(** The same test of views of records for long files: it walks through the columns of each view once. *)
From Coq Require Import List ZArith Bool.
Require Import Spec Check Columns SpecRecords Records.
Import ListNotations.
Open Scope Z_scope.

Definition part_holds_by_columns (e : epsilon) (l : option epsilon) (p : Z * file) : bool :=
  (0 <=? fst p) && check_by_columns (snd p)
  && (if same e (eps (snd p)) && same_side l (lower (snd p)) then true else check_by_columns (promising (snd p) e l)).
Definition records_check_by_columns (f : records_file) : bool :=
  (total (map fst (parts f)) =? 2 ^ Z.of_nat (weight_bits f))
  && forallb (part_holds_by_columns (record_eps f) (record_lower f)) (parts f).

Lemma part_holds_by_columns_is_part_holds e l p : part_holds_by_columns e l p = part_holds e l p.
Proof. unfold part_holds_by_columns, part_holds. now rewrite !check_by_columns_is_check. Qed.

Theorem records_check_by_columns_is_records_check f : records_check_by_columns f = records_check f.
Proof.
  unfold records_check_by_columns, records_check. f_equal. induction (parts f) as [|p l IH]; [reflexivity|].
  cbn [forallb]. now rewrite IH, part_holds_by_columns_is_part_holds.
Qed.
Theorem records_check_by_columns_correct f : records_check_by_columns f = true -> record_promise f.
Proof. rewrite records_check_by_columns_is_records_check. apply records_check_correct. Qed.
