(** What samples tell of a prior: the chance that they mislead, as a finite sum over all lists of samples. *)
From Coq Require Import Reals List ZArith Lia Lra.
Require Import Spec Support.
Import ListNotations.
Open Scope R_scope.

(* P[Bin(n, q) >= k]. *)
Fixpoint tail (n k : nat) (q : R) : R :=
  match k with
  | O => 1
  | S k => match n with O => 0 | S n => q * tail n k q + (1 - q) * tail n (S k) q end
  end.

Lemma expect_ext N Q m : forall f g, (forall l, f l = g l) -> expect N Q m f = expect N Q m g.
Proof.
  induction m as [|m IH]; intros f g H; cbn [expect]; [apply H|].
  apply suml_ext. intros x _. f_equal. apply IH. intros l. apply H.
Qed.
Lemma expect_plus N Q m : forall f g, expect N Q m (fun l => f l + g l) = expect N Q m f + expect N Q m g.
Proof.
  induction m as [|m IH]; intros f g; cbn [expect]; [reflexivity|]. rewrite !sum_suml, <- suml_plus.
  apply suml_ext. intros x _. rewrite IH. ring.
Qed.
Lemma expect_le N Q m : prior N Q -> forall f g, (forall l, f l <= g l) -> expect N Q m f <= expect N Q m g.
Proof.
  intros [HQ HS]. induction m as [|m IH]; intros f g H; cbn [expect]; [apply H|].
  apply suml_le. intros x Hx. apply in_range in Hx. apply Rmult_le_compat_l; [now apply HQ|]. apply IH. intros; apply H.
Qed.
Lemma expect_const N Q m c : prior N Q -> expect N Q m (fun _ => c) = c.
Proof.
  intros [HQ HS]. induction m as [|m IH]; cbn [expect]; [reflexivity|].
  rewrite IH, sum_suml, suml_scal_r, <- sum_suml, HS. ring.
Qed.

(* All lists of m symbols below N, and their sum: [expect] is the mean that is meant. *)
Fixpoint draws (N m : nat) : list (list nat) :=
  match m with O => [[]] | S m => flat_map (fun x => map (cons x) (draws N m)) (seq 0 N) end.
Definition weight (Q : nat -> R) (l : list nat) : R := fold_right (fun x p => Q x * p) 1 l.
Theorem expect_is_a_sum N Q m : forall f, expect N Q m f = suml (draws N m) (fun l => weight Q l * f l).
Proof.
  induction m as [|m IH]; intros f; cbn [expect draws].
  - unfold suml. cbn. ring.
  - unfold sum. generalize (seq 0 N) as s. induction s as [|a s IHs]; [reflexivity|]. cbn [flat_map].
    rewrite suml_app, suml_map. cbn [fold_right]. rewrite IHs. f_equal. rewrite IH, <- suml_scal.
    apply suml_ext. intros l _. unfold weight. cbn. ring.
Qed.

Lemma union_bound N Q m {A} (l : list A) (E : A -> list nat -> bool) : prior N Q ->
  prob N Q m (fun s => existsb (fun a => E a s) l) <= suml l (fun a => prob N Q m (E a)).
Proof.
  intros HQ. unfold prob. induction l as [|a l IH].
  - cbn. rewrite expect_const by assumption. apply Rle_refl.
  - change (suml (a :: l) (fun a => expect N Q m (fun s => indicator (E a s))))
      with (expect N Q m (fun s => indicator (E a s)) + suml l (fun a => expect N Q m (fun s => indicator (E a s)))).
    eapply Rle_trans; [|apply Rplus_le_compat_l, IH]. rewrite <- expect_plus. apply expect_le; [assumption|].
    intros s. cbn [existsb]. unfold indicator. destruct (E a s), (existsb (fun a => E a s) l); cbn; lra.
Qed.

Lemma hits_cons S x l : hits S (x :: l) = ((if S x then 1 else 0) + hits S l)%nat.
Proof. unfold hits. cbn. destruct (S x); reflexivity. Qed.

