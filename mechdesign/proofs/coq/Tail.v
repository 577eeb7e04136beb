(** Binomial weights: their ratios, a bound of the tail by a geometric series, and the derivative of the tail. *)
From Coq Require Import Reals List ZArith Lia Lra.
Require Import Spec Support Delta.
Open Scope R_scope.

Fixpoint pmf (n k : nat) (q : R) : R :=
  match n, k with
  | O, O => 1
  | O, S _ => 0
  | S n, O => (1 - q) * pmf n O q
  | S n, S k => q * pmf n k q + (1 - q) * pmf n (S k) q
  end.

Lemma tail_0 n q : tail n 0 q = 1.
Proof. destruct n; reflexivity. Qed.
Lemma tail_step n q : forall k, tail n k q = pmf n k q + tail n (S k) q.
Proof.
  induction n as [|n IH]; intros [|k]; cbn [tail pmf]; try lra.
  - pose proof (IH O) as H. rewrite tail_0 in *.
    transitivity ((1 - q) * (pmf n 0 q + tail n 1 q) + q * 1); [rewrite <- H|]; ring.
  - transitivity (q * (pmf n k q + tail n (S k) q) + (1 - q) * (pmf n (S k) q + tail n (S (S k)) q));
      [rewrite <- !IH|]; ring.
Qed.
Lemma tail_over n q : forall k, (n < k)%nat -> tail n k q = 0.
Proof.
  induction n as [|n IH]; intros [|k] H; try lia; cbn [tail]; [reflexivity|].
  rewrite (IH k), (IH (S k)) by lia. ring.
Qed.
Lemma pmf_pos n q : 0 <= q <= 1 -> forall k, 0 <= pmf n k q.
Proof.
  intros Hq. induction n as [|n IH]; intros [|k]; cbn [pmf]; try lra.
  - apply Rmult_le_pos; [lra|apply IH].
  - apply Rplus_le_le_0_compat; apply Rmult_le_pos; try apply IH; lra.
Qed.

Lemma pmf_ratio n q : forall k, INR (S k) * (1 - q) * pmf n (S k) q = (INR n - INR k) * q * pmf n k q.
Proof.
  induction n as [|n IH]; intros k.
  - destruct k; cbn [pmf]; [cbn [INR]|]; ring.
  - rewrite (S_INR n). destruct k as [|k].
    + pose proof (IH O) as H. cbn [INR] in *. cbn [pmf].
      replace (1 * (1 - q) * (q * pmf n 0 q + (1 - q) * pmf n 1 q))
        with ((1 - q) * (q * pmf n 0 q + 1 * (1 - q) * pmf n 1 q)) by ring.
      rewrite H. ring.
    + pose proof (IH k) as H0. pose proof (IH (S k)) as H1. cbn [pmf]. rewrite !S_INR in *.
      replace ((INR k + 1 + 1) * (1 - q) * (q * pmf n (S k) q + (1 - q) * pmf n (S (S k)) q))
        with ((1 - q) * ((INR k + 1 + 1) * q * pmf n (S k) q + (INR k + 1 + 1) * (1 - q) * pmf n (S (S k)) q)) by ring.
      rewrite H1.
      replace ((INR n + 1 - (INR k + 1)) * q * (q * pmf n k q + (1 - q) * pmf n (S k) q))
        with (q * ((INR n - INR k) * q * pmf n k q) + (INR n - INR k) * q * (1 - q) * pmf n (S k) q) by ring.
      rewrite <- H0. ring.
Qed.

(* (k + 1) b(k + 1; n + 1) = (n + 1) q b(k; n), and (n + 1 - k) b(k; n + 1) = (n + 1) (1 - q) b(k; n). *)
Lemma pmf_up n k q : INR (S k) * pmf (S n) (S k) q = INR (S n) * q * pmf n k q.
Proof.
  pose proof (pmf_ratio n q k) as H. cbn [pmf]. rewrite !S_INR in *.
  replace ((INR k + 1) * (q * pmf n k q + (1 - q) * pmf n (S k) q))
    with ((INR k + 1) * q * pmf n k q + (INR k + 1) * (1 - q) * pmf n (S k) q) by ring.
  rewrite H. ring.
