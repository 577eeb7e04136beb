(** What the definitions of [SpecSecret] should imply, and files that [secret_check] should take or refuse. *)
From Coq Require Import Reals List ZArith Lia Lra.
Require Import Spec ExpLow Support Check Sanity SpecSecret Secret.
Import ListNotations.
Open Scope R_scope.

Definition is_symbol (s : nat) (Q : nat -> R) : Prop := forall x, Q x = point s x.
Theorem a_secret_that_is_the_data_has_the_promise_of_the_data N M k (B : (nat -> R) -> Prop) e :
  (secret_above N N M k (joint N N B is_symbol) e <-> from_above N M k B e) /\
  (secret_below N N M k (joint N N B is_symbol) e <-> from_below N M k B e).
Proof.
  assert (E : forall A s y, (s < N)%nat -> (forall s, (s < N)%nat -> is_symbol s (A s)) -> report_given N k A s y = k s y).
  { intros A s y Hs HA. unfold report_given. rewrite <- (point_mean N s (fun x => k x y) Hs) at 1.
    apply suml_ext. intros x _. now rewrite HA. }
  assert (R : forall p A y, (forall s, (s < N)%nat -> is_symbol s (A s)) -> report N N k p A y = mean N p (fun x => k x y))
    by (intros p A y HA; apply mean_ext; intros s Hs; now apply E).
  split; split; intros H.
  - intros Q HQ x y Hx Hy. specialize (H Q point (conj HQ (fun s _ z => eq_refl)) x y Hx Hy). now rewrite E, R in H by easy.
  - intros p A [Hp HA] s y Hs Hy. rewrite E, R by easy. now apply H.
  - intros Q HQ x y Hx Hy. specialize (H Q point (conj HQ (fun s _ z => eq_refl)) x y Hx Hy). now rewrite E, R in H by easy.
  - intros p A [Hp HA] s y Hs Hy. rewrite E, R by easy. now apply H.
Qed.
(* The promise is about the secret alone. *)
Theorem a_secret_of_which_the_data_tell_nothing_is_kept_by_every_mechanism T N M k (J : (nat -> R) -> (nat -> nat -> R) -> Prop) e :
  0 <= e -> mechanism N M k -> (forall p A, J p A -> prior T p /\ prior N (A O) /\ forall s, A s = A O) -> secret_above T N M k J e.
Proof.
  intros He Hk HJ p A H s y Hs Hy. destruct (HJ p A H) as [Hp [HA E]].
  assert (R : report T N k p A y = report_given N k A O y).
  { unfold report. rewrite <- (mean_const T p (report_given N k A O y) Hp). apply mean_ext. intros t _.
    unfold report_given. now rewrite E. }
  rewrite R. unfold report_given. rewrite E.
  assert (0 <= mean N (A O) (fun x => k x y)).
  { rewrite <- (mean_const N (A O) 0 HA). apply mean_le; [assumption|]. intros x Hx. now apply Hk. }
  assert (1 <= exp e) by (destruct He as [L| <-]; [pose proof (exp_ineq1 e); lra|rewrite exp_0; lra]). nra.
Qed.
Definition mixture (T : nat) (p : nat -> R) (A : nat -> nat -> R) (x : nat) : R := mean T p (fun s => A s x).
Theorem a_report_has_its_probability_under_the_law_of_the_data T N k p A y :
  report T N k p A y = mean N (mixture T p A) (fun x => k x y).
Proof.
  unfold report, report_given, mixture, mean. rewrite !sum_suml.
  rewrite (suml_ext _ (fun s => p s * _) (fun s => suml (seq 0 N) (fun x => p s * A s x * k x y))).
  - rewrite suml_swap. apply suml_ext. intros x _. rewrite sum_suml, <- suml_scal_r. reflexivity.
  - intros s _. rewrite sum_suml, <- suml_scal. apply suml_ext. intros. ring.
Qed.
(* Whoever reads less of the data reads less of the secret. *)
Theorem a_promise_about_the_data_is_one_about_the_secret T N M k (B : (nat -> R) -> Prop) (J : (nat -> R) -> (nat -> nat -> R) -> Prop) e :
  from_above N M k B e -> (forall p A, J p A -> B (mixture T p A) /\ forall s, (s < T)%nat -> prior N (A s)) ->
  secret_above T N M k J e.
Proof.
  intros H HJ p A HA s y Hs Hy. destruct (HJ p A HA) as [HB HP]. specialize (HP s Hs).
  rewrite a_report_has_its_probability_under_the_law_of_the_data. unfold report_given.
  rewrite <- (mean_const N (A s) (exp e * mean N (mixture T p A) (fun x => k x y)) HP).
  apply mean_le; [assumption|]. intros x Hx. now apply H.
