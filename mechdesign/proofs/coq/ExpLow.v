(** A rational number below the exponential of an epsilon: Horner's rule in integers, rounded down at every step. *)
From Coq Require Import Reals List ZArith Lia Lra.
Require Import Spec.
Open Scope R_scope.

Definition one : Z := Z.pow_pos 2 256.

Fixpoint horner (n : nat) (a b k : Z) : Z :=
  match n with O => one | S n => (one + horner n a b (k + 1) * a / (b * k))%Z end.

(* A numerator and a denominator of a number below e^epsilon. *)
Definition below_exp (e : epsilon) : Z * Z :=
  match e with
  | Log a b => (Zpos a, Zpos b)
  | Nats a b => (horner (Z.to_nat (3 * (a / Zpos b) + 200)) a (Zpos b) 1, one)
  end.
Definition proper (e : epsilon) : bool := match e with Log _ _ => true | Nats a _ => (0 <=? a)%Z end.

Fixpoint series (n : nat) (x k : R) : R := match n with O => 1 | S n => 1 + x / k * series n x (k + 1) end.

Lemma div_le a b : (0 < b)%Z -> IZR (a / b) <= IZR a / IZR b.
Proof.
  intros H. apply Rmult_le_reg_r with (IZR b); [now apply IZR_lt|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by (apply IZR_lt in H; lra).
  rewrite <- mult_IZR. apply IZR_le. rewrite Z.mul_comm. now apply Z.mul_div_le.
Qed.

Lemma one_pos : 0 < IZR one. Proof. apply IZR_lt. reflexivity. Qed.

Lemma horner_below n a b : (0 <= a)%Z -> (0 < b)%Z -> forall k, (0 < k)%Z ->
  IZR (horner n a b k) <= IZR one * series n (IZR a / IZR b) (IZR k).
Proof.
  intros Ha Hb. induction n as [|n IH]; intros k Hk; cbn [horner series]; [lra|].
  assert (0 < b * k)%Z by nia.
  rewrite plus_IZR. specialize (IH (k + 1)%Z ltac:(lia)). rewrite plus_IZR in IH.
  apply Rle_trans with (IZR one + IZR (horner n a b (k + 1) * a) / IZR (b * k)).
  - apply Rplus_le_compat_l, div_le; assumption.
  - rewrite !mult_IZR. pose proof (IZR_le _ _ Ha). pose proof (IZR_lt _ _ Hb). pose proof (IZR_lt _ _ Hk).
    replace (IZR one * (1 + IZR a / IZR b / IZR k * series n (IZR a / IZR b) (IZR k + 1)))
      with (IZR one + (IZR one * series n (IZR a / IZR b) (IZR k + 1)) * (IZR a / (IZR b * IZR k))) by (field; lra).
    replace (IZR (horner n a b (k + 1)) * IZR a / (IZR b * IZR k))
      with (IZR (horner n a b (k + 1)) * (IZR a / (IZR b * IZR k))) by (field; lra).
    apply Rplus_le_compat_l, Rmult_le_compat_r; [|exact IH].
    apply Rmult_le_pos; [assumption|]. left. apply Rinv_0_lt_compat. now apply Rmult_lt_0_compat.
Qed.

Definition term (x : R) (i : nat) : R := / INR (fact i) * x ^ i.

Lemma term_next x i : term x (S i) = term x i * (x / INR (S i)).
Proof.
  unfold term. rewrite fact_simpl, mult_INR. cbn [pow]. field.
  repeat split; try apply INR_fact_neq_0; now apply not_0_INR.
Qed.

Lemma series_sum n x : forall m,
  sum_f_R0 (term x) m + term x (S m) * series n x (INR (S (S m))) = sum_f_R0 (term x) (S m + n).
Proof.
  induction n as [|n IH]; intros m; cbn [series].
  - rewrite Nat.add_0_r, Rmult_1_r. reflexivity.
  - replace (S m + S n)%nat with (S (S m) + n)%nat by lia. rewrite <- IH.
    rewrite (term_next x (S m)). rewrite (S_INR (S (S m))). cbn [sum_f_R0]. ring.
Qed.

Lemma series_below n x : 0 <= x -> series (S n) x 1 <= exp x.
Proof.
  intros Hx. pose proof (series_sum n x 0) as H. cbn [sum_f_R0] in H. rewrite (term_next x 0) in H.
  replace (INR 2) with (1 + 1) in H by (cbn [INR]; lra).
  replace (term x 0) with 1 in H by (unfold term; cbn; field). cbn [series].
  replace (INR 1) with 1 in H by reflexivity. rewrite Rmult_1_l in H. rewrite H.
  apply sum_incr.
  - unfold exp. destruct (exist_exp x) as [l Hl]. exact Hl.
  - intros i. unfold term. apply Rmult_le_pos; [|now apply pow_le].
    left. apply Rinv_0_lt_compat, INR_fact_lt_0.
Qed.

Lemma horner_pos n a b : (0 <= a)%Z -> (0 < b)%Z -> forall k, (0 < k)%Z -> (0 <= horner n a b k)%Z.
Proof.
  intros Ha Hb. induction n as [|n IH]; intros k Hk; cbn [horner].
  - unfold one. apply Pos2Z.is_nonneg || now vm_compute.
  - assert (0 <= one)%Z by now vm_compute. specialize (IH (k + 1)%Z ltac:(lia)).
    assert (0 <= horner n a b (k + 1) * a / (b * k))%Z by (apply Z.div_pos; nia). lia.
Qed.

Lemma below_exp_sound e : proper e = true ->
  (0 <= fst (below_exp e))%Z /\ (0 < snd (below_exp e))%Z /\
  IZR (fst (below_exp e)) <= IZR (snd (below_exp e)) * exp (nats e).
Proof.
  destruct e as [a b|a b]; intros H; cbn [proper] in H; cbn [below_exp fst snd nats].
  - apply Z.leb_le in H. pose proof (Z.div_pos a (Zpos b) H ltac:(lia)).
    assert (exists n, Z.to_nat (3 * (a / Zpos b) + 200) = S n) as [n ->]
      by (exists (pred (Z.to_nat (3 * (a / Zpos b) + 200))); lia).
    split; [|split; [reflexivity|]].
    + apply horner_pos; lia.
    + unfold ratio. eapply Rle_trans; [apply horner_below; lia|].
      apply Rmult_le_compat_l; [left; apply one_pos|]. apply series_below.
      apply Rmult_le_pos; [now apply IZR_le|]. left. now apply Rinv_0_lt_compat, IZR_lt.
  - split; [lia|split; [lia|]]. unfold ratio. rewrite exp_ln.
    + right. field. now apply not_0_IZR.
    + apply Rmult_lt_0_compat; [now apply IZR_lt|]. now apply Rinv_0_lt_compat, IZR_lt.
Qed.