Qed.
Lemma pmf_wider n k q : q <> 0 -> (INR (S n) - INR k) * pmf (S n) k q = INR (S n) * (1 - q) * pmf n k q.
Proof.
  intros Hq. apply (Rmult_eq_reg_l q); [|assumption]. pose proof (pmf_up n k q) as H.
  pose proof (pmf_ratio (S n) q k) as G.
  replace (q * ((INR (S n) - INR k) * pmf (S n) k q)) with ((INR (S n) - INR k) * q * pmf (S n) k q) by ring.
  rewrite <- G. replace (INR (S k) * (1 - q) * pmf (S n) (S k) q) with ((1 - q) * (INR (S k) * pmf (S n) (S k) q)) by ring.
  rewrite H. ring.
Qed.

(* n (n - 1) .. (n - k + 1), and k! b(k; n) = that times q^k (1 - q)^(n - k). *)
Fixpoint falling (n : Z) (k : nat) : Z := match k with O => 1 | S i => falling n i * (n - Z.of_nat i) end%Z.
Fixpoint factorial (k : nat) : Z := match k with O => 1 | S i => factorial i * Z.of_nat (S i) end%Z.
Lemma factorial_pos k : (0 < factorial k)%Z.
Proof. induction k; cbn [factorial]; [reflexivity|]. nia. Qed.
Lemma pmf_0 n q : pmf n 0 q = (1 - q) ^ n.
Proof. induction n as [|n IH]; cbn; [reflexivity|]. now rewrite IH. Qed.
Lemma pmf_closed n q : q < 1 -> forall k, (k <= n)%nat ->
  IZR (factorial k) * pmf n k q = IZR (falling (Z.of_nat n) k) * q ^ k * (1 - q) ^ (n - k).
Proof.
  intros Hq. induction k as [|k IH]; intros Hk.
  - rewrite pmf_0, Nat.sub_0_r. cbn. ring.
  - specialize (IH ltac:(lia)). apply (Rmult_eq_reg_l (1 - q)); [|lra].
    pose proof (pmf_ratio n q k) as H. cbn [falling factorial]. rewrite !mult_IZR, minus_IZR, <- !INR_IZR_INZ.
    replace (n - k)%nat with (S (n - S k)) in IH by lia. cbn [pow] in *.
    transitivity (IZR (factorial k) * (INR (S k) * (1 - q) * pmf n (S k) q)); [ring|]. rewrite H.
    transitivity ((INR n - INR k) * q * (IZR (factorial k) * pmf n k q)); [ring|]. rewrite IH. ring.
Qed.

(* With the ratio r_j = (n - j) q / ((j + 1) (1 - q)) of the next weight, the tail is b(k) (1 + r_k (1 + r_(k+1) (...))). *)
Definition odds (n : nat) (q : R) (j : nat) : R := (INR n - INR j) * q / (INR (S j) * (1 - q)).
Lemma pmf_next n q j : q < 1 -> pmf n (S j) q = odds n q j * pmf n j q.
Proof.
  intros Hq. pose proof (pmf_ratio n q j) as H. pose proof (lt_0_INR (S j) ltac:(lia)) as P. unfold odds.
  apply (Rmult_eq_reg_l (INR (S j) * (1 - q))); [|apply Rgt_not_eq, Rmult_lt_0_compat; lra].
  rewrite H. field. lra.
Qed.
Lemma odds_pos n q j : 0 <= q < 1 -> (j <= n)%nat -> 0 <= odds n q j.
Proof.
  intros Hq Hj. apply le_INR in Hj. pose proof (lt_0_INR (S j) ltac:(lia)). unfold odds.
  apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. left. apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra.
Qed.
Lemma odds_fall n q j : 0 <= q < 1 -> (j < n)%nat -> odds n q (S j) <= odds n q j.
Proof.
  intros Hq Hj. apply lt_INR in Hj. pose proof (lt_0_INR (S j) ltac:(lia)) as P. unfold odds. rewrite !S_INR in *.
  unfold Rdiv. apply Rmult_le_compat; [|left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra| |].
  - apply Rmult_le_pos; [|lra]. pose proof (pos_INR j). apply Rnot_lt_le. intros C.
    assert (INR n < INR (S j)) by (rewrite S_INR; lra). apply INR_lt in H0.
    assert (INR j < INR n) by lra. apply INR_lt in H1. lia.
  - apply Rmult_le_compat_r; lra.
  - apply Rinv_le_contravar; [apply Rmult_lt_0_compat; lra|]. apply Rmult_le_compat_r; lra.
Qed.
