(** A test in integers that proves the promise of a file: [check_correct]. *)
From Coq Require Import Reals List ZArith Bool Lia Lra Permutation.
Require Import Spec ExpLow Support.
Import ListNotations.
Open Scope Z_scope.

(** * The test *)

Definition zsum (n : nat) (f : nat -> Z) : Z := fold_right (fun i s => f i + s) 0 (seq 0 n).
Definition at_ (l : list Z) (x : nat) : Z := nth x l 0.
Definition dot (v w : list Z) : Z := fold_right (fun p s => fst p * snd p + s) 0 (combine v w).
Definition scale (c : Z) (ps : list piece) : list piece := map (fun p => (c * fst p, map (Z.mul c) (snd p))) ps.

(* The common denominator and the pieces of a set above a lower probability. *)
Fixpoint pieces (s : priors) : option (Z * list piece) :=
  match s with
  | Ball c r d => Some (2 * Zpos d * total c, [(r * total c, map (Z.mul (2 * Zpos d)) c)])
  | Box l u d => Some (Zpos d, [(0, l); (total u - Zpos d, u)])
  | Events c g d => Some (Zpos d * total c, map (fun line => (snd line * total c, map (Z.mul (fst line)) c)) g)
  | Both s t =>
    match pieces s, pieces t with
    | Some (D, ps), Some (E, qs) => Some (D * E, scale E ps ++ scale D qs)
    | _, _ => None
    end
  | _ => None
  end.

(* Lists have the right lengths, and weights are weights. *)
Definition weights (N : nat) (w : list Z) : bool :=
  Nat.eqb (length w) N && forallb (Z.leb 0) w && Z.ltb 0 (total w).
Fixpoint shaped (N : nat) (s : priors) : bool :=
  match s with
  | Ball c _ _ | Events c _ _ => weights N c
  | Box l u _ => Nat.eqb (length l) N && Nat.eqb (length u) N
  | Hull V => Z.ltb 0 (total (hd [] V)) && forallb (fun w => weights N w && Z.eqb (total w) (total (hd [] V))) V
  | Both s t => shaped N s && shaped N t && match pieces s, pieces t with Some _, Some _ => true | _, _ => false end
  | Either s t => shaped N s && shaped N t
  | Pairs m s n t => Nat.eqb N (m * n) && shaped m s && shaped n t
  end.

(* D and h, where h v <= D <Q, v> for every prior Q of the set. *)
Definition chunk (n : nat) (v : list Z) (i : nat) : list Z := map (fun j => at_ v (i * n + j)) (seq 0 n).
Definition smallest (first : Z) (l : list Z) : Z := fold_right Z.min first l.
Fixpoint bound (N : nat) (s : priors) : Z * (list Z -> Z) :=
  match s with
  | Hull V => (total (hd [] V), fun v => smallest (dot v (hd [] V)) (map (dot v) V))
  | Either s t =>
    let b := bound N s in let c := bound N t in
    (fst b * fst c, fun v => Z.min (snd b v * fst c) (snd c v * fst b))
  | Pairs m s n t =>
    let b := bound m s in let c := bound n t in
    (fst b * fst c, fun v => snd b (map (fun i => snd c (chunk n v i)) (seq 0 m)))
  | _ =>
    match pieces s with
    | Some (D, ps) => let masses := mass_rows N ps in (D, least D ps masses)
    | None => (1, fun _ => 0)
    end
  end.

(* A member of the set. *)
Fixpoint fill (rest : Z) (l u : list Z) : list Z :=
  match l, u with
  | a :: l, b :: u => let more := Z.min rest (b - a) in (a + more) :: fill (rest - more) l u
  | _, _ => []
  end.
Fixpoint member (s : priors) : list Z :=
  match s with
  | Ball c _ _ | Events c _ _ => c
  | Box l u d => fill (Zpos d - total l) l u
  | Hull V => hd [] V
  | Both s _ => member s
  | _ => []
  end.
Fixpoint belongs (N : nat) (s : priors) (w : list Z) : bool :=
  match s with
  | Ball c r d => zsum N (fun x => Z.abs (at_ w x * total c - at_ c x * total w)) * Zpos d <=? r * total c * total w
  | Box l u d => forallb (fun x => (at_ l x * total w <=? at_ w x * Zpos d) && (at_ w x * Zpos d <=? at_ u x * total w))
                   (seq 0 N)
  | Events c g d =>
    forallb (fun line => zsum N (fun x => Z.max 0 (fst line * at_ c x * total w - Zpos d * at_ w x * total c))
                         <=? snd line * total c * total w) g
  | Hull (v :: _) => forallb (fun x => at_ v x * total w =? at_ w x * total v) (seq 0 N)
  | Both s t => belongs N s w && belongs N t w
  | _ => false
  end.
Fixpoint inhabited (N : nat) (s : priors) : bool :=
  match s with
  | Pairs m s n t => inhabited m s && inhabited n t
  | Either s t => inhabited N s && inhabited N t
  | _ => weights N (member s) && belongs N s (member s)
  end.

(* What a column v of numerators must keep. *)
Definition above_holds (b : Z * (list Z -> Z)) (e : Z * Z) (v : list Z) : bool :=
  greatest v * fst b * snd e <=? fst e * snd b v.
Definition below_holds (b : Z * (list Z -> Z)) (e : Z * Z) (v : list Z) : bool :=
  let top := greatest v in
  (top * fst b - snd b (map (Z.sub top) v)) * snd e <=? fst e * fst b * smallest top v.
Definition cap_holds (e : Z * Z) (v : list Z) : bool :=
  let top := greatest v in top * snd e <=? fst e * smallest top v.
(* What the greatest entries of all columns must keep together, where rows sum to one. *)
Definition average_holds (one : Z) (e : epsilon) (tops : list Z) : bool :=
  let b := below_exp e in proper e && (total tops * snd b <=? fst b * one).
Definition if_any (e : option epsilon) (test : Z * Z -> list Z -> bool) : list Z -> bool :=
  match e with None => fun _ => true | Some e => if proper e then test (below_exp e) else fun _ => false end.

Definition column (rows : list (list Z)) (y : nat) : list Z := map (fun row => at_ row y) rows.
Definition right_row (M : nat) (one : Z) (row : list Z) : bool :=
  Nat.eqb (length row) M && forallb (Z.leb 0) row && Z.eqb (total row) one.
Definition tests (f : file) : (list Z -> bool) * (list Z -> bool) :=
  let b := bound (inputs f) (set f) in
  let second := if_any (lower f) (below_holds b) in
  let third := if_any (cap f) cap_holds in
  (if_any (Some (eps f)) (above_holds b), fun v => second v && third v).
