(** A test in integers of the radius that samples support: chains of products, powers by squaring, a geometric tail. *)
From Coq Require Import Reals List ZArith Bool Lia Lra.
Require Import Spec Support ExpLow Delta Tail Steps.
Import ListNotations.
Open Scope Z_scope.

(** * Large numbers to 96 digits, rounded up or down: a pair (m, e) stands for m 2^e *)

Definition number := (Z * Z)%type.
Definition times (x y : number) : number := (fst x * fst y, snd x + snd y).
Definition excess (m : Z) : Z := Z.log2 m - 96.
Definition cut_up (x : number) : number :=
  let s := excess (fst x) in if 0 <? s then (Z.shiftr (fst x) s + 1, snd x + s) else x.
Definition cut_down (x : number) : number :=
  let s := excess (fst x) in if 0 <? s then (Z.shiftr (fst x) s, snd x + s) else x.
Fixpoint power_by (cut : number -> number) (x : number) (k : positive) : number :=
  match k with
  | xH => x
  | xO k => let y := power_by cut x k in cut (times y y)
  | xI k => let y := power_by cut x k in cut (times x (cut (times y y)))
  end.
Definition power (cut : number -> number) (a k : Z) : number :=
  match k with Zpos k => power_by cut (a, 0) k | _ => (1, 0) end.
(* The numbers from k to k + steps of n (n - 1) .. and of 1 2 .., up and down. *)
Fixpoint chain (n : Z) (steps : nat) (k : Z) (x : number * number) : number * number :=
  match steps with
  | O => x
  | S steps => chain n steps (k + 1) (cut_up (times (n - k, 0) (fst x)), cut_down (times (k + 1, 0) (snd x)))
  end.
Definition at_most (x y : number) : bool :=
  if snd y <=? snd x then fst x * 2 ^ (snd x - snd y) <=? fst y else fst x <=? fst y * 2 ^ (snd y - snd x).

(** * The test: T = A/D, and F(k) = P[Bin(n, (k - T)/n) >= k] *)

Definition unit : Z := Z.pow_pos 2 96.
Definition up (a b : Z) : Z := - (- a / b).
(* The sum of the weights from j on, over that of j, at odds a : c. *)
Fixpoint series_up (terms : nat) (n a c j : Z) : Z :=
  let u := (n - j) * a in let v := (j + 1) * c in
  match terms with
  | O => up (unit * v) (v - u)
  | S terms => unit + up (series_up terms n a c (j + 1) * u) v
  end.
Definition rare (n A D la lb i j : Z) (terms : nat) (x : number * number) : bool :=
  let a := j * D - A in let c := (n - j) * D + A in let last := i + Z.of_nat terms in
  (0 <? a) && (0 <? c) && (j <=? n) && (last <=? n) && ((n - last) * a <? (last + 1) * c)
  && at_most
       (times (times (fst x) (series_up terms n a c i * lb, 0)) (times (power cut_up a i) (power cut_up c (n - i))))
       (times (times (snd x) (la * unit, 0)) (power cut_down (n * D) n)).
Definition rises (n A D i j : Z) : bool :=
  let m := unit * A / (j * D - A) + unit * (A + D) / ((n - i) * D + A) in
  let c := up (unit * i * D * D) ((i * D - A) * (i * D - A))
           + up (unit * (n - 1 - i) * D * D) (((n - j) * D + A) * ((n - j - 1) * D + A)) in
  (A <? i * D) && (j <? n) && (0 <? m) && (c <=? 2 * m)
  && (120 * unit * unit * unit * A
      <? D * (n - j) * (60 * m * unit * unit + 20 * m * m * unit + 5 * m * m * m
                        - c * (20 * unit * unit + 15 * m * unit + 6 * m * m))).
Definition falls (n A D i j : Z) : bool :=
  let m := up (unit * A) (i * D - A) + up (unit * (A + D)) ((n - j) * D + A) in
  (A <? i * D) && (j <? n) && (m <? 3 * unit)
  && (D * (n - i) * ((3 * unit * m + m * m) * (24 * unit - 8 * m) + 6 * m * m * m)
      <? A * 6 * unit * unit * (24 * unit - 8 * m)).

(* The counts from one on, in ranges: F rises from each to the next, which is shown to be small; or falls from the one
   before, which is known to be; or is small enough; or the counts are in a gap, where nothing is asked. *)
Inductive range := Rise (last : Z) | Fall (last : Z) | Rare (last : Z) (terms : nat) | Gap (last : Z).
Definition shown (l : list range) : bool := match l with Rise _ :: _ | Rare _ _ :: _ => true | _ => false end.
Fixpoint ranges_hold (gap : Z -> Z -> bool) (n A D la lb i k : Z) (small : bool) (x : number * number) (l : list range) : bool :=
  match l with
  | [] => n <? i
  | Rise j :: l => (i <=? j) && rises n A D i j && shown l && ranges_hold gap n A D la lb (j + 1) k false x l
  | Fall j :: l => small && (i <=? j) && falls n A D (i - 1) (j - 1) && ranges_hold gap n A D la lb (j + 1) k true x l
  | Rare j terms :: l =>
    let y := chain n (Z.to_nat (i - k)) k x in
    (k <=? i) && (i <=? j) && rare n A D la lb i j terms y && ranges_hold gap n A D la lb (j + 1) i true y l
  | Gap j :: l => (i <=? j) && gap i j && ranges_hold gap n A D la lb (j + 1) k false x l
  end.
Definition limits (gap : Z -> Z -> bool) (n A D la lb : Z) (l : list range) : bool :=
  (0 <? n) && (0 <? A) && (0 <? D) && (0 <=? la) && (0 <? lb)
  && ranges_hold gap n A D la lb (A / D + 1) 0 false ((1, 0), (1, 0)) l.

(** * Its proof *)

Definition upper (v : Z) (x : number) : Prop := 0 <= v /\ 0 <= snd x /\ v <= fst x * 2 ^ snd x.
Definition below (v : Z) (x : number) : Prop := 0 <= fst x /\ 0 <= snd x /\ fst x * 2 ^ snd x <= v.

