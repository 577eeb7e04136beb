(** A test in integers that proves what a file of windows promises: [windows_check_correct]. *)
From Coq Require Import Reals List ZArith Bool Orders Mergesort Lia Lra.
Require Import Spec ExpLow Support Check SpecWindows.
Import ListNotations.
Open Scope Z_scope.

(** * The test *)

Definition whole : Z := Z.pow_pos 2 60.
(* Windows have 1 to q buckets, and go round the circle a whole number of times. *)
Definition seed_goes_round (q : Z) (s : Z * list (Z * Z)) : bool :=
  (0 <=? fst s) && (0 <? total (map fst (snd s))) && (total (map fst (snd s)) mod q =? 0)
  && forallb (fun w => (1 <=? fst w) && (fst w <=? q)) (snd s).
(* e^cap times the probability of a uniform window is at least that of the window in which all buckets of a string lie. *)
Definition cap_of_seed (e : Z * Z) (q u : Z) (s : Z * list (Z * Z)) : bool :=
  let turns := total (map fst (snd s)) / q in
  (u * turns + (whole - u) * Z.of_nat (length (snd s))) * snd e <=? fst e * u * turns.
Definition share_is_held (e : Z * Z) (u all held : Z) : bool :=
  all * (whole - u) * snd e <=? held * (fst e * whole - u * snd e).
(* Samples that lie as a seed states: masses at places, (place, mass). Windows that go round R times hold all R times, so that
   what lies from the first window on up to a border is known for every border: that of the windows before it, less what
   went round. Nothing is proved of these places; the test is whether every window holds what it states. *)
Module Rising <: TotalLeBool'.
  Definition t := (Z * Z)%type.
  Definition leb (x y : t) := (fst x <=? fst y)%Z.
  Infix "<=?" := leb.
  Theorem leb_total : forall x y, (x <=? y) = true \/ (y <=? x) = true.
  Proof. intros x y. unfold leb. rewrite !Z.leb_le. lia. Qed.
End Rising.
Module Rises := Sort Rising.
Fixpoint borders (q all n held : Z) (l : list (Z * Z)) : list (Z * Z) :=
  match l with [] => [] | w :: l => (n mod q, held - n / q * all) :: borders q all (n + fst w) (held + snd w) l end.
Fixpoint between_borders (p q all : Z) (l : list (Z * Z)) : list (Z * Z) :=
  match l with
  | [] => []
  | b :: l => ((p + fst b) mod q, match l with [] => all | c :: _ => snd c end - snd b) :: between_borders p q all l
  end.
Definition samples_as_stated (q : Z) (s : Z * list (Z * Z)) : list (Z * Z) :=
  let all := total (map snd (snd s)) / (total (map fst (snd s)) / q) in
  between_borders (fst s) q all (Rises.sort (borders q all 0 0 (snd s))).
(* What a window of n buckets from p on holds of them, and whether windows hold as much as they state. *)
Definition held_of (masses : list (Z * Z)) (q p n : Z) : Z :=
  total (map (fun m => let d := fst m - p in if (if d <? 0 then d + q else d) <? n then snd m else 0) masses).
Fixpoint hold_as_stated (masses : list (Z * Z)) (q p : Z) (l : list (Z * Z)) : bool :=
  match l with [] => true | (n, h) :: l => (h <=? held_of masses q (p mod q) n) && hold_as_stated masses q (p + n) l end.
Definition samples_lie (q all : Z) (s : Z * list (Z * Z)) : bool :=
  let masses := samples_as_stated q s in
  forallb (fun m => (0 <=? fst m) && (fst m <? q) && (0 <=? snd m)) masses && (total (map snd masses) <=? all)
  && hold_as_stated masses q (fst s) (snd s).
Definition head_holds (f : windows_file) : bool :=
  let e := below_exp (windows_eps f) in
  (0 <? buckets f) && (0 <=? uniform f) && (uniform f <? whole) && (0 <? all_samples f) && proper (windows_eps f)
  && (snd e <=? fst e) && negb (Nat.eqb (number_of_seeds f) 0) && share_is_held e (uniform f) (all_samples f) (least_held f)
  && match windows_cap f with None => true | Some c => proper c && (0 <? uniform f) end.
Definition seed_holds (f : windows_file) : Z * list (Z * Z) -> bool :=
  let most := match windows_cap f with None => (0, 0) | Some c => below_exp c end in
  fun s => seed_goes_round (buckets f) s
    && match windows_cap f with None => true | Some _ => cap_of_seed most (buckets f) (uniform f) s end
    && forallb (fun w => least_held f <=? snd w) (snd s) && samples_lie (buckets f) (all_samples f) s.
Definition windows_check (f : windows_file) : bool := head_holds f && forallb (seed_holds f) (seeds f).

(* For people: the seeds that fail, each with the first window that holds too little, or the number of its windows; and the
   number of seeds where what is said of all fails. *)
Fixpoint first_short (least : Z) (l : list (Z * Z)) : nat :=
  match l with [] => O | (_, held) :: l => if least <=? held then S (first_short least l) else O end.
Definition windows_refused (f : windows_file) : list (nat * nat) :=
  let holds := seed_holds f in
  (if head_holds f then [] else [(number_of_seeds f, O)])
  ++ map (fun x => (fst x, first_short (least_held f) (snd (snd x))))
       (filter (fun x => negb (holds (snd x))) (combine (seq 0 (number_of_seeds f)) (seeds f))).

(** * Its proof *)

