(** The sign of one step: where P[Bin(n, (k - T)/n) >= k] rises from k to k + 1, and where it falls. *)
From Coq Require Import Reals List ZArith Lia Lra.
Require Import Spec ExpLow Delta Tail.
Open Scope R_scope.

Lemma tail_derivative n : forall k u, derivable_pt_lim (tail (S n) (S k)) u (INR (S n) * pmf n k u).
Proof.
  assert (rule : forall f g u a b, derivable_pt_lim f u a -> derivable_pt_lim g u b ->
    derivable_pt_lim (fun u => u * f u + (1 - u) * g u) u (1 * f u + u * a + ((0 - 1) * g u + (1 - u) * b))).
  { intros f g u a b Hf Hg. apply (derivable_pt_lim_plus (fun u => u * f u) (fun u => (1 - u) * g u)).
    - apply (derivable_pt_lim_mult (fun u => u) f); [apply derivable_pt_lim_id | exact Hf].
    - apply (derivable_pt_lim_mult (fun u => 1 - u) g); [|exact Hg].
      apply (derivable_pt_lim_minus (fun _ => 1) (fun u => u)); [apply derivable_pt_lim_const | apply derivable_pt_lim_id]. }
  induction n as [|n IH]; intros k u.
  - pose proof (rule (tail 0 k) (tail 0 (S k)) u 0 0) as H.
    replace (INR 1 * pmf 0 k u) with (1 * tail 0 k u + u * 0 + ((0 - 1) * tail 0 (S k) u + (1 - u) * 0))
      by (destruct k; cbn; ring).
    apply H; destruct k; apply derivable_pt_lim_const.
  - destruct k as [|k].
    + pose proof (rule (fun _ => 1) (tail (S n) 1) u 0 _ (derivable_pt_lim_const 1 u) (IH O u)) as H.
      replace (INR (S (S n)) * pmf (S n) 0 u)
        with (1 * 1 + u * 0 + ((0 - 1) * tail (S n) 1 u + (1 - u) * (INR (S n) * pmf n 0 u))); [exact H|].
      pose proof (tail_step (S n) u 0) as E. rewrite tail_0 in E. rewrite (S_INR (S n)).
      transitivity ((1 - tail (S n) 1 u) + INR (S n) * ((1 - u) * pmf n 0 u)); [ring|]. replace (1 - tail (S n) 1 u) with (pmf (S n) 0 u) by lra. cbn [pmf]. ring.
    + pose proof (rule _ _ u _ _ (IH k u) (IH (S k) u)) as H.
      replace (INR (S (S n)) * pmf (S n) (S k) u) with
        (1 * tail (S n) (S k) u + u * (INR (S n) * pmf n k u)
         + ((0 - 1) * tail (S n) (S (S k)) u + (1 - u) * (INR (S n) * pmf n (S k) u))); [exact H|].
      rewrite (tail_step (S n) u (S k)), (S_INR (S n)). cbn [pmf]. ring.
Qed.