Definition check (f : file) : bool :=
  let N := inputs f in
  let t := tests f in
  Nat.eqb (length (rows f)) N
  && forallb (right_row (outputs f) (2 ^ Z.of_nat (bits f))) (rows f)
  && shaped N (set f) && inhabited N (set f)
  && match average f with None => true
     | Some e => average_holds (2 ^ Z.of_nat (bits f)) e (map (fun y => greatest (column (rows f) y)) (seq 0 (outputs f))) end
  && forallb (fun y => let v := column (rows f) y in fst t v && snd t v) (seq 0 (outputs f)).

(* For people: the outputs that break the promise, each with a symbol at which it does; after them, one output more if the
   greatest entries of all break it together. *)
Fixpoint position (a : Z) (l : list Z) : nat :=
  match l with [] => O | b :: l => if a =? b then O else S (position a l) end.
Definition refused (f : file) : list (nat * nat) :=
  let t := tests f in
  flat_map (fun y => let v := column (rows f) y in let top := greatest v in
    if negb (fst t v) then [(y, position top v)]
    else if negb (snd t v) then [(y, position (smallest top v) v)] else []) (seq 0 (outputs f))
  ++ match average f with None => []
     | Some e => if average_holds (2 ^ Z.of_nat (bits f)) e (map (fun y => greatest (column (rows f) y)) (seq 0 (outputs f)))
       then [] else [(outputs f, O)] end.

(** * Its proof *)

Open Scope R_scope.
Definition real (v : list Z) (x : nat) : R := IZR (at_ v x).

Ltac split_bools := repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H; destruct H end.

Lemma IZR_zsum n f : IZR (zsum n f) = sum n (fun x => IZR (f x)).
Proof. unfold zsum, sum. induction (seq 0 n) as [|a l IH]; cbn; [reflexivity|]. rewrite plus_IZR. now rewrite IH. Qed.
Lemma IZR_dot v w N : length v = N -> length w = N -> IZR (dot v w) = sum N (fun x => real v x * real w x).
Proof.
  intros Hv Hw. unfold dot. rewrite (list_as_map 0%Z v) at 1. rewrite (list_as_map 0%Z w) at 1.
  rewrite Hv, Hw, combine_map. unfold sum, real, at_. induction (seq 0 N) as [|a l IH]; cbn; [reflexivity|].
  rewrite plus_IZR, mult_IZR. now rewrite IH.
Qed.
Lemma at_map_mul c w x : at_ (map (Z.mul c) w) x = (c * at_ w x)%Z.
Proof. unfold at_. rewrite <- (Z.mul_0_r c) at 1. exact (map_nth (Z.mul c) w 0%Z x). Qed.
Lemma forallb_at w x : forallb (Z.leb 0) w = true -> (0 <= at_ w x)%Z.
Proof.
  intros H. unfold at_. destruct (Nat.lt_ge_cases x (length w)) as [L|L].
  - rewrite forallb_forall in H. apply Z.leb_le, H, nth_In, L.
  - rewrite nth_overflow; [lia|assumption].
Qed.

Lemma greatest_at v x : (at_ v x <= greatest v)%Z.
Proof.
  unfold at_, greatest. revert x. induction v as [|a v IH]; intros [|x]; cbn; try lia. specialize (IH x). lia.
Qed.
Lemma smallest_le first l : (smallest first l <= first)%Z.
Proof. unfold smallest. induction l as [|a l IH]; cbn; lia. Qed.
Lemma smallest_in first l x : In x l -> (smallest first l <= x)%Z.
Proof. unfold smallest. induction l as [|a l IH]; cbn; intros []; [lia|]. specialize (IH H). lia. Qed.

Lemma share_prior N w : weights N w = true -> prior N (share w).
Proof.
  unfold weights. intros H. split_bools. apply Nat.eqb_eq in H. apply Z.ltb_lt in H0. apply IZR_lt in H0.
  split.
  - intros x _. unfold share. apply Rmult_le_pos; [apply IZR_le, (forallb_at w x H1)|].
    left. now apply Rinv_0_lt_compat.
  - unfold share, Rdiv. rewrite sum_suml, suml_scal_r, <- sum_suml, <- (total_positions w N H). field. lra.
Qed.

(* <Q, v> grows with v, and is 1 where v is 1. *)
Lemma mean_le N Q v w : prior N Q -> (forall x, (x < N)%nat -> v x <= w x) -> mean N Q v <= mean N Q w.
Proof.
  intros [HQ _] H. unfold mean. apply suml_le. intros x Hx. apply in_range in Hx.
  apply Rmult_le_compat_l; [now apply HQ | now apply H].
Qed.
Lemma mean_const N Q c : prior N Q -> mean N Q (fun _ => c) = c.
Proof. intros [_ H]. unfold mean. rewrite sum_suml, suml_scal_r, <- sum_suml, H. lra. Qed.
Lemma mean_scal N Q c v : mean N Q (fun x => c * v x) = c * mean N Q v.
Proof. unfold mean. rewrite !sum_suml, <- suml_scal. apply suml_ext. intros. ring. Qed.
Lemma mean_ext N Q v w : (forall x, (x < N)%nat -> v x = w x) -> mean N Q v = mean N Q w.
Proof. intros H. apply suml_ext. intros x Hx. rewrite H; [reflexivity|now apply in_range]. Qed.

(** Pieces are kept by all members. *)

Lemma keeps_scale N D Q p c : (0 < c)%Z -> keeps N D Q p ->
  keeps N (D * c) Q (c * fst p, map (Z.mul c) (snd p))%Z.
Proof.
  intros Hc H T Nd I. cbn [fst snd]. specialize (H T Nd I). apply IZR_lt in Hc.
  rewrite (suml_ext T _ (fun x => IZR c * IZR (nth x (snd p) 0%Z)))
    by (intros x _; rewrite <- mult_IZR; f_equal; apply (at_map_mul c (snd p) x)).
  rewrite suml_scal, !mult_IZR. apply (Rmult_le_compat_l (IZR c)) in H; lra.
Qed.

Lemma part_le N f T : NoDup T -> incl T (seq 0 N) -> (forall x, (x < N)%nat -> 0 <= f x) -> suml T f <= sum N f.
Proof.
  intros Nd I H. rewrite <- (mass_list N f T Nd I). apply suml_le. intros x Hx. apply in_range in Hx.
  destruct (existsb _ T); [lra|now apply H].
Qed.

Lemma ball_keeps N c r d Q : weights N c = true -> ball N (share c) (ratio r d) Q ->
  keeps N (2 * Zpos d * total c) Q (r * total c, map (Z.mul (2 * Zpos d)) c)%Z.