Lemma upper_times v w x y : upper v x -> upper w y -> upper (v * w) (times x y).
Proof.
  destruct x as [a e], y as [b f]. unfold upper, times. cbn [fst snd]. intros [V [E H]] [W [F G]].
  rewrite Z.pow_add_r by assumption. split; [nia|split; [lia|]].
  replace (a * b * (2 ^ e * 2 ^ f)) with ((a * 2 ^ e) * (b * 2 ^ f)) by ring. apply Z.mul_le_mono_nonneg; lia.
Qed.
Lemma below_times v w x y : below v x -> below w y -> below (v * w) (times x y).
Proof.
  destruct x as [a e], y as [b f]. unfold below, times. cbn [fst snd]. intros [V [E H]] [W [F G]].
  rewrite Z.pow_add_r by assumption. split; [nia|split; [lia|]].
  pose proof (Z.pow_nonneg 2 e ltac:(lia)). pose proof (Z.pow_nonneg 2 f ltac:(lia)).
  replace (a * b * (2 ^ e * 2 ^ f)) with ((a * 2 ^ e) * (b * 2 ^ f)) by ring. apply Z.mul_le_mono_nonneg; nia.
Qed.
Lemma shift_is_div m s : 0 <= s -> 2 ^ s * Z.shiftr m s <= m < 2 ^ s * (Z.shiftr m s + 1).
Proof.
  intros H. rewrite Z.shiftr_div_pow2 by assumption. pose proof (Z.pow_pos_nonneg 2 s ltac:(lia) H) as P.
  pose proof (Z.mul_div_le m (2 ^ s) P). pose proof (Z.mul_succ_div_gt m (2 ^ s) P). lia.
Qed.
Lemma upper_cut v x : upper v x -> upper v (cut_up x).
Proof.
  destruct x as [a e]. unfold upper, cut_up. cbn [fst snd]. intros [V [E H]]. destruct (Z.ltb_spec 0 (excess a)); [|now auto].
  cbn [fst snd]. split; [assumption|split; [lia|]]. rewrite Z.pow_add_r by lia.
  pose proof (shift_is_div a (excess a) ltac:(lia)) as S. pose proof (Z.pow_nonneg 2 e ltac:(lia)).
  apply Z.le_trans with (a * 2 ^ e); [assumption|].
  replace ((Z.shiftr a (excess a) + 1) * (2 ^ e * 2 ^ excess a))
    with (2 ^ excess a * (Z.shiftr a (excess a) + 1) * 2 ^ e) by ring.
  apply Z.mul_le_mono_nonneg_r; lia.
Qed.
Lemma below_cut v x : below v x -> below v (cut_down x).
Proof.
  destruct x as [a e]. unfold below, cut_down. cbn [fst snd]. intros [V [E H]]. destruct (Z.ltb_spec 0 (excess a)); [|now auto].
  cbn [fst snd]. split; [now apply Z.shiftr_nonneg|split; [lia|]]. rewrite Z.pow_add_r by lia.
  pose proof (shift_is_div a (excess a) ltac:(lia)) as S. pose proof (Z.pow_nonneg 2 e ltac:(lia)).
  eapply Z.le_trans; [|exact H].
  replace (Z.shiftr a (excess a) * (2 ^ e * 2 ^ excess a)) with (2 ^ excess a * Z.shiftr a (excess a) * 2 ^ e) by ring.
  apply Z.mul_le_mono_nonneg_r; lia.
Qed.
Lemma power_ok (P : Z -> number -> Prop) cut :
  (forall v w x y, P v x -> P w y -> P (v * w) (times x y)) -> (forall v x, P v x -> P v (cut x)) ->
  (forall v, 0 <= v -> P v (v, 0)) -> forall a k, 0 <= a -> 0 <= k -> P (a ^ k) (power cut a k).
Proof.
  intros HT HC H0 a [|k|k] Ha Hk; [apply (H0 1); lia| |lia]. cbn [power].
  induction k as [k IH|k IH|]; cbn [power_by]; [| |rewrite Z.pow_1_r; now apply H0].
  - specialize (IH ltac:(lia)). rewrite Pos2Z.inj_xI, Z.pow_add_r, Z.pow_1_r, Z.mul_comm by lia.
    replace (2 * Zpos k) with (Zpos k + Zpos k) by lia. rewrite Z.pow_add_r by lia. auto.
  - specialize (IH ltac:(lia)). rewrite Pos2Z.inj_xO. replace (2 * Zpos k) with (Zpos k + Zpos k) by lia.
    rewrite Z.pow_add_r by lia. auto.
Qed.
Lemma upper_self v : 0 <= v -> upper v (v, 0). Proof. unfold upper. cbn. lia. Qed.
Lemma below_self v : 0 <= v -> below v (v, 0). Proof. unfold below. cbn. lia. Qed.

Lemma falling_pos n k : Z.of_nat k <= n + 1 -> 0 <= falling n k.
Proof.
  induction k as [|k IH]; intros H; cbn [falling]; [lia|]. specialize (IH ltac:(lia)). nia.
Qed.
Definition holds_at (n k : Z) (x : number * number) : Prop :=
  upper (falling n (Z.to_nat k)) (fst x) /\ below (factorial (Z.to_nat k)) (snd x).
Lemma chain_ok n steps : forall k x, 0 <= k -> k + Z.of_nat steps <= n ->
  holds_at n k x -> holds_at n (k + Z.of_nat steps) (chain n steps k x).
Proof.
  induction steps as [|steps IH]; intros k x Hk Hn [U B]; cbn [chain].
  - now rewrite Z.add_0_r.
  - replace (k + Z.of_nat (S steps)) with (k + 1 + Z.of_nat steps) by lia. apply IH; [lia|lia|].
    unfold holds_at. cbn [fst snd]. rewrite Z2Nat.inj_add by lia. change (Z.to_nat 1) with 1%nat. rewrite Nat.add_1_r.
    cbn [falling factorial]. rewrite Nat2Z.inj_succ, Z2Nat.id by assumption. split.
    + apply upper_cut. rewrite Z.mul_comm. apply upper_times; [apply upper_self; lia|assumption].
    + apply below_cut. rewrite Z.mul_comm. apply below_times; [apply below_self; lia|assumption].
