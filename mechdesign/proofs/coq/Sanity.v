(** What the definitions of [Spec] should imply, and files that [check] should take or refuse. *)
From Coq Require Import Reals List ZArith Lia Lra.
Require Import Spec ExpLow Support Check.
Import ListNotations.
Open Scope R_scope.

(** * Probabilities *)

Definition warner (e : epsilon) (low c : option epsilon) (s : priors) : file :=
  File 2 2 2 [[3; 1]; [1; 3]]%Z e low c None s.
Definition all : priors := Ball [1; 1]%Z 2 1.

Theorem entries_are_numerators_over_a_power_of_two e l c s :
  K (warner e l c s) 0 0 = 3 / 4 /\ K (warner e l c s) 0 1 = 1 / 4 /\ K (warner e l c s) 1 0 = 1 / 4.
Proof. unfold K, warner. cbn. repeat split; lra. Qed.

Theorem epsilons_are_nats_and_logarithms : nats (Nats 1 2) = 1 / 2 /\ exp (nats (Log 9 8)) = 9 / 8.
Proof. split; [reflexivity|]. cbn [nats]. unfold ratio. rewrite exp_ln; lra. Qed.

Theorem counts_are_shares_of_their_total : share [3; 1]%Z 0 = 3 / 4 /\ share [3; 1]%Z 1 = 1 / 4.
Proof. unfold share. cbn. split; lra. Qed.

Theorem a_mechanism_has_rows_that_sum_to_one N M k x : mechanism N M k -> (x < N)%nat -> sum M (k x) = 1.
Proof. intros H Hx. now apply H. Qed.
Theorem a_mechanism_has_no_negative_entry N M k x y : mechanism N M k -> (x < N)%nat -> (y < M)%nat -> 0 <= k x y.
Proof. intros H Hx Hy. now apply H. Qed.

Definition point (x y : nat) : R := if Nat.eqb y x then 1 else 0.
Lemma point_prior N x : (x < N)%nat -> prior N (point x).
Proof.
  intros H. split; [intros y _; unfold point; destruct (Nat.eqb y x); lra|].
  rewrite sum_suml. apply suml_one; [apply seq_NoDup | now apply in_range].
Qed.
Lemma point_mean N x v : (x < N)%nat -> mean N (point x) v = v x.
Proof.
  intros H. unfold mean. rewrite sum_suml, (suml_ext _ _ (fun y => if Nat.eqb y x then v x else 0)).
  - apply suml_one; [apply seq_NoDup | now apply in_range].
  - intros y _. unfold point. destruct (Nat.eqb_spec y x) as [->|]; lra.
Qed.

(** * Sets of priors *)

Lemma distance_le_2 N P Q : prior N P -> prior N Q -> sum N (fun x => Rabs (Q x - P x)) <= 2.
Proof.
  intros [HP SP] [HQ SQ]. apply Rle_trans with (sum N (fun x => Q x + P x)).
  - apply suml_le. intros x Hx. apply in_range in Hx. specialize (HP x Hx). specialize (HQ x Hx).
    unfold Rabs. destruct (Rcase_abs (Q x - P x)); lra.
  - rewrite sum_suml, suml_plus. change (sum N Q + sum N P <= 2). lra.
Qed.
Theorem radius_2_holds_every_prior N P Q : prior N P -> prior N Q -> ball N P 2 Q.
Proof. intros HP HQ. split; [assumption|]. now apply distance_le_2. Qed.
Theorem members_of_a_ball_are_priors N P r Q : ball N P r Q -> (forall x, (x < N)%nat -> 0 <= Q x) /\ sum N Q = 1.
Proof. intros H. apply H. Qed.

Lemma zero_sum {A} (l : list A) f : (forall x, In x l -> 0 <= f x) -> suml l f <= 0 -> forall x, In x l -> f x = 0.
Proof.
  induction l as [|a l IH]; intros H S x; [now intros []|].
  assert (0 <= f a) by (apply H; now left).
  assert (0 <= suml l f) by (apply suml_nonneg; intros; apply H; now right).
  change (f a + suml l f <= 0) in S. intros [<-|I]; [lra|].
  apply IH; [intros; apply H; now right | lra | assumption].
Qed.
Theorem radius_0_is_a_known_prior N P Q : ball N P 0 Q -> forall x, (x < N)%nat -> Q x = P x.
Proof.
  intros [_ H] x Hx. pose proof (zero_sum (seq 0 N) (fun x => Rabs (Q x - P x)) (fun y _ => Rabs_pos (Q y - P y)) H x) as Z.
  specialize (Z ltac:(now apply in_range)). cbv beta in Z.
  destruct (Req_dec (Q x - P x) 0) as [E|E]; [lra|]. now apply Rabs_no_R0 in E.