Proof.
  intros Hc [[Hq H1] Hr] T Nd I. cbn [fst snd].
  assert (Hs : sum N (share c) = 1) by apply (share_prior N c Hc).
  unfold weights in Hc. split_bools. apply Z.ltb_lt in H0. apply IZR_lt in H0.
  rewrite (suml_ext T _ (fun x => 2 * IZR (Zpos d) * IZR (total c) * share c x)).
  2: { intros x _. change (nth x (map (Z.mul (2 * Zpos d)) c) 0%Z)
         with (at_ (map (Z.mul (2 * Zpos d)) c) x). rewrite at_map_mul, !mult_IZR. unfold share, at_. field. lra. }
  rewrite suml_scal, !mult_IZR. pose proof (IZR_lt 0 (Zpos d) eq_refl) as Hd.
  assert (G : 2 * (suml T (share c) - suml T Q) <= ratio r d).
  { eapply Rle_trans; [|exact Hr].
    set (S := fun x => existsb (Nat.eqb x) T).
    rewrite <- (mass_list N (share c) T Nd I), <- (mass_list N Q T Nd I). fold S.
    replace (2 * (mass N (share c) S - mass N Q S))
      with (sum N (fun x => 2 * (if S x then share c x else 0) - 2 * (if S x then Q x else 0) - share c x + Q x)).
    - apply suml_le. intros x _. destruct (S x); unfold Rabs; destruct (Rcase_abs (Q x - share c x)); lra.
    - unfold mass. rewrite !sum_suml in *.
      rewrite suml_plus, !suml_minus, !suml_scal. lra. }
  unfold ratio in G.
  apply (Rmult_le_compat_r (IZR (Zpos d) * IZR (total c))) in G; [|apply Rmult_le_pos; lra].
  replace (IZR r / IZR (Zpos d) * (IZR (Zpos d) * IZR (total c))) with (IZR r * IZR (total c)) in G by (field; lra).
  lra.
Qed.

Lemma box_keeps N l u d Q : length l = N -> length u = N ->
  box N (fun x => ratio (nth x l 0%Z) d) (fun x => ratio (nth x u 0%Z) d) Q ->
  Forall (keeps N (Zpos d) Q) [(0, l); (total u - Zpos d, u)]%Z.
Proof.
  intros Hl Hu [[Hq H1] Hb]. pose proof (IZR_lt 0 (Zpos d) eq_refl) as Hd.
  assert (B : forall x, (x < N)%nat -> real l x <= IZR (Zpos d) * Q x <= real u x).
  { intros x Hx. destruct (Hb x Hx) as [Lo Hi]. unfold ratio in Lo, Hi. unfold real, at_.
    apply (Rmult_le_compat_r (IZR (Zpos d))) in Lo; [|lra]. apply (Rmult_le_compat_r (IZR (Zpos d))) in Hi; [|lra].
    unfold Rdiv in Lo, Hi. rewrite Rmult_assoc, Rinv_l in Lo, Hi by lra. lra. }
  constructor; [|constructor; [|constructor]]; intros T Nd I; cbn [fst snd].
  - rewrite <- suml_scal. rewrite Rminus_0_r. apply suml_le. intros x Hx. apply B, in_range, I, Hx.
  - rewrite minus_IZR, (total_positions u N Hu).
    pose proof (part_le N (fun x => real u x - IZR (Zpos d) * Q x) T Nd I) as G.
    rewrite sum_suml in *. rewrite !suml_minus, !suml_scal in G. unfold real, at_ in G. rewrite <- sum_suml in H1.
    change (suml (seq 0 N) Q) with (sum N Q) in G. rewrite H1 in G. change (sum N Q = 1) in H1.
    assert (forall x, (x < N)%nat -> 0 <= IZR (nth x u 0%Z) - IZR (Zpos d) * Q x)
      by (intros x Hx; specialize (B x Hx); unfold real, at_ in B; lra).
    specialize (G H). lra.
Qed.

Lemma events_keep N c g d Q : weights N c = true ->
  events N (share c) (map (fun line => (ratio (fst line) d, ratio (snd line) d)) g) Q ->
  Forall (keeps N (Zpos d * total c) Q)
    (map (fun line => (snd line * total c, map (Z.mul (fst line)) c)%Z) g).
Proof.
  intros Hc [HQ Hg]. unfold weights in Hc. split_bools. apply Z.ltb_lt in H0. apply IZR_lt in H0.
  pose proof (IZR_lt 0 (Zpos d) eq_refl) as Hd.
  apply Forall_forall. intros p Hp. apply in_map_iff in Hp. destruct Hp as [[a b] [<- Hi]].
  intros T Nd I. cbn [fst snd].
  specialize (Hg (ratio a d) (ratio b d) ltac:(apply in_map_iff; exists (a, b); now split)
    (fun x => existsb (Nat.eqb x) T)).
  rewrite !(mass_list N _ T Nd I) in Hg.
  rewrite (suml_ext T _ (fun x => IZR a * IZR (total c) * share c x)).
  2: { intros x _. change (nth x (map (Z.mul a) c) 0%Z) with (at_ (map (Z.mul a) c) x).
       rewrite at_map_mul, !mult_IZR. unfold share, at_. field. lra. }
  rewrite suml_scal, !mult_IZR. unfold ratio in Hg.
  apply (Rmult_le_compat_r (IZR (Zpos d) * IZR (total c))) in Hg; [|apply Rmult_le_pos; lra].
  replace ((IZR a / IZR (Zpos d) * suml T (share c) - IZR b / IZR (Zpos d)) * (IZR (Zpos d) * IZR (total c)))
    with (IZR a * IZR (total c) * suml T (share c) - IZR b * IZR (total c)) in Hg by (field; lra).
  lra.
Qed.

Lemma pieces_kept s N D ps : shaped N s = true -> pieces s = Some (D, ps) ->
  (0 < D)%Z /\ forall Q, among N s Q -> Forall (keeps N D Q) ps.
