(** A test in integers that proves what a file promises about a secret: [secret_check_correct]. *)
From Coq Require Import Reals List ZArith Bool Lia Lra.
Require Import Spec ExpLow Support Check SpecSecret.
Import ListNotations.
Open Scope Z_scope.

(** * The test *)

(* Of a set with the bound (D, h): an integer above D <Q, v> for every prior Q. *)
Definition greatest_mean (b : Z * (list Z -> Z)) (v : list Z) : Z :=
  let top := greatest v in top * fst b - snd b (map (Z.sub top) v).
(* Means of a column given each value, over one denominator. *)
Definition common (bs : list (Z * (list Z -> Z))) : Z := fold_right (fun b m => Z.lcm (fst b) m) 1 bs.
Definition least_means (bs : list (Z * (list Z -> Z))) (v : list Z) : list Z :=
  map (fun b => snd b v * (common bs / fst b)) bs.
Definition greatest_means (bs : list (Z * (list Z -> Z))) (v : list Z) : list Z :=
  map (fun b => greatest_mean b v * (common bs / fst b)) bs.
Fixpoint replaced (s : nat) (a : Z) (l : list Z) : list Z :=
  match l, s with [], _ => [] | _ :: l, O => a :: l | b :: l, S s => b :: replaced s a l end.

(* The values of the secret at which a column fails. The lift of s is greatest where the mean given s is greatest, and
   that given every other value least. *)
Definition fails_above (e : Z * Z) (o : Z * (list Z -> Z)) (low high : list Z) : list nat :=
  filter (fun s => negb (at_ high s * fst o * snd e <=? fst e * snd o (replaced s (at_ high s) low))) (seq 0 (length low)).
Definition fails_below (e : Z * Z) (o : Z * (list Z -> Z)) (low high : list Z) : list nat :=
  filter (fun s => negb (greatest_mean o (replaced s (at_ low s) high) * snd e <=? fst e * fst o * at_ low s))
    (seq 0 (length low)).
Definition secret_bounds (f : secret_file) : (Z * (list Z -> Z)) * list (Z * (list Z -> Z)) :=
  (bound (values f) (secret_law f), map (bound (data_inputs f)) (given f)).
Definition at_least_1 (e : Z * Z) : bool := snd e <=? fst e.
(* The values at which the columns fail; where the cap fails, the number of the values. *)
Definition secret_tests (f : secret_file) : list Z -> list nat :=
  let b := secret_bounds f in
  let e := below_exp (secret_eps f) in
  let less := match secret_lower f with None => (0, 0) | Some l => below_exp l end in
  let most := if_any (data_cap f) cap_holds in
  fun v => let low := least_means (snd b) v in let high := greatest_means (snd b) v in
    fails_above e (fst b) low high
    ++ match secret_lower f with None => [] | Some _ => fails_below less (fst b) low high end
    ++ (if most v then [] else [values f]).
Definition is_empty {A} (l : list A) : bool := match l with [] => true | _ => false end.
Definition secret_shaped (f : secret_file) : bool :=
  proper (secret_eps f)
  && match secret_lower f with None => true | Some l => proper l && at_least_1 (below_exp l) end
  && shaped (values f) (secret_law f) && inhabited (values f) (secret_law f)
  && forallb (fun s => shaped (data_inputs f) s && inhabited (data_inputs f) s) (given f).
Definition secret_check (f : secret_file) : bool :=
  let t := secret_tests f in
  Nat.eqb (length (data_rows f)) (data_inputs f)
  && forallb (right_row (data_outputs f) (2 ^ Z.of_nat (data_bits f))) (data_rows f)
  && secret_shaped f
  && match data_average f with None => true
     | Some e => average_holds (2 ^ Z.of_nat (data_bits f)) e (map (fun y => greatest (column (data_rows f) y)) (seq 0 (data_outputs f))) end
  && forallb (fun y => is_empty (t (column (data_rows f) y))) (seq 0 (data_outputs f)).

(* For people: the outputs that break the promise, each with a value of the secret at which it does; after them, one output
   more if the greatest entries of all break it together. *)