Open Scope R_scope.

Lemma inside_split q f p n m : inside q f (p, (n + m)%nat) = inside q f (p, n) + inside q f ((p + n)%nat, m).
Proof.
  unfold inside. cbn [fst snd]. rewrite !sum_suml, seq_app, suml_app. f_equal. cbn [Nat.add]. rewrite (seq_from n), suml_map.
  apply suml_ext. intros i _. now rewrite Nat.add_assoc.
Qed.
Lemma inside_one q f p : inside q f (p, 1%nat) = f (p mod q)%nat.
Proof. unfold inside, sum. cbn. rewrite Nat.add_0_r. ring. Qed.
(* Once round. *)
Lemma inside_round q f p : (0 < q)%nat -> inside q f (p, q) = sum q f.
Proof.
  intros Hq. induction p as [|p IH].
  - unfold inside. cbn [fst snd]. apply suml_ext. intros i Hi. apply in_range in Hi. now rewrite Nat.add_0_l, Nat.mod_small.
  - rewrite <- IH. pose proof (inside_split q f p 1 q) as A. pose proof (inside_split q f p q 1) as B.
    rewrite (Nat.add_comm q 1) in B. rewrite !inside_one in *. rewrite Nat.add_1_r in A.
    replace ((p + q) mod q)%nat with (p mod q)%nat in B; [lra|].
    rewrite <- (Nat.mul_1_l q) at 2. now rewrite Nat.mod_add by lia.
Qed.
Lemma inside_rounds q f r : (0 < q)%nat -> forall p, inside q f (p, (r * q)%nat) = INR r * sum q f.
Proof.
  intros Hq. induction r as [|r IH]; intros p; [unfold inside; cbn; ring|].
  replace (S r * q)%nat with (q + r * q)%nat by reflexivity. rewrite (inside_split q f p q (r * q)), IH, inside_round, S_INR by assumption. ring.
Qed.
Lemma inside_positive q f w : prior q f -> (0 < q)%nat -> 0 <= inside q f w.
Proof. intros [H _] Hq. apply suml_nonneg. intros i _. apply H. apply Nat.mod_upper_bound. lia. Qed.
Lemma inside_at_most_1 q f p n : prior q f -> (0 < q)%nat -> (n <= q)%nat -> inside q f (p, n) <= 1.
Proof.
  intros H Hq Hn. replace 1 with (inside q f (p, q)) by (rewrite inside_round by assumption; apply H).
  replace q with (n + (q - n))%nat at 3 by lia. rewrite inside_split.
  pose proof (inside_positive q f ((p + n)%nat, (q - n)%nat) H Hq). lra.
Qed.

Lemma windows_length l p : length (windows_from p l) = length l.
Proof. revert p. induction l as [|[n h] l IH]; intros p; cbn; [reflexivity|]. now rewrite IH. Qed.
Lemma windows_together q f l : forall p, (forall w, In w l -> (0 <= fst w)%Z) ->
  suml (windows_from p l) (inside q f) = inside q f (p, Z.to_nat (total (map fst l))).
Proof.
  induction l as [|[n h] l IH]; intros p H; [reflexivity|]. cbn [windows_from map total fold_right fst suml].
  change (inside q f (p, Z.to_nat n) + suml (windows_from (p + Z.to_nat n) l) (inside q f)
    = inside q f (p, Z.to_nat (n + total (map fst l)))).
  rewrite IH by (intros; apply H; now right). assert (0 <= total (map fst l))%Z.
  { assert (forall w, In w l -> (0 <= fst w)%Z) as G by (intros; apply H; now right). clear -G.
    induction l as [|w l IH]; [cbn; lia|]. cbn [map total fold_right]. specialize (IH (fun w' H => G w' (or_intror H))).
    specialize (G w (or_introl eq_refl)). unfold total in IH. lia. }
  specialize (H (n, h) (or_introl eq_refl)). cbn [fst] in H. rewrite Z2Nat.inj_add by lia. now rewrite inside_split.
Qed.
Lemma sum_of_ones n i : suml (seq i n) (fun _ => 1) = INR n.
Proof.
  revert i. induction n as [|n IH]; intros i; [reflexivity|]. cbn [seq]. rewrite S_INR, <- (IH (S i)). unfold suml. cbn. ring.
Qed.
Lemma sum_nth {A} (l : list A) d (g : A -> R) : sum (length l) (fun j => g (nth j l d)) = suml l g.
Proof. rewrite sum_suml. rewrite (list_as_map d l) at 2. now rewrite suml_map. Qed.
Lemma window_within l : forall p j, (j < length l)%nat ->
  In (nth j l (0, 0)%Z) l /\ snd (nth j (windows_from p l) (O, O)) = Z.to_nat (fst (nth j l (0, 0)%Z)).
Proof.
  induction l as [|[n h] l IH]; intros p [|j] H; cbn in *; try lia; [split; [now left|reflexivity]|].
  destruct (IH (p + Z.to_nat n)%nat j ltac:(lia)) as [I E]. split; [now right|exact E].
Qed.

(* One part of all, in one bucket, and masses over a whole, of which the rest lies in bucket 0. *)
Lemma sum_at q x c : (x < q)%nat -> sum q (fun b => if Nat.eqb b x then c else 0) = c.
Proof. intros H. rewrite sum_suml. apply suml_one; [apply seq_NoDup|now apply in_range]. Qed.
Definition law_of_masses (all : R) (masses : list (Z * Z)) (b : nat) : R :=
  suml masses (fun m : Z * Z => if Nat.eqb b (Z.to_nat (fst m)) then IZR (snd m) / all else 0)
  + (if Nat.eqb b 0 then 1 - suml masses (fun m : Z * Z => IZR (snd m) / all) else 0).