Proof.
  revert D ps. induction s; intros D ps Hs E; cbn [pieces shaped among] in *; try discriminate.
  - assert (0 < total counts)%Z by (unfold weights in Hs; split_bools; now apply Z.ltb_lt).
    assert (ED : (2 * Zpos over * total counts = D)%Z) by congruence. assert (EP : _ = ps) by (injection E; intros X _; exact X).
    subst D. rewrite <- EP. split; [lia|]. intros Q HQ. constructor; [now apply ball_keeps | constructor].
  - split_bools. apply Nat.eqb_eq in H. apply Nat.eqb_eq in H0.
    assert (ED : Zpos over = D) by congruence. assert (EP : _ = ps) by (injection E; intros X _; exact X).
    subst D. rewrite <- EP. split; [lia|]. intros Q HQ. now apply box_keeps.
  - assert (0 < total counts)%Z by (unfold weights in Hs; split_bools; now apply Z.ltb_lt).
    assert (ED : (Zpos over * total counts = D)%Z) by congruence. assert (EP : _ = ps) by (injection E; intros X _; exact X).
    subst D. rewrite <- EP. split; [lia|]. intros Q HQ. now apply events_keep.
  - destruct (pieces s1) as [[D1 p1]|]; [|discriminate]. destruct (pieces s2) as [[D2 p2]|]; [|discriminate].
    split_bools. destruct (IHs1 D1 p1 H eq_refl) as [P1 K1]. destruct (IHs2 D2 p2 H1 eq_refl) as [P2 K2].
    assert (ED : (D1 * D2 = D)%Z) by congruence. assert (EP : scale D2 p1 ++ scale D1 p2 = ps) by congruence.
    subst D ps. split; [lia|]. intros Q [Q1 Q2]. apply Forall_app. split.
    + apply Forall_map. eapply Forall_impl; [|apply (K1 Q Q1)]. intros p Hp. now apply keeps_scale.
    + apply Forall_map. eapply Forall_impl; [|apply (K2 Q Q2)]. intros p Hp.
      rewrite Z.mul_comm. now apply keeps_scale.
Qed.

(** Members are priors; mixtures, and pairs. *)

Lemma hull_mean N V Q v : hull N V Q ->
  exists w, prior (length V) w /\ mean N Q v = sum (length V) (fun j => w j * mean N (nth j V (fun _ => 0)) v).
Proof.
  intros [w [Hw H]]. exists w. split; [assumption|]. unfold mean.
  transitivity (suml (seq 0 N) (fun x => suml (seq 0 (length V)) (fun j => w j * (nth j V (fun _ => 0) x * v x)))).
  - apply suml_ext. intros x Hx. rewrite H by now apply in_range. rewrite sum_suml, <- suml_scal_r.
    apply suml_ext. intros. ring.
  - rewrite suml_swap. apply suml_ext. intros j _. now rewrite suml_scal.
Qed.

Lemma seq_from a n : seq a n = map (Nat.add a) (seq 0 n).
Proof.
  revert a. induction n as [|n IH]; intros a; [reflexivity|]. cbn. rewrite Nat.add_0_r. f_equal.
  rewrite (IH (S a)), <- (seq_shift n 0), map_map. apply map_ext. intros; lia.
Qed.
Lemma sum_pairs m n f : sum (m * n) f = sum m (fun i => sum n (fun j => f (i * n + j)%nat)).
Proof.
  induction m as [|m IH]; [reflexivity|]. rewrite !sum_suml in *.
  replace (S m * n)%nat with (m * n + n)%nat by lia. rewrite seq_app, suml_app, IH, seq_S, suml_app.
  f_equal. cbn [Nat.add]. rewrite (seq_from (m * n)), suml_map. cbn. unfold sum, suml. ring.
Qed.
Lemma product_mean m n A B Q v : product m n A B Q ->
  exists q c, A q /\ (forall i, (i < m)%nat -> B (c i)) /\
  mean (m * n) Q v = mean m q (fun i => mean n (c i) (fun j => v (i * n + j)%nat)).
Proof.
  intros [q [c [Hq [Hc H]]]]. exists q, c. split; [assumption|split; [assumption|]].
  unfold mean. rewrite sum_pairs. apply suml_ext. intros i Hi. apply in_range in Hi.
  rewrite !sum_suml, <- suml_scal. apply suml_ext. intros j Hj. apply in_range in Hj. rewrite H by assumption. ring.
Qed.

Lemma mean_one N Q : mean N Q (fun _ => 1) = sum N Q.
Proof. apply suml_ext. intros. ring. Qed.

Lemma nth_shares V j x : (j < length V)%nat -> nth j (map share V) (fun _ => 0) x = share (nth j V []) x.
Proof.
  intros H. rewrite (nth_indep _ _ (share [])) by now rewrite map_length. now rewrite map_nth.
Qed.

Lemma among_prior s : forall N Q, shaped N s = true -> among N s Q -> prior N Q.
Proof.
  induction s; intros N Q Hs HQ; cbn [shaped among] in *; try apply HQ.
  - split_bools. rewrite forallb_forall in H0.
    assert (HV : forall j, (j < length vertices)%nat -> prior N (share (nth j vertices []))).
    { intros j Hj. apply share_prior. specialize (H0 _ (nth_In vertices [] Hj)). now split_bools. }
    split.
    + destruct HQ as [w [[Hw _] E]]. intros x Hx. rewrite E by assumption. apply suml_nonneg.
      intros j Hj. apply in_range in Hj. rewrite map_length in Hj.
      apply Rmult_le_pos; [apply Hw; now rewrite map_length|]. rewrite nth_shares by assumption. now apply HV.
    + rewrite <- mean_one. destruct (hull_mean N _ Q (fun _ => 1) HQ) as [w [[_ Hw] ->]]. rewrite map_length in *.
      transitivity (sum (length vertices) w); [|exact Hw]. apply suml_ext. intros j Hj. apply in_range in Hj.
      rewrite (mean_const N _ 1); [ring|]. destruct (HV j Hj) as [A B]. split.
      * intros x Hx. rewrite nth_shares by assumption. now apply A.
      * transitivity (sum N (share (nth j vertices []))); [|exact B]. apply suml_ext. intros x _. now apply nth_shares.
  - split_bools. now apply IHs1.
  - split_bools. destruct HQ; [now apply IHs1 | now apply IHs2].
  - split_bools. destruct HQ as [-> HQ]. split.
    + destruct HQ as [q [c [Hq [Hc E]]]]. intros x Hx. assert (n <> O) by (intros ->; lia).
      pose proof (Nat.div_mod x n H2) as Ex. pose proof (Nat.mod_upper_bound x n H2).
      assert (x / n < m)%nat by (apply Nat.div_lt_upper_bound; lia).
      rewrite Ex, Nat.mul_comm, E by assumption. apply Rmult_le_pos.
      * now apply (IHs1 m q).
      * now apply (IHs2 n (c (x / n)%nat) H0 (Hc _ H4)).
    + rewrite <- mean_one. destruct (product_mean _ _ _ _ _ (fun _ => 1) HQ) as [q [c [Hq [Hc ->]]]].
      transitivity (mean m q (fun _ => 1)); [|apply mean_const; now apply (IHs1 m q)]. apply mean_ext. intros i Hi.
      apply mean_const. now apply (IHs2 n (c i) H0), Hc.
Qed.

(** The bound of every set is below D <Q, v>. *)

Lemma at_map_seq f n i : (i < n)%nat -> at_ (map f (seq 0 n)) i = f i.
Proof.
  intros H. unfold at_. rewrite (nth_indep _ _ (f O)) by now rewrite map_length, seq_length.
  now rewrite map_nth, seq_nth.