Definition secret_refused (f : secret_file) : list (nat * nat) :=
  let t := secret_tests f in
  flat_map (fun y => match t (column (data_rows f) y) with [] => [] | s :: _ => [(y, s)] end) (seq 0 (data_outputs f))
  ++ match data_average f with None => []
     | Some e => if average_holds (2 ^ Z.of_nat (data_bits f)) e (map (fun y => greatest (column (data_rows f) y)) (seq 0 (data_outputs f)))
       then [] else [(data_outputs f, O)] end.

(** * Its proof *)

Open Scope R_scope.

Lemma greatest_mean_sound N s b v Q : sound N s b -> shaped N s = true -> length v = N -> among N s Q ->
  IZR (fst b) * mean N Q (real v) <= IZR (greatest_mean b v).
Proof.
  intros [HD HB] Hs Hl HQ. pose proof (among_prior s N Q Hs HQ) as HP.
  specialize (HB Q HQ (map (Z.sub (greatest v)) v) ltac:(now rewrite map_length)).
  assert (Hf : mean N Q (real (map (Z.sub (greatest v)) v)) = IZR (greatest v) - mean N Q (real v)).
  { rewrite <- (mean_const N Q (IZR (greatest v)) HP) at 1. unfold mean at 2 3. rewrite !sum_suml, <- suml_minus.
    apply suml_ext. intros y Hy. apply in_range in Hy. unfold real, at_.
    rewrite (nth_indep _ 0%Z (greatest v - 0)%Z) by now rewrite map_length, Hl.
    rewrite (map_nth (Z.sub (greatest v))), minus_IZR. ring. }
  rewrite Hf in HB. unfold greatest_mean. rewrite minus_IZR, mult_IZR. lra.
Qed.

Lemma common_pos bs : (forall b, In b bs -> (0 < fst b)%Z) -> (0 < common bs)%Z.
Proof.
  induction bs as [|b bs IH]; intros H; [reflexivity|]. cbn [common fold_right].
  assert (0 < common bs)%Z by (apply IH; intros; apply H; now right).
  specialize (H b (or_introl eq_refl)). pose proof (Z.lcm_nonneg (fst b) (common bs)) as L.
  assert (Z.lcm (fst b) (common bs) <> 0)%Z by (intros E; apply Z.lcm_eq_0 in E; lia). unfold common in *. lia.
Qed.
Lemma common_divided bs b : In b bs -> (fst b | common bs)%Z.
Proof.
  induction bs as [|c bs IH]; intros []; cbn [common fold_right].
  - subst. apply Z.divide_lcm_l.
  - eapply Z.divide_trans; [now apply IH|]. apply Z.divide_lcm_r.
Qed.
Lemma common_parts bs b : (forall b, In b bs -> (0 < fst b)%Z) -> In b bs ->
  0 < IZR (common bs / fst b) /\ IZR (common bs) = IZR (common bs / fst b) * IZR (fst b).
Proof.
  intros H Hb. pose proof (common_pos bs H) as P. destruct (common_divided bs b Hb) as [k E].
  specialize (H b Hb). rewrite E, Z.div_mul by lia. rewrite <- mult_IZR. split; [|reflexivity]. apply IZR_lt. nia.
Qed.

Lemma replaced_length s a l : length (replaced s a l) = length l.
Proof. revert s. induction l as [|b l IH]; intros [|s]; cbn; auto. Qed.
Lemma at_replaced s a l t : (s < length l)%nat -> at_ (replaced s a l) t = if Nat.eqb t s then a else at_ l t.
Proof.
  revert s t. induction l as [|b l IH]; intros s t H; cbn in H; [lia|].
  destruct s as [|s], t as [|t]; cbn [replaced]; try reflexivity. unfold at_ in *. cbn [nth Nat.eqb].
  apply IH. lia.
Qed.

Lemma mean_changed T p f s c : (s < T)%nat ->
  mean T p (fun t => if Nat.eqb t s then c else f t) = mean T p f + p s * (c - f s).