Lemma total_masses masses : IZR (total (map snd masses)) = suml masses (fun m : Z * Z => IZR (snd m)).
Proof. rewrite IZR_total. apply suml_map. Qed.
Lemma masses_are_a_law q all masses : (0 < q)%Z -> (0 < all)%Z ->
  (forall m, In m masses -> (0 <= fst m < q)%Z /\ (0 <= snd m)%Z) -> (total (map snd masses) <= all)%Z ->
  prior (Z.to_nat q) (law_of_masses (IZR all) masses) /\ 0 <= 1 - suml masses (fun m : Z * Z => IZR (snd m) / IZR all).
Proof.
  intros Hq Ha Hm Ht. apply IZR_lt in Ha. apply IZR_le in Ht. rewrite total_masses in Ht.
  assert (P : forall m, In m masses -> 0 <= IZR (snd m) / IZR all).
  { intros m H. destruct (Hm m H) as [_ G]. apply IZR_le in G. apply Rmult_le_pos; [assumption|left; now apply Rinv_0_lt_compat]. }
  assert (L : 0 <= 1 - suml masses (fun m : Z * Z => IZR (snd m) / IZR all)).
  { unfold Rdiv. rewrite suml_scal_r. apply (Rmult_le_reg_r (IZR all)); [assumption|]. rewrite Rmult_0_l, Rmult_minus_distr_r.
    rewrite Rmult_assoc, Rinv_l by lra. lra. }
  split; [|exact L]. split.
  - intros b _. unfold law_of_masses. apply Rplus_le_le_0_compat.
    + apply suml_nonneg. intros m H. destruct (Nat.eqb _ _); [now apply P|lra].
    + destruct (Nat.eqb b 0); [exact L|lra].
  - unfold law_of_masses. rewrite sum_suml, suml_plus, suml_swap, <- (sum_suml _ (fun b => if Nat.eqb b 0 then _ else 0)).
    rewrite sum_at by lia. rewrite (suml_ext masses _ (fun m => IZR (snd m) / IZR all)); [lra|].
    intros m H. destruct (Hm m H) as [G _]. rewrite <- sum_suml. apply sum_at. lia.
Qed.
(* A window holds what lies at a place of it, at least. *)
Lemma inside_at q x c p n : (0 < q)%Z -> (0 <= x < q)%Z -> (0 <= p)%Z -> 0 <= c ->
  (if ((if x - p mod q <? 0 then x - p mod q + q else x - p mod q) <? n)%Z then c else 0)
  <= inside (Z.to_nat q) (fun b => if Nat.eqb b (Z.to_nat x) then c else 0) (Z.to_nat p, Z.to_nat n).
Proof.
  intros Hq Hx Hp Hc. unfold inside. cbn [fst snd]. rewrite sum_suml. pose proof (Z.mod_pos_bound p q Hq) as B.
  set (d := (if x - p mod q <? 0 then x - p mod q + q else x - p mod q)%Z).
  assert (D : (0 <= d < q)%Z /\ ((p + d) mod q = x)%Z).
  { unfold d. destruct (Z.ltb_spec (x - p mod q) 0); (split; [lia|]).
    - rewrite <- Z.add_mod_idemp_l by lia. replace (p mod q + (x - p mod q + q))%Z with (x + 1 * q)%Z by ring.
      rewrite Z.mod_add by lia. now apply Z.mod_small.
    - rewrite <- Z.add_mod_idemp_l by lia. replace (p mod q + (x - p mod q))%Z with x by ring. now apply Z.mod_small. }
  assert (N : forall l : list nat, 0 <= suml l (fun i => if Nat.eqb ((Z.to_nat p + i) mod Z.to_nat q) (Z.to_nat x) then c else 0))
    by (intros; apply suml_nonneg; intros; destruct (Nat.eqb _ _); lra).
  destruct (Z.ltb_spec d n) as [L|L]; [|apply N]. rewrite <- (suml_one (seq 0 (Z.to_nat n)) (Z.to_nat d) c) at 1;
    [|apply seq_NoDup|apply in_range; lia].
  apply suml_le. intros i _. destruct (Nat.eqb_spec i (Z.to_nat d)) as [->|]; [|destruct (Nat.eqb _ _); lra].
  rewrite <- Z2Nat.inj_add, <- Z2Nat.inj_mod by lia. rewrite (proj2 D), Nat.eqb_refl. lra.
Qed.
Lemma window_holds q all masses p n : (0 < q)%Z -> (0 < all)%Z -> (0 <= p)%Z ->
  (forall m, In m masses -> (0 <= fst m < q)%Z /\ (0 <= snd m)%Z) -> (total (map snd masses) <= all)%Z ->
  IZR (held_of masses q (p mod q) n) / IZR all <= inside (Z.to_nat q) (law_of_masses (IZR all) masses) (Z.to_nat p, Z.to_nat n).