Qed.
Theorem a_hull_holds_its_vertices N V j : (j < length V)%nat -> hull N V (nth j V (fun _ => 0)).
Proof.
  intros H. exists (point j). split; [now apply point_prior|]. intros x _.
  symmetry. exact (point_mean (length V) j (fun i => nth i V (fun _ => 0) x) H).
Qed.
Theorem a_hull_of_one_is_a_known_prior N P Q : hull N [P] Q -> forall x, (x < N)%nat -> Q x = P x.
Proof.
  intros [w [[_ Hw] H]] x Hx. rewrite (H x Hx). cbn in *. replace (w O) with 1 by lra. ring.
Qed.
Theorem a_box_from_0_to_1_holds_every_prior N Q : prior N Q -> box N (fun _ => 0) (fun _ => 1) Q.
Proof.
  intros [H S]. split; [now split|]. intros x Hx. split; [now apply H|].
  rewrite <- S, sum_suml.
  apply Rle_trans with (suml (seq 0 N) (fun y => if Nat.eqb y x then Q x else 0));
    [right; symmetry; apply suml_one; [apply seq_NoDup | now apply in_range]|].
  apply suml_le. intros y Hy. apply in_range in Hy. specialize (H y Hy).
  destruct (Nat.eqb_spec y x) as [->|]; lra.
Qed.
Theorem a_box_keeps_both_limits N l u Q x : box N l u Q -> (x < N)%nat -> l x <= Q x /\ Q x <= u x.
Proof. intros [_ H] Hx. now apply H. Qed.
Theorem an_event_keeps_its_limit N P a g Q (S : nat -> bool) :
  events N P [(a, g)] Q -> sum N (fun x => if S x then Q x else 0) >= a * sum N (fun x => if S x then P x else 0) - g.
Proof. intros [_ H]. apply Rle_ge, H. now left. Qed.
Theorem a_ball_keeps_all_events N P r Q : sum N P = 1 -> ball N P r Q -> events N P [(1, r / 2)] Q.
Proof.
  intros SP [[HQ SQ] H]. split; [now split|]. intros a g [E|[]] S. injection E as <- <-.
  enough (2 * (mass N P S - mass N Q S) <= r) by lra. eapply Rle_trans; [|exact H].
  replace (2 * (mass N P S - mass N Q S))
    with (sum N (fun x => 2 * (if S x then P x else 0) - 2 * (if S x then Q x else 0) - P x + Q x)).
  - apply suml_le. intros x _. destruct (S x); unfold Rabs; destruct (Rcase_abs (Q x - P x)); lra.
  - unfold mass. rewrite !sum_suml in *. rewrite suml_plus, !suml_minus, !suml_scal. lra.
Qed.
Theorem a_product_of_one_symbol_is_its_factor n (A B : (nat -> R) -> Prop) Q :
  product 1 n A B Q -> (forall q, A q -> q O = 1) -> exists c, B c /\ forall j, (j < n)%nat -> Q j = c j.
Proof.
  intros [q [c [Hq [Hc H]]]] H1. exists (c O). split; [apply Hc; lia|]. intros j Hj.
  rewrite <- (Nat.add_0_l j) at 1. change (0 + j)%nat with (0 * n + j)%nat. rewrite H by lia. rewrite H1; auto. ring.
Qed.
Theorem independent_pairs_are_in_a_product m n (A B : (nat -> R) -> Prop) q c :
  A q -> B c -> product m n A B (fun x => q (x / n)%nat * c (x mod n)%nat).
Proof.
  intros Hq Hc. exists q, (fun _ => c). repeat split; auto. intros i j Hi Hj.
  rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia. now rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia.
Qed.
(* The second of a pair may depend on the first. *)
Theorem dependent_pairs_are_in_a_product n (A B : (nat -> R) -> Prop) q c : A q -> (forall i, B (c i)) -> (0 < n)%nat ->
  product 2 n A B (fun x => q (x / n)%nat * c (x / n)%nat (x mod n)%nat).
Proof.
  intros Hq Hc Hn. exists q, c. repeat split; auto. intros i j Hi Hj.
  rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia. now rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia.