Proof.
  intros H. unfold mean. rewrite !sum_suml.
  rewrite <- (suml_one (seq 0 T) s (p s * (c - f s))), <- suml_plus by (apply seq_NoDup || now apply in_range).
  apply suml_ext. intros t _. destruct (Nat.eqb_spec t s) as [->|]; ring.
Qed.
Lemma part_of_mean T p f s : prior T p -> (s < T)%nat -> (forall t, (t < T)%nat -> 0 <= f t) -> p s * f s <= mean T p f.
Proof.
  intros HP H Hf. pose proof (mean_changed T p f s 0 H) as E.
  enough (0 <= mean T p (fun t => if Nat.eqb t s then 0 else f t)) by lra.
  rewrite <- (mean_const T p 0 HP) at 1. apply mean_le; [assumption|]. intros t Ht.
  destruct (Nat.eqb t s); [lra|now apply Hf].
Qed.

(* A number is at most the exponential times another where an integer test says so. *)
Lemma test_above H D q T X w : 0 < D -> 0 < q -> 0 <= w -> T <= q * X -> H * D * q <= T * (D * w) -> H <= X * w.
Proof.
  intros HD Hq Hw HT G. apply (Rmult_le_compat_r (D * w)) in HT; [|apply Rmult_le_pos; lra].
  apply (Rmult_le_reg_r (D * q)); [now apply Rmult_lt_0_compat|]. lra.