Qed.
Lemma at_most_ok v w x y : upper v x -> below w y -> at_most x y = true -> v <= w.
Proof.
  destruct x as [a e], y as [b f]. unfold upper, below, at_most. cbn [fst snd]. intros [V [E H]] [W [F G]] L.
  apply Z.le_trans with (a * 2 ^ e); [assumption|]. eapply Z.le_trans; [|exact G].
  destruct (Z.leb_spec f e) as [D|D]; apply Z.leb_le in L.
  - replace (2 ^ e) with (2 ^ (e - f) * 2 ^ f) by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
    rewrite Z.mul_assoc. apply Z.mul_le_mono_nonneg_r; [apply Z.pow_nonneg; lia|assumption].
  - replace (2 ^ f) with (2 ^ (f - e) * 2 ^ e) by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
    rewrite Z.mul_assoc. apply Z.mul_le_mono_nonneg_r; [apply Z.pow_nonneg; lia|assumption].
Qed.

Open Scope R_scope.
Lemma up_ok a b : (0 < b)%Z -> IZR a / IZR b <= IZR (up a b).
Proof.
  intros H. unfold up. pose proof (div_le (- a) b H) as D. rewrite opp_IZR in *. unfold Rdiv in *. lra.
Qed.
Lemma unit_pos : (0 < unit)%Z. Proof. reflexivity. Qed.

(* tail / weight <= 1 / (1 - r), if the ratio r of the next weight is below 1. *)
Lemma geometric n q : 0 <= q < 1 -> forall d j, (j + d = n)%nat -> odds n q j < 1 ->
  tail n j q * (1 - odds n q j) <= pmf n j q.
