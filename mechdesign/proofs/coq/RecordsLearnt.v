(** The delta of a file of views of records, from the tests of its views: [records_supported]. *)
From Coq Require Import Reals List ZArith Bool Lia Lra.
Require Import Spec Support Check SpecRecords Records Delta Tail Steps Limits Learnt Observed.
Import ListNotations.
Open Scope R_scope.

(** * Deltas add *)

Lemma draws_of_a_view n see P i N m : (forall x, (x < n)%nat -> (see i x < N)%nat) ->
  forall g, expect n P m (fun l => g (map (see i) l)) = expect N (law_of_view n see P i) m g.
Proof.
  intros H. induction m as [|m IH]; intros g; [reflexivity|]. cbn [expect map].
  transitivity (mean n P (fun x => expect N (law_of_view n see P i) m (fun l => g (see i x :: l)))).
  - apply suml_ext. intros x _. f_equal. exact (IH (fun l => g (see i x :: l))).
  - exact (mean_of_view n see P i N (fun z => expect N (law_of_view n see P i) m (fun l => g (z :: l))) H).
Qed.
(* For every joint law P: if m draws of view i mislead about it with probability at most d i, then m draws of whole records
   mislead about some view with probability at most the sum of all d i. *)
Theorem deltas_add V n see P (N : nat -> nat) m (misled : nat -> list nat -> bool) (d : nat -> R) : prior n P ->
  (forall i x, (i < V)%nat -> (x < n)%nat -> (see i x < N i)%nat) ->
  (forall i, (i < V)%nat -> prob (N i) (law_of_view n see P i) m (misled i) <= d i) ->
  prob n P m (fun l => existsb (fun i => misled i (map (see i) l)) (seq 0 V)) <= sum V d.
Proof.
  intros HP HS HD. eapply Rle_trans; [apply (union_bound n P m (seq 0 V) (fun i l => misled i (map (see i) l)) HP)|].
  apply suml_le. intros i Hi. apply in_range in Hi. eapply Rle_trans; [|exact (HD i Hi)]. right.
  exact (draws_of_a_view n see P i (N i) m (fun x Hx => HS i x Hi Hx) (fun l => indicator (misled i l))).
Qed.

(** * The test: the samples of each view support its radius, and the deltas sum to at most that of the whole *)

Open Scope Z_scope.
(* The evidence of a view, and ranges of counts by which its test sees that it is enough. *)
Inductive support_of_view := NoSupport | ByAllSamples (delta : Z * positive) (l : list range)
| ByTheseCounts (delta : Z * positive) (l : list range).
Definition evidence_of (s : support_of_view) : evidence :=
  match s with
  | NoSupport => Given
  | ByAllSamples delta _ => AllSamples (fst delta) (snd delta)
  | ByTheseCounts delta _ => TheseCounts (fst delta) (snd delta)
  end.
Definition delta_of (s : support_of_view) : Z * positive :=
  match s with NoSupport => (0, 1%positive) | ByAllSamples delta _ | ByTheseCounts delta _ => delta end.
Definition are_counts (g : file) (m : Z) : bool :=
  let c := counts_in g in Nat.eqb (length c) (inputs g) && forallb (Z.leb 0) c && (total c =? m).
Definition view_is_supported (m : Z) (g : file) (s : support_of_view) : bool :=
  match s with
  | NoSupport => Nat.ltb 0 (inputs g)
  | ByAllSamples delta l => are_counts g m && support g m delta l
  | ByTheseCounts delta l => are_counts g m && support_by_sums g m delta l
  end.
Definition sum_of_deltas (ss : list support_of_view) : Z * positive :=
  fold_right (fun s t => let d := delta_of s in (fst d * Zpos (snd t) + fst t * Zpos (snd d), (snd d * snd t)%positive))
    (0, 1%positive) ss.