(* What the derivative bounds. *)
Lemma grows f f' a b : a <= b -> (forall c, a <= c <= b -> derivable_pt_lim f c (f' c)) ->
  (forall c, a <= c <= b -> 0 <= f' c) -> f a <= f b.
Proof.
  intros L D P. destruct (Req_dec a b) as [->|N]; [lra|]. assert (H : a < b) by lra. destruct (MVT_cor2 f f' a b H D) as [c [E B]].
  assert (0 <= f' c * (b - a)) by (apply Rmult_le_pos; [apply P|]; lra). lra.
Qed.

(* exp (a polynomial) times another, with its derivative. *)
Lemma derivable_exp_times g g' h h' y : derivable_pt_lim g y g' -> derivable_pt_lim h y h' ->
  derivable_pt_lim (fun y => exp (g y) * h y) y (exp (g y) * g' * h y + exp (g y) * h').
Proof.
  intros Hg Hh. apply (derivable_pt_lim_mult (fun y => exp (g y)) h); [|exact Hh].
  apply (derivable_pt_lim_comp g exp); [exact Hg|apply derivable_pt_lim_exp].
Qed.
Lemma derivable_cubic a b c d y :
  derivable_pt_lim (fun y => a + b * y + c * (y * y) + d * (y * y * y)) y (b + 2 * c * y + 3 * d * (y * y)).
Proof.
  assert (I : derivable_pt_lim (fun y => y) y 1) by apply derivable_pt_lim_id.
  assert (S : derivable_pt_lim (fun y => y * y) y (1 * y + y * 1)) by now apply (derivable_pt_lim_mult (fun y => y) (fun y => y)).
  assert (C : derivable_pt_lim (fun y => y * y * y) y ((1 * y + y * 1) * y + y * y * 1))
    by now apply (derivable_pt_lim_mult (fun y => y * y) (fun y => y)).
  replace (b + 2 * c * y + 3 * d * (y * y))
    with (0 + b * 1 + c * (1 * y + y * 1) + d * ((1 * y + y * 1) * y + y * y * 1)) by ring.
  apply (derivable_pt_lim_plus (fun y => a + b * y + c * (y * y)) (fun y => d * (y * y * y)));
    [|now apply (derivable_pt_lim_scal (fun y => y * y * y))].
  apply (derivable_pt_lim_plus (fun y => a + b * y) (fun y => c * (y * y)));
    [|now apply (derivable_pt_lim_scal (fun y => y * y))].
  apply (derivable_pt_lim_plus (fun _ => a) (fun y => b * y)); [apply derivable_pt_lim_const|].
  now apply (derivable_pt_lim_scal (fun y => y)).
Qed.

Lemma exp_at_least_1 a b y (f f' : R -> R) : f 0 = 1 -> a = 0 -> b = y -> a <= b ->
  (forall c, a <= c <= b -> derivable_pt_lim f c (f' c)) -> (forall c, a <= c <= b -> 0 <= f' c) -> 1 <= f y.
Proof. intros E -> -> H D P. rewrite <- E. now apply (grows f f'). Qed.

Lemma exp_cancel a b c : 1 <= exp (- a + b) * c -> exp (a - b) <= c.
Proof.
  intros H. replace (- a + b) with (- (a - b)) in H by ring. rewrite exp_Ropp in H.
  apply (Rmult_le_compat_l (exp (a - b))) in H; [|left; apply exp_pos].
  rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r in H; [exact H|]. apply Rgt_not_eq, exp_pos.
Qed.

Lemma above_1_plus y : 0 <= y -> exp (y - y * y / 2) <= 1 + y.
Proof.
  intros Hy. apply exp_cancel.
  set (g := fun y => 0 + (-1) * y + (1 / 2) * (y * y) + 0 * (y * y * y)).
  set (h := fun y => 1 + 1 * y + 0 * (y * y) + 0 * (y * y * y)).
  replace (exp (- y + y * y / 2) * (1 + y)) with (exp (g y) * h y) by (unfold g, h; f_equal; [f_equal|]; field).
  apply (exp_at_least_1 0 y y (fun y => exp (g y) * h y)
    (fun y => exp (g y) * (-1 + 2 * (1 / 2) * y + 3 * 0 * (y * y)) * h y + exp (g y) * (1 + 2 * 0 * y + 3 * 0 * (y * y)))); auto.
  - unfold g, h. replace (0 + _ + _ + _) with 0 at 1 by ring. rewrite exp_0. ring.
  - intros c _. apply derivable_exp_times; apply derivable_cubic.
  - intros c Hc. unfold h. replace (_ + _) with (exp (g c) * (c * c)) by field.
    apply Rmult_le_pos; [left; apply exp_pos|]. apply Rmult_le_pos; lra.
Qed.
Lemma above_1_minus y z : 0 <= y <= z -> z < 1 -> exp (- y - y * y / (2 * (1 - z))) <= 1 - y.
Proof.
  intros Hy Hz. replace (- y - y * y / (2 * (1 - z))) with ((- y) - (y * y / (2 * (1 - z)))) by ring.
  apply exp_cancel. set (a := / (2 * (1 - z))).
  set (g := fun y => 0 + 1 * y + a * (y * y) + 0 * (y * y * y)).
  set (h := fun y => 1 + (-1) * y + 0 * (y * y) + 0 * (y * y * y)).
  replace (exp (- - y + y * y / (2 * (1 - z))) * (1 - y)) with (exp (g y) * h y)
    by (unfold g, h, a; f_equal; [f_equal|]; field; lra).
  apply (exp_at_least_1 0 y y (fun y => exp (g y) * h y)
    (fun y => exp (g y) * (1 + 2 * a * y + 3 * 0 * (y * y)) * h y + exp (g y) * (-1 + 2 * 0 * y + 3 * 0 * (y * y)))); auto; [|lra| |].
  - unfold g, h. replace (0 + _ + _ + _) with 0 at 1 by ring. rewrite exp_0. ring.
  - intros c _. apply derivable_exp_times; apply derivable_cubic.
  - intros c Hc. unfold h.
    assert (A : 2 * a * (1 - z) = 1) by (unfold a; field; lra).
    assert (0 < a) by (apply Rinv_0_lt_compat; lra).
    replace (_ + _) with (exp (g c) * (c * (2 * a * (1 - z) - 1 + 2 * a * (z - c)))) by ring.
    apply Rmult_le_pos; [left; apply exp_pos|]. apply Rmult_le_pos; [lra|]. rewrite A.
    assert (0 <= 2 * a * (z - c)) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma exp_below y z : 0 <= y <= z -> z < 3 -> exp y <= 1 + y + y * y / 2 + y * y * y / (6 - 2 * z).
Proof.
  intros Hy Hz. replace y with (y - 0) at 1 by ring. apply exp_cancel. set (a := / (6 - 2 * z)).
  set (g := fun y => 0 + (-1) * y + 0 * (y * y) + 0 * (y * y * y)).
  set (h := fun y => 1 + 1 * y + (1 / 2) * (y * y) + a * (y * y * y)).
  replace (exp (- y + 0) * _) with (exp (g y) * h y) by (unfold g, h, a; f_equal; [f_equal|]; field; lra).
  apply (exp_at_least_1 0 y y (fun y => exp (g y) * h y)
    (fun y => exp (g y) * (-1 + 2 * 0 * y + 3 * 0 * (y * y)) * h y + exp (g y) * (1 + 2 * (1 / 2) * y + 3 * a * (y * y)))); auto; [|lra| |].
  - unfold g, h. replace (0 + _ + _ + _) with 0 at 1 by ring. rewrite exp_0. ring.
  - intros c _. apply derivable_exp_times; apply derivable_cubic.
  - intros c Hc. unfold h.
    assert (A : a * (6 - 2 * z) = 1) by (unfold a; field; lra).
    assert (0 < a) by (apply Rinv_0_lt_compat; lra).
    replace (_ + _) with (exp (g c) * (c * c) * ((a * (6 - 2 * z) - 1) / 2 + a * (z - c))) by field.
    rewrite A. apply Rmult_le_pos; [apply Rmult_le_pos; [left; apply exp_pos|apply Rmult_le_pos; lra]|].
    assert (0 <= a * (z - c)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma pow_at_most a b k : 0 <= a -> a <= exp b -> a ^ k <= exp (INR k * b).
Proof.
  intros Ha H. induction k as [|k IH]; [cbn; rewrite Rmult_0_l, exp_0; lra|].
  rewrite S_INR. replace ((INR k + 1) * b) with (b + INR k * b) by ring. rewrite exp_plus. cbn [pow].
  apply Rmult_le_compat; auto. now apply pow_le.
Qed.
Lemma pow_at_least a b k : exp b <= a -> exp (INR k * b) <= a ^ k.
Proof.
  intros H. induction k as [|k IH]; [cbn; rewrite Rmult_0_l, exp_0; lra|].
  rewrite S_INR. replace ((INR k + 1) * b) with (b + INR k * b) by ring. rewrite exp_plus. cbn [pow].
  apply Rmult_le_compat; auto; left; apply exp_pos.
Qed.
Lemma pmf_gt n q : 0 < q < 1 -> forall k, (k <= n)%nat -> 0 < pmf n k q.
Proof.
  intros Hq. induction n as [|n IH]; intros [|k] Hk; cbn [pmf]; try lia; [lra| |].
  - apply Rmult_lt_0_compat; [lra|apply IH; lia].
  - apply Rplus_lt_le_0_compat; [apply Rmult_lt_0_compat; [lra|apply IH; lia]|].
    apply Rmult_le_pos; [lra|apply pmf_pos; lra].
Qed.

Section Step.
Variables (p k : nat) (T : R).
Hypothesis k_in_range : (k <= p)%nat.
Hypothesis T_in_range : 0 < T < INR k.
Let n := INR (S p).
Let x := INR k - T.
Let w := n - INR k + T.
Let b := pmf p k (x / n).
Let m := T / x + (T + 1) / w.
Definition bin_at (n k : nat) (T : R) : R := tail n k ((INR k - T) / INR n).

Lemma k_below_n : INR k + 1 <= n.
Proof. unfold n. rewrite S_INR. apply Rplus_le_compat_r. now apply le_INR. Qed.
Lemma ranges : 0 < n /\ 0 < x < n /\ 1 < w /\ x + w = n.
Proof. pose proof k_below_n. unfold w, x in *. lra. Qed.
Lemma m_is_the_slope : m = INR k / x - INR (p - k) / w.
Proof.
  pose proof ranges. unfold m. rewrite minus_INR by assumption. replace (INR p) with (n - 1) by (unfold n; rewrite S_INR; ring).
  replace (INR k) with (x + T) at 1 by (unfold x; ring). replace (n - 1 - INR k) with (w - T - 1) by (unfold w; ring).
  field. lra.
Qed.
Lemma m_pos : 0 < m.
Proof.
  pose proof ranges. unfold m. apply Rplus_lt_0_compat; apply Rmult_lt_0_compat; try apply Rinv_0_lt_compat; lra.
Qed.
Lemma weights_between s : 0 <= s <= 1 ->
  pmf p k ((x + s) / n) = b * ((1 + s / x) ^ k * (1 - s / w) ^ (p - k)).
Proof.
  intros Hs. pose proof ranges as [N [X [W E]]]. pose proof (IZR_lt _ _ (factorial_pos k)) as P.
  apply (Rmult_eq_reg_l (IZR (factorial k))); [|lra]. unfold b.
  assert (lt1 : forall y, y < n -> y / n < 1).
  { intros y Hy. apply (Rmult_lt_reg_r n); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  rewrite <- Rmult_assoc, !pmf_closed; try assumption; try (apply lt1; lra).
  replace ((x + s) / n) with (x / n * (1 + s / x)) by (field; lra).
  replace (1 - x / n * (1 + s / x)) with ((1 - x / n) * (1 - s / w)) by (rewrite <- E; field; lra).
  rewrite !Rpow_mult_distr. ring.
Qed.
Lemma one_step : bin_at (S p) (S k) T - bin_at (S p) k T
  = (tail (S p) (S k) ((x + 1) / n) - tail (S p) (S k) (x / n)) - b * (1 + T / (n - INR k)).
Proof.
  pose proof ranges as [N [X [W E]]]. pose proof k_below_n as L. unfold bin_at. fold n. fold x.
  replace ((INR (S k) - T) / n) with ((x + 1) / n) by (rewrite S_INR; unfold x; f_equal; ring).
  rewrite (tail_step (S p) (x / n) k). pose proof (pmf_wider p k (x / n)) as H. fold n b in H.
  assert (x / n <> 0) by (apply Rgt_not_eq, Rmult_lt_0_compat; [lra|now apply Rinv_0_lt_compat]).
  specialize (H H0). replace (pmf (S p) k (x / n)) with (b * (1 + T / (n - INR k))); [ring|].
  apply (Rmult_eq_reg_l (n - INR k)); [|lra]. rewrite H.
  replace (n * (1 - x / n)) with w by (rewrite <- E; field; lra). unfold w. field. lra.
Qed.
(* The difference of the tails is an integral: it is compared with a polynomial a s + b s^2 + c s^3 + d s^4 + e s^5. *)
Definition primitive (a b c d e s : R) : R := s * (a + s * (b + s * (c + s * (d + s * e)))).
Definition density (a b c d e s : R) : R := a + s * (2 * b + s * (3 * c + s * (4 * d + s * (5 * e)))).
Lemma primitive_derivative a1 a2 a3 a4 a5 s : derivable_pt_lim (primitive a1 a2 a3 a4 a5) s (density a1 a2 a3 a4 a5 s).
Proof.
  assert (rule : forall c f l, derivable_pt_lim f s l -> derivable_pt_lim (fun s => c + s * f s) s (0 + (1 * f s + s * l))).
  { intros c f l H. apply (derivable_pt_lim_plus (fun _ => c) (fun s => s * f s)); [apply derivable_pt_lim_const|].
    apply (derivable_pt_lim_mult (fun s => s) f); [apply derivable_pt_lim_id|exact H]. }
  pose proof (rule 0 _ _ (rule a1 _ _ (rule a2 _ _ (rule a3 _ _ (rule a4 _ _ (derivable_pt_lim_const a5 s)))))) as H.
  apply (derivable_pt_lim_ext (fun s => 0 + s * (a1 + s * (a2 + s * (a3 + s * (a4 + s * a5)))))); [intros; unfold primitive; ring|].
  replace (density a1 a2 a3 a4 a5 s) with
    (0 + (1 * (a1 + s * (a2 + s * (a3 + s * (a4 + s * a5)))) + s * (0 + (1 * (a2 + s * (a3 + s * (a4 + s * a5)))
     + s * (0 + (1 * (a3 + s * (a4 + s * a5)) + s * (0 + (1 * (a4 + s * a5) + s * (0 + (1 * a5 + s * 0))))))))));
    [exact H|]. unfold density. ring.
Qed.
Lemma tail_derivative_between s : derivable_pt_lim (fun s => tail (S p) (S k) ((x + s) / n)) s (pmf p k ((x + s) / n)).
Proof.
  pose proof ranges as [N _].
  assert (L : derivable_pt_lim (fun s => (x + s) / n) s (/ n)).
  { replace (/ n) with (/ n * (0 + 1)) by ring.
    apply (derivable_pt_lim_ext (fun s => / n * (x + s))); [intros; unfold Rdiv; ring|].
    apply (derivable_pt_lim_scal (fun s => x + s)), (derivable_pt_lim_plus (fun _ => x) (fun s => s));
      [apply derivable_pt_lim_const|apply derivable_pt_lim_id]. }
  replace (pmf p k ((x + s) / n)) with (INR (S p) * pmf p k ((x + s) / n) * / n) by (fold n; field; lra).
  apply (derivable_pt_lim_comp (fun s => (x + s) / n) (tail (S p) (S k))); [exact L|apply tail_derivative].
Qed.
Lemma tails_apart (sign : R) a1 a2 a3 a4 a5 :
  (forall s, 0 <= s <= 1 -> 0 <= sign * (density a1 a2 a3 a4 a5 s - (1 + s / x) ^ k * (1 - s / w) ^ (p - k))) ->
  0 <= sign * (b * primitive a1 a2 a3 a4 a5 1 - (tail (S p) (S k) ((x + 1) / n) - tail (S p) (S k) (x / n))).
Proof.
  intros H. set (f := fun s => sign * (b * primitive a1 a2 a3 a4 a5 s - tail (S p) (S k) ((x + s) / n))).
  assert (G : f 0 <= f 1).
  { apply (grows f (fun s => sign * (b * density a1 a2 a3 a4 a5 s - pmf p k ((x + s) / n)))); [lra| |].
    - intros s _. apply (derivable_pt_lim_scal (fun s => b * primitive a1 a2 a3 a4 a5 s - tail (S p) (S k) ((x + s) / n))).
      apply (derivable_pt_lim_minus (fun s => b * primitive a1 a2 a3 a4 a5 s) (fun s => tail (S p) (S k) ((x + s) / n)));
        [|apply tail_derivative_between].
      apply (derivable_pt_lim_scal (primitive a1 a2 a3 a4 a5)), primitive_derivative.
    - intros s Hs. rewrite weights_between by assumption. specialize (H s Hs).
      pose proof ranges as [N [X _]].
      assert (0 <= b).
      { apply pmf_pos. split; [apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]|].
        apply (Rmult_le_reg_r n); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
      replace (sign * _) with (b * (sign * (density a1 a2 a3 a4 a5 s - (1 + s / x) ^ k * (1 - s / w) ^ (p - k)))) by ring.
      now apply Rmult_le_pos. }
  unfold f in G. rewrite Rplus_0_r in G. replace (primitive a1 a2 a3 a4 a5 0) with 0 in G by (unfold primitive; ring). lra.
Qed.
Lemma b_pos : 0 < b.
Proof.
  pose proof ranges as [N [X _]]. apply pmf_gt; [|assumption].
  split; [apply Rmult_lt_0_compat; [lra|now apply Rinv_0_lt_compat]|].
  apply (Rmult_lt_reg_r n); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Theorem it_falls M : m <= M -> M < 3 -> M / 2 + M * M / 6 + M * M * M / (24 - 8 * M) < T / (n - INR k) ->
  bin_at (S p) (S k) T < bin_at (S p) k T.
Proof.
  intros HM H3 H. pose proof ranges as [N [X [W E]]]. pose proof m_pos as Hm. pose proof b_pos as Hb.
  pose proof (tails_apart 1 1 (M / 2) (M * M / 6) (M * M * M / (24 - 8 * M)) 0) as A.
  assert (B : forall s, 0 <= s <= 1 -> (1 + s / x) ^ k * (1 - s / w) ^ (p - k)
     <= density 1 (M / 2) (M * M / 6) (M * M * M / (24 - 8 * M)) 0 s).
  { intros s Hs.
    assert (0 <= s / x) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
    assert (s / w <= 1).
    { apply (Rmult_le_reg_r w); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    apply Rle_trans with (exp (INR k * (s / x)) * exp (INR (p - k) * (- (s / w)))).
    - apply Rmult_le_compat; try (apply pow_le; lra); apply pow_at_most; try lra; [apply exp_ineq1_le|].
      pose proof (exp_ineq1_le (- (s / w))). lra.
    - rewrite <- exp_plus. replace (_ + _) with (m * s) by (rewrite m_is_the_slope; field; lra).
      assert (m * s <= M * s) by (apply Rmult_le_compat_r; lra).
      assert (M * s <= M) by (rewrite <- (Rmult_1_r M) at 2; apply Rmult_le_compat_l; lra).
      assert (0 <= M * s) by (apply Rmult_le_pos; lra).
      apply Rle_trans with (exp (M * s)).
      { destruct (Req_dec (m * s) (M * s)) as [->|]; [lra|]. left. apply exp_increasing. lra. }
      eapply Rle_trans; [apply (exp_below (M * s) M); lra|].
      right. unfold density. field. lra. }
  specialize (A ltac:(intros s Hs; specialize (B s Hs); lra)). pose proof one_step as D.
  apply (Rmult_lt_compat_l b) in H; [|assumption].
  unfold primitive in A. fold n in D, H, A. lra.
Qed.

Theorem it_rises m' C : INR k / (x * x) + INR (p - k) / (w * (w - 1)) <= C -> 0 < m' <= m -> C <= 2 * m' ->
  T / (n - INR k) < m' / 2 + m' * m' / 6 + m' * m' * m' / 24 - C * (1 / 6 + m' / 8 + m' * m' / 20) ->
  bin_at (S p) k T < bin_at (S p) (S k) T.
Proof.
  intros HC Hm' H2 H. pose proof ranges as [N [X [W E]]]. pose proof m_pos as Hm. pose proof b_pos as Hb.
  assert (Cpos : 0 <= C).
  { eapply Rle_trans; [|exact HC]. pose proof (pos_INR k). pose proof (pos_INR (p - k)).
    apply Rplus_le_le_0_compat; apply Rmult_le_pos; try assumption; left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra. }
  set (c2 := m' / 2). set (c3 := (m' * m' - C) / 6). set (c4 := (m' * m' * m' / 6 - m' * C / 2) / 4). set (c5 := - (m' * m' * C) / 20).
  pose proof (tails_apart (-1) 1 c2 c3 c4 c5) as A.
  assert (B : forall s, 0 <= s <= 1 -> density 1 c2 c3 c4 c5 s <= (1 + s / x) ^ k * (1 - s / w) ^ (p - k)).
  { intros s Hs.
    assert (0 <= s / x) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
    assert (0 <= s / w) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
    assert (s / w <= / w) by (unfold Rdiv; rewrite <- (Rmult_1_l (/ w)) at 2; apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat|]; lra).
    assert (/ w < 1) by (rewrite <- Rinv_1; apply Rinv_lt_contravar; lra).
    pose proof (above_1_plus (s / x) ltac:(lra)) as U. pose proof (above_1_minus (s / w) (/ w) ltac:(lra) ltac:(lra)) as V.
    apply (pow_at_least _ _ k) in U. apply (pow_at_least _ _ (p - k)) in V.
    set (y := m' * s - C * (s * s) / 2).
    apply Rle_trans with (exp y).
    - assert (Sp : 0 <= s * s) by (apply Rmult_le_pos; lra).
      assert (S1 : s * s <= s) by (rewrite <- (Rmult_1_r s) at 3; apply Rmult_le_compat_l; lra).
      assert (Ypos : 0 <= y).
      { unfold y. assert (C * (s * s) <= 2 * m' * (s * s)) by (apply Rmult_le_compat_r; lra).
        assert (m' * (s * s) <= m' * s) by (apply Rmult_le_compat_l; lra). lra. }
      pose proof (series_below 2 y Ypos) as Y. cbn [series] in Y.
      assert (D : C * s / 2 <= m').
      { assert (C * s <= 2 * m' * s) by (apply Rmult_le_compat_r; lra).
        assert (m' * s <= m') by (rewrite <- (Rmult_1_r m') at 2; apply Rmult_le_compat_l; lra). lra. }
      assert (D0 : 0 <= C * s / 2) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
      set (d := C * s / 2) in *.
      assert (Q2 : m' * m' * (s * s) - m' * C * (s * s * s) <= y * y).
      { replace y with (s * (m' - d)) by (unfold y, d; field).
        replace (s * (m' - d) * (s * (m' - d))) with (m' * m' * (s * s) - m' * (2 * d) * (s * s) + (s * s) * (d * d)) by ring.
        replace (m' * C * (s * s * s)) with (m' * (2 * d) * (s * s)) by (unfold d; field).
        assert (0 <= s * s * (d * d)) by (apply Rmult_le_pos; [|apply Rmult_le_pos]; assumption). lra. }
      assert (Q3 : m' * m' * m' * (s * s * s) - 3 / 2 * (m' * m' * C) * (s * s * s * s) <= y * y * y).
      { replace y with (s * (m' - d)) by (unfold y, d; field).
        replace (s * (m' - d) * (s * (m' - d)) * (s * (m' - d)))
          with (s * s * s * (m' * m' * m') - s * s * s * (3 * (m' * m') * d) + s * s * s * (d * d * (3 * m' - d))) by ring.
        replace (3 / 2 * (m' * m' * C) * (s * s * s * s)) with (s * s * s * (3 * (m' * m') * d)) by (unfold d; field).
        assert (0 <= s * s * s * (d * d * (3 * m' - d))).
        { apply Rmult_le_pos; [apply Rmult_le_pos; [assumption|lra]|].
          apply Rmult_le_pos; [apply Rmult_le_pos; assumption|lra]. }
        lra. }
      replace (1 + y / 1 * (1 + y / (1 + 1) * (1 + y / (1 + 1 + 1) * 1))) with (1 + y + y * y / 2 + y * y * y / 6) in Y by field.
      eapply Rle_trans; [|exact Y]. unfold density, c2, c3, c4, c5.
      replace y with (m' * s - C * (s * s) / 2) at 1 by reflexivity.
      replace (1 + _) with (1 + (m' * s - C * (s * s) / 2) + (m' * m' * (s * s) - m' * C * (s * s * s)) / 2
        + (m' * m' * m' * (s * s * s) - 3 / 2 * (m' * m' * C) * (s * s * s * s)) / 6) at 1 by field. lra.
    - eapply Rle_trans; [|apply Rmult_le_compat; [left; apply exp_pos|left; apply exp_pos|exact U|exact V]].
      rewrite <- exp_plus.
      assert (L : y <= INR k * (s / x - s / x * (s / x) / 2) + INR (p - k) * (- (s / w) - s / w * (s / w) / (2 * (1 - / w)))).
      { replace (INR k * _ + _) with (m * s - (INR k / (x * x) + INR (p - k) / (w * (w - 1))) * (s * s) / 2)
          by (rewrite m_is_the_slope; field; lra).
        unfold y. assert (m' * s <= m * s) by (apply Rmult_le_compat_r; lra).
        assert ((INR k / (x * x) + INR (p - k) / (w * (w - 1))) * (s * s) <= C * (s * s))
          by (apply Rmult_le_compat_r; [apply Rmult_le_pos|]; lra). lra. }
      destruct (Req_dec y (INR k * (s / x - s / x * (s / x) / 2) + INR (p - k) * (- (s / w) - s / w * (s / w) / (2 * (1 - / w))))) as [<-|];
        [lra|]. left. apply exp_increasing. lra. }
  specialize (A ltac:(intros s Hs; specialize (B s Hs); lra)). pose proof one_step as D.
  apply (Rmult_lt_compat_l b) in H; [|assumption].
  replace (primitive 1 c2 c3 c4 c5 1) with (1 + (m' / 2 + m' * m' / 6 + m' * m' * m' / 24 - C * (1 / 6 + m' / 8 + m' * m' / 20))) in A
    by (unfold primitive, c2, c3, c4, c5; field).
  fold n in D, H, A. lra.
Qed.
End Step.