Proof.
  intros Hq Ha Hp Hm Ht. destruct (masses_are_a_law q all masses Hq Ha Hm Ht) as [_ L]. pose proof (IZR_lt _ _ Ha) as Pa.
  unfold held_of, inside, law_of_masses. cbn [fst snd]. rewrite IZR_total, suml_map, sum_suml, suml_plus.
  apply Rle_trans with (suml masses (fun m : Z * Z => suml (seq 0 (Z.to_nat n))
    (fun i => if Nat.eqb ((Z.to_nat p + i) mod Z.to_nat q) (Z.to_nat (fst m)) then IZR (snd m) / IZR all else 0))).
  - unfold Rdiv at 1. rewrite <- suml_scal_r. apply suml_le. intros m H. destruct (Hm m H) as [G1 G2]. apply IZR_le in G2.
    eapply Rle_trans; [|apply (inside_at q (fst m) (IZR (snd m) / IZR all) p n Hq G1 Hp)].
    + cbv zeta. destruct (_ <? n)%Z; unfold Rdiv; lra.
    + apply Rmult_le_pos; [assumption|left; now apply Rinv_0_lt_compat].
  - rewrite suml_swap. rewrite <- (Rplus_0_r (suml (seq 0 (Z.to_nat n)) _)) at 1. apply Rplus_le_compat; [right; reflexivity|].
    apply suml_nonneg. intros i _. destruct (Nat.eqb _ 0); lra.
Qed.
Lemma windows_hold q all masses : (0 < q)%Z -> (0 < all)%Z ->
  (forall m, In m masses -> (0 <= fst m < q)%Z /\ (0 <= snd m)%Z) -> (total (map snd masses) <= all)%Z ->
  forall l p, (0 <= p)%Z -> (forall w, In w l -> (0 <= fst w)%Z) -> hold_as_stated masses q p l = true ->
  forall j, (j < length l)%nat -> IZR (nth j (map snd l) 0%Z) / IZR all
    <= inside (Z.to_nat q) (law_of_masses (IZR all) masses) (nth j (windows_from (Z.to_nat p) l) (O, O)).
Proof.
  intros Hq Ha Hm Ht. induction l as [|[n h] l IH]; intros p Hp Hl H j Hj; [cbn in Hj; lia|].
  cbn [hold_as_stated] in H. apply andb_prop in H as [H1 H2]. apply Z.leb_le, IZR_le in H1.
  pose proof (Hl (n, h) (or_introl eq_refl)) as Hn. cbn [fst] in Hn. destruct j as [|j].
  - cbn [map nth windows_from snd]. eapply Rle_trans; [|now apply (window_holds q all masses p n)].
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; now apply IZR_lt|assumption].
  - cbn [map nth windows_from]. rewrite <- Z2Nat.inj_add by lia. apply IH; [lia| |assumption|cbn in Hj; lia].
    intros w Hw. apply Hl. now right.
Qed.

Section File.
Variable f : windows_file.
Hypothesis checked : windows_check f = true.
Let X := exp (nats (windows_eps f)).
Let a := floor f.
Let M := number_of_seeds f.
Let q := circle f.

Lemma head_is_right : head_holds f = true.
Proof. unfold windows_check in checked. now split_bools. Qed.
Lemma seed_is_right s : (s < M)%nat -> seed_holds f (seed f s) = true.
Proof. intros H. unfold windows_check in checked. split_bools. rewrite forallb_forall in H1. now apply H1, nth_In. Qed.

Lemma whole_pos : 0 < IZR whole. Proof. apply IZR_lt. reflexivity. Qed.
Lemma whole_is : IZR whole = 2 ^ 60.
Proof. change whole with (2 ^ Z.of_nat 60)%Z. now rewrite <- pow_IZR. Qed.
Let e := below_exp (windows_eps f).
Lemma head_parts : (0 < buckets f)%Z /\ (0 <= uniform f < whole)%Z /\ (0 < all_samples f)%Z /\ proper (windows_eps f) = true /\
  (snd e <= fst e)%Z /\ (0 < M)%nat /\ share_is_held e (uniform f) (all_samples f) (least_held f) = true /\
  match windows_cap f with None => True | Some c => proper c = true /\ (0 < uniform f)%Z end.
Proof.
  pose proof head_is_right as H. unfold head_holds in H. fold e M in H. apply andb_prop in H as [H Hcap].
  apply andb_prop in H as [H Hshare]. apply andb_prop in H as [H HM]. apply andb_prop in H as [H He].
  apply andb_prop in H as [H Hp]. apply andb_prop in H as [H Hall]. apply andb_prop in H as [H Hu1].
  apply andb_prop in H as [H Hu0]. apply Z.ltb_lt in H, Hu1, Hall. apply Z.leb_le in Hu0, He.
  repeat split; auto; [destruct M; [discriminate|lia]|].
  destruct (windows_cap f); [|exact I]. apply andb_prop in Hcap as [? C]. apply Z.ltb_lt in C. now split.
Qed.
Lemma q_pos : (0 < q)%nat. Proof. pose proof head_parts. unfold q, circle. lia. Qed.
Lemma seeds_pos : 0 < INR M. Proof. apply lt_0_INR. apply head_parts. Qed.
Lemma floor_whole : a * IZR whole = IZR (uniform f).
Proof. unfold a, floor. rewrite <- whole_is. pose proof whole_pos. field. lra. Qed.
Lemma floor_range : 0 <= a /\ a < 1.
Proof.
  destruct head_parts as [_ [[U0 U1] _]]. apply IZR_le in U0. apply IZR_lt in U1. rewrite <- floor_whole in U0, U1.
  pose proof whole_pos as P. split; (apply (Rmult_le_reg_r (IZR whole)) || apply (Rmult_lt_reg_r (IZR whole))); lra.
