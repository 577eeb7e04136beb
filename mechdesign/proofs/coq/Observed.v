(** The delta of a radius that follows from the sums of the observed counts over sets of symbols: [counts_supported]. *)
From Coq Require Import Reals List ZArith Bool Lia Lra Permutation Sorting Orders.
Require Import Spec Support Delta Tail Steps Limits Learnt.
Import ListNotations.

(** * Sets of symbols as numbers *)

Lemma set_number N : forall S : nat -> bool, exists i, (i < 2 ^ N)%nat /\ forall x, (x < N)%nat -> Nat.testbit i x = S x.
Proof.
  induction N as [|N IH]; intros S; [exists 0%nat; cbn; split; [lia|intros; lia]|].
  destruct (IH (fun x => S (Datatypes.S x))) as [i [Hi H]].
  exists (2 * i + (if S 0%nat then 1 else 0))%nat. split; [cbn [Nat.pow]; destruct (S 0%nat); lia|].
  intros [|x] Hx.
  - destruct (S 0%nat); [apply Nat.testbit_odd_0|rewrite Nat.add_0_r; apply Nat.testbit_even_0].
  - rewrite <- H by lia. destruct (S 0%nat); [apply Nat.testbit_odd_succ; lia|rewrite Nat.add_0_r; apply Nat.testbit_even_succ; lia].
Qed.
Lemma bits_above N : forall i, (i < 2 ^ N)%nat -> forall x, (N <= x)%nat -> Nat.testbit i x = false.
Proof.
  intros i Hi x Hx. apply Nat.testbit_false. rewrite Nat.div_small; [reflexivity|].
  apply Nat.lt_le_trans with (2 ^ N)%nat; [assumption|]. apply Nat.pow_le_mono_r; lia.
Qed.
Lemma full_number N : forall i, (i < 2 ^ N)%nat -> (forall x, (x < N)%nat -> Nat.testbit i x = true) -> i = (2 ^ N - 1)%nat.
Proof.
  intros i Hi H. rewrite Nat.sub_1_r, <- Nat.ones_equiv. apply Nat.bits_inj. intros x.
  destruct (Nat.lt_ge_cases x N) as [L|L].
  - rewrite H, Nat.ones_spec_low; auto.
  - rewrite Nat.ones_spec_high, (bits_above N); auto.
Qed.

(** * Draws contradict their prior rarely *)

Open Scope R_scope.
Lemma sets_of_level N : (1 < N)%nat -> INR (2 ^ N - 2) = 2 ^ N - 2 /\ 0 < 2 ^ N - 2.
Proof.
  intros H. assert (4 <= 2 ^ N)%nat by (change 4%nat with (2 ^ 2)%nat; apply Nat.pow_le_mono_r; lia).
  assert (E : INR (2 ^ N - 2) = 2 ^ N - 2) by (rewrite minus_INR, pow_INR by lia; reflexivity).
  split; [exact E|]. rewrite <- E. apply lt_0_INR. lia.
Qed.
Theorem draws_contradict_rarely N Q m a : prior N Q -> 0 <= a -> prob N Q m (contradicted N Q a) <= INR (2 ^ N - 2) * a.
Proof.
  intros HQ Ha. unfold contradicted.
  set (E := fun i l => if Rle_dec (tail m (hits (Nat.testbit i) l) (mass N Q (Nat.testbit i))) a then true else false).
  apply Rle_trans with (prob N Q m (fun l => existsb (fun i => E i l) (seq 1 (2 ^ N - 2)))).
  - apply expect_le_drawn; [assumption|]. intros l Hl _. rewrite Hl. right. f_equal.
    induction (seq 1 (2 ^ N - 2)) as [|i s IH]; [reflexivity|]. cbn [existsb]. rewrite IH. f_equal.
    unfold E. cbv zeta. rewrite hits_are_binomial by assumption. unfold above.
    destruct (Rlt_dec a _), (Rle_dec _ a); cbn; try reflexivity; exfalso; lra.
  - eapply Rle_trans; [apply union_bound; assumption|]. rewrite <- (seq_length (2 ^ N - 2) 1) at 2.
    induction (seq 1 (2 ^ N - 2)) as [|i s IH]; [cbn; lra|]. cbn [length]. rewrite S_INR.
    change (prob N Q m (E i) + suml s (fun i => prob N Q m (E i)) <= (INR (length s) + 1) * a).
    pose proof (tail_is_a_p_value N Q m (Nat.testbit i) a HQ Ha). unfold E at 1. lra.