Proof.
  intros Hq. induction d as [|d IH]; intros j Hj Ho; rewrite tail_step.
  - rewrite tail_over by lia. replace (odds n q j) with 0; [lra|].
    unfold odds. replace j with n by lia. field. pose proof (lt_0_INR (S n) ltac:(lia)). lra.
  - pose proof (odds_fall n q j Hq ltac:(lia)) as F. specialize (IH (S j) ltac:(lia) ltac:(lra)).
    pose proof (odds_pos n q j Hq ltac:(lia)). pose proof (odds_pos n q (S j) Hq ltac:(lia)).
    rewrite (pmf_next n q j) in IH by lra. pose proof (pmf_pos n q ltac:(lra) j) as P.
    destruct (tail_falls n j q ltac:(lra)) as [P' _].
    assert (tail n (S j) q * (1 - odds n q j) <= odds n q j * pmf n j q).
    { eapply Rle_trans; [|exact IH]. apply Rmult_le_compat_l; lra. }
    lra.
Qed.
Lemma series_up_ok (n : nat) (a c : Z) : (0 < a)%Z -> (0 < c)%Z -> let q := IZR a / IZR (a + c) in
  forall terms j, (j + terms <= n)%nat ->
  ((Z.of_nat n - Z.of_nat (j + terms)) * a < (Z.of_nat (j + terms) + 1) * c)%Z ->
  tail n j q * IZR unit <= pmf n j q * IZR (series_up terms (Z.of_nat n) a c (Z.of_nat j)).
Proof.
  intros Ha Hc q. pose proof (IZR_lt _ _ Ha) as RA. pose proof (IZR_lt _ _ Hc) as RC. pose proof (IZR_lt _ _ unit_pos) as RU.
  assert (Q1 : 1 - q = IZR c / IZR (a + c)) by (unfold q; rewrite plus_IZR; field; lra).
  assert (Hq : 0 <= q < 1).
  { split; [|assert (0 < 1 - q); [rewrite Q1|lra]]; [left; unfold q|]; (apply Rmult_lt_0_compat; [lra|]);
      apply Rinv_0_lt_compat; rewrite plus_IZR; lra. }
  assert (O : forall j, (j <= n)%nat ->
    odds n q j = IZR ((Z.of_nat n - Z.of_nat j) * a) / IZR ((Z.of_nat j + 1) * c)).
  { intros j Hj. unfold odds. rewrite Q1. unfold q. rewrite !mult_IZR, minus_IZR, !plus_IZR, <- !INR_IZR_INZ, S_INR.
    pose proof (pos_INR j). field. repeat split; try lra. }
  induction terms as [|terms IH]; intros j Hj Hr; cbn [series_up].
  - rewrite Nat.add_0_r in *. pose proof (O j Hj) as E.
    set (u := ((Z.of_nat n - Z.of_nat j) * a)%Z) in *. set (v := ((Z.of_nat j + 1) * c)%Z) in *.
    assert (V : (0 < v)%Z) by (unfold v; nia). pose proof (IZR_lt _ _ V) as RV. pose proof (IZR_lt _ _ Hr) as RH.
    assert (L : odds n q j < 1).
    { rewrite E. apply (Rmult_lt_reg_r (IZR v)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    pose proof (geometric n q Hq (n - j) j ltac:(lia) L) as G. rewrite E in G.
    pose proof (up_ok (unit * v) (v - u) ltac:(lia)) as U. rewrite mult_IZR, minus_IZR in U.
    pose proof (pmf_pos n q ltac:(lra) j) as P.
    apply Rle_trans with (pmf n j q * (IZR unit * IZR v / (IZR v - IZR u))); [|now apply Rmult_le_compat_l].
    apply (Rmult_le_compat_r (IZR unit * IZR v / (IZR v - IZR u))) in G.
    2: { left. apply Rmult_lt_0_compat; [now apply Rmult_lt_0_compat|]. apply Rinv_0_lt_compat. lra. }
    replace (tail n j q * (1 - IZR u / IZR v) * (IZR unit * IZR v / (IZR v - IZR u))) with (tail n j q * IZR unit) in G
      by (field; lra). exact G.
  - specialize (IH (S j) ltac:(lia)). replace (S j + terms)%nat with (j + S terms)%nat in IH by lia. specialize (IH Hr).
    rewrite tail_step. rewrite (pmf_next n q j) in IH by lra. rewrite (O j ltac:(lia)) in IH.
    replace (Z.of_nat (S j)) with (Z.of_nat j + 1)%Z in IH by lia.
    set (X := series_up terms (Z.of_nat n) a c (Z.of_nat j + 1)) in *.
    set (u := ((Z.of_nat n - Z.of_nat j) * a)%Z) in *. set (v := ((Z.of_nat j + 1) * c)%Z) in *.
    assert (V : (0 < v)%Z) by (unfold v; nia). pose proof (up_ok (X * u) v V) as U. rewrite mult_IZR in U.
    rewrite plus_IZR. pose proof (pmf_pos n q ltac:(lra) j) as P. apply (Rmult_le_compat_l (pmf n j q)) in U; [|assumption].
    replace (pmf n j q * (IZR X * IZR u / IZR v)) with (IZR u / IZR v * pmf n j q * IZR X) in U
      by (field; apply Rgt_not_eq; now apply IZR_lt).
    lra.
Qed.

Lemma tail_falls_to n q k i : 0 <= q <= 1 -> (i <= k)%nat -> tail n k q <= tail n i q.
Proof.
  intros Hq. induction 1 as [|k Hk IH]; [lra|]. eapply Rle_trans; [|exact IH]. now apply tail_falls.
Qed.
Lemma div_at_most a b c : 0 < b -> a <= c * b -> a / b <= c.
Proof. intros Hb H. apply (Rmult_le_reg_r b); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. Qed.
Lemma div_at_least a b c : 0 < b -> c * b <= a -> c <= a / b.
Proof. intros Hb H. apply (Rmult_le_reg_r b); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. Qed.
Lemma div_le_div a b c d : 0 <= a -> a <= b -> 0 < d -> d <= c -> a / c <= b / d.
Proof.
  intros Ha Hb Hd Hc. apply Rmult_le_compat; [assumption|left; apply Rinv_0_lt_compat; lra|assumption|].
  now apply Rinv_le_contravar.
Qed.

Section Counts.
Variables (n : nat) (A D la lb : Z).
Hypothesis A_pos : (0 < A)%Z.
Hypothesis D_pos : (0 < D)%Z.
Hypothesis lb_pos : (0 < lb)%Z.
Hypothesis la_pos : (0 <= la)%Z.
Let N := Z.of_nat n.
Let T := IZR A / IZR D.
Let F (k : nat) : R := bin_at n k T.

Lemma T_pos : 0 < T.
Proof. apply Rmult_lt_0_compat; [now apply IZR_lt|]. now apply Rinv_0_lt_compat, IZR_lt. Qed.
Lemma T_times : T * IZR D = IZR A.
Proof. unfold T. field. apply Rgt_not_eq. now apply IZR_lt. Qed.
Lemma INR_nat k : INR k = IZR (Z.of_nat k).
Proof. apply INR_IZR_INZ. Qed.
Lemma T_below i k : (A < i * D)%Z -> (i <= Z.of_nat k)%Z -> T < IZR i /\ IZR i <= INR k.
Proof.
  intros H L. apply IZR_lt in H. apply IZR_le in L. rewrite mult_IZR, <- T_times in H. rewrite <- INR_nat in L.
  pose proof (IZR_lt _ _ D_pos). split; [|assumption]. now apply (Rmult_lt_reg_r (IZR D)).
Qed.

Lemma rare_ok i j terms x : (0 <= i)%Z -> holds_at N i x -> rare N A D la lb i j terms x = true ->
  forall k, (i <= Z.of_nat k <= j)%Z -> T < INR k -> F k <= IZR la / IZR lb.
Proof.
  intros Hi [U B] H k Hk HT. unfold rare in H.
  set (a := (j * D - A)%Z) in *. set (c := ((N - j) * D + A)%Z) in *.
  repeat (apply andb_prop in H as [H ?]).
  apply Z.ltb_lt in H. apply Z.ltb_lt in H4. apply Z.leb_le in H3, H2. apply Z.ltb_lt in H1.
  set (i' := Z.to_nat i). assert (Ei : Z.of_nat i' = i) by (unfold i'; lia).
  assert (Hn : (i' <= n)%nat) by (unfold N in *; lia).
  assert (AC : (a + c = N * D)%Z) by (unfold a, c; ring).
  pose proof (IZR_lt _ _ H) as Ra. pose proof (IZR_lt _ _ H4) as Rc. pose proof (IZR_lt _ _ unit_pos) as RU.
  pose proof (IZR_lt _ _ lb_pos) as RB. pose proof (IZR_le _ _ la_pos) as RA. pose proof (IZR_lt _ _ D_pos) as RD.
  assert (NP : 0 < INR n) by (apply lt_0_INR; unfold N in *; lia).
  set (q := IZR a / IZR (a + c)).
  assert (Q : 0 < q < 1).
  { unfold q. rewrite plus_IZR. split; [apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]|].
    apply (Rmult_lt_reg_r (IZR a + IZR c)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (Qe : q = (IZR j - T) / INR n).
  { unfold q. rewrite AC, INR_nat. fold N. unfold a. rewrite minus_IZR, !mult_IZR, <- T_times. field.
    split; [|lra]. unfold N. rewrite <- INR_nat. lra. }
  pose proof (series_up_ok n a c H H4 terms i' ltac:(unfold N in *; lia)) as S. cbv zeta in S. fold q in S.
  rewrite Nat2Z.inj_add, Ei in S. specialize (S H1). fold N in S.
  pose proof (pmf_gt n q Q i' Hn) as P.
  assert (X0 : (0 <= series_up terms N a c i)%Z).
  { apply le_IZR. destruct (Rle_lt_dec 0 (IZR (series_up terms N a c i))) as [|C]; [assumption|exfalso].
    assert (0 <= tail n i' q) by (destruct i' as [|z]; [rewrite tail_0; lra|now apply tail_falls; lra]).
    assert (0 <= tail n i' q * IZR unit) by (apply Rmult_le_pos; lra).
    assert (pmf n i' q * IZR (series_up terms N a c i) < pmf n i' q * 0) by (now apply Rmult_lt_compat_l). lra. }
  set (X := series_up terms N a c i) in *.
  assert (L : (falling N i' * (X * lb) * (a ^ i * c ^ (N - i)) <= factorial i' * (la * unit) * ((N * D) ^ N))%Z).
  { eapply at_most_ok; [| |exact H0].
    - apply upper_times; [apply upper_times; [exact U|apply upper_self; nia]|].
      apply upper_times; (apply (power_ok upper); [apply upper_times|apply upper_cut|apply upper_self|lia|unfold N in *; lia]).
    - apply below_times; [apply below_times; [exact B|apply below_self; pose proof unit_pos; nia]|].
      apply (power_ok below); [apply below_times|apply below_cut|apply below_self|nia|unfold N; lia]. }
  apply IZR_le in L. rewrite !mult_IZR in L.
  replace (IZR (a ^ i)) with (IZR a ^ i') in L by (now rewrite pow_IZR, Ei).
  replace (IZR (c ^ (N - i))) with (IZR c ^ (n - i')) in L by (rewrite pow_IZR; do 2 f_equal; unfold N; lia).
  replace (IZR ((N * D) ^ N)) with (IZR (N * D) ^ n) in L by (now rewrite pow_IZR).
  pose proof (pmf_closed n q ltac:(lra) i' Hn) as C. fold N in C.
  assert (W : IZR (N * D) ^ n * (q ^ i' * (1 - q) ^ (n - i')) = IZR a ^ i' * IZR c ^ (n - i')).
  { replace n with (i' + (n - i'))%nat at 1 by lia. rewrite pow_add.
    replace (1 - q) with (IZR c / IZR (a + c)) by (unfold q; rewrite plus_IZR; field; lra).
    unfold q. rewrite AC. unfold Rdiv. rewrite !Rpow_mult_distr.
    assert (NZ : IZR (N * D) <> 0) by (rewrite <- AC, plus_IZR; lra).
    rewrite !pow_inv. field. split; now apply pow_nonzero. }
  rewrite mult_IZR in W.
  assert (KN : INR k <= IZR j) by (rewrite INR_nat; apply IZR_le; lia).
  assert (JN : IZR j <= INR n) by (rewrite INR_nat; apply IZR_le; assumption).
  apply Rle_trans with (tail n i' q).
  - unfold F, bin_at. apply Rle_trans with (tail n k q).
    + apply tail_rises; [|rewrite Qe; apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|lra]|lra].
      apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat].
    + apply tail_falls_to; [lra|lia].
  - apply div_at_least; [assumption|].
    apply (Rmult_le_reg_r (IZR unit)); [assumption|].
    apply Rle_trans with (pmf n i' q * IZR X * IZR lb).
    { replace (tail n i' q * IZR lb * IZR unit) with (tail n i' q * IZR unit * IZR lb) by ring.
      apply Rmult_le_compat_r; [lra|exact S]. }
    pose proof (IZR_lt _ _ (factorial_pos i')) as FP.
    apply (Rmult_le_reg_l (IZR (factorial i') * IZR (N * D) ^ n)).
    { apply Rmult_lt_0_compat; [assumption|]. apply pow_lt. rewrite <- AC, plus_IZR. lra. }
    rewrite mult_IZR.
    replace (IZR (factorial i') * (IZR N * IZR D) ^ n * (pmf n i' q * IZR X * IZR lb))
      with (IZR (factorial i') * pmf n i' q * ((IZR N * IZR D) ^ n * (IZR X * IZR lb))) by ring.
    rewrite C.
    replace (IZR (falling N i') * q ^ i' * (1 - q) ^ (n - i') * ((IZR N * IZR D) ^ n * (IZR X * IZR lb)))
      with (IZR (falling N i') * (IZR X * IZR lb) * ((IZR N * IZR D) ^ n * (q ^ i' * (1 - q) ^ (n - i')))) by ring.
    rewrite W. eapply Rle_trans; [exact L|]. right. rewrite ?mult_IZR. ring.
Qed.

Lemma scaled a b : (0 < b)%Z -> IZR a / IZR unit <= IZR b -> IZR a <= IZR b * IZR unit.
Proof.
  intros _ H. pose proof (IZR_lt _ _ unit_pos). apply (Rmult_le_compat_r (IZR unit)) in H; [|lra].
  unfold Rdiv in H. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in H; lra.
Qed.
(* Rounded quotients of [unit] times a number, as bounds of that number. *)
Lemma up_bounds a b y : (0 < b)%Z -> y <= IZR a / IZR b -> y <= IZR (up (unit * a) b) / IZR unit.
Proof.
  intros Hb H. pose proof (IZR_lt _ _ unit_pos). apply div_at_least; [assumption|].
  pose proof (up_ok (unit * a) b Hb) as U. rewrite mult_IZR in U. eapply Rle_trans; [|exact U].
  apply (Rmult_le_compat_r (IZR unit)) in H; [|lra]. unfold Rdiv in *. lra.
Qed.
Lemma down_bounds a b y : (0 < b)%Z -> IZR a / IZR b <= y -> IZR (unit * a / b) / IZR unit <= y.
Proof.
  intros Hb H. pose proof (IZR_lt _ _ unit_pos). apply div_at_most; [assumption|].
  pose proof (div_le (unit * a) b Hb) as U. rewrite mult_IZR in U. eapply Rle_trans; [exact U|].
  apply (Rmult_le_compat_r (IZR unit)) in H; [|lra]. unfold Rdiv in *. lra.
Qed.
Lemma slope_term a i : (A < i * D)%Z -> IZR a / (IZR i - T) = IZR (a * D) / IZR (i * D - A).
Proof.
  intros H. pose proof (IZR_lt _ _ D_pos). assert (0 < i * D - A)%Z by lia. apply IZR_lt in H1.
  rewrite minus_IZR, !mult_IZR, <- T_times in *.
  assert (0 < (IZR i - T)) by (apply (Rmult_lt_reg_r (IZR D)); lra). field. split; nra.
Qed.
Lemma x_at i : (IZR i - T) = IZR (i * D - A) / IZR D.
Proof. pose proof (IZR_lt _ _ D_pos). rewrite minus_IZR, mult_IZR, <- T_times. field. lra. Qed.
Lemma w_at i : (INR n - IZR i + T) = IZR ((N - i) * D + A) / IZR D.
Proof.
  pose proof (IZR_lt _ _ D_pos). rewrite plus_IZR, mult_IZR, minus_IZR, <- T_times, INR_nat. fold N. field. lra.
Qed.
Lemma inverse_of_quotient a b c : 0 < b -> 0 < c -> a / (b / c) = a * c / b.
Proof. intros. field. lra. Qed.

Lemma falls_ok i j : falls N A D i j = true ->
  forall k, (i <= Z.of_nat k <= j)%Z -> (k < n)%nat /\ T < INR k /\ F (S k) < F k.
Proof.
  intros H k Hk. unfold falls in H. set (m := (up (unit * A) (i * D - A) + up (unit * (A + D)) ((N - j) * D + A))%Z) in *.
  repeat (apply andb_prop in H as [H ?]). apply Z.ltb_lt in H, H0, H1, H2.
  destruct (T_below i k H ltac:(lia)) as [Ti Ik]. pose proof T_pos as Tp.
  assert (exists p, n = S p) as [p En] by (exists (pred n); unfold N in *; lia).
  assert (Hp : (k <= p)%nat) by (unfold N in *; lia).
  pose proof (IZR_lt _ _ D_pos) as RD. pose proof (IZR_lt _ _ A_pos) as RA. pose proof (IZR_lt _ _ unit_pos) as RU.
  assert (Kj : INR k <= IZR j) by (rewrite INR_nat; apply IZR_le; lia).
  assert (jN : IZR j + 1 <= INR n) by (rewrite INR_nat; fold N; rewrite <- plus_IZR; apply IZR_le; lia).
  split; [lia|]. split; [lra|].
  assert (Wj : (0 < (N - j) * D + A)%Z) by nia. assert (Xi : (0 < i * D - A)%Z) by lia.
  pose proof (IZR_lt _ _ Wj) as RW. pose proof (IZR_lt _ _ Xi) as RX.
  assert (M1 : T / (INR k - T) <= IZR (up (unit * A) (i * D - A)) / IZR unit).
  { apply up_bounds; [assumption|]. apply Rle_trans with (T / (IZR i - T)); [apply div_le_div; lra|].
    rewrite x_at, inverse_of_quotient, T_times by assumption. lra. }
  assert (M2 : (T + 1) / (INR n - INR k + T) <= IZR (up (unit * (A + D)) ((N - j) * D + A)) / IZR unit).
  { apply up_bounds; [assumption|]. apply Rle_trans with ((T + 1) / (INR n - IZR j + T)); [apply div_le_div; lra|].
    rewrite w_at, inverse_of_quotient by assumption. rewrite Rmult_plus_distr_r, T_times, Rmult_1_l, (plus_IZR A D). lra. }
  unfold F. rewrite En.
  apply (it_falls p k T Hp ltac:(lra) (IZR m / IZR unit)).
  - rewrite <- En. replace (IZR m / IZR unit) with (IZR (up (unit * A) (i * D - A)) / IZR unit
      + IZR (up (unit * (A + D)) ((N - j) * D + A)) / IZR unit) by (unfold m; rewrite plus_IZR; field; lra). lra.
  - apply (Rmult_lt_reg_r (IZR unit)); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    rewrite <- mult_IZR. now apply IZR_lt.
  - rewrite <- En. apply Rlt_le_trans with (T / (INR n - IZR i)); [|apply div_le_div; lra].
    apply IZR_lt in H0, H1. rewrite mult_IZR in H1.
    repeat (rewrite mult_IZR in H0 || rewrite minus_IZR in H0 || rewrite plus_IZR in H0). change (IZR N) with (IZR (Z.of_nat n)) in H0. rewrite <- INR_nat, <- T_times in H0.
    set (R1 := IZR m) in *. set (u := IZR unit) in *. set (d := IZR D) in *. set (g := INR n - IZR i) in *.
    assert (G : 0 < g) by (unfold g; lra). assert (V : 0 < 24 * u - 8 * R1) by lra.
    apply (Rmult_lt_reg_r (d * g * (6 * u * u * (24 * u - 8 * R1)))).
    { repeat apply Rmult_lt_0_compat; lra. }
    replace (T / g * (d * g * (6 * u * u * (24 * u - 8 * R1)))) with (T * d * 6 * u * u * (24 * u - 8 * R1)) by (field; lra).
    eapply Rle_lt_trans; [|exact H0]. right. field. split; lra.
Qed.

Lemma rises_ok i j : rises N A D i j = true ->
  forall k, (i <= Z.of_nat k <= j)%Z -> (k < n)%nat /\ T < INR k /\ F k < F (S k).
Proof.
  intros H k Hk. unfold rises in H.
  set (m := (unit * A / (j * D - A) + unit * (A + D) / ((N - i) * D + A))%Z) in *.
  set (c1 := up (unit * i * D * D) ((i * D - A) * (i * D - A))) in *.
  set (c2 := up (unit * (N - 1 - i) * D * D) (((N - j) * D + A) * ((N - j - 1) * D + A))) in *.
  repeat (apply andb_prop in H as [H ?]). apply Z.ltb_lt in H, H0, H2, H3. apply Z.leb_le in H1.
  destruct (T_below i k H ltac:(lia)) as [Ti Ik]. pose proof T_pos as Tp.
  assert (exists p, n = S p) as [p En] by (exists (pred n); unfold N in *; lia).
  assert (Hp : (k <= p)%nat) by (unfold N in *; lia).
  pose proof (IZR_lt _ _ D_pos) as RD. pose proof (IZR_lt _ _ A_pos) as RA. pose proof (IZR_lt _ _ unit_pos) as RU.
  assert (Kj : INR k <= IZR j) by (rewrite INR_nat; apply IZR_le; lia).
  assert (jN : IZR j + 1 <= INR n) by (rewrite INR_nat; fold N; rewrite <- plus_IZR; apply IZR_le; lia).
  split; [lia|]. split; [lra|].
  assert (Xi : (0 < i * D - A)%Z) by lia. assert (Xj : (0 < j * D - A)%Z) by nia.
  assert (Wi : (0 < (N - i) * D + A)%Z) by nia. assert (Wj : (0 < (N - j) * D + A)%Z) by nia.
  assert (Wj1 : (0 < (N - j - 1) * D + A)%Z) by nia.
  pose proof (IZR_lt _ _ Xi) as RXi. pose proof (IZR_lt _ _ Xj) as RXj. pose proof (IZR_lt _ _ Wi) as RWi.
  pose proof (IZR_lt _ _ Wj) as RWj. pose proof (IZR_lt _ _ Wj1) as RWj1.
  assert (M1 : IZR (unit * A / (j * D - A)) / IZR unit <= T / (INR k - T)).
  { apply down_bounds; [assumption|]. apply Rle_trans with (T / (IZR j - T)); [|apply div_le_div; lra].
    rewrite x_at, inverse_of_quotient, T_times by assumption. lra. }
  assert (M2 : IZR (unit * (A + D) / ((N - i) * D + A)) / IZR unit <= (T + 1) / (INR n - INR k + T)).
  { apply down_bounds; [assumption|]. apply Rle_trans with ((T + 1) / (INR n - IZR i + T)); [|apply div_le_div; lra].
    rewrite w_at, inverse_of_quotient by assumption. rewrite Rmult_plus_distr_r, T_times, Rmult_1_l, (plus_IZR A D). lra. }
  assert (C1 : INR k / ((INR k - T) * (INR k - T)) <= IZR c1 / IZR unit).
  { unfold c1. rewrite <- !Z.mul_assoc. apply up_bounds; [nia|].
    apply Rle_trans with (IZR i / ((IZR i - T) * (IZR i - T))).
    - set (a := IZR i) in *. set (b := INR k) in *.
      assert (P1 : 0 < (b - T) * (b - T)) by (apply Rmult_lt_0_compat; lra).
      assert (P2 : 0 < (a - T) * (a - T)) by (apply Rmult_lt_0_compat; lra).
      apply div_at_most; [assumption|].
      apply (Rmult_le_reg_r ((a - T) * (a - T))); [assumption|].
      replace (a / ((a - T) * (a - T)) * ((b - T) * (b - T)) * ((a - T) * (a - T))) with (a * ((b - T) * (b - T))) by (field; lra).
      assert (0 <= (b - a) * (a * b - T * T)).
      { apply Rmult_le_pos; [lra|]. assert (T * T <= a * b) by (apply Rmult_le_compat; lra). lra. }
      lra.
    - rewrite x_at, !mult_IZR. right. field. lra. }
  assert (C2 : INR (p - k) / ((INR n - INR k + T) * (INR n - INR k + T - 1)) <= IZR c2 / IZR unit).
  { unfold c2. rewrite <- !Z.mul_assoc. apply up_bounds; [nia|].
    apply Rle_trans with (IZR (N - 1 - i) / ((INR n - IZR j + T) * (INR n - IZR j + T - 1))).
    - apply div_le_div; [apply pos_INR| |apply Rmult_lt_0_compat; lra|apply Rmult_le_compat; lra].
      rewrite INR_nat. apply IZR_le. unfold N. lia.
    - replace (INR n - IZR j + T - 1) with (IZR ((N - j - 1) * D + A) / IZR D).
      + rewrite w_at, !mult_IZR. right. field. lra.
      + rewrite plus_IZR, mult_IZR, !minus_IZR, <- T_times, INR_nat. fold N. field. lra. }
  unfold F. rewrite En. rewrite En in C2.
  apply (it_rises p k T Hp ltac:(lra) (IZR m / IZR unit) (IZR (c1 + c2) / IZR unit)).
  - rewrite plus_IZR. replace ((IZR c1 + IZR c2) / IZR unit) with (IZR c1 / IZR unit + IZR c2 / IZR unit) by (field; lra).
    now apply Rplus_le_compat.
  - split.
    + apply Rmult_lt_0_compat; [now apply IZR_lt|now apply Rinv_0_lt_compat].
    + unfold m. rewrite (plus_IZR (unit * A / (j * D - A))). rewrite En in M2.
      match goal with |- (?a + ?b) / ?c <= _ => replace ((a + b) / c) with (a / c + b / c) by (field; lra) end.
      now apply Rplus_le_compat.
  - apply IZR_le in H1. rewrite mult_IZR in H1. unfold Rdiv. rewrite <- Rmult_assoc.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|assumption].
  - rewrite <- En. apply Rle_lt_trans with (T / (INR n - IZR j)); [apply div_le_div; lra|].
    apply IZR_lt in H0. repeat (rewrite mult_IZR in H0 || rewrite minus_IZR in H0 || rewrite plus_IZR in H0).
    change (IZR N) with (IZR (Z.of_nat n)) in H0. rewrite <- INR_nat, <- T_times in H0. rewrite plus_IZR.
    set (R1 := IZR m) in *. set (u := IZR unit) in *. set (d := IZR D) in *. set (g := INR n - IZR j) in *.
    set (e1 := IZR c1) in *. set (e2 := IZR c2) in *.
    assert (G : 0 < g) by (unfold g; lra).
    apply (Rmult_lt_reg_r (d * g * (120 * u * u * u))).
    { repeat apply Rmult_lt_0_compat; lra. }
    replace (T / g * (d * g * (120 * u * u * u))) with (120 * u * u * u * (T * d)) by (field; lra).
    eapply Rlt_le_trans; [exact H0|]. right. field. lra.
Qed.

(* Where F rises, or falls, from count to count, it is at most what it is at the last, or the first, of them. *)
Lemma rises_to i j : rises N A D i j = true -> forall d k, (i <= Z.of_nat k)%Z -> (Z.of_nat k + Z.of_nat d = j + 1)%Z ->
  F k <= F (k + d)%nat.
Proof.
  intros H. induction d as [|d IH]; intros k Hi Hd; [rewrite Nat.add_0_r; lra|].
  destruct (rises_ok i j H k ltac:(lia)) as [_ [_ R]]. specialize (IH (S k) ltac:(lia) ltac:(lia)).
  replace (k + S d)%nat with (S k + d)%nat by lia. lra.
Qed.
Lemma falls_from i j : falls N A D i j = true -> forall d k, (i <= Z.of_nat k)%Z -> (Z.of_nat k + Z.of_nat d <= j + 1)%Z ->
  F (k + d)%nat <= F k.
Proof.
  intros H. induction d as [|d IH]; intros k Hi Hd; [rewrite Nat.add_0_r; lra|].
  destruct (falls_ok i j H k ltac:(lia)) as [_ [_ R]]. specialize (IH (S k) ltac:(lia) ltac:(lia)).
  replace (k + S d)%nat with (S k + d)%nat by lia. lra.
Qed.

Variable gap : Z -> Z -> bool.
Definition asked (k : nat) : Prop := forall i j, gap i j = true -> ~ (i <= Z.of_nat k <= j)%Z.
Let small (k : Z) : Prop := (0 <= k)%Z /\ F (Z.to_nat k) <= IZR la / IZR lb.
Lemma ranges_ok l : forall i k near x, (0 <= k)%Z -> (0 <= i)%Z -> holds_at N k x -> (near = true -> small (i - 1)) ->
  ranges_hold gap N A D la lb i k near x l = true ->
  forall h, (h <= n)%nat -> (i <= Z.of_nat h)%Z -> T < INR h -> asked h \/ (Z.of_nat h = i /\ shown l = true) ->
  F h <= IZR la / IZR lb.
Proof.
  induction l as [|[j|j|j terms|j] l IH]; intros i k near x Hk Hi Hx Hn H h Hh Hih HT Ha; cbn [ranges_hold shown] in *.
  - apply Z.ltb_lt in H. unfold N in H. lia.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H H2]. apply andb_prop in H as [H0 H1]. apply Z.leb_le in H0.
    destruct (Z.le_gt_cases (Z.of_nat h) j) as [L|L].
    + destruct (rises_ok i j H1 (Z.to_nat j) ltac:(lia)) as [B [Tj _]].
      pose proof (rises_to i j H1 (Z.to_nat (j + 1 - Z.of_nat h)) h ltac:(lia) ltac:(lia)) as R.
      eapply Rle_trans; [exact R|]. replace (h + Z.to_nat (j + 1 - Z.of_nat h))%nat with (S (Z.to_nat j)) by lia.
      apply (IH (j + 1)%Z k false x); auto; try lia; try discriminate; [rewrite S_INR; lra|right; split; [lia|assumption]].
    + apply (IH (j + 1)%Z k false x); auto; try lia; try discriminate. left. destruct Ha as [|[? _]]; [assumption|lia].
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H H2]. apply andb_prop in H as [H0 H1]. apply Z.leb_le in H1.
    destruct (Hn H0) as [Pi Fi].
    assert (B : forall g, (i - 1 <= Z.of_nat g <= j)%Z -> F g <= IZR la / IZR lb).
    { intros g Hg. pose proof (falls_from _ _ H2 (g - Z.to_nat (i - 1)) (Z.to_nat (i - 1)) ltac:(lia) ltac:(lia)) as R.
      replace (Z.to_nat (i - 1) + (g - Z.to_nat (i - 1)))%nat with g in R by lia. lra. }
    destruct (Z.le_gt_cases (Z.of_nat h) j) as [L|L]; [apply B; lia|].
    apply (IH (j + 1)%Z k true x); auto; try lia; [|left; destruct Ha as [|[? _]]; [assumption|lia]].
    intros _. split; [lia|]. apply B. lia.
  - apply andb_prop in H as [H H2]. apply andb_prop in H as [H H1]. apply andb_prop in H as [H0 H3].
    apply Z.leb_le in H0, H3.
    assert (Hy : holds_at N i (chain N (Z.to_nat (i - k)) k x)).
    { pose proof (chain_ok N (Z.to_nat (i - k)) k x Hk) as C. rewrite Z2Nat.id in C by lia.
      replace (k + (i - k))%Z with i in C by lia. apply C; [unfold N; lia|assumption]. }
    assert (B : forall g, (i <= Z.of_nat g <= j)%Z -> T < INR g -> F g <= IZR la / IZR lb).
    { intros g Hg Tg. eapply (rare_ok i j terms); eauto. }
    destruct (Z.le_gt_cases (Z.of_nat h) j) as [L|L]; [now apply B|].
    eapply (IH (j + 1)%Z i true); eauto; try lia; [|left; destruct Ha as [|[? _]]; [assumption|lia]].
    intros _. split; [lia|]. apply B; [lia|].
    unfold rare in H1. cbv zeta in H1. repeat (apply andb_prop in H1 as [H1 ?]). apply Z.ltb_lt in H1.
    destruct (T_below j (Z.to_nat (j + 1 - 1)) ltac:(lia) ltac:(lia)). lra.
  - apply andb_prop in H as [H H2]. apply andb_prop in H as [H0 H1]. apply Z.leb_le in H0.
    destruct Ha as [Ha|[_ ?]]; [|discriminate].
    destruct (Z.le_gt_cases (Z.of_nat h) j) as [L|L]; [exfalso; apply (Ha i j H1); lia|].
    apply (IH (j + 1)%Z k false x); auto; try lia; discriminate.
Qed.

Lemma limits_ok l : ranges_hold gap N A D la lb (A / D + 1) 0 false ((1, 0), (1, 0))%Z l = true ->
  forall k, (k <= n)%nat -> T < INR k -> asked k -> F k <= IZR la / IZR lb.
Proof.
  intros H k Hk HT Ha. refine (ranges_ok l _ 0 _ _ _ _ _ _ H k Hk _ HT (or_introl Ha)).
  - lia.
  - pose proof (Z.div_pos A D ltac:(lia) D_pos). lia.
  - unfold holds_at, upper, below. cbn. lia.
  - discriminate.
  - apply Z.le_succ_l. apply Z.div_lt_upper_bound; [assumption|]. apply lt_IZR. rewrite mult_IZR, <- T_times, <- INR_nat.
    rewrite Rmult_comm. apply Rmult_lt_compat_l; [now apply IZR_lt|assumption].
Qed.
End Counts.