Qed.
Theorem a_larger_epsilon_of_a_secret_is_weaker T N M k (J : (nat -> R) -> (nat -> nat -> R) -> Prop) e e' :
  mechanism N M k -> (forall p A, J p A -> prior T p /\ forall s, (s < T)%nat -> prior N (A s)) -> e <= e' ->
  secret_above T N M k J e -> secret_above T N M k J e'.
Proof.
  intros Hk HJ He H p A HA s y Hs Hy. eapply Rle_trans; [exact (H p A HA s y Hs Hy)|]. destruct (HJ p A HA) as [Hp HP].
  apply Rmult_le_compat_r.
  - unfold report. rewrite <- (mean_const T p 0 Hp). apply mean_le; [assumption|]. intros t Ht. specialize (HP t Ht).
    unfold report_given. rewrite <- (mean_const N (A t) 0 HP) at 1. apply mean_le; [assumption|]. intros x Hx. now apply Hk.
  - destruct He as [L| ->]; [left; now apply exp_increasing | right; reflexivity].
Qed.
Theorem more_joint_laws_are_stronger T N M k (J J' : (nat -> R) -> (nat -> nat -> R) -> Prop) e :
  (forall p A, J p A -> J' p A) -> (secret_above T N M k J' e -> secret_above T N M k J e)
  /\ (secret_below T N M k J' e -> secret_below T N M k J e).
Proof. intros H. split; intros G p A HA; apply G; now apply H. Qed.
Theorem a_secret_from_below_rules_no_value_out T N M k (J : (nat -> R) -> (nat -> nat -> R) -> Prop) low p A s y :
  secret_below T N M k J low -> J p A -> (s < T)%nat -> (y < M)%nat -> 0 < report T N k p A y -> 0 < report_given N k A s y.
Proof.
  intros H HA Hs Hy Hr. eapply Rlt_le_trans; [|exact (H p A HA s y Hs Hy)]. apply Rmult_lt_0_compat; [apply exp_pos|assumption].
Qed.
Theorem a_joint_law_has_its_parts T N (B : (nat -> R) -> Prop) (C : nat -> (nat -> R) -> Prop) p A :
  joint T N B C p A <-> B p /\ forall s, (s < T)%nat -> C s (A s).
Proof. reflexivity. Qed.
Theorem a_secret_promise_has_its_parts f : secret_promise f ->
  let N := data_inputs f in let M := data_outputs f in let T := length (given f) in
  mechanism N M (fun x y => IZR (nth y (nth x (data_rows f) []) 0%Z) / 2 ^ data_bits f) /\
  (exists p A, among T (secret_law f) p /\ forall s, (s < T)%nat -> among N (nth s (given f) (Hull [])) (A s)) /\
  (forall p A, among T (secret_law f) p -> (forall s, (s < T)%nat -> among N (nth s (given f) (Hull [])) (A s)) ->
    forall s y, (s < T)%nat -> (y < M)%nat ->
    mean N (A s) (fun x => data_K f x y) <= exp (nats (secret_eps f)) * mean T p (fun t => mean N (A t) (fun x => data_K f x y)) /\
    forall e, secret_lower f = Some e ->
      exp (- nats e) * mean T p (fun t => mean N (A t) (fun x => data_K f x y)) <= mean N (A s) (fun x => data_K f x y)) /\
  (forall e, data_cap f = Some e -> forall x x' y, (x < N)%nat -> (x' < N)%nat -> (y < M)%nat ->
     data_K f x y <= exp (nats e) * data_K f x' y) /\
  (forall e, data_average f = Some e -> sum M (fun y => top N (fun x => data_K f x y)) <= exp (nats e)).
Proof.
  intros [A [[p [L HJ]] [B [C [D G]]]]]. split; [exact A|split; [exists p, L; exact HJ|split; [|split]]].
  - intros q J Hq HJ' s y Hs Hy. split; [exact (B q J (conj Hq HJ') s y Hs Hy)|].
    intros e E. rewrite E in C. exact (C q J (conj Hq HJ') s y Hs Hy).
  - intros e E. rewrite E in D. exact D.
  - intros e E. rewrite E in G. exact G.
Qed.

(** * Files *)

(* The data themselves are reported. *)
Definition told (e : epsilon) (low c : option epsilon) (law : priors) (rows : list (list Z)) : secret_file :=
  SecretFile 4 4 0 [[1; 0; 0; 0]; [0; 1; 0; 0]; [0; 0; 1; 0]; [0; 0; 0; 1]]%Z e low c None law (map (fun row => Hull [row]) rows).
Definition seen : list (list Z) := [[20; 10; 5; 5]; [10; 15; 20; 15]]%Z.
Definition shown : priors := Hull [[40; 60]]%Z.
Definition takes (f : secret_file) : Prop := secret_check f = true.
Definition refuses (f : secret_file) : Prop := secret_check f = false.
Example five_thirds_is_the_greatest_lift : takes (told (Log 5 3) None None shown seen). Proof. vm_compute. reflexivity. Qed.
Example no_less_is_promised : refuses (told (Log 4999999999 3000000000) None None shown seen). Proof. vm_compute. reflexivity. Qed.
Example a_half_is_the_least_lift : takes (told (Log 5 3) (Some (Log 2 1)) None shown seen). Proof. vm_compute. reflexivity. Qed.
Example no_more_is_promised : refuses (told (Log 5 3) (Some (Log 1999999999 1000000000)) None shown seen). Proof. vm_compute. reflexivity. Qed.
Example data_that_are_told_keep_no_cap : refuses (told (Log 5 3) None (Some (Nats 100 1)) shown seen). Proof. vm_compute. reflexivity. Qed.
Example the_law_of_the_secret_may_be_any_other : refuses (told (Log 5 3) None None (Ball [40; 60] 2 1)%Z seen). Proof. vm_compute. reflexivity. Qed.
Example and_then_three_are_promised : takes (told (Log 3 1) None None (Ball [40; 60] 2 1)%Z seen). Proof. vm_compute. reflexivity. Qed.
Example a_law_of_no_value_is_refused : refuses (told (Log 5 3) None None (Hull [[40; 60; 0]])%Z seen). Proof. vm_compute. reflexivity. Qed.
Example no_value_is_refused : refuses (told (Log 5 3) None None (Hull [[]]) []). Proof. vm_compute. reflexivity. Qed.
Example an_empty_set_for_a_value_is_refused : refuses (SecretFile 1 1 0 [[1]]%Z (Log 2 1) None None None shown [Hull []; Hull [[1]]%Z]).
Proof. vm_compute. reflexivity. Qed.
Example a_row_of_another_sum_is_refused : refuses (SecretFile 1 1 0 [[2]]%Z (Log 2 1) None None None shown [Hull [[1]]; Hull [[1]]]%Z).
Proof. vm_compute. reflexivity. Qed.

Definition on_average_4 (e : epsilon) : secret_file :=
  SecretFile 4 4 0 [[1; 0; 0; 0]; [0; 1; 0; 0]; [0; 0; 1; 0]; [0; 0; 0; 1]]%Z (Log 5 3) None None (Some e) shown (map (fun row => Hull [row]) seen).
Example data_that_are_told_leak_log_4_on_average : takes (on_average_4 (Log 4 1)). Proof. vm_compute. reflexivity. Qed.
Example and_no_less_on_average : refuses (on_average_4 (Log 3999999999 1000000000)). Proof. vm_compute. reflexivity. Qed.
Definition a_secret_told (e : epsilon) : secret_file :=
  SecretFile 2 2 1 [[2; 0]; [0; 2]]%Z e None None None (Hull [[1; 1]])%Z [Hull [[1; 0]]; Hull [[0; 1]]]%Z.
Theorem to_tell_the_secret_breaks_every_promise_below_log_2 e : exp (nats e) < 2 -> ~ secret_promise (a_secret_told e).
Proof.
  intros He [_ [[p [A [Hp HA]]] [H _]]].
  specialize (H p A (conj Hp HA) O O ltac:(cbn; lia) ltac:(cbn; lia)).
  cbn [a_secret_told data_inputs values given length secret_law among] in *.
  pose proof (a_hull_of_one_is_a_known_prior 2 _ p Hp) as Ep.
  pose proof (a_hull_of_one_is_a_known_prior 2 _ (A O) (HA O ltac:(lia))) as E0.
  pose proof (a_hull_of_one_is_a_known_prior 2 _ (A 1%nat) (HA 1%nat ltac:(lia))) as E1.
  unfold report, report_given, mean, sum, data_K, a_secret_told in H. cbn in H.
  rewrite (E0 0%nat), (E0 1%nat), (E1 0%nat), (E1 1%nat), (Ep 0%nat), (Ep 1%nat) in H by lia. unfold share in H. cbn in H. lra.
Qed.
