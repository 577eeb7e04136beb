(** The delta of a file, from a test in integers: [radius_supported], to which [samples_supported] adds the counts. *)
From Coq Require Import Reals List ZArith Bool Lia Lra.
Require Import Spec Delta Tail Steps Limits.
Import ListNotations.
Open Scope Z_scope.

Definition support (f : file) (m : Z) (delta : Z * positive) (l : list range) : bool :=
  match set f with
  | Ball _ r d =>
    (1 <? Z.of_nat (inputs f)) && (0 <? r)
    && limits (fun _ _ => false) m (m * r) (Zpos d * 2) (fst delta) (Zpos (snd delta) * (2 ^ Z.of_nat (inputs f) - 2)) l
  | _ => false
  end.

Open Scope R_scope.
Theorem radius_supported f m delta l : support f m delta l = true ->
  seldom_far f (Z.to_nat m) (ratio (fst delta) (snd delta)).
Proof.
  destruct delta as [a b]. unfold support, seldom_far. destruct (set f) as [c r d| | | | | |]; try discriminate.
  set (N := inputs f). cbn [fst snd]. intros H. apply andb_prop in H as [H L].
  apply andb_prop in H as [_ H6]. unfold limits in L.
  apply andb_prop in L as [L H0]. apply andb_prop in L as [L H1]. apply andb_prop in L as [L H2].
  apply andb_prop in L as [L H3]. apply andb_prop in L as [H5 H4].
  apply Z.ltb_lt in H1, H3, H4, H5, H6. apply Z.leb_le in H2.
  assert (E2 : IZR (2 ^ Z.of_nat N - 2) = 2 ^ N - 2) by (now rewrite minus_IZR, <- pow_IZR).
  pose proof (IZR_lt 0 (Zpos d) ltac:(lia)) as Rd. pose proof (IZR_lt 0 (Zpos b) ltac:(lia)) as Rb.
  pose proof (IZR_lt _ _ H5) as Rm. pose proof (IZR_lt _ _ H6) as Rr. pose proof (IZR_le _ _ H2) as Ra.
  set (t := IZR r / (2 * IZR (Zpos d))). intros Q HQ.
  assert (pos : 0 < 2 ^ N - 2).
  { pose proof (IZR_lt _ _ H1) as P. rewrite mult_IZR, E2 in P. apply (Rmult_lt_reg_l (IZR (Zpos b))); lra. }
  assert (M : INR (Z.to_nat m) = IZR m) by (rewrite INR_IZR_INZ; f_equal; lia).
  replace (ratio r d) with (2 * t) by (unfold ratio, t; field; lra).
  replace (ratio a b) with ((2 ^ N - 2) * (IZR a / IZR (Zpos b * (2 ^ Z.of_nat N - 2)))).
  2: { unfold ratio. rewrite mult_IZR, E2. field. split; lra. }
  assert (Tm : IZR (m * r) / IZR (Zpos d * 2) = IZR m * t) by (unfold t; rewrite !mult_IZR; field; lra).
  apply learnt_ball; [assumption|lia|left; apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]| |].
  - intros k Hk Ht. replace m with (Z.of_nat (Z.to_nat m)) in H0 at 1 by lia.
    rewrite M in Ht |- *.
    assert (Lt : IZR m * t < INR k).
    { apply (Rmult_lt_compat_l (IZR m)) in Ht; [|lra]. replace (IZR m * (INR k / IZR m)) with (INR k) in Ht by (field; lra). lra. }
    pose proof (limits_ok (Z.to_nat m) (m * r) (Zpos d * 2) a (Zpos b * (2 ^ Z.of_nat N - 2)) H4 H3 H1 H2 (fun _ _ => false) l H0 k Hk) as F.
    rewrite Tm in F. specialize (F Lt ltac:(discriminate)). unfold bin_at in F. rewrite M in F.
    replace (INR k / IZR m - t) with ((INR k - IZR m * t) / IZR m) by (field; lra). exact F.
  - apply Rmult_le_pos; [assumption|]. left. apply Rinv_0_lt_compat. now apply IZR_lt.
Qed.

(** What the definition should imply. *)
Theorem far_draws_are_seldom_at_a_larger_delta f m a b : a <= b -> seldom_far f m a -> seldom_far f m b.
Proof.
  unfold seldom_far. destruct (set f); auto. intros H L Q HQ. specialize (L Q HQ). lra.
Qed.
Theorem one_draw_tells_nothing_within_1 f c r d delta :
  inputs f = 2%nat -> set f = Ball c r d -> ratio r d < 1 -> seldom_far f 1 delta -> 1 <= delta.
Proof.
  intros E S H L. unfold seldom_far in L. rewrite S, E in L. specialize (L (fun _ => 1 / 2)).
  assert (P : prior 2 (fun _ => 1 / 2)) by (split; [intros; lra|unfold sum; cbn; lra]). specialize (L P).
  assert (F : forall x, (x < 2)%nat -> outside 2 (fun _ => 1 / 2) (ratio r d) [x] = true).
  { intros x Hx. unfold outside, above. destruct (Rlt_dec _ _) as [|N]; [reflexivity|exfalso]. apply N.
    destruct x as [|[|x]]; [| |lia]; unfold sum, freq, hits, Rabs; cbn; repeat destruct (Rcase_abs _); lra. }
  unfold prob in L. cbn [expect] in L. unfold sum in L. cbn [seq fold_right] in L.
  rewrite !F in L by lia. unfold indicator in L. lra.
Qed.