Qed.
Theorem both_is_each_and_either_is_one N s t Q :
  (among N (Both s t) Q <-> among N s Q /\ among N t Q) /\ (among N (Either s t) Q <-> among N s Q \/ among N t Q).
Proof. split; reflexivity. Qed.

(** * Promises *)

Theorem radius_2_is_local_differential_privacy N M k P e : prior N P -> from_above N M k (ball N P 2) e ->
  forall x x' y, (x < N)%nat -> (x' < N)%nat -> (y < M)%nat -> k x y <= exp e * k x' y.
Proof.
  intros HP H x x' y Hx Hx' Hy.
  rewrite <- (point_mean N x' (fun x => k x y) Hx'). apply H; auto.
  apply radius_2_holds_every_prior; [assumption|now apply point_prior].
Qed.
Theorem local_differential_privacy_holds_for_every_set N M k s e : capped N M k e -> shaped N s = true ->
  from_above N M k (among N s) e /\ from_below N M k (among N s) e.
Proof.
  intros H Hs. split; intros Q HQ x y Hx Hy; pose proof (among_prior s N Q Hs HQ) as HP.
  - apply Rle_trans with (mean N Q (fun _ => k x y)); [right; symmetry; now apply mean_const|].
    rewrite <- mean_scal. apply mean_le; [assumption|]. intros x' Hx'. now apply H.
  - apply Rle_trans with (mean N Q (fun _ => k x y)); [|right; now apply mean_const].
    rewrite <- mean_scal. apply mean_le; [assumption|]. intros x' Hx'. specialize (H x' x y Hx' Hx Hy).
    rewrite exp_Ropp. pose proof (exp_pos e).
    apply (Rmult_le_reg_l (exp e)); [assumption|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l; lra.
Qed.
Theorem a_larger_epsilon_is_weaker N M k (B : (nat -> R) -> Prop) e e' :
  (forall x y, (x < N)%nat -> (y < M)%nat -> 0 <= k x y) ->
  (forall Q, B Q -> prior N Q) -> e <= e' -> from_above N M k B e -> from_above N M k B e'.
Proof.
  intros Hk HB Hee H Q HQ x y Hx Hy. eapply Rle_trans; [exact (H Q HQ x y Hx Hy)|].
  apply Rmult_le_compat_r.
  - apply suml_nonneg. intros x' Hx'. apply in_range in Hx'.
    apply Rmult_le_pos; [destruct (HB Q HQ) as [HP _]; now apply HP | now apply Hk].
  - destruct Hee as [L| ->]; [left; now apply exp_increasing | right; reflexivity].
Qed.
Theorem a_larger_set_is_stronger N M k (A B : (nat -> R) -> Prop) e :
  (forall Q, A Q -> B Q) -> from_above N M k B e -> from_above N M k A e.
Proof. intros H G Q HQ. apply G. now apply H. Qed.
Theorem a_report_that_says_nothing_keeps_every_promise N M r (B : (nat -> R) -> Prop) e : (forall Q, B Q -> prior N Q) -> 0 <= e ->
  (forall y, 0 <= r y) -> from_above N M (fun _ => r) B e /\ from_below N M (fun _ => r) B e /\ capped N M (fun _ => r) e.
Proof.
  intros HB He Hr. assert (1 <= exp e).
  { destruct He as [L| <-]; [|rewrite exp_0; lra]. pose proof (exp_ineq1 e). lra. }
  split; [|split].
  - intros Q HQ x y _ _. rewrite (mean_const N Q (r y)) by now apply HB. specialize (Hr y). nra.
  - intros Q HQ x y _ _. rewrite (mean_const N Q (r y)) by now apply HB. specialize (Hr y).
    rewrite exp_Ropp. assert (/ exp e <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra). nra.
  - intros x x' y _ _ _. specialize (Hr y). nra.
Qed.
Theorem a_promise_from_below_rules_nothing_out N M k (B : (nat -> R) -> Prop) low Q x y : from_below N M k B low -> B Q ->
  (x < N)%nat -> (y < M)%nat -> 0 < mean N Q (fun x => k x y) -> 0 < k x y.
Proof.
  intros H HQ Hx Hy Hm. eapply Rlt_le_trans; [|apply (H Q HQ x y Hx Hy)].
  apply Rmult_lt_0_compat; [apply exp_pos|assumption].
Qed.

Definition identity (e : epsilon) (s : priors) : file := File 2 2 1 [[2; 0]; [0; 2]]%Z e None None None s.
Theorem identity_breaks_every_promise_for_all_priors e : ~ promise (identity e all).
Proof.
  intros [_ [_ [H _]]].
  assert (HP : prior 2 (share [1; 1]%Z)) by now apply share_prior.
  pose proof (radius_2_is_local_differential_privacy 2 2 (K (identity e all)) _ (nats e) HP) as G.
  cbn [identity inputs outputs set all eps among] in H. replace (ratio 2 1) with 2 in H by (unfold ratio; lra).
  specialize (G H 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)). unfold K, identity in G. cbn in G. lra.