Theorem hits_are_binomial N Q S m : prior N Q ->
  forall k, prob N Q m (fun l => Nat.leb k (hits S l)) = tail m k (mass N Q S).
Proof.
  intros HQ. induction m as [|m IH]; intros k.
  - destruct k; reflexivity.
  - unfold prob. cbn [expect]. destruct k as [|k].
    + cbn [tail]. rewrite <- (expect_const N Q (Datatypes.S m) 1 HQ). cbn [expect]. reflexivity.
    + cbn [tail]. rewrite <- (IH k), <- (IH (Datatypes.S k)). unfold prob, mass.
      rewrite !sum_suml. rewrite <- (proj2 HQ) at 1. rewrite sum_suml.
      set (a := expect N Q m (fun l => indicator (Nat.leb k (hits S l)))).
      set (b := expect N Q m (fun l => indicator (Nat.leb (Datatypes.S k) (hits S l)))).
      transitivity (suml (seq 0 N) (fun x => (if S x then Q x else 0) * a + (Q x - (if S x then Q x else 0)) * b)).
      * apply suml_ext. intros x _. destruct (S x) eqn:E.
        -- replace (expect N Q m (fun l => indicator (Nat.leb (Datatypes.S k) (hits S (x :: l))))) with a; [ring|].
           apply expect_ext. intros l. now rewrite hits_cons, E.
        -- replace (expect N Q m (fun l => indicator (Nat.leb (Datatypes.S k) (hits S (x :: l))))) with b; [ring|].
           apply expect_ext. intros l. now rewrite hits_cons, E.
      * rewrite suml_plus, !suml_scal_r, suml_minus. reflexivity.
Qed.

Lemma tail_falls n : forall k q, 0 <= q <= 1 -> 0 <= tail n (S k) q <= tail n k q.
Proof.
  induction n as [|n IH]; intros k q Hq; [destruct k; cbn; lra|].
  destruct k as [|k]; cbn [tail].
  - assert (0 <= tail n 0 q <= 1) by (destruct n; cbn; lra). specialize (IH O q Hq). cbn [tail] in *.
    destruct n; cbn [tail] in *; nra.
  - pose proof (IH k q Hq). pose proof (IH (S k) q Hq). cbn [tail] in *.
    split; [apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra|].
    apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.
Lemma tail_rises n : forall k p q, 0 <= p -> p <= q -> q <= 1 -> tail n k p <= tail n k q.
Proof.
  induction n as [|n IH]; intros k p q Hp Hpq Hq; [destruct k; cbn; lra|].
  destruct k as [|k]; [cbn; lra|]. cbn [tail].
  pose proof (IH k p q Hp Hpq Hq) as A. pose proof (IH (S k) p q Hp Hpq Hq) as B.
  pose proof (tail_falls n k q ltac:(lra)) as C.
  apply Rle_trans with (p * tail n k q + (1 - p) * tail n (S k) q).
  - apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
  - assert (0 <= (q - p) * (tail n k q - tail n (S k) q)) by (apply Rmult_le_pos; lra). lra.
Qed.

(** Samples come from the prior, and are as many as they are. *)
Lemma expect_le_drawn N Q m : prior N Q -> forall f g,
  (forall l, length l = m -> Forall (fun x => (x < N)%nat) l -> f l <= g l) -> expect N Q m f <= expect N Q m g.
Proof.
  intros [HQ HS]. induction m as [|m IH]; intros f g H; cbn [expect]; [apply H; [reflexivity|constructor]|].
  apply suml_le. intros x Hx. apply in_range in Hx. apply Rmult_le_compat_l; [now apply HQ|].
  apply IH. intros l Hl Hf. apply H; [cbn; now rewrite Hl | now constructor].
Qed.
Lemma hits_le_length A l : (hits A l <= length l)%nat.
Proof. unfold hits. induction l as [|a l IH]; cbn; [lia|]. destruct (A a); cbn; lia. Qed.