Definition records_support (f : records_file) (m : Z) (delta : Z * positive) (ss : list support_of_view) : bool :=
  Nat.eqb (length ss) (views f) && (0 <? m)
  && (let t := sum_of_deltas ss in fst t * Zpos (snd delta) <=? fst delta * Zpos (snd t))
  && forallb (fun x => view_is_supported m (snd (fst x)) (snd x)) (combine (parts f) ss).

(** * Its proof *)

Open Scope R_scope.
Definition ratio_of (d : Z * positive) : R := ratio (fst d) (snd d).
Lemma sum_of_deltas_is ss : ratio_of (sum_of_deltas ss) = suml ss (fun s => ratio_of (delta_of s)).
Proof.
  induction ss as [|s ss IH]; [unfold ratio_of, ratio; cbn; field|].
  change (suml (s :: ss) (fun s => ratio_of (delta_of s))) with (ratio_of (delta_of s) + suml ss (fun s => ratio_of (delta_of s))).
  rewrite <- IH. unfold ratio_of, ratio. cbn [sum_of_deltas fold_right fst snd]. fold (sum_of_deltas ss).
  rewrite plus_IZR, !mult_IZR, Pos2Z.inj_mul, mult_IZR.
  pose proof (IZR_lt 0 (Zpos (snd (delta_of s))) ltac:(lia)). pose proof (IZR_lt 0 (Zpos (snd (sum_of_deltas ss))) ltac:(lia)). field. lra.
Qed.

Lemma law_is_a_prior n see P i N : prior n P -> (forall x, (x < n)%nat -> (see i x < N)%nat) -> prior N (law_of_view n see P i).
Proof.
  intros [P0 P1] H. split.
  - intros z _. apply suml_nonneg. intros x Hx. apply in_range in Hx. destruct (Nat.eqb _ _); [now apply P0|lra].
  - transitivity (mean N (law_of_view n see P i) (fun _ => 1)); [apply suml_ext; intros; ring|].
    rewrite <- (mean_of_view n see P i N (fun _ => 1) H). now apply (mean_const n P 1); split.
Qed.

Section Supported.
Variables (f : records_file) (m : Z) (delta : Z * positive) (ss : list support_of_view).
Hypothesis checked : records_support f m delta ss = true.
Let s (i : nat) : support_of_view := nth i ss NoSupport.
Let es : list evidence := map evidence_of ss.

Lemma evidence_is i : nth i es Given = evidence_of (s i).
Proof. exact (map_nth evidence_of ss NoSupport i). Qed.
Lemma as_many : length ss = views f.
Proof. unfold records_support in checked. split_bools. now apply Nat.eqb_eq. Qed.
Lemma view_right i : (i < views f)%nat -> view_is_supported m (view f i) (s i) = true.
Proof.
  intros Hi. pose proof checked as H. unfold records_support in H. apply andb_prop in H as [_ H]. rewrite forallb_forall in H.
  specialize (H (nth i (parts f) no_view, s i)). apply H. unfold s. rewrite <- combine_nth by (symmetry; exact as_many).
  apply nth_In. rewrite combine_length, as_many. unfold views in *. lia.
Qed.
Lemma deltas_right : suml ss (fun s => ratio_of (delta_of s)) <= ratio_of delta.
Proof.
  pose proof checked as H. unfold records_support in H. apply andb_prop in H as [H _]. apply andb_prop in H as [_ H].
  apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H. rewrite <- sum_of_deltas_is. unfold ratio_of, ratio.
  pose proof (IZR_lt 0 (Zpos (snd delta)) ltac:(lia)) as A. pose proof (IZR_lt 0 (Zpos (snd (sum_of_deltas ss))) ltac:(lia)) as B.
  apply (Rmult_le_reg_r (IZR (Zpos (snd (sum_of_deltas ss))) * IZR (Zpos (snd delta)))); [now apply Rmult_lt_0_compat|].
  unfold Rdiv. replace (IZR (fst (sum_of_deltas ss)) * / IZR (Zpos (snd (sum_of_deltas ss))) * (IZR (Zpos (snd (sum_of_deltas ss))) * IZR (Zpos (snd delta))))
    with (IZR (fst (sum_of_deltas ss)) * IZR (Zpos (snd delta))) by (field; lra).
  replace (IZR (fst delta) * / IZR (Zpos (snd delta)) * (IZR (Zpos (snd (sum_of_deltas ss))) * IZR (Zpos (snd delta))))
    with (IZR (fst delta) * IZR (Zpos (snd (sum_of_deltas ss)))) by (field; lra). exact H.