Qed.
Lemma exp_is_sound : IZR (fst e) <= IZR (snd e) * X /\ 0 < IZR (snd e) /\ 1 <= X.
Proof.
  destruct head_parts as [_ [_ [_ [Hp [He _]]]]]. destruct (below_exp_sound (windows_eps f) Hp) as [_ [Ho HX]].
  fold e X in Ho, HX. apply IZR_lt in Ho. apply IZR_le in He. split; [exact HX|split; [exact Ho|]].
  apply (Rmult_le_reg_l (IZR (snd e))); [assumption|]. lra.
Qed.

(* The windows of a seed. *)
Let lengths (s : nat) : list (Z * Z) := snd (seed f s).
Let w (s : nat) : R := INR (length (windows f s)).
Let turns (s : nat) : R := rounds f s.
Lemma seed_parts s : (s < M)%nat -> (0 < total (map fst (lengths s)))%Z /\ (total (map fst (lengths s)) mod buckets f = 0)%Z /\
  (forall v, In v (lengths s) -> (1 <= fst v <= buckets f)%Z /\ (least_held f <= snd v)%Z) /\
  match windows_cap f with None => True | Some c => cap_of_seed (below_exp c) (buckets f) (uniform f) (seed f s) = true end.
Proof.
  intros Hs. pose proof (seed_is_right s Hs) as H. unfold seed_holds in H. apply andb_prop in H as [H _].
  apply andb_prop in H as [H Hheld].
  apply andb_prop in H as [H Hcap]. unfold seed_goes_round in H. fold (lengths s) in H, Hheld. apply andb_prop in H as [H Hl].
  apply andb_prop in H as [H Hm]. apply andb_prop in H as [_ Ht]. apply Z.ltb_lt in Ht. apply Z.eqb_eq in Hm.
  rewrite forallb_forall in Hl, Hheld. split; [assumption|split; [assumption|split]].
  - intros v Hv. specialize (Hl v Hv). specialize (Hheld v Hv). apply andb_prop in Hl as [A B].
    apply Z.leb_le in A, B, Hheld. now repeat split.
  - destruct (windows_cap f); [exact Hcap|exact I].
Qed.
Lemma w_is s : w s = INR (length (lengths s)). Proof. unfold w, windows. now rewrite windows_length. Qed.
Lemma w_pos s : (s < M)%nat -> 0 < w s.
Proof.
  intros Hs. destruct (seed_parts s Hs) as [T _]. rewrite w_is. apply lt_0_INR.
  destruct (lengths s); [cbn in T; lia|cbn; lia].
Qed.
Lemma turns_whole s : (s < M)%nat -> turns s = IZR (total (map fst (lengths s)) / buckets f) /\ 0 < turns s /\
  Z.to_nat (total (map fst (lengths s))) = (Z.to_nat (total (map fst (lengths s)) / buckets f) * q)%nat.
Proof.
  intros Hs. destruct (seed_parts s Hs) as [T [D _]]. destruct head_parts as [B _].
  set (t := total (map fst (lengths s))) in *. assert (E : t = (t / buckets f * buckets f)%Z).
  { pose proof (Z.div_mod t (buckets f) ltac:(lia)). lia. }
  assert (P : (0 < t / buckets f)%Z) by nia. assert (R : turns s = IZR (t / buckets f)).
  { unfold turns, rounds. fold (lengths s). fold t. rewrite E at 1. rewrite mult_IZR. apply IZR_lt in B. field. lra. }
  split; [exact R|split; [rewrite R; now apply IZR_lt|]]. unfold q, circle. rewrite E at 1. apply Z2Nat.inj_mul; lia.
Qed.
Lemma window_fits s j : is_window f s j -> (snd (window f s j) <= q)%nat.
Proof.
  intros [Hs Hj]. unfold windows in Hj. rewrite windows_length in Hj.
  destruct (window_within (lengths s) (Z.to_nat (fst (seed f s))) j Hj) as [I E]. unfold window, windows.
  fold (lengths s). rewrite E. destruct (seed_parts s Hs) as [_ [_ [L _]]]. specialize (L _ I). unfold q, circle. lia.
Qed.

(* All windows of a seed together hold as much as its rounds. *)
Lemma all_windows s law : (s < M)%nat -> prior q law ->
  sum (length (windows f s)) (fun j => inside q law (window f s j)) = turns s.
Proof.
  intros Hs HL. unfold window. rewrite (sum_nth (windows f s) (O, O) (inside q law)). unfold windows.
  destruct (seed_parts s Hs) as [_ [_ [L _]]]. rewrite windows_together by (intros v Hv; specialize (L v Hv); lia).
  destruct (turns_whole s Hs) as [R [P E]]. fold (lengths s). rewrite E, inside_rounds by apply q_pos.
  destruct HL as [_ HL]. fold q. rewrite HL, R, INR_IZR_INZ, Z2Nat.id, Rmult_1_r; [reflexivity|].
  rewrite R in P. apply lt_IZR in P. lia.
Qed.

Let g := least_share f.
Lemma share_pos : 0 < X - a /\ g * (X - a) = 1 - a.
Proof. pose proof floor_range. destruct exp_is_sound as [_ [_ ?]]. split; [lra|]. unfold g, least_share. fold a X. field. lra. Qed.