Qed.
Theorem identity_breaks_a_promise_below_log_2_for_a_known_prior e :
  exp (nats e) < 2 -> ~ promise (identity e (Ball [1; 1]%Z 0 1)).
Proof.
  intros He [_ [[Q HQ] [H _]]]. pose proof HQ as HQ'. cbn [identity inputs set among] in HQ.
  replace (ratio 0 1) with 0 in HQ by (unfold ratio; lra).
  pose proof (radius_0_is_a_known_prior 2 _ Q HQ) as E.
  specialize (H Q HQ' 0%nat 0%nat ltac:(cbn; lia) ltac:(cbn; lia)). unfold mean, sum, K, identity in H. cbn in H.
  rewrite (E 0%nat), (E 1%nat) in H by lia. unfold share in H. cbn in H. lra.
Qed.
Theorem a_promise_has_a_prior f : promise f -> exists Q, among (inputs f) (set f) Q.
Proof. intros [_ [H _]]. exact H. Qed.
Theorem a_promise_has_its_parts f : promise f ->
  mechanism (inputs f) (outputs f) (K f) /\
  (forall Q, among (inputs f) (set f) Q -> forall x y, (x < inputs f)%nat -> (y < outputs f)%nat ->
     K f x y <= exp (nats (eps f)) * mean (inputs f) Q (fun x' => K f x' y)) /\
  (forall e, lower f = Some e -> from_below (inputs f) (outputs f) (K f) (among (inputs f) (set f)) (nats e)) /\
  (forall e, cap f = Some e -> forall x x' y, (x < inputs f)%nat -> (x' < inputs f)%nat -> (y < outputs f)%nat ->
     K f x y <= exp (nats e) * K f x' y) /\
  (forall e, average f = Some e -> on_average (inputs f) (outputs f) (K f) (nats e)).
Proof.
  intros [A [_ [B [C [D G]]]]]. split; [exact A|split; [exact B|split; [|split]; intros e E; rewrite E in *]]; [exact C | exact D | exact G].
Qed.

(** * Maximal leakage *)

Lemma at_most_top N f x : (x < N)%nat -> f x <= top N f.
Proof.
  intros H. unfold top. apply in_range in H. induction (seq 0 N) as [|a l IH]; [destruct H|]. cbn. destruct H as [->|H].
  - apply Rmax_l.
  - eapply Rle_trans; [now apply IH|apply Rmax_r].
Qed.
Lemma top_positive N f : 0 <= top N f.
Proof. unfold top. induction (seq 0 N) as [|a l IH]; cbn; [apply Rle_refl|]. eapply Rle_trans; [exact IH|apply Rmax_r]. Qed.
(* Whatever the prior is, and whatever is guessed after each report: a guess is right at most e^most times as often as the
   best one without a report. *)
Theorem no_guess_gains_more N M k most Q g : mechanism N M k -> on_average N M k most -> prior N Q ->
  (forall y, (y < M)%nat -> (g y < N)%nat) -> sum M (fun y => Q (g y) * k (g y) y) <= exp most * top N Q.
Proof.
  intros Hk H [HQ _] Hg. apply Rle_trans with (sum M (fun y => top N Q * top N (fun x => k x y))).
  - rewrite !sum_suml. apply suml_le. intros y Hy. apply in_range in Hy. specialize (Hg y Hy). apply Rmult_le_compat.
    + now apply HQ.
    + now apply (Hk (g y) Hg).
    + now apply at_most_top.
    + exact (at_most_top N (fun x => k x y) (g y) Hg).
  - rewrite sum_suml, suml_scal, <- sum_suml, Rmult_comm. apply Rmult_le_compat_r; [apply top_positive|exact H].
Qed.
Theorem a_larger_average_is_weaker N M k most most' : most <= most' -> on_average N M k most -> on_average N M k most'.
Proof. intros H G. eapply Rle_trans; [exact G|]. destruct H as [H| ->]; [left; now apply exp_increasing|apply Rle_refl]. Qed.
Theorem a_cap_holds_on_average N M k c : (0 < N)%nat -> mechanism N M k -> capped N M k c -> on_average N M k c.
Proof.
  intros HN Hk H. destruct (Hk O HN) as [Hp H1]. apply Rle_trans with (sum M (fun y => exp c * k O y)).
  - rewrite !sum_suml. apply suml_le. intros y Hy. apply in_range in Hy. apply top_le.
    + apply Rmult_le_pos; [left; apply exp_pos|now apply Hp].
    + intros x Hx. now apply H.
  - rewrite sum_suml, suml_scal, <- sum_suml, H1. right. ring.
Qed.
Theorem a_promise_for_one_prior_is_one_on_average N M k (B : (nat -> R) -> Prop) e Q :
  mechanism N M k -> from_above N M k B e -> B Q -> prior N Q -> on_average N M k e.
Proof.
  intros Hk H HB HP. apply Rle_trans with (sum M (fun y => exp e * mean N Q (fun x => k x y))).
  - rewrite !sum_suml. apply suml_le. intros y Hy. apply in_range in Hy. apply top_le; [|intros x Hx; now apply H].
    apply Rmult_le_pos; [left; apply exp_pos|]. rewrite <- (mean_const N Q 0 HP). apply mean_le; [assumption|].
    intros x Hx. now apply (Hk x Hx).
  - rewrite sum_suml, suml_scal. unfold mean.
    rewrite (suml_ext _ _ (fun y => suml (seq 0 N) (fun x => Q x * k x y))) by (intros; apply sum_suml). rewrite suml_swap.
    rewrite (suml_ext (seq 0 N) _ Q).
    + rewrite <- sum_suml, (proj2 HP). right. ring.
    + intros x Hx. apply in_range in Hx. rewrite suml_scal, <- sum_suml, (proj2 (Hk x Hx)). ring.
Qed.
(* The least that may be promised on average is what the greatest entries sum to. *)
Theorem an_average_is_what_the_greatest_entries_sum_to N M k e : on_average N M k (nats e) <-> sum M (fun y => top N (fun x => k x y)) <= exp (nats e).
Proof. reflexivity. Qed.
Definition identity_on_average (e : epsilon) (s : priors) : file := File 2 2 1 [[2; 0]; [0; 2]]%Z (Log 2 1) None None (Some e) s.
Theorem identity_breaks_an_average_below_log_2 e s : exp (nats e) < 2 -> ~ promise (identity_on_average e s).
Proof.
  intros He H. apply a_promise_has_its_parts in H. destruct H as [_ [_ [_ [_ H]]]]. specialize (H e eq_refl).
  pose proof (no_guess_gains_more 2 2 (K (identity_on_average e s)) (nats e) (fun _ => / 2) (fun y => y)) as G.
  assert (Hm : mechanism 2 2 (K (identity_on_average e s))).
  { intros x Hx. split; [intros y Hy|]; destruct x as [|[|x]]; try lia; try (destruct y as [|[|y]]; try lia); unfold K, sum; cbn; lra. }
  specialize (G Hm H). assert (Hq : prior 2 (fun _ => / 2)) by (split; [intros; lra|unfold sum; cbn; lra]). specialize (G Hq (fun y Hy => Hy)).
  unfold sum, top, K in G. cbn in G. unfold Rmax in G. repeat destruct (Rle_dec _ _); lra.
Qed.

(** * Files *)

Definition is_proved (f : file) : Prop := check f = true.
Definition is_refused (f : file) : Prop := check f = false.
Definition warner_on_average (e : epsilon) : file := File 2 2 2 [[3; 1]; [1; 3]]%Z (Log 3 1) None None (Some e) all.
Definition log3 : epsilon := Log 3 1.
Definition less : epsilon := Log 2999999999 1000000000.
Definition known : priors := Ball [1; 1]%Z 0 1.
Example warner_keeps_log_3 : is_proved (warner log3 (Some log3) None all). Proof. reflexivity. Qed.
Example warner_keeps_no_less : is_refused (warner less None None all). Proof. reflexivity. Qed.
Example warner_keeps_no_less_from_below : is_refused (warner log3 (Some less) None all). Proof. reflexivity. Qed.
Example warner_keeps_a_cap : is_proved (warner (Log 3 2) None (Some log3) known). Proof. reflexivity. Qed.
Example warner_keeps_no_lower_cap : is_refused (warner (Log 3 2) None (Some less) known). Proof. reflexivity. Qed.
Example warner_leaks_log_3_halves_on_average : is_proved (warner_on_average (Log 3 2)). Proof. reflexivity. Qed.
Example warner_leaks_no_less_on_average : is_refused (warner_on_average (Log 1499999999 1000000000)). Proof. reflexivity. Qed.
Example no_negative_average_is_kept : is_refused (File 2 1 0 [[1]; [1]]%Z (Nats 1 2) None None (Some (Nats (-1) 2)) all). Proof. reflexivity. Qed.
Example warner_keeps_1_099_nats : is_proved (warner (Nats 1099 1000) None None all). Proof. reflexivity. Qed.
Example warner_keeps_no_1_098_nats : is_refused (warner (Nats 1098 1000) None None all). Proof. reflexivity. Qed.
Example a_negative_epsilon_is_refused : is_refused (File 2 1 0 [[1]; [1]]%Z (Nats (-1) 2) None None None all).
Proof. reflexivity. Qed.
Example a_row_that_sums_to_more_is_refused : is_refused (File 2 2 2 [[3; 1]; [2; 3]]%Z log3 None None None all).
Proof. reflexivity. Qed.
Example a_negative_entry_is_refused : is_refused (File 2 2 2 [[5; -1]; [1; 3]]%Z log3 None None None known).
Proof. reflexivity. Qed.
Example no_symbol_is_refused : is_refused (File 0 0 0 [] log3 None None None (Hull [])). Proof. reflexivity. Qed.
Example no_symbol_in_a_prior_is_refused : is_refused (File 0 1 0 [] log3 None None None (Hull [[]])). Proof. reflexivity. Qed.
Example no_report_is_refused : is_refused (File 2 0 0 [[]; []] log3 None None None all). Proof. reflexivity. Qed.
Example counts_of_nobody_are_refused : is_refused (warner log3 None None (Ball [0; 0]%Z 2 1)). Proof. reflexivity. Qed.
Example a_report_beyond_the_last_is_refused : is_refused (File 2 1 2 [[3; 1]; [3; 1]]%Z log3 None None None all). Proof. reflexivity. Qed.
Example an_input_beyond_the_last_is_refused : is_refused (File 1 1 0 [[1]; [1]]%Z log3 None None None (Hull [[1]]%Z)). Proof. reflexivity. Qed.
Example a_negative_radius_is_refused : is_refused (warner log3 None None (Ball [1; 1]%Z (-1) 1)). Proof. reflexivity. Qed.
Example sets_that_do_not_meet_are_refused : is_refused (warner log3 None None (Both (Ball [1; 1] 0 1) (Box [3; 0] [4; 1] 4)))%Z.
Proof. reflexivity. Qed.
Example one_of_two_sets_without_members_is_refused : is_refused (warner log3 None None (Either known (Box [3; 3] [4; 4] 5)))%Z.
Proof. reflexivity. Qed.
Example a_box_without_members_is_refused : is_refused (warner log3 None None (Box [3; 3] [4; 4] 5)%Z).
Proof. reflexivity. Qed.
Example a_box_with_members_is_proved : is_proved (warner log3 None None (Box [2; 2] [4; 4] 5)%Z).
Proof. reflexivity. Qed.
Example a_hull_is_proved : is_proved (warner (Log 12 7) None None (Hull [[3; 1]; [1; 1]; [2; 2]])%Z) -> False.
Proof. discriminate. Qed.
Example a_hull_of_equal_totals_is_proved : is_proved (warner (Log 2 1) None None (Hull [[3; 1]; [2; 2]; [1; 3]])%Z).
Proof. reflexivity. Qed.
Example events_and_both_and_either_are_proved : is_proved
  (warner (Log 12 5) None None (Either (Both (Ball [1; 1] 1 1) (Box [1; 1] [3; 3] 4)) (Events [1; 1] [(2, 1)] 2)))%Z
  -> False.
Proof. discriminate. Qed.
Example a_smaller_either_is_proved : is_proved
  (warner (Log 2 1) (Some (Log 5 2)) None
     (Either (Both (Ball [1; 1] 1 1) (Box [1; 1] [3; 3] 4)) (Events [1; 1] [(4, 1)] 4)))%Z.
Proof. reflexivity. Qed.
Definition four : file := File 4 4 4 [[9; 3; 3; 1]; [3; 9; 1; 3]; [3; 1; 9; 3]; [1; 3; 3; 9]]%Z
  (Log 9 2) None None None (Pairs 2 all 2 known).
Example pairs_are_proved : is_proved four. Proof. reflexivity. Qed.
