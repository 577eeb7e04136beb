(** The same test for long files: it walks through the columns once, and the proved one through each row for each column. *)
From Coq Require Import List ZArith Bool.
Require Import Spec Support Check.
Import ListNotations.
Open Scope Z_scope.

Fixpoint columns (M : nat) (rows : list (list Z)) : list (list Z) :=
  match M with O => [] | S M => map (hd 0) rows :: columns M (map (@tl Z) rows) end.

Definition check_by_columns (f : file) : bool :=
  let N := inputs f in
  let t := tests f in
  Nat.eqb (length (rows f)) N
  && forallb (right_row (outputs f) (2 ^ Z.of_nat (bits f))) (rows f)
  && shaped N (set f) && inhabited N (set f)
  && match average f with None => true
     | Some e => average_holds (2 ^ Z.of_nat (bits f)) e (map greatest (columns (outputs f) (rows f))) end
  && forallb (fun v => fst t v && snd t v) (columns (outputs f) (rows f)).

Lemma columns_are M : forall rows, columns M rows = map (column rows) (seq 0 M).
Proof.
  induction M as [|M IH]; intros rows; [reflexivity|]. cbn [columns seq map]. f_equal.
  - apply map_ext. now intros [|a row].
  - rewrite IH, <- seq_shift, map_map. apply map_ext. intros y. unfold column. rewrite map_map. apply map_ext.
    intros [|a row]; [destruct y|]; reflexivity.
Qed.
Lemma forallb_of_map {A B} (g : A -> B) test l : forallb test (map g l) = forallb (fun x => test (g x)) l.
Proof. induction l as [|a l IH]; cbn; [reflexivity|]. now rewrite IH. Qed.

Theorem check_by_columns_is_check f : check_by_columns f = check f.
Proof. unfold check_by_columns, check. rewrite columns_are, forallb_of_map, map_map. reflexivity. Qed.
Theorem check_by_columns_correct f : check_by_columns f = true -> promise f.
Proof. rewrite check_by_columns_is_check. apply check_correct. Qed.