Lemma stated_is_held s j : is_window f s j -> least_share f <= stated f s j.
Proof.
  intros H. pose proof (proj1 H) as Hs. destruct H as [_ Hj]. unfold windows in Hj. rewrite windows_length in Hj.
  destruct (seed_parts s Hs) as [_ [_ [L _]]]. fold (lengths s) in Hj. pose proof (nth_In _ (0, 0)%Z Hj) as I.
  destruct (L _ I) as [_ Lh]. apply IZR_le in Lh.
  destruct head_parts as [_ [_ [Pa [_ [_ [_ [S _]]]]]]]. apply IZR_lt in Pa. unfold share_is_held in S.
  apply Z.leb_le, IZR_le in S. rewrite !mult_IZR, !minus_IZR, !mult_IZR, <- floor_whole in S.
  unfold stated. fold (lengths s). replace (nth j (map snd (lengths s)) 0%Z) with (snd (nth j (lengths s) (0, 0)%Z))
    by (rewrite <- (map_nth snd (lengths s) (0, 0)%Z j); reflexivity).
  set (h := IZR (snd (nth j (lengths s) (0, 0)%Z))) in *. set (least := IZR (least_held f)) in *.
  destruct exp_is_sound as [HX [Ho X1]]. destruct share_pos as [PX E]. pose proof whole_pos as PG. pose proof floor_range as [A0 A1].
  set (T := IZR (fst e)) in *. set (o := IZR (snd e)) in *. set (all := IZR (all_samples f)) in *.
  assert (S' : all * (1 - a) * o <= least * (T - a * o)) by (apply (Rmult_le_reg_r (IZR whole)); [assumption|]; lra).
  assert (0 < T - a * o).
  { pose proof head_parts as [_ [_ [_ [_ [He _]]]]]. apply IZR_le in He. fold T o in He.
    assert (a * o < 1 * o) by (apply Rmult_lt_compat_r; lra). lra. }
  assert (P : 0 <= least).
  { destruct (Rle_lt_dec 0 least) as [|Neg]; [assumption|exfalso].
    assert (0 < all * (1 - a) * o) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|assumption]).
    assert (least * (T - a * o) < 0 * (T - a * o)) by (apply Rmult_lt_compat_r; lra). lra. }
  assert (S2 : all * (1 - a) * o <= least * (o * (X - a))).
  { eapply Rle_trans; [exact S'|]. apply Rmult_le_compat_l; [assumption|]. lra. }
  change (g <= h / all). apply (Rmult_le_reg_r (all * (X - a) * o)); [apply Rmult_lt_0_compat; [now apply Rmult_lt_0_compat|assumption]|].
  replace (h / all * (all * (X - a) * o)) with (h * (o * (X - a))) by (field; lra).
  replace (g * (all * (X - a) * o)) with (all * (g * (X - a)) * o) by ring. rewrite E.
  eapply Rle_trans; [exact S2|]. apply Rmult_le_compat_r; [|assumption]. apply Rmult_le_pos; lra.
Qed.
Section Laws.
Variables (N : nat) (lands : nat -> nat -> nat -> R).
Hypothesis laws : forall s x, (s < M)%nat -> (x < N)%nat -> prior q (lands s x).
Let into (s j x : nat) : R := inside q (lands s x) (window f s j).
Let k (s j x : nat) : R := windows_K f lands x s j.

Lemma into_range s j x : is_window f s j -> (x < N)%nat -> 0 <= into s j x /\ into s j x <= 1.
Proof.
  intros H Hx. pose proof (laws s x (proj1 H) Hx) as P. pose proof (window_fits s j H) as F. unfold into.
  destruct (window f s j) as [p n]. cbn [snd] in F. split.
  - apply inside_positive; [exact P|apply q_pos].
  - apply inside_at_most_1; [exact P|apply q_pos|exact F].
Qed.
Lemma k_is s j x : (s < M)%nat -> k s j x = / INR M * (a / w s + (1 - a) / turns s * into s j x).
Proof.
  intros Hs. unfold k, windows_K. fold q M a. fold (w s) (turns s) (into s j x).
  pose proof seeds_pos. pose proof (w_pos s Hs). destruct (turns_whole s Hs) as [_ [? _]]. field. lra.
Qed.
Lemma seed_part s : (s < M)%nat -> 0 <= / INR M /\ 0 <= a / w s /\ 0 <= (1 - a) / turns s.
Proof.
  intros Hs. pose proof seeds_pos as P. pose proof (w_pos s Hs) as W. destruct (turns_whole s Hs) as [_ [T _]].
  pose proof floor_range. repeat split; [left; now apply Rinv_0_lt_compat| |];
    (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
Qed.

Lemma rows_are_right x : (x < N)%nat -> (forall s j, is_window f s j -> 0 <= k s j x) /\
  sum M (fun s => sum (length (windows f s)) (fun j => k s j x)) = 1.
Proof.
  intros Hx. split.
  - intros s j H. rewrite k_is by apply H. destruct (seed_part s (proj1 H)) as [A [B C]].
    apply Rmult_le_pos; [assumption|]. apply Rplus_le_le_0_compat; [assumption|].
    apply Rmult_le_pos; [assumption|]. now apply into_range.
  - transitivity (sum M (fun _ => / INR M)).
    + apply suml_ext. intros s Hs. apply in_range in Hs. pose proof (w_pos s Hs) as W.
      destruct (turns_whole s Hs) as [_ [T _]].
      rewrite sum_suml, (suml_ext _ _ (fun j => / INR M * (a / w s + (1 - a) / turns s * into s j x))) by (intros; now apply k_is).
      rewrite suml_scal, suml_plus, suml_scal. change (suml (seq 0 (length (windows f s))) (fun j => into s j x))
        with (sum (length (windows f s)) (fun j => inside q (lands s x) (window f s j))).
      rewrite all_windows by (auto; now apply laws).
      assert (E : suml (seq 0 (length (windows f s))) (fun _ => a / w s) = a).
      { transitivity (suml (seq 0 (length (windows f s))) (fun _ => a / w s * 1)); [apply suml_ext; intros; ring|].
        rewrite suml_scal, sum_of_ones. fold (w s). field. lra. }
      rewrite E. pose proof seeds_pos. field. split; lra.
    + transitivity (suml (seq 0 M) (fun _ => / INR M * 1)); [apply suml_ext; intros; ring|]. rewrite suml_scal, sum_of_ones. pose proof seeds_pos. field. lra.
Qed.

(* What a population holds in the windows of a seed is all that it has, in each round. *)
Lemma all_held s Q : (s < M)%nat -> prior N Q -> sum (length (windows f s)) (fun j => mean N Q (into s j)) = turns s.
Proof.
  intros Hs HQ. transitivity (suml (seq 0 (length (windows f s))) (fun j => suml (seq 0 N) (fun x => Q x * into s j x)));
    [reflexivity|]. rewrite suml_swap. transitivity (mean N Q (fun _ => turns s)); [|now apply mean_const].
  apply suml_ext. intros x Hx. apply in_range in Hx. rewrite suml_scal. f_equal.
  exact (all_windows s (lands s x) Hs (laws s x Hs Hx)).
Qed.
Lemma mean_affine Q c d v : prior N Q -> mean N Q (fun x => c + d * v x) = c + d * mean N Q v.
Proof.
  intros HQ. transitivity (mean N Q (fun _ => c) + mean N Q (fun x => d * v x)).
  - unfold mean. rewrite !sum_suml, <- suml_plus. apply suml_ext. intros; ring.
  - now rewrite mean_const, mean_scal.
Qed.
Lemma above_is_right Q x s j : populations f N lands Q -> (x < N)%nat -> is_window f s j ->
  k s j x <= X * mean N Q (fun x' => k s j x').
Proof.
  intros [HQ HB] Hx H. destruct (into_range s j x H Hx) as [F0 F1]. pose proof (HB s j H) as G.
  change (g <= mean N Q (into s j)) in G. pose proof (proj1 H) as Hs.
  assert (W : w s * g <= turns s).
  { rewrite <- (all_held s Q Hs HQ). unfold w. rewrite sum_suml.
    apply Rle_trans with (suml (seq 0 (length (windows f s))) (fun _ => g * 1)).
    - rewrite suml_scal. right. rewrite Rmult_comm. f_equal. symmetry. apply sum_of_ones.
    - apply suml_le. intros i Hi. apply in_range in Hi. rewrite Rmult_1_r. now apply HB. }
  rewrite k_is by assumption.
  rewrite (mean_ext N Q _ (fun x' => / INR M * (a / w s + (1 - a) / turns s * into s j x'))) by (intros; now apply k_is).
  rewrite mean_scal, mean_affine by assumption. destruct (seed_part s Hs) as [A [B C]].
  set (m := mean N Q (into s j)) in *. rewrite <- Rmult_assoc, (Rmult_comm X), Rmult_assoc. apply Rmult_le_compat_l; [assumption|].
  pose proof (w_pos s Hs) as Pw. destruct (turns_whole s Hs) as [_ [Pt _]]. destruct share_pos as [PX E].
  destruct exp_is_sound as [_ [_ X1]]. pose proof floor_range as [A0 A1].
  apply (Rmult_le_reg_r (w s * turns s)); [now apply Rmult_lt_0_compat|].
  replace ((a / w s + (1 - a) / turns s * into s j x) * (w s * turns s)) with (a * turns s + (1 - a) * w s * into s j x) by (field; lra).
  replace (X * (a / w s + (1 - a) / turns s * m) * (w s * turns s)) with (X * (a * turns s + (1 - a) * w s * m)) by (field; lra).
  assert (L1 : (1 - a) * w s * into s j x <= (1 - a) * w s * 1) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|assumption]).
  assert (L2 : (1 - a) * w s * g <= (1 - a) * w s * m) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|assumption]).
  apply (Rmult_le_compat_l X) in L2; [|lra].
  assert (L3 : a * (X - 1) * (w s * g) <= a * (X - 1) * turns s)
    by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|assumption]).
  assert (L4 : (1 - a) * w s - X * ((1 - a) * w s * g) = a * (X - 1) * (w s * g)).
  { replace ((1 - a) * w s - X * ((1 - a) * w s * g)) with (w s * (g * (X - a)) - X * ((1 - a) * w s * g)) by (rewrite E; ring). ring. }
  lra.