Lemma first_or_none (P : nat -> Prop) (dec : forall k, {P k} + {~ P k}) m :
  (exists k, (k <= m)%nat /\ P k /\ forall j, (j < k)%nat -> ~ P j) \/ (forall k, (k <= m)%nat -> ~ P k).
Proof.
  induction m as [|m [[k [Hk H]]|IH]].
  - destruct (dec O) as [H|H]; [left; exists O; repeat split; auto; lia|].
    right. intros k Hk. now replace k with O by lia.
  - left. exists k. split; [lia|assumption].
  - destruct (dec (S m)) as [H|H].
    + left. exists (S m). repeat split; auto. intros j Hj. apply IH. lia.
    + right. intros k Hk. destruct (Nat.eq_dec k (S m)) as [->|]; [assumption|apply IH; lia].
Qed.

Section Samples.
Variables (N m : nat) (Q : nat -> R) (t a : R).
Hypothesis Q_is_a_prior : prior N Q.
Hypothesis m_is_positive : (0 < m)%nat.
Hypothesis t_is_not_negative : 0 <= t.
Hypothesis limits_hold :
  forall k, (k <= m)%nat -> t < INR k / INR m -> tail m k (INR k / INR m - t) <= a.
Hypothesis a_is_not_negative : 0 <= a.

Lemma mass_in_range A : 0 <= mass N Q A <= 1.
Proof.
  destruct Q_is_a_prior as [HQ HS]. unfold mass. split.
  - apply suml_nonneg. intros x Hx. apply in_range in Hx. destruct (A x); [now apply HQ|lra].
  - rewrite <- HS. apply suml_le. intros x Hx. apply in_range in Hx. specialize (HQ x Hx). destruct (A x); lra.
Qed.

