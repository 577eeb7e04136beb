(** A test in integers that proves what a file of views of records promises: [records_check_correct]. *)
From Coq Require Import Reals List ZArith Bool Lia Lra.
Require Import Spec ExpLow Support Check SpecRecords.
Import ListNotations.
Open Scope Z_scope.

(** * The test: every view, with its own promise and with that of the whole *)

Definition same (e e' : epsilon) : bool :=
  match e, e' with
  | Nats a b, Nats c d => (a =? c) && Pos.eqb b d
  | Log a b, Log c d => Pos.eqb a c && Pos.eqb b d
  | _, _ => false
  end.
Definition same_side (l l' : option epsilon) : bool :=
  match l, l' with None, _ => true | Some e, Some e' => same e e' | Some _, None => false end.
Definition promising (f : file) (e : epsilon) (l : option epsilon) : file :=
  File (inputs f) (outputs f) (bits f) (rows f) e l None None (set f).
Definition part_holds (e : epsilon) (l : option epsilon) (p : Z * file) : bool :=
  (0 <=? fst p) && check (snd p)
  && (if same e (eps (snd p)) && same_side l (lower (snd p)) then true else check (promising (snd p) e l)).
Definition records_check (f : records_file) : bool :=
  (total (map fst (parts f)) =? 2 ^ Z.of_nat (weight_bits f))
  && forallb (part_holds (record_eps f) (record_lower f)) (parts f).

(* For people: the views that fail, each with the first of its outputs that does, or the number of its outputs. *)
Definition records_refused (f : records_file) : list (nat * nat) :=
  map (fun x => let g := snd (snd x) in
        (fst x, match refused g ++ refused (promising g (record_eps f) (record_lower f)) with
                | (y, _) :: _ => y | [] => outputs g end))
    (filter (fun x => negb (part_holds (record_eps f) (record_lower f) (snd x))) (combine (seq 0 (views f)) (parts f))).

(** * Its proof *)

Open Scope R_scope.

Lemma same_is e e' : same e e' = true -> e = e'.
Proof.
  destruct e as [a b|a b], e' as [c d|c d]; cbn; try discriminate; intros H; split_bools;
    (apply Z.eqb_eq in H || apply Pos.eqb_eq in H); apply Pos.eqb_eq in H0; now subst.
Qed.

(* The mean of what depends on a view is its mean under the law of the view. *)
Lemma mean_of_view n see P i N v : (forall x, (x < n)%nat -> (see i x < N)%nat) ->
  mean n P (fun x => v (see i x)) = mean N (law_of_view n see P i) v.
Proof.
  intros H. unfold mean at 2, law_of_view, mass.
  transitivity (suml (seq 0 N) (fun z => suml (seq 0 n) (fun x => if Nat.eqb (see i x) z then P x * v z else 0))).
  - rewrite suml_swap. unfold mean. rewrite sum_suml. apply suml_ext. intros x Hx. apply in_range in Hx.
    rewrite (suml_ext _ _ (fun z => if Nat.eqb z (see i x) then P x * v (see i x) else 0)).
    + symmetry. apply suml_one; [apply seq_NoDup|]. apply in_range. now apply H.
    + intros z _. rewrite Nat.eqb_sym. destruct (Nat.eqb_spec z (see i x)) as [->|]; reflexivity.
  - apply suml_ext. intros z _. rewrite sum_suml, <- suml_scal_r. apply suml_ext. intros x _.
    destruct (Nat.eqb (see i x) z); ring.
Qed.

(** Records with a joint law: all combinations of views, which are independent. *)
Lemma mass_ext n P S S' : (forall x, (x < n)%nat -> S x = S' x) -> mass n P S = mass n P S'.
Proof. intros H. apply suml_ext. intros x Hx. apply in_range in Hx. now rewrite H. Qed.

Definition agrees (N : nat) (A B : nat -> R) : Prop := forall z, (z < N)%nat -> A z = B z.
Lemma joint_of_all (Ns : list nat) (Qs : list (nat -> R)) :
  length Qs = length Ns -> (forall i, (i < length Ns)%nat -> prior (nth i Ns O) (nth i Qs (fun _ => 0))) ->
  exists n see P, prior n P /\ (forall i x, (i < length Ns)%nat -> (x < n)%nat -> (see i x < nth i Ns O)%nat) /\
  forall i, (i < length Ns)%nat -> agrees (nth i Ns O) (law_of_view n see P i) (nth i Qs (fun _ => 0)).
Proof.
  revert Qs. induction Ns as [|N Ns IH]; intros [|Q Qs] HL HP; try discriminate.
  - exists 1%nat, (fun _ _ => O), (fun _ => 1). split; [|split; intros i; cbn; lia].
    split; [intros; lra|unfold sum; cbn; lra].
  - destruct (IH Qs ltac:(cbn in HL; lia) (fun i Hi => HP (S i) ltac:(cbn; lia))) as [n [see [P [[P0 P1] [HS HA]]]]].
    pose proof (HP O ltac:(cbn; lia)) as [Q0 Q1]. cbn [nth] in Q0, Q1.
    assert (Hn : n <> O) by (intros ->; cbn in P1; lra).
    exists (N * n)%nat, (fun i x => match i with O => x / n | S i => see i (x mod n) end)%nat,
      (fun x => Q (x / n)%nat * P (x mod n)%nat).
    assert (D : forall a b, (b < n)%nat -> ((a * n + b) / n = a /\ (a * n + b) mod n = b)%nat).
    { intros a b Hb. split; [rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia; reflexivity|].
      now rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia. }
    assert (R : forall x, (x < N * n)%nat -> (x / n < N /\ x mod n < n)%nat)
      by (intros x Hx; split; [apply Nat.div_lt_upper_bound; lia|now apply Nat.mod_upper_bound]).
    split; [|split].
    + split.
      * intros x Hx. destruct (R x Hx). apply Rmult_le_pos; [now apply Q0|now apply P0].
      * rewrite sum_pairs, <- Q1. apply suml_ext. intros a _.
        transitivity (sum n (fun b => Q a * P b)).
        -- apply suml_ext. intros b Hb. apply in_range in Hb. destruct (D a b Hb) as [-> ->]. reflexivity.
        -- rewrite sum_suml, suml_scal. change (Q a * sum n P = Q a). rewrite P1. ring.
    + intros [|i] x Hi Hx; destruct (R x Hx); cbn [nth]; [assumption|]. apply HS; [cbn in Hi; lia|assumption].
    + intros [|i] Hi z Hz; cbn [nth] in *; unfold law_of_view, mass; rewrite sum_pairs.
      * transitivity (suml (seq 0 N) (fun a => if Nat.eqb a z then Q z else 0)); [|now apply suml_one; [apply seq_NoDup|apply in_range]].
        apply suml_ext. intros a _. transitivity (sum n (fun b => if Nat.eqb a z then Q a * P b else 0)).
        -- apply suml_ext. intros b Hb. apply in_range in Hb. now destruct (D a b Hb) as [-> ->].
        -- destruct (Nat.eqb_spec a z) as [->|]; [|now apply suml_zero].
           rewrite sum_suml, suml_scal. change (Q z * sum n P = Q z). rewrite P1. ring.
      * rewrite <- (HA i ltac:(cbn in Hi; lia) z Hz). unfold law_of_view, mass.
        transitivity (sum N (fun a => Q a * sum n (fun b => if Nat.eqb (see i b) z then P b else 0))).
        -- apply suml_ext. intros a _. rewrite !sum_suml, <- suml_scal. apply suml_ext. intros b Hb. apply in_range in Hb.
           destruct (D a b Hb) as [-> ->]. destruct (Nat.eqb (see i b) z); ring.
        -- rewrite sum_suml, suml_scal_r. change (sum N Q * sum n (fun b => if Nat.eqb (see i b) z then P b else 0)
             = sum n (fun x => if Nat.eqb (see i x) z then P x else 0)). rewrite Q1. ring.
Qed.

(* Whether a law is in a set is about its symbols alone. *)
Lemma prior_agrees N P Q : agrees N P Q -> prior N P -> prior N Q.
Proof.
  intros H [P0 P1]. split; [intros x Hx; rewrite <- H by assumption; now apply P0|].
  rewrite <- P1. apply suml_ext. intros x Hx. apply in_range in Hx. now rewrite H.
Qed.
Lemma among_agrees s : forall N P Q, agrees N P Q -> among N s P -> among N s Q.
Proof.
  induction s; intros N P Q H; cbn [among].
  - intros [A B]. split; [now apply (prior_agrees N P)|]. eapply Rle_trans; [|exact B]. right.
    apply suml_ext. intros x Hx. apply in_range in Hx. now rewrite H.
  - intros [w [A B]]. exists w. split; [assumption|]. intros x Hx. rewrite <- H by assumption. now apply B.
  - intros [A B]. split; [now apply (prior_agrees N P)|]. intros x Hx. rewrite <- H by assumption. now apply B.
  - intros [A B]. split; [now apply (prior_agrees N P)|]. intros a g I S. rewrite <- (B a g I S) || idtac.
    specialize (B a g I S). replace (mass N Q S) with (mass N P S); [exact B|].
    apply suml_ext. intros x Hx. apply in_range in Hx. now rewrite H.
  - intros [A B]. split; [now apply (IHs1 N P)|now apply (IHs2 N P)].
  - intros [A|A]; [left; now apply (IHs1 N P)|right; now apply (IHs2 N P)].
  - intros [-> [q [c [A [B C]]]]]. split; [reflexivity|]. exists q, c. split; [assumption|split; [assumption|]].
    intros i j Hi Hj. rewrite <- H by nia. now apply C.
Qed.

Lemma laws_of_parts e l (ps : list (Z * file)) : forallb (part_holds e l) ps = true ->
  exists Qs, length Qs = length ps /\ forall i, (i < length ps)%nat ->
    let g := snd (nth i ps no_view) in
    prior (inputs g) (nth i Qs (fun _ => 0)) /\ among (inputs g) (set g) (nth i Qs (fun _ => 0)).
Proof.
  induction ps as [|p ps IH]; intros H; [exists []; split; [reflexivity|cbn; lia]|].
  cbn [forallb] in H. apply andb_prop in H as [Hp H]. destruct (IH H) as [Qs [L A]].
  unfold part_holds in Hp. apply andb_prop in Hp as [Hp _]. apply andb_prop in Hp as [_ Hp].
  destruct (check_correct _ Hp) as [_ [[Q HQ] _]]. unfold check in Hp. apply andb_prop in Hp as [Hp _].
  apply andb_prop in Hp as [Hp _]. apply andb_prop in Hp as [Hp _]. apply andb_prop in Hp as [_ Hs].
  exists (Q :: Qs). split; [cbn; now rewrite L|]. intros [|i] Hi; cbn [nth].
  - split; [now apply (among_prior (set (snd p)))|exact HQ].
  - apply A. cbn in Hi. lia.
Qed.

Section Whole.
Variable f : records_file.
Hypothesis checked : records_check f = true.

Lemma part_is_right i : (i < views f)%nat -> 0 <= view_weight f i /\ promise (view f i) /\
  from_above (inputs (view f i)) (outputs (view f i)) (K (view f i)) (among (inputs (view f i)) (set (view f i))) (nats (record_eps f)) /\
  match record_lower f with None => True
  | Some l => from_below (inputs (view f i)) (outputs (view f i)) (K (view f i)) (among (inputs (view f i)) (set (view f i))) (nats l) end.
Proof.
  intros Hi. unfold records_check in checked. apply andb_prop in checked as [_ H]. rewrite forallb_forall in H.
  specialize (H _ (nth_In (parts f) no_view Hi)). unfold part_holds in H. fold (view f i) in H.
  apply andb_prop in H as [H Hw]. apply andb_prop in H as [H0 H1]. apply Z.leb_le, IZR_le in H0.
  pose proof (check_correct _ H1) as HP. split; [|split; [exact HP|]].
  - unfold view_weight. apply Rmult_le_pos; [assumption|]. left. apply Rinv_0_lt_compat, pow_lt. lra.
  - destruct (same (record_eps f) (eps (view f i)) && same_side (record_lower f) (lower (view f i))) eqn:S.
    + apply andb_prop in S as [S1 S2]. apply same_is in S1. destruct HP as [_ [_ [A [B _]]]]. rewrite S1. split; [exact A|].
      destruct (record_lower f) as [l|]; [|exact I]. destruct (lower (view f i)) as [l'|]; [|discriminate].
      cbn [same_side] in S2. apply same_is in S2. now subst.
    + destruct (check_correct _ Hw) as [_ [_ [A [B _]]]]. split; [exact A|]. cbn [promising lower] in B.
      destruct (record_lower f); [exact B|exact I].
Qed.
Lemma weights_sum : sum (views f) (view_weight f) = 1.
Proof.
  unfold records_check in checked. apply andb_prop in checked as [H _]. apply Z.eqb_eq in H.
  assert (P : 0 < 2 ^ weight_bits f) by (apply pow_lt; lra).
  transitivity (IZR (total (map fst (parts f))) / 2 ^ weight_bits f); [|rewrite H, <- pow_IZR; field; lra].
  rewrite (total_positions (map fst (parts f)) (views f)) by (unfold views; now rewrite map_length).
  unfold view_weight, Rdiv. rewrite sum_suml, suml_scal_r, <- sum_suml. f_equal. apply suml_ext. intros i _.
  f_equal. symmetry. exact (map_nth fst (parts f) no_view i).
Qed.

Lemma mean_of_report n see P i y : (i < views f)%nat -> (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) ->
  mean n P (fun x => record_K f see x i y)
  = view_weight f i * mean (inputs (view f i)) (law_of_view n see P i) (fun z => K (view f i) z y).
Proof.
  intros Hi HS. rewrite <- (mean_of_view n see P i _ (fun z => K (view f i) z y)) by (intros; now apply HS).
  apply (mean_scal n P (view_weight f i)).
Qed.

Theorem records_check_is_right : record_promise f.
Proof.
  split; [|split].
  - intros i Hi. now apply part_is_right.
  - pose proof checked as H. unfold records_check in H. apply andb_prop in H as [_ H].
    destruct (laws_of_parts _ _ _ H) as [Qs [L A]].
    assert (EN : forall i, nth i (map (fun p => inputs (snd p)) (parts f)) O = inputs (view f i))
      by (intros i; exact (map_nth (fun p => inputs (snd p)) (parts f) no_view i)).
    destruct (joint_of_all (map (fun p => inputs (snd p)) (parts f)) Qs) as [n [see [P [HP [HS HA]]]]].
    + now rewrite map_length.
    + intros i Hi. rewrite map_length in Hi. rewrite EN. now apply A.
    + rewrite map_length in HS, HA. exists n, see, P. split; [intros i x Hi Hx; rewrite <- EN; now apply HS|].
      split; [exact HP|]. intros i Hi. specialize (HA i Hi). rewrite EN in HA.
      apply (among_agrees _ _ (nth i Qs (fun _ => 0))); [intros z Hz; symmetry; now apply HA|]. now apply A.
  - intros n see HS. split; [|split].
    + intros x Hx. split.
      * intros i y [Hi Hy]. destruct (part_is_right i Hi) as [W [[M _] _]].
        apply Rmult_le_pos; [exact W|]. now apply M; [apply HS|].
      * rewrite <- weights_sum. apply suml_ext. intros i Hi. apply in_range in Hi.
        destruct (part_is_right i Hi) as [_ [[M _] _]]. destruct (M (see i x) (HS i x Hi Hx)) as [_ S].
        unfold record_K. rewrite sum_suml, suml_scal, <- sum_suml. change (fun y => K (view f i) (see i x) y) with (K (view f i) (see i x)).
        rewrite S. ring.
    + intros P [HP HB] x i y Hx [Hi Hy]. destruct (part_is_right i Hi) as [W [_ [A _]]].
      rewrite mean_of_report by assumption. specialize (A _ (HB i Hi) (see i x) y (HS i x Hi Hx) Hy).
      apply (Rmult_le_compat_l (view_weight f i)) in A; [|exact W]. unfold record_K. lra.
    + destruct (record_lower f) as [l|] eqn:El; [|exact I]. intros P [HP HB] x i y Hx [Hi Hy].
      destruct (part_is_right i Hi) as [W [_ [_ B]]]. rewrite El in B.
      rewrite mean_of_report by assumption. specialize (B _ (HB i Hi) (see i x) y (HS i x Hi Hx) Hy).
      apply (Rmult_le_compat_l (view_weight f i)) in B; [|exact W]. unfold record_K. lra.
Qed.
End Whole.

Theorem records_check_correct : forall f, records_check f = true -> record_promise f.
Proof. exact records_check_is_right. Qed.