Qed.

(* Whatever mechanism is made for each sample: if it keeps its promise at the priors that the sample does not contradict,
   it keeps it at the true prior, unless the sample is one of those that contradict it. *)
Theorem promise_from_counts N M m Q a (k : list nat -> nat -> nat -> R) e : prior N Q -> 0 <= a ->
  (forall l, from_above N M (k l) (fun P => prior N P /\ contradicted N P a l = false) e) ->
  prob N Q m (contradicted N Q a) <= INR (2 ^ N - 2) * a /\
  forall l, contradicted N Q a l = false -> forall x y, (x < N)%nat -> (y < M)%nat ->
    k l x y <= exp e * mean N Q (fun x' => k l x' y).
Proof.
  intros HQ Ha HK. split; [now apply draws_contradict_rarely|]. intros l Hl x y Hx Hy. now apply (HK l).
Qed.

(** * Sums of counts *)

Open Scope Z_scope.
Inductive sum_of : list Z -> Z -> Prop :=
| none : sum_of [] 0
| without x c s : sum_of c s -> sum_of (x :: c) s
| with_one x c s : sum_of c s -> sum_of (x :: c) (x + s).
Lemma sum_of_permuted c d : Permutation c d -> forall s, sum_of c s -> sum_of d s.
Proof.
  induction 1 as [|x c d P IH|x y c|c d e P IH Q IH']; intros s H; auto.
  - inversion H; subst; [apply without|apply with_one]; auto.
  - inversion H as [|? ? t H1|? ? t H1]; subst; inversion H1; subst.
    + now do 2 apply without.
    + now apply with_one, without.
    + now apply without, with_one.
    + match goal with |- sum_of _ (?a + (?b + ?c)) => replace (a + (b + c)) with (b + (a + c)) by ring end. now do 2 apply with_one.
Qed.
Lemma sum_between c s : forallb (Z.leb 0) c = true -> sum_of c s -> 0 <= s <= total c.
Proof.
  intros H. induction 1 as [|x c s H0 IH|x c s H0 IH]; [cbn; lia| |]; change (total (x :: c)) with (x + total c);
    cbn [forallb] in H; apply andb_prop in H as [L H]; apply Z.leb_le in L; specialize (IH H); lia.
Qed.
Lemma total_permuted c d : Permutation c d -> total c = total d.
Proof. unfold total. induction 1; cbn [fold_right]; lia. Qed.
Definition least (c : list Z) : Z := fold_right Z.min (total c) c.

Lemma least_of_all c x : In x c -> least c <= x.
Proof.
  unfold least. generalize (total c) as t. induction c as [|y c IH]; intros t; [intros []|]. cbn [fold_right].
  intros [->|H]; [lia|]. specialize (IH t H). lia.
Qed.

(* No sum of some of the counts, in all [whole], is between two numbers: with great counts first most cases end early. *)
Fixpoint apart (c : list Z) (whole low high : Z) : bool :=
  if (high <? 0) || (whole <? low) then true
  else match c with
  | [] => false
  | x :: c => if apart c (whole - x) low high then apart c (whole - x) (low - x) (high - x) else false
  end.
Lemma apart_ok c : forall low high, forallb (Z.leb 0) c = true -> apart c (total c) low high = true ->
  forall s, sum_of c s -> ~ low <= s <= high.
Proof.
  induction c as [|x c IH]; intros low high P H s Hs Hb; pose proof (sum_between _ _ P Hs) as B; cbn [apart] in H;
    (destruct ((high <? 0) || _) eqn:E; [apply orb_prop in E as [E|E]; apply Z.ltb_lt in E; lia|]).
  - discriminate.
  - cbn [total fold_right] in H. fold (total c) in H. replace (x + total c - x) with (total c) in H by ring.
    destruct (apart c (total c) low high) eqn:E1; [|discriminate].
    cbn [forallb] in P. apply andb_prop in P as [_ P]. inversion Hs as [|? ? ? H1|? ? ? H1]; subst.
    + now apply (IH low high P E1 s).
    + apply (IH (low - x) (high - x) P H s0); [assumption|lia].
Qed.

Module Great <: TotalLeBool.
  Definition t := Z.
  Definition leb (x y : Z) : bool := y <=? x.
  Theorem leb_total : forall x y, leb x y = true \/ leb y x = true.
  Proof. intros x y. unfold leb. rewrite !Z.leb_le. lia. Qed.
End Great.
Module GreatFirst := Sort Great.

(* Where no set but the empty and the full one has its count. *)
Definition between_sums (sorted : list Z) (whole most low high : Z) : bool :=
  if most <? low then true else apart sorted whole low (Z.min high most).

(** * The test *)

Definition support_by_sums (f : file) (m : Z) (delta : Z * positive) (l : list range) : bool :=
  match set f with
  | Ball c r d =>
    (1 <? Z.of_nat (inputs f)) && (0 <? r) && Nat.eqb (length c) (inputs f) && forallb (Z.leb 0) c && (total c =? m)
    && (let sorted := GreatFirst.sort c in let most := m - least c in
        limits (between_sums sorted m most) m (m * r) (Zpos d * 2) (fst delta) (Zpos (snd delta) * (2 ^ Z.of_nat (inputs f) - 2)) l)
  | _ => false
  end.

(** * Its proof *)

Lemma between_sums_ok c low high : forallb (Z.leb 0) c = true ->
  between_sums (GreatFirst.sort c) (total c) (total c - least c) low high = true ->
  forall s, sum_of c s -> s <= total c - least c -> ~ low <= s <= high.
Proof.
  intros P H s Hs Hm Hb. unfold between_sums in H. destruct (Z.ltb_spec (total c - least c) low) as [L|L]; [lia|].
  pose proof (GreatFirst.Permuted_sort c) as Perm. rewrite (total_permuted _ _ Perm) in H at 1.
  refine (apart_ok _ _ _ _ H s (sum_of_permuted _ _ Perm s Hs) _); [|lia].
  rewrite forallb_forall in P |- *. intros x Hx. apply P. apply Permutation_in with (2 := Hx). now apply Permutation_sym.
Qed.

(* Counts that are not negative are those of some draws. *)
Fixpoint draws_of (x : nat) (c : list Z) : list nat :=
  match c with [] => [] | k :: c => repeat x (Z.to_nat k) ++ draws_of (S x) c end.
Lemma hits_app S l l' : hits S (l ++ l') = (hits S l + hits S l')%nat.
Proof. unfold hits. now rewrite filter_app, app_length. Qed.
Lemma hits_none S l : Forall (fun x => S x = false) l -> hits S l = 0%nat.
Proof. induction 1 as [|x l H _ IH]; [reflexivity|]. now rewrite hits_cons, H, IH. Qed.
Lemma hits_all S l : Forall (fun x => S x = true) l -> hits S l = length l.
Proof. induction 1 as [|x l H _ IH]; [reflexivity|]. rewrite hits_cons, H, IH. reflexivity. Qed.
Lemma hits_same S S' l : Forall (fun x => S x = S' x) l -> hits S l = hits S' l.
Proof. induction 1 as [|x l H _ IH]; [reflexivity|]. now rewrite !hits_cons, H, IH. Qed.
Lemma hits_of_another S x l : S x = false -> (hits S l + hits (Nat.eqb x) l <= length l)%nat.
Proof.
  intros H. induction l as [|y l IH]; [cbn; lia|]. rewrite !hits_cons. cbn [length].
  destruct (Nat.eqb_spec x y) as [<-|]; [rewrite H; lia|]. destruct (S y); lia.