Qed.

Lemma cap_is_right c x x' s j : windows_cap f = Some c -> (x < N)%nat -> (x' < N)%nat -> is_window f s j ->
  k s j x <= exp (nats c) * k s j x'.
Proof.
  intros Ec Hx Hx' H. pose proof (proj1 H) as Hs. destruct (into_range s j x H Hx) as [_ F1].
  destruct (into_range s j x' H Hx') as [F0 _]. destruct (seed_parts s Hs) as [_ [_ [_ HC]]].
  destruct head_parts as [_ [_ [_ [_ [_ [_ [_ HP]]]]]]]. rewrite Ec in HC, HP. destruct HP as [Hc Hu].
  destruct (below_exp_sound c Hc) as [_ [Ho He]]. apply IZR_lt in Ho, Hu. unfold cap_of_seed in HC.
  apply Z.leb_le, IZR_le in HC. rewrite !mult_IZR, plus_IZR, !mult_IZR, minus_IZR in HC. fold (lengths s) in HC.
  destruct (turns_whole s Hs) as [R [Pt _]]. rewrite <- R, <- INR_IZR_INZ, <- w_is, <- floor_whole in HC.
  rewrite <- floor_whole in Hu. pose proof whole_pos as PG. pose proof (w_pos s Hs) as Pw. pose proof floor_range as [A0 A1].
  set (T := IZR (fst (below_exp c))) in *. set (o := IZR (snd (below_exp c))) in *. set (C := exp (nats c)) in *.
  assert (G : a * turns s + (1 - a) * w s <= C * (a * turns s)).
  { apply (Rmult_le_reg_r (IZR whole * o)); [now apply Rmult_lt_0_compat|].
    apply (Rmult_le_compat_r (a * IZR whole * turns s)) in He; [|apply Rmult_le_pos; [apply Rmult_le_pos|]; lra]. lra. }
  rewrite !k_is by assumption. destruct (seed_part s Hs) as [A [B D]].
  rewrite <- Rmult_assoc, (Rmult_comm C), Rmult_assoc. apply Rmult_le_compat_l; [assumption|].
  apply (Rmult_le_reg_r (w s * turns s)); [now apply Rmult_lt_0_compat|].
  replace ((a / w s + (1 - a) / turns s * into s j x) * (w s * turns s)) with (a * turns s + (1 - a) * w s * into s j x) by (field; lra).
  replace (C * (a / w s + (1 - a) / turns s * into s j x') * (w s * turns s)) with (C * (a * turns s) + C * ((1 - a) * w s * into s j x')) by (field; lra).
  assert (L1 : (1 - a) * w s * into s j x <= (1 - a) * w s * 1) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|assumption]).
  assert (0 <= C * ((1 - a) * w s * into s j x')).
  { apply Rmult_le_pos; [left; apply exp_pos|]. apply Rmult_le_pos; [apply Rmult_le_pos; lra|assumption]. }
  lra.
Qed.

End Laws.

(* One string, which lies on the circle of each seed as the samples do. *)
Lemma samples_are_somewhere : exists N lands P, laws_of_strings f N lands /\ as_stated f N lands P.
Proof.
  set (law := fun s : nat => law_of_masses (IZR (all_samples f)) (samples_as_stated (buckets f) (seed f s))).
  destruct head_parts as [Hq [_ [Ha _]]].
  assert (G : forall s, (s < M)%nat -> (forall m, In m (samples_as_stated (buckets f) (seed f s)) ->
      (0 <= fst m < buckets f)%Z /\ (0 <= snd m)%Z) /\ (total (map snd (samples_as_stated (buckets f) (seed f s))) <= all_samples f)%Z /\
    (0 <= fst (seed f s))%Z /\ hold_as_stated (samples_as_stated (buckets f) (seed f s)) (buckets f) (fst (seed f s)) (lengths s) = true).
  { intros s Hs. pose proof (seed_is_right s Hs) as H. unfold seed_holds, seed_goes_round, samples_lie in H. split_bools.
    repeat match goal with H : (_ <=? _)%Z = true |- _ => apply Z.leb_le in H end.
    split; [|repeat split; assumption]. intros m Hm.
    match goal with H : forallb (fun m => (0 <=? fst m)%Z && _ && _) _ = true |- _ => rewrite forallb_forall in H; specialize (H m Hm) end.
    split_bools. repeat match goal with H : (_ <=? _)%Z = true |- _ => apply Z.leb_le in H | H : (_ <? _)%Z = true |- _ => apply Z.ltb_lt in H end. lia. }
  exists 1%nat, (fun s _ => law s), (fun _ => 1). split; [|split].
  - intros s x Hs _. destruct (G s Hs) as [G1 [G2 _]]. now apply masses_are_a_law.
  - split; [intros; lra|unfold sum; cbn; lra].
  - intros s j [Hs Hj]. destruct (G s Hs) as [G1 [G2 [G3 G4]]]. unfold windows in Hj. rewrite windows_length in Hj.
    unfold held_by, mean, sum. cbn [seq fold_right]. rewrite Rplus_0_r, Rmult_1_l. unfold stated, window, windows, circle.
    apply (windows_hold (buckets f) (all_samples f) _ Hq Ha G1 G2); [assumption| |exact G4|exact Hj].
    intros v Hv. destruct (seed_parts s Hs) as [_ [_ [L _]]]. specialize (L v Hv). lia.
Qed.

Theorem windows_check_is_right : windows_promise f.
Proof.
  split; [exact samples_are_somewhere|]. intros N lands laws. split; [|split; [|split]].
  - intros x Hx. now apply (rows_are_right N lands laws).
  - intros Q HQ x s j Hx H. now apply (above_is_right N lands laws).
  - destruct (windows_cap f) as [c|] eqn:Ec; [|exact I]. intros x x' s j Hx Hx' H. now apply (cap_is_right N lands laws c).
  - intros P [HP HS]. split; [exact HP|]. intros s j H. eapply Rle_trans; [|exact (HS s j H)]. now apply stated_is_held.
Qed.
End File.

Theorem windows_check_correct : forall f, windows_check f = true -> windows_promise f.
Proof. exact windows_check_is_right. Qed.