Qed.
Lemma view_counts i : (i < views f)%nat -> evidence_of (s i) <> Given -> are_counts (view f i) m = true.
Proof.
  intros Hi He. pose proof (view_right i Hi) as H. destruct (s i); cbn [view_is_supported evidence_of] in *; [congruence| |];
    now apply andb_prop in H as [H _].
Qed.

Lemma sum_nth_of_list {A} (l : list A) d g : sum (length l) (fun i => g (nth i l d)) = suml l g.
Proof. rewrite sum_suml. rewrite (list_as_map d l) at 2. now rewrite suml_map. Qed.
(* What the evidence of a view says. *)
Lemma view_misled_rarely i Q : (i < views f)%nat -> prior (inputs (view f i)) Q ->
  prob (inputs (view f i)) Q (Z.to_nat m) (misled (view f i) (nth i es Given) Q) <= ratio_of (delta_of (s i)).
Proof.
  intros Hi HQ. rewrite evidence_is. pose proof (view_right i Hi) as H. set (g := view f i) in *.
  destruct (s i) as [|[a b] l|[a b] l]; cbn [view_is_supported evidence_of delta_of fst snd] in *.
  - unfold prob, misled, ratio_of, ratio. cbn [fst snd]. rewrite (expect_const _ _ _ 0 HQ). lra.
  - apply andb_prop in H as [_ H]. apply radius_supported in H. unfold seldom_far in H. unfold misled.
    destruct (set g); try easy. now apply H.
  - apply andb_prop in H as [_ H]. apply counts_supported in H. unfold learnt_from_counts in H. unfold misled.
    destruct (set g); try easy. now apply H.
Qed.
Lemma view_is_in_its_set i Q l : (i < views f)%nat -> nth i es Given <> Given -> prior (inputs (view f i)) Q ->
  drawn (inputs (view f i)) (Z.to_nat m) (counts_in (view f i)) l -> misled (view f i) (nth i es Given) Q l = false ->
  among (inputs (view f i)) (set (view f i)) Q.
Proof.
  rewrite evidence_is. intros Hi He HQ Hd Hm. pose proof (view_right i Hi) as H. set (g := view f i) in *.
  destruct (s i) as [|[a b] k|[a b] k]; cbn [view_is_supported evidence_of fst snd] in *; [congruence| |].
  - apply andb_prop in H as [_ H]. unfold support in H. unfold misled in Hm. unfold counts_in in Hd.
    destruct (set g) as [c r d| | | | | |]; try easy. split; [exact HQ|]. unfold outside, above in Hm.
    destruct (Rlt_dec _ _) as [|L]; [discriminate|]. apply Rnot_lt_le in L. eapply Rle_trans; [|exact L]. right.
    apply suml_ext. intros x Hx. apply in_range in Hx. now rewrite (shares_are_frequencies _ _ _ _ Hd).
  - apply andb_prop in H as [_ H]. apply counts_supported in H. unfold learnt_from_counts in H. unfold misled in Hm. unfold counts_in in Hd.
    destruct (set g) as [c r d| | | | | |]; try easy. destruct H as [_ [_ H]]. now apply (H Q l).
Qed.

(* Records whose views are the counts, each in its own order. *)
Lemma some_records : exists n see l, (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) /\
  records_drawn f (Z.to_nat m) es n see l.