Qed.
Lemma draws_of_ok c : forallb (Z.leb 0) c = true -> forall x,
  Z.of_nat (length (draws_of x c)) = total c /\ Forall (fun y => (x <= y < x + length c)%nat) (draws_of x c) /\
  c = map (fun y => Z.of_nat (hits (Nat.eqb y) (draws_of x c))) (seq x (length c)).
Proof.
  induction c as [|k c IH]; intros P x; cbn [draws_of length]; [cbn; auto|].
  cbn [forallb] in P. apply andb_prop in P as [K P]. apply Z.leb_le in K. destruct (IH P (S x)) as [L [B E]].
  split; [|split].
  - rewrite app_length, repeat_length. change (total (k :: c)) with (k + total c). lia.
  - apply Forall_app. split; [|eapply Forall_impl; [|exact B]; cbn; intros; lia].
    apply Forall_forall. intros y Hy. apply repeat_spec in Hy. lia.
  - cbn [seq map]. f_equal.
    + rewrite hits_app, hits_all, repeat_length, hits_none; [lia| |].
      * eapply Forall_impl; [|exact B]. cbn. intros y Hy. apply Nat.eqb_neq. lia.
      * apply Forall_forall. intros y Hy. apply repeat_spec in Hy. subst. apply Nat.eqb_refl.
    + rewrite E at 1. apply map_ext_in. intros y Hy. apply in_seq in Hy. rewrite hits_app, (hits_none _ (repeat x _)); [reflexivity|].
      apply Forall_forall. intros z Hz. apply repeat_spec in Hz. subst. apply Nat.eqb_neq. lia.