Qed.
(* m is the mean of the a's, H an upper limit of E a at one of them, whose probability is p. *)
Lemma lift_above E X H a m p : 0 < E -> 0 < X -> 0 <= a -> p * a <= m -> E * a <= H ->
  H <= X * (E * m + p * (H - E * a)) -> a <= X * m.
Proof.
  intros HE HX Ha Hm HH G. destruct (Rle_lt_dec 1 (X * p)) as [L|L].
  - apply (Rmult_le_compat_r a) in L; [|assumption]. apply (Rmult_le_compat_l X) in Hm; lra.
  - apply (Rmult_le_compat_r (1 - X * p)) in HH; [|lra]. apply (Rmult_le_reg_l E); [assumption|]. lra.
Qed.
(* L is a lower limit of E a at one of them. *)
Lemma lift_below E X L a m p q T D w : 0 < E -> 0 < D -> 0 < q -> 0 <= a -> 0 <= p -> p <= 1 -> L <= E * a ->
  q <= T -> T <= q * X -> w = E * m + p * (L - E * a) -> D * w * q <= T * D * L -> m <= X * a.
Proof.
  intros HE HD Hq Ha Hp Hp1 HL H1 HT -> G. apply (Rmult_le_reg_l (q * E)); [now apply Rmult_lt_0_compat|].
  assert (G' : (E * m + p * (L - E * a)) * q <= T * L) by (apply (Rmult_le_reg_l D); lra).
  assert (p * q <= T) by (apply Rle_trans with (1 * q); [apply Rmult_le_compat_r; lra|lra]).
  apply (Rmult_le_compat_l (T - p * q)) in HL; [|lra].
  apply (Rmult_le_compat_r (E * a)) in HT; [|apply Rmult_le_pos; lra]. lra.
Qed.

Section Column.
Variables (T N : nat) (law : priors) (sets : list priors) (p : nat -> R) (A : nat -> nat -> R) (v : list Z).
Hypothesis T_is : T = length sets.
Hypothesis law_shaped : shaped T law = true.
Hypothesis sets_shaped : forall s, In s sets -> shaped N s = true.
Hypothesis p_among : among T law p.
Hypothesis A_among : forall s, (s < T)%nat -> among N (nth s sets (Hull [])) (A s).
Hypothesis v_length : length v = N.
Hypothesis v_positive : forall x, 0 <= real v x.

Let bs := map (bound N) sets.
Let E := common bs.
Let o := bound T law.
Let a (s : nat) : R := mean N (A s) (real v).

Lemma bs_positive b : In b bs -> (0 < fst b)%Z.
Proof. intros H. apply in_map_iff in H. destruct H as [s [<- H]]. now apply bound_sound, sets_shaped. Qed.
Lemma E_positive : 0 < IZR E. Proof. apply IZR_lt, common_pos, bs_positive. Qed.
Lemma p_prior : prior T p. Proof. now apply (among_prior law). Qed.
Lemma A_prior s : (s < T)%nat -> prior N (A s).
Proof. intros H. apply (among_prior (nth s sets (Hull []))); [apply sets_shaped, nth_In; lia|now apply A_among]. Qed.
Lemma a_positive s : (s < T)%nat -> 0 <= a s.
Proof. intros H. unfold a. rewrite <- (mean_const N (A s) 0) by now apply A_prior. apply mean_le; [now apply A_prior|auto]. Qed.

Lemma means_between s : (s < T)%nat ->
  IZR (at_ (least_means bs v) s) <= IZR E * a s /\ IZR E * a s <= IZR (at_ (greatest_means bs v) s).
Proof.
  intros H. set (t := nth s sets (Hull [])). assert (Ht : In t sets) by (apply nth_In; lia).
  assert (Hb : In (bound N t) bs) by now apply in_map.
  destruct (common_parts bs _ bs_positive Hb) as [P Ec]. fold E in P, Ec. pose proof (sets_shaped t Ht) as Hs.
  pose proof (bound_sound t N Hs) as B. pose proof (A_among s H) as HA. fold t in HA.
  assert (G : forall g, at_ (map (fun b => g b v * (E / fst b))%Z bs) s = (g (bound N t) v * (E / fst (bound N t)))%Z).
  { intros g. unfold at_, bs. rewrite map_map.
    rewrite (nth_indep _ 0%Z ((fun s => (g (bound N s) v * (E / fst (bound N s)))%Z) (Hull [])))
      by (rewrite map_length; lia).
    exact (map_nth (fun s => (g (bound N s) v * (E / fst (bound N s)))%Z) sets (Hull []) s). }
  unfold least_means, greatest_means. fold E. rewrite (G (fun b => snd b)), (G greatest_mean), !mult_IZR, Ec.
  set (r := IZR (E / fst (bound N t))) in *. split.
  - destruct B as [_ B]. specialize (B (A s) HA v v_length). apply (Rmult_le_compat_r r) in B; [|lra]. unfold a. lra.
  - pose proof (greatest_mean_sound N t _ v (A s) B Hs v_length HA) as L.
    apply (Rmult_le_compat_r r) in L; [|lra]. unfold a. lra.
Qed.

Lemma lengths : length (least_means bs v) = T /\ length (greatest_means bs v) = T.
Proof. unfold least_means, greatest_means, bs. now rewrite !map_length. Qed.
Lemma passes test s : (s < T)%nat -> filter (fun s => negb (test s)) (seq 0 T) = [] -> test s = true.
Proof.
  intros Hs Hf. destruct (test s) eqn:F; [reflexivity|exfalso]. assert (In s []) as [].
  rewrite <- Hf. apply filter_In. split; [now apply in_range|]. now rewrite F.
Qed.
Lemma share_at_most_1 s : (s < T)%nat -> 0 <= p s /\ p s <= 1.
Proof.
  intros Hs. pose proof p_prior as [Hp _]. split; [now apply Hp|].
  pose proof (part_of_mean T p (fun _ => 1) s p_prior Hs) as G. rewrite (mean_const T p 1 p_prior) in G.
  specialize (G ltac:(intros; lra)). lra.
Qed.

Lemma secret_above_sound e s : proper e = true -> (s < T)%nat ->
  fails_above (below_exp e) o (least_means bs v) (greatest_means bs v) = [] -> a s <= exp (nats e) * mean T p a.
Proof.
  intros He Hs Hf. destruct lengths as [Ll _]. set (low := least_means bs v) in *. set (high := greatest_means bs v) in *.
  destruct (below_exp_sound e He) as [_ [Ho HX]]. destruct (bound_sound law T law_shaped) as [HD HB].
  fold o in HD, HB. apply IZR_lt in HD, Ho. unfold fails_above in Hf. rewrite Ll in Hf.
  apply (passes (fun s => _) s Hs) in Hf. set (u := replaced s (at_ high s) low) in Hf.
  assert (Hu : length u = T) by (unfold u; now rewrite replaced_length).
  apply Z.leb_le, IZR_le in Hf. rewrite !mult_IZR in Hf. specialize (HB p p_among u Hu).
  assert (Hm : mean T p (real u) <= IZR E * mean T p a + p s * (real high s - IZR E * a s)).
  { apply Rle_trans with (mean T p (fun t => if Nat.eqb t s then real high s else IZR E * a t)).
    - apply mean_le; [apply p_prior|]. intros t Ht. unfold real at 1. unfold u. rewrite at_replaced by lia.
      destruct (Nat.eqb t s); [apply Rle_refl|]. now apply means_between.
    - rewrite (mean_changed T p (fun t => IZR E * a t) s) by assumption. rewrite mean_scal. apply Rle_refl. }
  destruct (means_between s Hs) as [_ Hh]. fold high in Hh. change (IZR (at_ high s)) with (real high s) in *.
  pose proof (part_of_mean T p a s p_prior Hs a_positive) as Hpart.
  destruct (share_at_most_1 s Hs) as [Hp _]. pose proof (a_positive s Hs) as Ha. pose proof E_positive as HE.
  apply (lift_above (IZR E) (exp (nats e)) (real high s) (a s) (mean T p a) (p s)); auto; [apply exp_pos|].
  assert (0 <= mean T p a) by (eapply Rle_trans; [|exact Hpart]; now apply Rmult_le_pos).
  apply (test_above _ (IZR (fst o)) (IZR (snd (below_exp e))) (IZR (fst (below_exp e)))); auto.
  - apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
  - eapply Rle_trans; [exact Hf|]. destruct (below_exp_sound e He) as [HT _]. apply IZR_le in HT.
    apply Rmult_le_compat_l; [assumption|]. eapply Rle_trans; [exact HB|]. apply Rmult_le_compat_l; lra.
Qed.

Lemma secret_below_sound e s : proper e = true -> at_least_1 (below_exp e) = true -> (s < T)%nat ->
  fails_below (below_exp e) o (least_means bs v) (greatest_means bs v) = [] -> exp (- nats e) * mean T p a <= a s.
Proof.
  intros He H1 Hs Hf. destruct lengths as [Ll Lh]. set (low := least_means bs v) in *. set (high := greatest_means bs v) in *.
  destruct (below_exp_sound e He) as [_ [Ho HX]]. pose proof (bound_sound law T law_shaped) as HB. fold o in HB.
  pose proof (proj1 HB) as HD. apply IZR_lt in HD, Ho. unfold fails_below in Hf. rewrite Ll in Hf.
  apply (passes (fun s => _) s Hs) in Hf. set (u := replaced s (at_ low s) high) in Hf.
  assert (Hu : length u = T) by (unfold u; now rewrite replaced_length).
  apply Z.leb_le, IZR_le in Hf. rewrite !mult_IZR in Hf.
  pose proof (greatest_mean_sound T law o u p HB law_shaped Hu p_among) as G.
  assert (Hm : IZR E * mean T p a + p s * (real low s - IZR E * a s) <= mean T p (real u)).
  { apply Rle_trans with (mean T p (fun t => if Nat.eqb t s then real low s else IZR E * a t)).
    - rewrite (mean_changed T p (fun t => IZR E * a t) s) by assumption. rewrite mean_scal. apply Rle_refl.
    - apply mean_le; [apply p_prior|]. intros t Ht. unfold real at 2. unfold u. rewrite at_replaced by lia.
      destruct (Nat.eqb t s); [apply Rle_refl|]. now apply means_between. }
  destruct (means_between s Hs) as [Hh _]. fold low in Hh. change (IZR (at_ low s)) with (real low s) in *.
  destruct (share_at_most_1 s Hs) as [Hp Hp1]. pose proof (a_positive s Hs) as Ha. pose proof E_positive as HE.
  unfold at_least_1 in H1. apply Z.leb_le, IZR_le in H1.
  enough (mean T p a <= exp (nats e) * a s) as Hend.
  { rewrite exp_Ropp. pose proof (exp_pos (nats e)) as Hexp. apply (Rmult_le_reg_l (exp (nats e))); [assumption|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. exact Hend. }
  eapply (lift_below (IZR E) _ (real low s) (a s) _ (p s) (IZR (snd (below_exp e))) (IZR (fst (below_exp e))) (IZR (fst o)));
    eauto. eapply Rle_trans; [|exact Hf]. apply Rmult_le_compat_r; [lra|].
  eapply Rle_trans; [|exact G]. apply Rmult_le_compat_l; lra.
Qed.
End Column.

Lemma laws_for (l : list priors) N : forallb (fun s => shaped N s && inhabited N s) l = true ->
  exists A, forall s, (s < length l)%nat -> among N (nth s l (Hull [])) (A s).
Proof.
  induction l as [|t l IH]; intros H; [exists (fun _ _ => 0); cbn; lia|]. cbn [forallb] in H. split_bools.
  destruct (IH H0) as [A HA]. destruct (inhabited_sound t N H H1) as [Q HQ].
  exists (fun s => match s with O => Q | S s => A s end). intros [|s] Hs; cbn in *; [exact HQ|]. apply HA. lia.
Qed.

Lemma app_nil {B} (l m : list B) : is_empty (l ++ m) = true -> l = [] /\ m = [].
Proof. destruct l; [destruct m; [now split|discriminate]|discriminate]. Qed.

Theorem secret_check_correct : forall f, secret_check f = true -> secret_promise f.
Proof.
  intros f H. unfold secret_check, secret_shaped in H. apply andb_prop in H as [H Hcolumns].
  apply andb_prop in H as [H Haverage]. apply andb_prop in H as [H Hshaped]. apply andb_prop in H as [H Hrows]. apply andb_prop in Hshaped as [Hshaped Hgiven].
  apply andb_prop in Hshaped as [Hshaped Hmember]. apply andb_prop in Hshaped as [Hshaped Hlaw].
  apply andb_prop in Hshaped as [Hproper Hlower]. apply Nat.eqb_eq in H. rewrite forallb_forall in Hrows, Hcolumns.
  set (N := data_inputs f) in *. set (T := values f) in *. set (P := 2 ^ data_bits f).
  assert (HP : 0 < P) by (apply pow_lt; lra). assert (HI : 0 <= / P) by (left; now apply Rinv_0_lt_compat).
  assert (EP : IZR (2 ^ Z.of_nat (data_bits f)) = P) by (rewrite <- pow_IZR; reflexivity).
  assert (EK : forall x y, data_K f x y = / P * real (column (data_rows f) y) x).
  { intros x y. unfold data_K, real. rewrite at_column. unfold at_. fold P. unfold Rdiv. ring. }
  assert (Hrow : forall x, (x < N)%nat ->
      right_row (data_outputs f) (2 ^ Z.of_nat (data_bits f)) (nth x (data_rows f) []) = true)
    by (intros x Hx; apply Hrows, nth_In; lia).
  assert (Hpos : forall y x, 0 <= real (column (data_rows f) y) x).
  { intros y x. unfold real. rewrite at_column. destruct (Nat.lt_ge_cases x N) as [L|L].
    - specialize (Hrow x L). unfold right_row in Hrow. split_bools. now apply IZR_le, forallb_at.
    - rewrite nth_overflow by lia. unfold at_. destruct y; apply Rle_refl. }
  assert (Hlen : forall y, length (column (data_rows f) y) = N) by (intros; unfold column; now rewrite map_length).
  assert (HS : forall s, In s (given f) -> shaped N s = true)
    by (intros s Hs; rewrite forallb_forall in Hgiven; specialize (Hgiven s Hs); now split_bools).
  assert (ER : forall A s y, report_given N (data_K f) A s y = / P * mean N (A s) (real (column (data_rows f) y))).
  { intros A s y. unfold report_given. rewrite <- mean_scal. apply mean_ext. intros; apply EK. }
  assert (EM : forall p A y, report T N (data_K f) p A y
      = / P * mean T p (fun s => mean N (A s) (real (column (data_rows f) y)))).
  { intros p A y. unfold report. rewrite <- mean_scal. apply mean_ext. intros; apply ER. }
  assert (HC : forall y, (y < data_outputs f)%nat -> let v := column (data_rows f) y in
      let b := map (bound N) (given f) in let low := least_means b v in let high := greatest_means b v in
      fails_above (below_exp (secret_eps f)) (bound T (secret_law f)) low high = [] /\
      match secret_lower f with None => True
      | Some l => fails_below (below_exp l) (bound T (secret_law f)) low high = [] end /\
      match data_cap f with None => True | Some c => proper c = true /\ cap_holds (below_exp c) v = true end).
  { intros y Hy v b low high. specialize (Hcolumns y ltac:(now apply in_range)). unfold secret_tests in Hcolumns.
    cbn [secret_bounds fst snd] in Hcolumns. apply app_nil in Hcolumns. destruct Hcolumns as [H0 H9].
    apply (f_equal is_empty) in H9. apply app_nil in H9. destruct H9 as [H9 H10]. split; [exact H0|split].
    - destruct (secret_lower f); [exact H9|exact I].
    - destruct (data_cap f) as [c|]; [|exact I]. unfold if_any in H10. fold v in H10. destruct (proper c); [|discriminate].
      split; [reflexivity|]. now destruct (cap_holds _ v). }
  split; [|split; [|split; [|split; [|split]]]].
  - intros x Hx. specialize (Hrow x Hx). unfold right_row in Hrow. apply andb_prop in Hrow as [Hrow H9]. apply andb_prop in Hrow as [H8 _].
    apply Nat.eqb_eq in H8. apply Z.eqb_eq in H9. split.
    + intros y Hy. rewrite EK. now apply Rmult_le_pos.
    + unfold data_K. fold P. unfold Rdiv. rewrite sum_suml, suml_scal_r, <- sum_suml.
      rewrite <- (total_positions _ _ H8), H9, EP. field. lra.
  - destruct (inhabited_sound (secret_law f) T) as [p Hp]; auto. destruct (laws_for (given f) N Hgiven) as [A HA].
    exists p, A. now split.
  - intros p A [Hp HA] s y Hs Hy. destruct (HC y Hy) as [G _]. rewrite EM, ER.
    pose proof (secret_above_sound T N (secret_law f) (given f) p A (column (data_rows f) y) eq_refl Hlaw HS Hp HA
      (Hlen y) (Hpos y) (secret_eps f) s Hproper Hs G) as L. apply (Rmult_le_compat_l (/ P)) in L; lra.
  - destruct (secret_lower f) as [e|]; [|exact I]. intros p A [Hp HA] s y Hs Hy. destruct (HC y Hy) as [_ [G _]].
    rewrite EM, ER. apply andb_prop in Hlower as [He H7].
    pose proof (secret_below_sound T N (secret_law f) (given f) p A (column (data_rows f) y) eq_refl Hlaw HS Hp HA
      (Hlen y) (Hpos y) e s He H7 Hs G) as L. apply (Rmult_le_compat_l (/ P)) in L; lra.
  - destruct (data_cap f) as [c|]; [|exact I]. intros x x' y Hx Hx' Hy. destruct (HC y Hy) as [_ [_ [Hc G]]]. rewrite !EK.
    pose proof (cap_sound c _ (Hpos y) Hc G x x' ltac:(now rewrite Hlen)) as L.
    apply (Rmult_le_compat_l (/ P)) in L; lra.
  - destruct (data_average f) as [e|]; [|exact I]. destruct (tops_are (data_rows f) (data_outputs f)) as [Lt Ht].
    rewrite <- Lt at 1. apply (average_sound (2 ^ Z.of_nat (data_bits f))); [now apply Z.pow_pos_nonneg; lia|intros y; apply Ht| |exact Haverage].
    rewrite Lt. intros x y _ Hy. rewrite EK, EP. apply Rmult_le_compat_l; [assumption|]. apply IZR_le. now apply Ht.
Qed.