Qed.

Definition sound (N : nat) (s : priors) (b : Z * (list Z -> Z)) : Prop :=
  (0 < fst b)%Z /\ forall Q, among N s Q -> forall v, length v = N ->
  IZR (snd b v) <= IZR (fst b) * mean N Q (real v).

Lemma pieces_sound N s : shaped N s = true -> forall D ps, pieces s = Some (D, ps) ->
  sound N s (D, least D ps (mass_rows N ps)).
Proof.
  intros Hs D ps E. destruct (pieces_kept s N D ps Hs E) as [HD HK]. split; [exact HD|].
  intros Q HQ v Hv. apply least_sound; auto. now apply (among_prior s).
Qed.

Theorem bound_sound s : forall N, shaped N s = true -> sound N s (bound N s).
Proof.
  induction s; intros N Hs; pose proof (fun D ps => pieces_sound N _ Hs D ps) as HP; cbn [bound].
  - cbn [pieces] in *. now apply HP.
  - cbn [shaped] in Hs. split_bools. apply Z.ltb_lt in H. split; [exact H|]. cbn [fst snd].
    rewrite forallb_forall in H0. intros Q HQ v Hv. cbn [among] in HQ.
    destruct (hull_mean N _ Q (real v) HQ) as [w [Hw ->]]. rewrite map_length in *.
    rewrite sum_suml, <- suml_scal.
    set (m := IZR (smallest (dot v (hd [] vertices)) (map (dot v) vertices))).
    apply Rle_trans with (mean (length vertices) w (fun _ => m)); [right; symmetry; now apply mean_const|].
    unfold mean at 1. apply suml_le. intros j Hj. apply in_range in Hj.
    rewrite <- Rmult_assoc, (Rmult_comm _ (w j)), Rmult_assoc. apply Rmult_le_compat_l; [now apply Hw|].
    set (u := nth j vertices []). assert (Hu : In u vertices) by now apply nth_In.
    specialize (H0 u Hu). split_bools. apply Z.eqb_eq in H1. unfold weights in H0. split_bools.
    apply Nat.eqb_eq in H0. apply IZR_lt in H.
    apply Rle_trans with (IZR (dot v u)).
    + apply IZR_le, smallest_in, in_map, Hu.
    + rewrite (IZR_dot v u N Hv H0). unfold mean. rewrite sum_suml, sum_suml, <- suml_scal. right.
      apply suml_ext. intros x _. rewrite nth_shares by assumption. fold u. unfold share. rewrite H1.
      unfold real, at_. field. lra.
  - cbn [pieces] in *. now apply HP.
  - cbn [pieces] in *. now apply HP.
  - assert (HB : match pieces s1, pieces s2 with Some _, Some _ => true | _, _ => false end = true)
      by (cbn [shaped] in Hs; now split_bools).
    destruct (pieces (Both s1 s2)) as [[D ps]|] eqn:E; [now apply HP|].
    exfalso. cbn [pieces] in E. destruct (pieces s1) as [[]|]; [|discriminate]. destruct (pieces s2) as [[]|]; discriminate.
  - cbn [shaped] in Hs. split_bools. destruct (IHs1 N H) as [D1 B1]. destruct (IHs2 N H0) as [D2 B2].
    split; cbn [fst snd]; [lia|]. apply IZR_lt in D1, D2. intros Q HQ v Hv. rewrite mult_IZR. cbn [among] in HQ.
    destruct HQ as [HQ|HQ].
    + eapply Rle_trans; [apply IZR_le, Z.le_min_l|]. rewrite mult_IZR. specialize (B1 Q HQ v Hv).
      apply (Rmult_le_compat_r (IZR (fst (bound N s2)))) in B1; lra.
    + eapply Rle_trans; [apply IZR_le, Z.le_min_r|]. rewrite mult_IZR. specialize (B2 Q HQ v Hv).
      apply (Rmult_le_compat_r (IZR (fst (bound N s1)))) in B2; lra.
  - cbn [shaped] in Hs. split_bools. apply Nat.eqb_eq in H. subst N.
    destruct (IHs1 m H1) as [D1 B1]. destruct (IHs2 n H0) as [D2 B2].
    split; cbn [fst snd]; [lia|]. apply IZR_lt in D1, D2. intros Q [_ HQ] v Hv.
    destruct (product_mean m n _ _ Q (real v) HQ) as [q [c [Hq [Hc ->]]]].
    set (inner := map (fun i => snd (bound n s2) (chunk n v i)) (seq 0 m)).
    eapply Rle_trans; [apply (B1 q Hq inner); unfold inner; now rewrite map_length, seq_length|].
    rewrite mult_IZR, Rmult_assoc. apply Rmult_le_compat_l; [lra|]. rewrite <- mean_scal.
    apply mean_le; [now apply (among_prior s1)|]. intros i Hi.
    unfold real at 1. unfold inner. rewrite at_map_seq by assumption.
    eapply Rle_trans; [apply (B2 (c i) (Hc i Hi)); unfold chunk; now rewrite map_length, seq_length|].
    right. f_equal. apply mean_ext. intros j Hj. unfold real, chunk. now rewrite at_map_seq.
Qed.

(** The set has a member. *)

Lemma weights_parts N w : weights N w = true ->
  length w = N /\ (forall x, 0 <= real w x) /\ 0 < IZR (total w) /\ forall x, share w x = real w x / IZR (total w).
Proof.
  unfold weights. intros H. split_bools. apply Nat.eqb_eq in H. apply Z.ltb_lt in H0. repeat split; auto.
  - intros x. now apply IZR_le, forallb_at.
  - now apply IZR_lt.
Qed.

Lemma cross a b c d : 0 < b -> 0 < d -> a * d <= c * b -> a / b <= c / d.
Proof.
  intros Hb Hd H. apply (Rmult_le_reg_r (b * d)); [now apply Rmult_lt_0_compat|].
  replace (a / b * (b * d)) with (a * d) by (field; lra). now replace (c / d * (b * d)) with (c * b) by (field; lra).
Qed.

Lemma belongs_sound s : forall N w, shaped N s = true -> weights N w = true -> belongs N s w = true ->
  among N s (share w).