Qed.

Lemma sum_of_set (A : nat -> bool) (g : nat -> nat) (s : list nat) : exists z, sum_of (map (fun x => Z.of_nat (g x)) s) z /\
  (IZR z = suml s (fun x => if A x then INR (g x) else 0))%R.
Proof.
  induction s as [|x s [z [Hz E]]]; [exists 0; split; [constructor|reflexivity]|]. cbn [map].
  change (suml (x :: s) (fun x => if A x then INR (g x) else 0%R))
    with ((if A x then INR (g x) else 0) + suml s (fun x => if A x then INR (g x) else 0))%R. rewrite <- E.
  destruct (A x).
  - exists (Z.of_nat (g x) + z). split; [now apply with_one|]. now rewrite plus_IZR, <- INR_IZR_INZ.
  - exists z. split; [now apply without|]. now rewrite Rplus_0_l.
Qed.
Lemma hits_are_a_sum N m c l A : drawn N m c l -> sum_of c (Z.of_nat (hits A l)).
Proof.
  intros [_ [Hf E']]. subst c. destruct (sum_of_set A (fun x => hits (Nat.eqb x) l) (seq 0 N)) as [z [Hz E]].
  rewrite <- sum_suml, <- (hits_sum N) in E by assumption. rewrite INR_IZR_INZ in E. apply eq_IZR in E. now subst.
Qed.
Lemma total_drawn N m c l : drawn N m c l -> total c = Z.of_nat m.
Proof.
  intros [<- [Hf ->]]. apply eq_IZR. rewrite <- INR_IZR_INZ, <- (hits_all (fun _ => true) l) by now apply Forall_forall.
  rewrite (hits_sum N) by assumption. rewrite sum_suml. generalize (seq 0 N) as s. induction s as [|x s IH]; [reflexivity|].
  cbn [map]. change (total ?x) with (fold_right Z.add 0 x) in *. cbn [fold_right suml] in *.
  rewrite plus_IZR, IH, <- INR_IZR_INZ. reflexivity.
Qed.

Open Scope R_scope.
Lemma shares_are_frequencies N m c l : drawn N m c l -> forall x, (x < N)%nat -> share c x = freq l x.
Proof.
  intros H x Hx. pose proof (total_drawn _ _ _ _ H) as E. destruct H as [Hl [_ ->]]. unfold share, freq.
  rewrite E, Hl, <- !INR_IZR_INZ. f_equal. rewrite (nth_indep _ 0%Z (Z.of_nat (hits (Nat.eqb 0) l)))
    by now rewrite map_length, seq_length.
  rewrite (map_nth (fun x => Z.of_nat (hits (Nat.eqb x) l))), seq_nth by assumption. cbn [Nat.add]. now rewrite INR_IZR_INZ.
Qed.
Section Counts.
Variables (N m : nat) (c : list Z) (l : list nat) (Q : nat -> R) (t a : R).
Hypothesis two_symbols : (1 < N)%nat.
Hypothesis m_is_positive : (0 < m)%nat.
Hypothesis t_is_positive : 0 < t.
Hypothesis Q_is_a_prior : prior N Q.
Hypothesis l_is_drawn : drawn N m c l.
Hypothesis small_at_sums : forall k, (k <= m)%nat -> sum_of c (Z.of_nat k) -> (Z.of_nat k <= Z.of_nat m - least c)%Z ->
  t < INR k / INR m -> tail m k (INR k / INR m - t) <= a.

Lemma least_drawn x : (x < N)%nat -> (least c <= Z.of_nat (hits (Nat.eqb x) l))%Z.
Proof.
  intros H. destruct l_is_drawn as [_ [_ E]]. apply least_of_all. rewrite E.
  apply (in_map (fun x => Z.of_nat (hits (Nat.eqb x) l))). now apply in_range.
Qed.
Lemma not_contradicted_is_near : contradicted N Q a l = false -> sum N (fun x => Rabs (Q x - freq l x)) <= 2 * t.
Proof.
  intros H. destruct (Rle_lt_dec (sum N (fun x => Rabs (Q x - freq l x))) (2 * t)) as [|F]; [assumption|exfalso].
  destruct l_is_drawn as [Hl [Hf _]]. pose proof (lt_0_INR m m_is_positive) as Rm.
  pose proof (l1_is_twice_a_set N m Q Q_is_a_prior m_is_positive l Hl Hf) as D. cbv zeta in D.
  set (A := member_of _) in D. destruct (set_number N A) as [i [Hi Hb]].
  assert (EH : hits (Nat.testbit i) l = hits A l).
  { apply hits_same. eapply Forall_impl; [|exact Hf]. cbn. intros x Hx. now apply Hb. }
  assert (EM : mass N Q (Nat.testbit i) = mass N Q A).
  { apply suml_ext. intros x Hx. apply in_range in Hx. now rewrite Hb. }
  rewrite <- EH, <- EM in D. set (k := hits (Nat.testbit i) l) in *. set (q := mass N Q (Nat.testbit i)) in *.
  pose proof (mass_in_range N Q Q_is_a_prior (Nat.testbit i)) as Rq. fold q in Rq.
  assert (Hk : (k <= m)%nat) by (rewrite <- Hl; apply hits_le_length).
  assert (Hx : exists x, (x < N)%nat /\ Nat.testbit i x = false).
  { destruct (existsb (fun x => negb (Nat.testbit i x)) (seq 0 N)) eqn:E.
    - apply existsb_exists in E as [x [Hx E]]. exists x. apply in_range in Hx. now destruct (Nat.testbit i x).
    - exfalso. assert (all : forall x, (x < N)%nat -> Nat.testbit i x = true).
      { intros x Hx. destruct (Nat.testbit i x) eqn:B; [reflexivity|]. rewrite <- E. apply existsb_exists.
        exists x. rewrite B. split; [now apply in_range|reflexivity]. }
      assert (q = 1) as Eq.
      { destruct Q_is_a_prior as [_ <-]. apply suml_ext. intros x Hx. apply in_range in Hx. now rewrite all. }
      apply le_INR in Hk. assert (INR k / INR m <= 1).
      { apply (Rmult_le_reg_r (INR m)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
      lra. }
  destruct Hx as [x [Hx Bx]].
  assert (H0 : i <> 0%nat).
  { intros ->. assert (k = 0%nat) as Ek by (apply hits_none, Forall_forall; intros; apply Nat.bits_0).
    rewrite Ek in D. cbn [INR] in D. unfold Rdiv in D. lra. }
  assert (H1 : i <> (2 ^ N - 1)%nat).
  { intros ->. rewrite Nat.sub_1_r, <- Nat.ones_equiv, Nat.ones_spec_low in Bx by assumption. discriminate. }
  assert (small : tail m k q <= a).
  { apply Rle_trans with (tail m k (INR k / INR m - t)).
    - apply tail_rises; try lra. apply le_INR in Hk. assert (INR k / INR m <= 1); [|lra].
      apply (Rmult_le_reg_r (INR m)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
    - apply small_at_sums; [assumption|eapply hits_are_a_sum; exact l_is_drawn| |lra].
      pose proof (hits_of_another _ x l Bx). pose proof (least_drawn x Hx). lia. }
  assert (C : contradicted N Q a l = true); [|congruence]. apply existsb_exists. exists i.
  split; [apply in_seq; lia|]. cbv zeta. rewrite Hl, hits_are_binomial by assumption. unfold above.
  destruct (Rlt_dec a _) as [L|L]; [|reflexivity]. fold k q in L. lra.
Qed.
End Counts.

Theorem counts_supported f m delta l : support_by_sums f m delta l = true ->
  learnt_from_counts f (Z.to_nat m) (ratio (fst delta) (snd delta)).
Proof.
  destruct delta as [a b]. unfold support_by_sums, learnt_from_counts. destruct (set f) as [c r d| | | | | |]; try discriminate.
  set (N := inputs f). cbn [fst snd]. intros H. apply andb_prop in H as [H L]. apply andb_prop in H as [H Et].
  apply andb_prop in H as [H Pc]. apply andb_prop in H as [H El]. apply andb_prop in H as [HN Hr].
  unfold limits in L. apply andb_prop in L as [L H0]. apply andb_prop in L as [L H1]. apply andb_prop in L as [L H2].
  apply andb_prop in L as [L H3]. apply andb_prop in L as [H5 H4].
  apply Z.ltb_lt in H1, H3, H4, H5, HN, Hr. apply Z.leb_le in H2. apply Z.eqb_eq in Et. apply Nat.eqb_eq in El.
  assert (two : (1 < N)%nat) by lia. destruct (sets_of_level N two) as [E2 pos].
  assert (EZ : IZR (2 ^ Z.of_nat N - 2) = 2 ^ N - 2) by (now rewrite minus_IZR, <- pow_IZR).
  pose proof (IZR_lt 0 (Zpos d) ltac:(lia)) as Rd. pose proof (IZR_lt 0 (Zpos b) ltac:(lia)) as Rb.
  pose proof (IZR_lt _ _ H5) as Rm. pose proof (IZR_lt _ _ Hr) as Rr. pose proof (IZR_le _ _ H2) as Ra.
  assert (M : INR (Z.to_nat m) = IZR m) by (rewrite INR_IZR_INZ; f_equal; lia).
  set (t := IZR r / (2 * IZR (Zpos d))).
  assert (Tpos : 0 < t) by (apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]).
  assert (Tm : IZR (m * r) / IZR (Zpos d * 2) = IZR m * t) by (unfold t; rewrite !mult_IZR; field; lra).
  assert (Elevel : ratio a b / (2 ^ N - 2) = IZR a / IZR (Zpos b * (2 ^ Z.of_nat N - 2))).
  { unfold ratio. rewrite mult_IZR, EZ. field. lra. }
  assert (Plevel : 0 <= ratio a b / (2 ^ N - 2)).
  { rewrite Elevel. apply Rmult_le_pos; [assumption|]. left. apply Rinv_0_lt_compat. now apply IZR_lt. }
  split; [|split].
  - intros Q HQ. replace (ratio a b) with (INR (2 ^ N - 2) * (ratio a b / (2 ^ N - 2))) at 2 by (rewrite E2; field; lra).
    now apply draws_contradict_rarely.
  - destruct (draws_of_ok c Pc 0) as [Hl [Hf Hc]]. exists (draws_of 0 c). rewrite El in Hf, Hc. split; [lia|split; [|exact Hc]].
    eapply Forall_impl; [|exact Hf]. cbn. intros; lia.
  - intros Q s HQ Hs Hc. split; [assumption|]. replace (ratio r d) with (2 * t) by (unfold ratio, t; field; lra).
    apply Rle_trans with (sum N (fun x => Rabs (Q x - freq s x))).
    + right. apply suml_ext. intros x Hx. apply in_range in Hx. now rewrite (shares_are_frequencies _ _ _ _ Hs).
    + apply (not_contradicted_is_near N (Z.to_nat m) c s Q t (ratio a b / (2 ^ N - 2))); auto; [lia|].
      intros k Hk Hsum Hmost Ht. rewrite M in Ht |- *.
      assert (Lt : IZR m * t < INR k).
      { apply (Rmult_lt_compat_l (IZR m)) in Ht; [|lra]. replace (IZR m * (INR k / IZR m)) with (INR k) in Ht by (field; lra). lra. }
      replace m with (Z.of_nat (Z.to_nat m)) in H0 at 3 by lia.
      pose proof (limits_ok (Z.to_nat m) (m * r) (Zpos d * 2) a (Zpos b * (2 ^ Z.of_nat N - 2)) H4 H3 H1 H2 _ l H0 k Hk) as F.
      rewrite Tm in F. specialize (F Lt). unfold bin_at in F. rewrite M in F. rewrite Elevel.
      replace (INR k / IZR m - t) with ((INR k - IZR m * t) / IZR m) by (field; lra). apply F.
      intros low high G. rewrite Z2Nat.id in Hmost by lia. rewrite <- Et in G, Hmost.
      exact (between_sums_ok c low high Pc G _ Hsum Hmost).
Qed.

(* The same for all samples: that the counts of the file are those of so many draws is tested beside the radius. *)
Definition has_counts (f : file) (m : Z) : bool :=
  match set f with
  | Ball c _ _ => (0 <? m)%Z && (Nat.eqb (length c) (inputs f) && (forallb (Z.leb 0) c && (total c =? m)%Z))
  | _ => false
  end.
Theorem samples_supported f m delta l : has_counts f m && support f m delta l = true ->
  learnt f (Z.to_nat m) (ratio (fst delta) (snd delta)).
Proof.
  intros H. apply andb_prop in H as [H L]. split; [now apply (radius_supported f m delta l)|].
  unfold has_counts in H. destruct (set f) as [c r d| | | | | |]; try discriminate.
  apply andb_prop in H as [Hm H]. apply andb_prop in H as [El H]. apply andb_prop in H as [Pc Et].
  apply Z.eqb_eq in Et. apply Nat.eqb_eq in El. apply Z.ltb_lt in Hm.
  destruct (draws_of_ok c Pc 0) as [Hl [Hf Hc]]. exists (draws_of 0 c). rewrite El in Hf, Hc. split; [lia|split; [|exact Hc]].
  eapply Forall_impl; [|exact Hf]. cbn. intros; lia.
Qed.

(** What the definitions should imply. *)
Theorem what_is_learnt_is_learnt_from_as_many_draws_as_the_counts f m delta c r d : set f = Ball c r d -> learnt f m delta ->
  total c = Z.of_nat m /\ length c = inputs f /\ forall Q, prior (inputs f) Q -> prob (inputs f) Q m (outside (inputs f) Q (ratio r d)) <= delta.
Proof.
  unfold learnt, seldom_far. intros ->. intros [H [l Hl]]. split; [now apply (total_drawn _ _ _ _ Hl)|split; [|exact H]].
  destruct Hl as [_ [_ ->]]. now rewrite map_length, seq_length.
Qed.
Theorem a_larger_delta_is_weaker f m a b : a <= b -> learnt f m a -> learnt f m b.
Proof. intros H [L D]. split; [now apply (far_draws_are_seldom_at_a_larger_delta f m a)|exact D]. Qed.
Theorem delta_bounds_the_draws_that_contradict f m delta Q : learnt_from_counts f m delta -> prior (inputs f) Q ->
  prob (inputs f) Q m (contradicted (inputs f) Q (delta / (2 ^ inputs f - 2))) <= delta.
Proof. unfold learnt_from_counts. destruct (set f); try easy. intros [H _]. apply H. Qed.
Theorem counts_are_as_many_as_the_draws f m delta c r d : set f = Ball c r d -> learnt_from_counts f m delta ->
  total c = Z.of_nat m /\ length c = inputs f /\ forall k, In k c -> (0 <= k)%Z.
Proof.
  unfold learnt_from_counts. intros ->. intros [_ [[l Hl] _]]. split; [now apply (total_drawn _ _ _ _ Hl)|].
  destruct Hl as [_ [_ ->]]. split; [now rewrite map_length, seq_length|].
  intros k Hk. apply in_map_iff in Hk as [x [<- _]]. lia.
Qed.
Theorem a_larger_delta_is_weaker_for_counts f m a b : (1 < inputs f)%nat -> 0 <= a <= b ->
  learnt_from_counts f m a -> learnt_from_counts f m b.
Proof.
  unfold learnt_from_counts. destruct (set f) as [c r d| | | | | |]; auto. intros HN Hab [_ [E H]].
  destruct (sets_of_level _ HN) as [EN pos].
  split; [|split; [exact E|]].
  - intros Q HQ. replace b with (INR (2 ^ inputs f - 2) * (b / (2 ^ inputs f - 2))) at 2 by (rewrite EN; field; lra).
    apply draws_contradict_rarely; [assumption|]. apply Rmult_le_pos; [lra|]. left. now apply Rinv_0_lt_compat.
  - intros Q l HQ Hl Hb. apply (H Q l HQ Hl).
    destruct (contradicted _ Q (a / _) l) eqn:Ea; [|reflexivity]. exfalso.
    unfold contradicted in *. apply existsb_exists in Ea as [i [Hi Ea]]. cbv zeta in Ea.
    assert (C : existsb (fun i => let S := Nat.testbit i in negb (above (b / (2 ^ inputs f - 2))
      (prob (inputs f) Q (length l) (fun l' => Nat.leb (hits S l) (hits S l'))))) (seq 1 (2 ^ inputs f - 2)) = true).
    { apply existsb_exists. exists i. split; [assumption|]. cbv zeta. unfold above in *.
      assert (a / (2 ^ inputs f - 2) <= b / (2 ^ inputs f - 2)).
      { apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|apply Hab]. }
      destruct (Rlt_dec (a / _) _); [discriminate|]. destruct (Rlt_dec (b / _) _); [lra|reflexivity]. }
    discriminate (eq_trans (eq_sym Hb) C).
Qed.
(* Draws may hit every set as often as it is likely: priors near their shares are never contradicted. *)
Theorem one_draw_leaves_2_minus_delta f c r d delta : inputs f = 2%nat -> set f = Ball c r d -> 0 <= delta < 2 ->
  learnt_from_counts f 1 delta -> 2 - delta <= ratio r d.
Proof.
  intros E S Hd L. unfold learnt_from_counts in L. rewrite S, E in L. destruct L as [_ [[l Hl] H]].
  destruct (Rle_lt_dec (2 - delta) (ratio r d)) as [|Lt]; [assumption|exfalso].
  pose proof Hl as [Len [Hf Hc]]. destruct l as [|x [|]]; try discriminate. inversion Hf as [|? ? Hx _]; subst.
  set (q := (delta / 2 + Rmin 1 (1 - ratio r d / 2)) / 2).
  assert (Hq : delta / 2 < q <= 1 /\ q < 1 - ratio r d / 2) by (unfold q, Rmin; destruct (Rle_dec _ _); lra).
  set (Q := fun y => if Nat.eqb y x then q else 1 - q).
  assert (HQ : prior 2 Q).
  { split; [intros y _; unfold Q; destruct (Nat.eqb y x); lra|]. unfold sum, Q. destruct x as [|[|]]; [| |lia]; cbn; lra. }
  assert (C : contradicted 2 Q (delta / (2 ^ 2 - 2)) [x] = false).
  { unfold contradicted, above, prob, sum, indicator, hits, Q. destruct x as [|[|]]; [| |lia]; cbn;
      repeat (destruct (Rlt_dec _ _) as [|F]; cbn; [|exfalso; apply F; lra]); reflexivity. }
  specialize (H Q [x] HQ Hl C). destruct H as [_ H]. unfold sum, share, Q, Rabs in H.
  destruct x as [|[|]]; [| |lia]; cbn in H; repeat destruct (Rcase_abs _); lra.
Qed.