Proof.
  set (c := fun i => match evidence_of (s i) with Given => [] | _ => counts_in (view f i) end).
  exists (Z.to_nat m), (fun i x => nth x (draws_of 0 (c i)) O), (seq 0 (Z.to_nat m)).
  assert (C : forall i, (i < views f)%nat -> evidence_of (s i) <> Given -> length (draws_of 0 (counts_in (view f i))) = Z.to_nat m /\
    drawn (inputs (view f i)) (Z.to_nat m) (counts_in (view f i)) (draws_of 0 (counts_in (view f i)))).
  { intros i Hi He. pose proof (view_counts i Hi He) as H. unfold are_counts in H. apply andb_prop in H as [H T].
    apply andb_prop in H as [L P]. apply Nat.eqb_eq in L. apply Z.eqb_eq in T. destruct (draws_of_ok _ P 0) as [Hl [Hf Hc]].
    split; [lia|]. split; [lia|split].
    - rewrite <- L. eapply Forall_impl; [|exact Hf]. cbn. intros; lia.
    - now rewrite <- L. }
  split; [|split; [apply seq_length|split; [apply Forall_forall; intros x Hx; now apply in_range|]]].
  - intros i x Hi Hx. pose proof (view_right i Hi) as H. pose proof (C i Hi) as D. unfold c. destruct (s i) as [|d k|d k];
      cbn [evidence_of view_is_supported] in *.
    + destruct x; cbn; now apply Nat.ltb_lt in H.
    + destruct D as [E [_ [F _]]]; [discriminate|]. rewrite Forall_forall in F. apply F, nth_In. lia.
    + destruct D as [E [_ [F _]]]; [discriminate|]. rewrite Forall_forall in F. apply F, nth_In. lia.
  - intros i Hi He. rewrite evidence_is in He. destruct (C i Hi He) as [E D]. unfold c.
    replace (match evidence_of (s i) with Given => [] | _ => counts_in (view f i) end) with (counts_in (view f i))
      by (destruct (evidence_of (s i)); congruence).
    rewrite <- E. now rewrite <- (list_as_map O (draws_of 0 (counts_in (view f i)))), E.
Qed.

Theorem records_support_is_right : records_learnt f (Z.to_nat m) es (ratio (fst delta) (snd delta)).
Proof.
  split; [unfold es; rewrite map_length; exact as_many|]. split; [exact some_records|]. intros n see P HP HS.
  assert (L : forall i, (i < views f)%nat -> prior (inputs (view f i)) (law_of_view n see P i)).
  { intros i Hi. now apply law_is_a_prior; [|intros; apply HS]. }
  split.
  - eapply Rle_trans; [|exact deltas_right]. rewrite <- (sum_nth_of_list ss NoSupport), as_many.
    apply (deltas_add (views f) n see P (fun i => inputs (view f i)) (Z.to_nat m)
      (fun i => misled (view f i) (nth i es Given) (law_of_view n see P i)) (fun i => ratio_of (delta_of (s i))) HP HS).
    intros i Hi. now apply view_misled_rarely; [|apply L].
  - intros l [_ [_ HD]] HM i Hi He. apply (view_is_in_its_set i _ (map (see i) l) Hi He (L i Hi) (HD i Hi He)).
    destruct (misled _ _ _ _) eqn:E; [|reflexivity]. exfalso. unfold misled_somewhere in HM.
    assert (G : existsb (fun i => misled (view f i) (nth i es Given) (law_of_view n see P i) (map (see i) l)) (seq 0 (views f)) = true).
    { apply existsb_exists. exists i. split; [now apply in_range|exact E]. }
    congruence.
Qed.
End Supported.

Theorem records_supported f m delta ss : records_support f m delta ss = true ->
  records_learnt f (Z.to_nat m) (map evidence_of ss) (ratio (fst delta) (snd delta)).
Proof. exact (records_support_is_right f m delta ss). Qed.