Proof.
  induction s; intros N w Hs Hw Hb; cbn [belongs shaped among] in *; try discriminate;
    pose proof (share_prior N w Hw) as Hp; destruct (weights_parts N w Hw) as [Lw [Pw [Tw Ew]]].
  - destruct (weights_parts N counts Hs) as [Lc [Pc [Tc Ec]]]. split; [assumption|].
    apply Z.leb_le, IZR_le in Hb. rewrite !mult_IZR, IZR_zsum in Hb. pose proof (IZR_lt 0 (Zpos over) eq_refl) as Hd.
    rewrite sum_suml, (suml_ext _ _ (fun x => IZR (Z.abs (at_ w x * total counts - at_ counts x * total w))
      * / (IZR (total counts) * IZR (total w)))).
    + rewrite suml_scal_r, <- sum_suml. apply cross; [now apply Rmult_lt_0_compat | assumption | lra].
    + intros x _. rewrite Ew, Ec, abs_IZR, minus_IZR, !mult_IZR. fold (real w x) (real counts x).
      rewrite <- (Rabs_right (/ (IZR (total counts) * IZR (total w)))).
      * rewrite <- Rabs_mult. f_equal. field. lra.
      * left. apply Rinv_0_lt_compat. now apply Rmult_lt_0_compat.
  - destruct vertices as [|v V]; [discriminate|]. cbn [hd] in Hs. split_bools. rewrite forallb_forall in H0, Hb.
    specialize (H0 v (or_introl eq_refl)). split_bools. destruct (weights_parts N v H0) as [Lv [Pv [Tv Ev]]].
    exists (fun j => if Nat.eqb j 0 then 1 else 0). rewrite map_length. split.
    + split; [intros j _; destruct (Nat.eqb j 0); lra|].
      rewrite sum_suml. apply suml_one; [apply seq_NoDup | apply in_range; cbn; lia].
    + intros x Hx. rewrite sum_suml.
      rewrite (suml_ext _ _ (fun j => if Nat.eqb j 0 then share v x else 0)).
      * rewrite suml_one; [|apply seq_NoDup | apply in_range; cbn; lia].
        specialize (Hb x ltac:(now apply in_range)). apply Z.eqb_eq in Hb. apply (f_equal IZR) in Hb.
        rewrite !mult_IZR in Hb. rewrite Ew, Ev. fold (real v x) (real w x) in Hb.
        apply Rle_antisym; apply cross; lra.
      * intros j _. destruct (Nat.eqb_spec j 0) as [->|]; [cbn [map nth]|]; ring.
  - split; [assumption|]. intros x Hx. rewrite forallb_forall in Hb. specialize (Hb x ltac:(now apply in_range)).
    pose proof (IZR_lt 0 (Zpos over) eq_refl) as Hd.
    split_bools. apply Z.leb_le, IZR_le in H, H0. rewrite !mult_IZR in H, H0. rewrite Ew. unfold ratio.
    change (nth x low 0%Z) with (at_ low x). change (nth x high 0%Z) with (at_ high x). unfold real.
    split; now apply cross.
  - destruct (weights_parts N counts Hs) as [Lc [Pc [Tc Ec]]]. split; [assumption|].
    pose proof (IZR_lt 0 (Zpos over) eq_refl) as Hd. rewrite forallb_forall in Hb.
    intros alpha gamma Hin S. apply in_map_iff in Hin. destruct Hin as [[a b] [E Hin]]. cbn [fst snd] in E.
    assert (ratio a over = alpha) as <- by congruence. assert (ratio b over = gamma) as <- by congruence.
    specialize (Hb (a, b) Hin). cbn [fst snd] in Hb. apply Z.leb_le, IZR_le in Hb.
    rewrite !mult_IZR, IZR_zsum in Hb.
    enough (ratio a over * mass N (share counts) S - mass N (share w) S <= ratio b over) by lra.
    unfold mass. rewrite !sum_suml, <- suml_scal, <- suml_minus.
    apply Rle_trans with (suml (seq 0 N) (fun x =>
      IZR (Z.max 0 (a * at_ counts x * total w - Zpos over * at_ w x * total counts))
      * / (IZR (Zpos over) * IZR (total counts) * IZR (total w)))).
    + apply suml_le. intros x _. rewrite Ew, Ec. unfold real, ratio.
      assert (Hi : 0 < / (IZR (Zpos over) * IZR (total counts) * IZR (total w)))
        by (apply Rinv_0_lt_compat, Rmult_lt_0_compat; [now apply Rmult_lt_0_compat|assumption]).
      destruct (S x).
      * apply Rle_trans with (IZR (a * at_ counts x * total w - Zpos over * at_ w x * total counts)
          * / (IZR (Zpos over) * IZR (total counts) * IZR (total w))).
        -- right. rewrite minus_IZR, !mult_IZR. field. lra.
        -- apply Rmult_le_compat_r; [lra|]. apply IZR_le. lia.
      * rewrite Rmult_0_r, Rminus_0_r. apply Rmult_le_pos; [|lra]. apply IZR_le. lia.
    + rewrite suml_scal_r, <- sum_suml. unfold ratio.
      apply (Rmult_le_reg_r (IZR (Zpos over) * IZR (total counts) * IZR (total w))).
      { apply Rmult_lt_0_compat; [now apply Rmult_lt_0_compat|assumption]. }
      rewrite Rmult_assoc, Rinv_l, Rmult_1_r; [|assert (IZR (Zpos over) * IZR (total counts) > 0) by (now apply Rmult_lt_0_compat); nra].
      eapply Rle_trans; [exact Hb|]. right. field. lra.
  - split_bools. split; auto.
Qed.

Lemma inhabited_sound s : forall N, shaped N s = true -> inhabited N s = true -> exists Q, among N s Q.
Proof.
  induction s; intros N Hs Hi;
    try (cbn [inhabited] in Hi; split_bools; exists (share (member (s1))); idtac; fail);
    try (cbn [inhabited] in Hi; apply andb_prop in Hi; destruct Hi as [Hw Hb];
         eexists; eapply belongs_sound; [exact Hs | exact Hw | exact Hb]).
  - cbn [inhabited shaped among] in *. split_bools. destruct (IHs1 N H1 H) as [Q HQ]. exists Q. now left.
  - cbn [inhabited shaped] in *. split_bools. apply Nat.eqb_eq in H1.
    destruct (IHs1 m H3 H) as [q Hq]. destruct (IHs2 n H2 H0) as [c Hc].
    exists (fun x => q (x / n)%nat * c (x mod n)%nat). cbn [among]. split; [assumption|].
    exists q, (fun _ => c). split; [assumption|split; [now intros|]]. intros i j Hi' Hj.
    rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia.
    now rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia.
Qed.

(** The theorem. *)

Lemma above_sound N s b e v : sound N s b -> shaped N s = true -> length v = N -> (forall x, 0 <= real v x) ->
  proper e = true -> above_holds b (below_exp e) v = true ->
  forall Q, among N s Q -> forall x, real v x <= exp (nats e) * mean N Q (real v).