Lemma one_event A : prob N Q m (fun l => above t (INR (hits A l) / INR m - mass N Q A)) <= a.
Proof.
  pose proof (mass_in_range A) as Hq. pose proof (lt_0_INR m m_is_positive) as Hm.
  destruct (first_or_none (fun k => t < INR k / INR m - mass N Q A) (fun k => Rlt_dec _ _) m) as [[k [Hk [P F]]]|F].
  - apply Rle_trans with (prob N Q m (fun l => Nat.leb k (hits A l))).
    + apply expect_le_drawn; [assumption|]. intros l Hl _. unfold above, indicator.
      destruct (Rlt_dec t (INR (hits A l) / INR m - mass N Q A)) as [H|H].
      * replace (Nat.leb k (hits A l)) with true; [lra|]. symmetry. apply Nat.leb_le.
        destruct (Nat.le_gt_cases k (hits A l)); [assumption|]. now elim (F (hits A l)).
      * destruct (Nat.leb k (hits A l)); lra.
    + rewrite hits_are_binomial by assumption. eapply Rle_trans; [|apply (limits_hold k Hk); lra].
      assert (INR k / INR m <= 1).
      { apply (Rmult_le_reg_r (INR m)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
        now apply le_INR. }
      apply tail_rises; lra.
  - apply Rle_trans with (expect N Q m (fun _ => 0)); [|rewrite expect_const by assumption; assumption].
    apply expect_le_drawn; [assumption|]. intros l Hl _. unfold above, indicator.
    destruct (Rlt_dec _ _) as [H|H]; [|lra]. exfalso. apply (F (hits A l)); [|assumption].
    rewrite <- Hl. apply hits_le_length.
Qed.

(* Sets of symbols, as lists of truth values: all but the empty and the full one. *)
Fixpoint sets (n : nat) : list (list bool) :=
  match n with O => [[]] | S n => map (cons false) (sets n) ++ map (cons true) (sets n) end.
Definition member_of (b : list bool) (x : nat) : bool := nth x b false.
Lemma sets_all b : In b (sets (length b)).
Proof.
  induction b as [|c b IH]; [now left|]. cbn. apply in_or_app.
  destruct c; [right|left]; now apply in_map.
Qed.
Lemma sets_length n : length (sets n) = Nat.pow 2 n.
Proof. induction n as [|n IH]; [reflexivity|]. cbn [sets Nat.pow]. rewrite app_length, !map_length, IH. lia. Qed.
Lemma sets_ends n : exists mid, sets (S n) = repeat false (S n) :: mid ++ [repeat true (S n)].
Proof.
  induction n as [|n [mid E]]; [now exists []|].
  change (sets (S (S n))) with (map (cons false) (sets (S n)) ++ map (cons true) (sets (S n))). rewrite E.
  exists (map (cons false) (mid ++ [repeat true (S n)]) ++ map (cons true) (repeat false (S n) :: mid)).
  change (repeat false (S (S n))) with (false :: repeat false (S n)).
  change (repeat true (S (S n))) with (true :: repeat true (S n)).
  rewrite !app_comm_cons, <- app_assoc. f_equal. rewrite map_app. reflexivity.
Qed.

Lemma hits_sum A l : Forall (fun x => (x < N)%nat) l ->
  INR (hits A l) = sum N (fun x => if A x then INR (hits (Nat.eqb x) l) else 0).
Proof.
  induction 1 as [|y l Hy Hl IH].
  - cbn. symmetry. apply suml_zero. intros x _. destruct (A x); reflexivity.
  - rewrite hits_cons, plus_INR, IH.
    transitivity (suml (seq 0 N) (fun x => (if Nat.eqb x y then (if A y then 1 else 0) else 0)
      + (if A x then INR (hits (Nat.eqb x) l) else 0))).
    + rewrite suml_plus, suml_one; [|apply seq_NoDup | now apply in_range]. rewrite <- sum_suml.
      destruct (A y); reflexivity.
    + apply suml_ext. intros x _. rewrite hits_cons, plus_INR.
      destruct (Nat.eqb_spec x y) as [->|]; destruct (A _); cbn [INR]; lra.
Qed.

Lemma l1_is_twice_a_set l : length l = m -> Forall (fun x => (x < N)%nat) l ->
  let b := map (fun x => above (Q x) (freq l x)) (seq 0 N) in
  sum N (fun x => Rabs (Q x - freq l x)) = 2 * (INR (hits (member_of b) l) / INR m - mass N Q (member_of b)).
Proof.
  intros Hl Hf b. pose proof (lt_0_INR m m_is_positive) as Hm.
  assert (Hb : forall x, (x < N)%nat -> member_of b x = above (Q x) (freq l x)).
  { intros x Hx. unfold member_of, b. rewrite (nth_indep _ false (above (Q O) (freq l O)))
      by now rewrite map_length, seq_length.
    rewrite (map_nth (fun x => above (Q x) (freq l x))), seq_nth by assumption. reflexivity. }
  assert (Hall : sum N (freq l) = 1).
  { pose proof (hits_sum (fun _ => true) l Hf) as E. cbv beta iota in E.
    unfold freq, Rdiv. rewrite sum_suml, suml_scal_r, <- sum_suml, <- E, Hl.
    replace (hits (fun _ => true) l) with m; [field; lra|]. rewrite <- Hl. unfold hits.
    clear. induction l as [|c l IH]; cbn; [reflexivity|now rewrite <- IH]. }
  assert (Hs : INR (hits (member_of b) l) / INR m = mass N (freq l) (member_of b)).
  { rewrite (hits_sum _ l Hf). unfold mass, Rdiv. rewrite !sum_suml, <- suml_scal_r. apply suml_ext.
    intros x _. unfold freq. rewrite Hl. destruct (member_of b x); [reflexivity|ring]. }
  rewrite Hs. destruct Q_is_a_prior as [_ HS].
  transitivity (sum N (fun x => 2 * (if member_of b x then freq l x else 0)
    - 2 * (if member_of b x then Q x else 0) - freq l x + Q x)).
  - apply suml_ext. intros x Hx. apply in_range in Hx. rewrite (Hb x Hx). unfold above, Rabs.
    destruct (Rlt_dec (Q x) (freq l x)); destruct (Rcase_abs (Q x - freq l x)); lra.
  - unfold mass. rewrite !sum_suml in *. rewrite suml_plus, !suml_minus, !suml_scal. lra.
Qed.

Theorem learnt_ball : prob N Q m (outside N Q (2 * t)) <= (2 ^ N - 2) * a.
Proof.
  destruct N as [|n] eqn:EN; [destruct Q_is_a_prior as [_ H]; subst; cbn in H; lra|]. rewrite <- EN in *.
  destruct (sets_ends n) as [mid E]. rewrite <- EN in E.
  assert (Hlen : INR (length mid) = 2 ^ N - 2).
  { pose proof (sets_length N) as L. rewrite E in L. cbn [length] in L. rewrite app_length in L. cbn [length] in L.
    apply (f_equal INR) in L. rewrite pow_INR in L. replace (INR 2) with 2 in L by (cbn; lra).
    rewrite S_INR, plus_INR in L. cbn [INR] in L. lra. }
  rewrite <- Hlen.
  apply Rle_trans with (suml mid (fun b => prob N Q m (fun l => above t (INR (hits (member_of b) l) / INR m - mass N Q (member_of b))))).
  - eapply Rle_trans; [|apply union_bound; assumption]. apply expect_le_drawn; [assumption|].
    intros l Hl Hf. unfold indicator, outside. pose proof (l1_is_twice_a_set l Hl Hf) as D.
    cbv zeta in D. set (b := map (fun x => above (Q x) (freq l x)) (seq 0 N)) in D. rewrite D.
    unfold above at 1. destruct (Rlt_dec (2 * t) _) as [H|H]; [|destruct (existsb _ mid); lra].
    replace (existsb _ mid) with true; [lra|]. symmetry. apply existsb_exists. exists b.
    assert (Hin : In b (sets N)).
    { replace N with (length b) by (unfold b; now rewrite map_length, seq_length). apply sets_all. }
    split; [|unfold above; destruct (Rlt_dec t _); [reflexivity|lra]].
    rewrite E in Hin. destruct Hin as [Hb|Hin].
    + exfalso. assert (M : forall x, member_of b x = false).
      { intros x. rewrite <- Hb. unfold member_of. generalize N as k. intros k. revert x.
        induction k as [|k IH]; intros [|x]; cbn; auto. }
      rewrite (hits_sum _ l Hf) in H. unfold mass in H.
      assert (Z1 : sum N (fun x => if member_of b x then INR (hits (Nat.eqb x) l) else 0) = 0)
        by (apply suml_zero; intros x _; now rewrite M).
      assert (Z2 : sum N (fun x => if member_of b x then Q x else 0) = 0)
        by (apply suml_zero; intros x _; now rewrite M).
      rewrite Z1, Z2 in H. unfold Rdiv in H. lra.
    + apply in_app_or in Hin. destruct Hin as [Hin|[Hb|[]]]; [assumption|]. exfalso.
      assert (M : forall x, (x < N)%nat -> member_of b x = true).
      { intros x Hx. rewrite <- Hb. unfold member_of. revert x Hx. generalize N as k. intros k.
        induction k as [|k IH]; intros [|x] Hx; cbn; try lia; auto. apply IH. lia. }
      assert (Z2 : mass N Q (member_of b) = 1).
      { destruct Q_is_a_prior as [_ HS]. rewrite <- HS. apply suml_ext. intros x Hx. apply in_range in Hx. now rewrite M. }
      rewrite Z2 in H. pose proof (le_INR _ _ (hits_le_length (member_of b) l)) as G. rewrite Hl in G.
      pose proof (lt_0_INR m m_is_positive) as Hm.
      assert (INR (hits (member_of b) l) / INR m <= 1).
      { apply (Rmult_le_reg_r (INR m)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
      lra.
  - clear Hlen E. induction mid as [|b mid IH]; [cbn; lra|].
    change (length (b :: mid)) with (S (length mid)). rewrite S_INR.
    change (prob N Q m (fun l => above t (INR (hits (member_of b) l) / INR m - mass N Q (member_of b)))
      + suml mid (fun b => prob N Q m (fun l => above t (INR (hits (member_of b) l) / INR m - mass N Q (member_of b))))
      <= (INR (length mid) + 1) * a).
    pose proof (one_event (member_of b)). lra.
Qed.
End Samples.

(* Whatever mechanism is made for each sample: if it keeps its promise near the sample, it keeps it at the true prior,
   unless the sample is one of those that lie outside, whose probability is bounded. *)
Theorem learnt_promise N M m Q t a (k : list nat -> nat -> nat -> R) e :
  prior N Q -> (0 < m)%nat -> 0 <= t -> 0 <= a ->
  (forall j, (j <= m)%nat -> t < INR j / INR m -> tail m j (INR j / INR m - t) <= a) ->
  (forall l, from_above N M (k l) (ball N (freq l) (2 * t)) e) ->
  prob N Q m (outside N Q (2 * t)) <= (2 ^ N - 2) * a /\
  forall l, outside N Q (2 * t) l = false -> forall x y, (x < N)%nat -> (y < M)%nat ->
    k l x y <= exp e * mean N Q (fun x' => k l x' y).
Proof.
  intros HQ Hm Ht Ha HL HK. split; [now apply learnt_ball|]. intros l Ho x y Hx Hy.
  apply (HK l); [|assumption|assumption]. split; [assumption|]. unfold outside, above in Ho.
  destruct (Rlt_dec _ _) as [H|H]; [discriminate|lra].
Qed.

(* A limit may be checked at the count that was seen: the chance that a tail at the truth is at most a is at most a. *)
Theorem tail_is_a_p_value N Q m A a : prior N Q -> 0 <= a ->
  prob N Q m (fun l => if Rle_dec (tail m (hits A l) (mass N Q A)) a then true else false) <= a.
Proof.
  intros HQ Ha. set (q := mass N Q A).
  destruct (first_or_none (fun k => tail m k q <= a) (fun k => Rle_dec _ _) m) as [[k [Hk [P F]]]|F].
  - apply Rle_trans with (prob N Q m (fun l => Nat.leb k (hits A l))); [|now rewrite hits_are_binomial].
    apply expect_le; [assumption|]. intros l. unfold indicator.
    destruct (Rle_dec (tail m (hits A l) q) a) as [H|H]; [|destruct (Nat.leb k (hits A l)); lra].
    replace (Nat.leb k (hits A l)) with true; [lra|]. symmetry. apply Nat.leb_le.
    destruct (Nat.le_gt_cases k (hits A l)) as [|L]; [assumption|]. now elim (F (hits A l) L).
  - apply Rle_trans with (expect N Q m (fun _ => 0)); [|now rewrite expect_const].
    apply expect_le_drawn; [assumption|]. intros l Hl _. unfold indicator.
    destruct (Rle_dec _ _) as [H|H]; [|lra]. exfalso. apply (F (hits A l)); [|assumption].
    rewrite <- Hl. apply hits_le_length.
Qed.

Example two_fair_draws_hit_at_least_once : tail 2 1 (1 / 2) = 3 / 4 /\ tail 2 2 (1 / 2) = 1 / 4 /\ tail 2 3 (1 / 2) = 0.
Proof. cbn [tail]. repeat split; lra. Qed.
Example shares_of_draws : freq [0; 1; 1]%nat 1 = 2 / 3 /\ freq [0; 1; 1]%nat 2 = 0.
Proof. unfold freq, hits. cbn. split; lra. Qed.