Proof.
  intros [HD HB] Hs Hl Hv Hp H Q HQ x. destruct (below_exp_sound e Hp) as [HT [Ho He]].
  specialize (HB Q HQ v Hl). unfold above_holds in H. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H.
  apply IZR_lt in HD, Ho. apply IZR_le in HT.
  set (T := IZR (fst (below_exp e))) in *. set (o := IZR (snd (below_exp e))) in *. set (D := IZR (fst b)) in *.
  assert (Hm : 0 <= mean N Q (real v)).
  { rewrite <- (mean_const N Q 0) by now apply (among_prior s). apply mean_le; [now apply (among_prior s)|]. auto. }
  set (m := mean N Q (real v)) in *. pose proof (IZR_le _ _ (greatest_at v x)) as Hx. fold (real v x) in Hx.
  assert (H1 : T * IZR (snd b v) <= T * (D * m)) by now apply Rmult_le_compat_l.
  assert (H2 : T * m <= o * exp (nats e) * m) by now apply Rmult_le_compat_r.
  apply (Rmult_le_reg_r (D * o)); [now apply Rmult_lt_0_compat|].
  apply Rle_trans with (IZR (greatest v) * (D * o)); [apply Rmult_le_compat_r; [left; now apply Rmult_lt_0_compat|assumption]|].
  apply Rle_trans with (D * (T * m)); [lra|].
  apply (Rmult_le_compat_l D) in H2; [|lra]. lra.
Qed.

Lemma below_sound N s b e v : sound N s b -> shaped N s = true -> length v = N -> (forall x, 0 <= real v x) ->
  proper e = true -> below_holds b (below_exp e) v = true ->
  forall Q, among N s Q -> forall x, (x < N)%nat -> exp (- nats e) * mean N Q (real v) <= real v x.
Proof.
  intros [HD HB] Hs Hl Hv Hp H Q HQ x Hx. destruct (below_exp_sound e Hp) as [HT [Ho He]].
  pose proof (among_prior s N Q Hs HQ) as HP.
  specialize (HB Q HQ (map (Z.sub (greatest v)) v) ltac:(now rewrite map_length)).
  unfold below_holds in H. apply Z.leb_le, IZR_le in H. rewrite mult_IZR, minus_IZR, !mult_IZR in H.
  apply IZR_lt in HD, Ho. apply IZR_le in HT.
  assert (Hf : mean N Q (real (map (Z.sub (greatest v)) v)) = IZR (greatest v) - mean N Q (real v)).
  { rewrite <- (mean_const N Q (IZR (greatest v)) HP) at 1. unfold mean at 2 3. rewrite !sum_suml, <- suml_minus.
    apply suml_ext. intros y Hy. apply in_range in Hy. unfold real, at_.
    rewrite (nth_indep _ 0%Z (greatest v - 0)%Z) by now rewrite map_length, Hl.
    rewrite (map_nth (Z.sub (greatest v))), minus_IZR. ring. }
  rewrite Hf in HB.
  set (T := IZR (fst (below_exp e))) in *. set (o := IZR (snd (below_exp e))) in *. set (D := IZR (fst b)) in *.
  set (m := mean N Q (real v)) in *. set (top := IZR (greatest v)) in *.
  assert (Hs' : IZR (smallest (greatest v) v) <= real v x).
  { apply IZR_le, smallest_in. apply nth_In. now rewrite Hl. }
  assert (H1 : D * m * o <= (top * D - IZR (snd b (map (Z.sub (greatest v)) v))) * o)
    by (apply Rmult_le_compat_r; lra).
  assert (H2 : T * D * IZR (smallest (greatest v) v) <= T * D * real v x)
    by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|assumption]).
  assert (H3 : T * real v x <= o * exp (nats e) * real v x) by now apply Rmult_le_compat_r.
  rewrite exp_Ropp. pose proof (exp_pos (nats e)) as Hexp.
  apply (Rmult_le_reg_l (exp (nats e))); [assumption|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
  apply (Rmult_le_reg_l (D * o)); [now apply Rmult_lt_0_compat|].
  apply (Rmult_le_compat_l D) in H3; [|lra]. lra.
Qed.

Lemma cap_sound e v : (forall x, 0 <= real v x) -> proper e = true -> cap_holds (below_exp e) v = true ->
  forall x x', (x' < length v)%nat -> real v x <= exp (nats e) * real v x'.
Proof.
  intros Hv Hp H x x' Hx. destruct (below_exp_sound e Hp) as [HT [Ho He]].
  unfold cap_holds in H. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H. apply IZR_lt in Ho. apply IZR_le in HT.
  pose proof (IZR_le _ _ (greatest_at v x)) as H1. fold (real v x) in H1.
  assert (H2 : IZR (smallest (greatest v) v) <= real v x') by (apply IZR_le, smallest_in, nth_In, Hx).
  set (T := IZR (fst (below_exp e))) in *. set (o := IZR (snd (below_exp e))) in *.
  assert (H3 : T * real v x' <= o * exp (nats e) * real v x') by now apply Rmult_le_compat_r.
  apply (Rmult_le_compat_l T) in H2; [|assumption]. apply (Rmult_le_compat_r o) in H1; [|lra].
  apply (Rmult_le_reg_l o); [assumption|]. lra.
Qed.

Lemma at_column rows y x : at_ (column rows y) x = at_ (nth x rows []) y.
Proof.
  unfold column, at_. replace 0%Z with (nth y ([] : list Z) 0%Z) at 1 by (destruct y; reflexivity).
  exact (map_nth (fun row => nth y row 0%Z) rows [] x).
Qed.

Lemma top_le N f c : 0 <= c -> (forall x, (x < N)%nat -> f x <= c) -> top N f <= c.
Proof.
  intros Hc H. unfold top. assert (G : forall x, In x (seq 0 N) -> f x <= c) by (intros x Hx; now apply H, in_range).
  induction (seq 0 N) as [|a l IH]; cbn; [assumption|]. apply Rmax_lub; [apply G; now left|]. apply IH. intros x Hx. apply G. now right.
Qed.
Lemma average_sound one e tops N k : (0 < one)%Z -> (forall y, (0 <= at_ tops y)%Z) ->
  (forall x y, (x < N)%nat -> (y < length tops)%nat -> k x y <= / IZR one * real tops y) ->
  average_holds one e tops = true -> on_average N (length tops) k (nats e).
Proof.
  intros Ho Ht Hk H. unfold average_holds in H. cbn zeta in H. split_bools. destruct (below_exp_sound e H) as [HT [Hs He]].
  apply Z.leb_le, IZR_le in H0. rewrite !mult_IZR in H0. apply IZR_lt in Ho, Hs.
  set (T := IZR (fst (below_exp e))) in *. set (o := IZR (snd (below_exp e))) in *.
  assert (HI : 0 <= / IZR one) by (left; now apply Rinv_0_lt_compat). unfold on_average.
  apply Rle_trans with (sum (length tops) (fun y => / IZR one * real tops y)).
  - rewrite !sum_suml. apply suml_le. intros y Hy. apply in_range in Hy. apply top_le.
    + apply Rmult_le_pos; [assumption|]. now apply IZR_le.
    + intros x Hx. now apply Hk.
  - rewrite sum_suml, suml_scal, <- sum_suml. unfold real, at_. rewrite <- (total_positions tops (length tops) eq_refl).
    apply (Rmult_le_reg_l (IZR one * o)); [now apply Rmult_lt_0_compat|].
    replace (IZR one * o * (/ IZR one * IZR (total tops))) with (IZR (total tops) * o) by (field; lra).
    apply (Rmult_le_compat_l (IZR one)) in He; [lra|lra].
Qed.
(* The greatest entries of columns, where no entry is negative. *)
Lemma tops_are rows M : let tops := map (fun y => greatest (column rows y)) (seq 0 M) in
  length tops = M /\ forall y, (0 <= at_ tops y)%Z /\ ((y < M)%nat -> forall x, (at_ (column rows y) x <= at_ tops y)%Z).
Proof.
  cbn zeta. set (tops := map (fun y => greatest (column rows y)) (seq 0 M)).
  assert (L : length tops = M) by (unfold tops; now rewrite map_length, seq_length). split; [exact L|]. intros y.
  destruct (Nat.lt_ge_cases y M) as [H|H].
  - assert (E : at_ tops y = greatest (column rows y)) by (unfold tops; now rewrite at_map_seq). rewrite E. split.
    + clear. unfold greatest. generalize (column rows y) as l. induction l as [|a l IH]; cbn [fold_right]; lia.
    + intros _ x. apply greatest_at.
  - unfold at_. rewrite nth_overflow by lia. split; [|]; lia.
Qed.

Theorem check_correct : forall f, check f = true -> promise f.
Proof.
  intros f H. unfold check, tests in H. cbn [fst snd] in H. apply andb_prop in H as [H H0].
  apply andb_prop in H as [H Haverage]. apply andb_prop in H as [H H1]. apply andb_prop in H as [H H2].
  apply andb_prop in H as [H H3]. apply Nat.eqb_eq in H. rewrite forallb_forall in H3, H0.
  pose proof (bound_sound (set f) _ H2) as HB. set (b := bound (inputs f) (set f)) in *.
  set (P := 2 ^ bits f). assert (HP : 0 < P) by (apply pow_lt; lra).
  assert (EP : IZR (2 ^ Z.of_nat (bits f)) = P) by (rewrite <- pow_IZR; reflexivity).
  assert (EK : forall x y, K f x y = / P * real (column (rows f) y) x).
  { intros x y. unfold K, real. rewrite at_column. unfold at_. fold P. unfold Rdiv. ring. }
  assert (Hrow : forall x, (x < inputs f)%nat -> right_row (outputs f) (2 ^ Z.of_nat (bits f)) (nth x (rows f) []) = true)
    by (intros x Hx; apply H3, nth_In; now rewrite H).
  assert (Hpos : forall y x, 0 <= real (column (rows f) y) x).
  { intros y x. unfold real. rewrite at_column. destruct (Nat.lt_ge_cases x (inputs f)) as [L|L].
    - specialize (Hrow x L). unfold right_row in Hrow. split_bools. now apply IZR_le, forallb_at.
    - rewrite nth_overflow by now rewrite H. unfold at_. destruct y; apply Rle_refl. }
  assert (Hlen : forall y, length (column (rows f) y) = inputs f) by (intros; unfold column; now rewrite map_length).
  assert (HI : 0 <= / P) by (left; now apply Rinv_0_lt_compat).
  assert (EM : forall Q y, mean (inputs f) Q (fun x => K f x y) = / P * mean (inputs f) Q (real (column (rows f) y))).
  { intros Q y. rewrite <- mean_scal. apply mean_ext. intros; apply EK. }
  assert (HC : forall y, (y < outputs f)%nat -> forall test e, if_any (Some e) test (column (rows f) y) = true ->
      proper e = true /\ test (below_exp e) (column (rows f) y) = true).
  { intros y _ test e. unfold if_any. destruct (proper e); [now split|discriminate]. }
  split; [|split; [|split; [|split; [|split]]]].
  - intros x Hx. specialize (Hrow x Hx). unfold right_row in Hrow. split_bools. apply Nat.eqb_eq in H4.
    apply Z.eqb_eq in H5. split.
    + intros y Hy. rewrite EK. now apply Rmult_le_pos.
    + unfold K. fold P. unfold Rdiv. rewrite sum_suml, suml_scal_r, <- sum_suml.
      rewrite <- (total_positions _ _ H4), H5, EP. field. lra.
  - now apply (inhabited_sound (set f)).
  - intros Q HQ x y Hx Hy. specialize (H0 y ltac:(now apply in_range)). split_bools.
    destruct (HC y Hy _ _ H0) as [Hp Ht]. rewrite EM, EK.
    pose proof (above_sound _ _ b _ _ HB H2 (Hlen y) (Hpos y) Hp Ht Q HQ x) as G.
    apply (Rmult_le_compat_l (/ P)) in G; lra.
  - destruct (lower f) as [e|]; [|exact I]. intros Q HQ x y Hx Hy. specialize (H0 y ltac:(now apply in_range)).
    split_bools. destruct (HC y Hy _ _ H4) as [Hp Ht]. rewrite EM, EK.
    pose proof (below_sound _ _ b _ _ HB H2 (Hlen y) (Hpos y) Hp Ht Q HQ x Hx) as G.
    apply (Rmult_le_compat_l (/ P)) in G; lra.
  - destruct (cap f) as [e|]; [|exact I]. intros x x' y Hx Hx' Hy. specialize (H0 y ltac:(now apply in_range)).
    split_bools. destruct (HC y Hy _ _ H5) as [Hp Ht]. rewrite !EK.
    pose proof (cap_sound _ _ (Hpos y) Hp Ht x x' ltac:(now rewrite Hlen)) as G.
    apply (Rmult_le_compat_l (/ P)) in G; lra.
  - destruct (average f) as [e|]; [|exact I]. destruct (tops_are (rows f) (outputs f)) as [Lt Ht].
    rewrite <- Lt at 1. apply (average_sound (2 ^ Z.of_nat (bits f))); [now apply Z.pow_pos_nonneg; lia|intros y; apply Ht| |exact Haverage].
    rewrite Lt. intros x y _ Hy. rewrite EK, EP. apply Rmult_le_compat_l; [assumption|]. apply IZR_le. now apply Ht.
Qed.
