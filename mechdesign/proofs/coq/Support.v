(** Finite sums, and a lower bound of all means under priors that keep lower limits of the probabilities of events:
    with the values v falling, and S_k the first k symbols, <Q, v> = v_N + sum (v_k - v_(k+1)) Q(S_k). *)
From Coq Require Import Reals List ZArith Lia Lra Permutation Sorting Orders.
Require Import Spec.
Import ListNotations.
Open Scope R_scope.

Definition suml {A} (l : list A) (f : A -> R) : R := fold_right (fun x s => f x + s) 0 l.

Lemma suml_ext {A} (l : list A) f g : (forall x, In x l -> f x = g x) -> suml l f = suml l g.
Proof.
  induction l as [|a l IH]; intros H; [reflexivity|]. cbn [suml fold_right].
  rewrite (H a (or_introl eq_refl)). f_equal. apply IH. intros x Hx. apply H. now right.
Qed.
Lemma suml_le {A} (l : list A) f g : (forall x, In x l -> f x <= g x) -> suml l f <= suml l g.
Proof.
  induction l as [|a l IH]; intros H; cbn; [lra|].
  apply Rplus_le_compat; [apply H; now left | apply IH; intros; apply H; now right].
Qed.
Lemma suml_plus {A} (l : list A) f g : suml l (fun x => f x + g x) = suml l f + suml l g.
Proof. unfold suml. induction l as [|a l IH]; cbn; [lra|]. rewrite IH. lra. Qed.
Lemma suml_scal {A} (l : list A) c f : suml l (fun x => c * f x) = c * suml l f.
Proof. unfold suml. induction l as [|a l IH]; cbn; [lra|]. rewrite IH. lra. Qed.
Lemma suml_scal_r {A} (l : list A) c f : suml l (fun x => f x * c) = suml l f * c.
Proof. unfold suml. induction l as [|a l IH]; cbn; [lra|]. rewrite IH. lra. Qed.
Lemma suml_minus {A} (l : list A) f g : suml l (fun x => f x - g x) = suml l f - suml l g.
Proof. unfold suml. induction l as [|a l IH]; cbn; [lra|]. rewrite IH. lra. Qed.
Lemma suml_zero {A} (l : list A) f : (forall x, In x l -> f x = 0) -> suml l f = 0.
Proof.
  induction l as [|a l IH]; intros H; [reflexivity|]. cbn. rewrite (H a (or_introl eq_refl)).
  unfold suml in IH. rewrite IH; [lra|]. intros x Hx. apply H. now right.
Qed.
Lemma suml_nonneg {A} (l : list A) f : (forall x, In x l -> 0 <= f x) -> 0 <= suml l f.
Proof.
  induction l as [|a l IH]; intros H; cbn; [lra|].
  apply Rplus_le_le_0_compat; [apply H; now left | apply IH; intros; apply H; now right].
Qed.
Lemma suml_map {A B} (g : A -> B) (l : list A) f : suml (map g l) f = suml l (fun x => f (g x)).
Proof. unfold suml. induction l as [|a l IH]; cbn; [reflexivity|]. now rewrite IH. Qed.
Lemma suml_app {A} (l m : list A) f : suml (l ++ m) f = suml l f + suml m f.
Proof. unfold suml. induction l as [|a l IH]; cbn; [lra|]. rewrite IH. lra. Qed.
Lemma suml_perm {A} (l m : list A) f : Permutation l m -> suml l f = suml m f.
Proof. unfold suml. induction 1; cbn; lra. Qed.
Lemma suml_swap {A B} (l : list A) (m : list B) f :
  suml l (fun x => suml m (fun y => f x y)) = suml m (fun y => suml l (fun x => f x y)).
Proof.
  induction l as [|a l IH]; cbn.
  - symmetry. now apply suml_zero.
  - unfold suml in *. rewrite IH. symmetry. exact (suml_plus m _ _).
Qed.
Lemma sum_suml n f : sum n f = suml (seq 0 n) f. Proof. reflexivity. Qed.
Lemma suml_one (l : list nat) x c : NoDup l -> In x l -> suml l (fun y => if Nat.eqb y x then c else 0) = c.
Proof.
  induction l as [|a l IH]; intros D I; [destruct I|]. inversion D as [|? ? N D']; subst.
  cbn. destruct I as [->|I].
  - rewrite Nat.eqb_refl. change (c + suml l (fun y => if Nat.eqb y x then c else 0) = c).
    rewrite suml_zero; [lra|]. intros y Hy. destruct (Nat.eqb_spec y x); congruence.
  - change ((if Nat.eqb a x then c else 0) + suml l (fun y => if Nat.eqb y x then c else 0) = c).
    rewrite (IH D' I). destruct (Nat.eqb_spec a x); [congruence|lra].
Qed.
Lemma in_range x n : In x (seq 0 n) <-> (x < n)%nat. Proof. rewrite in_seq. lia. Qed.

(* The sum over a set of symbols, as a list without repetitions. *)
Lemma mass_suml N Q S : mass N Q S = suml (filter S (seq 0 N)) Q.
Proof.
  unfold mass. rewrite sum_suml. induction (seq 0 N) as [|a l IH]; [reflexivity|].
  cbn in *. unfold suml in IH. rewrite IH. destruct (S a); cbn; unfold suml; lra.
Qed.
Lemma filter_member N T : NoDup T -> incl T (seq 0 N) ->
  Permutation (filter (fun x => existsb (Nat.eqb x) T) (seq 0 N)) T.
Proof.
  intros D I. apply NoDup_Permutation; [apply NoDup_filter, seq_NoDup | assumption|].
  intros x. rewrite filter_In, existsb_exists. split.
  - intros [_ [y [Hy E]]]. apply Nat.eqb_eq in E. now subst.
  - intros H. split; [now apply I|]. exists x. split; [assumption|apply Nat.eqb_refl].
Qed.
Lemma mass_list N Q T : NoDup T -> incl T (seq 0 N) -> mass N Q (fun x => existsb (Nat.eqb x) T) = suml T Q.
Proof. intros D I. rewrite mass_suml. apply suml_perm. now apply filter_member. Qed.

(* Lists as functions of their positions. *)
Lemma list_as_map {A} (d : A) l : l = map (fun x => nth x l d) (seq 0 (length l)).
Proof.
  induction l as [|a l IH]; [reflexivity|]. cbn [length seq map nth]. f_equal.
  rewrite <- seq_shift, map_map. exact IH.
Qed.
Lemma combine_map {A B C} (f : A -> B) (g : A -> C) l : combine (map f l) (map g l) = map (fun x => (f x, g x)) l.
Proof. induction l as [|a l IH]; cbn; [reflexivity|]. now rewrite IH. Qed.
Lemma IZR_total w : IZR (total w) = suml w IZR.
Proof. induction w as [|a w IH]; [reflexivity|]. cbn. rewrite plus_IZR. unfold total in IH. now rewrite IH. Qed.
Lemma total_positions w N : length w = N -> IZR (total w) = sum N (fun x => IZR (nth x w 0%Z)).
Proof. intros <-. rewrite IZR_total, sum_suml. rewrite (list_as_map 0%Z w) at 1. now rewrite suml_map. Qed.

(* A piece (slack, masses) asks D Q(S) >= masses(S) - slack of every set S. *)
Definition piece := (Z * list Z)%type.
Definition keeps (N : nat) (D : Z) (Q : nat -> R) (p : piece) : Prop :=
  forall T, NoDup T -> incl T (seq 0 N) ->
  suml T (fun x => IZR (nth x (snd p) 0%Z)) - IZR (fst p) <= IZR D * suml T Q.

Module Falling <: TotalLeBool'.
  Definition t := (Z * list Z)%type.
  Definition leb (x y : t) := (fst y <=? fst x)%Z.
  Infix "<=?" := leb.
  Theorem leb_total : forall x y, (x <=? y) = true \/ (y <=? x) = true.
  Proof. intros x y. unfold leb. rewrite !Z.leb_le. lia. Qed.
End Falling.
Module Falls := Sort Falling.

Fixpoint add (l m : list Z) : list Z :=
  match l, m with x :: l, y :: m => (x + y)%Z :: add l m | _, _ => [] end.
Definition greatest (l : list Z) : Z := fold_right Z.max 0%Z l.
Fixpoint choquet (D : Z) (held : list Z) (l : list (Z * list Z)) : Z :=
  match l with
  | [] => 0
  | (v, m) :: rest =>
    match rest with
    | [] => v * D
    | (w, _) :: _ => let held := add held m in (v - w) * greatest held + choquet D held rest
    end
  end%Z.

Definition mass_rows (N : nat) (ps : list piece) : list (list Z) :=
  map (fun x => map (fun p => nth x (snd p) 0%Z) ps) (seq 0 N).
Definition least (D : Z) (ps : list piece) (masses : list (list Z)) (v : list Z) : Z :=
  choquet D (map (fun p => (- fst p)%Z) ps) (Falls.sort (combine v masses)).

Lemma add_map {A} (f g : A -> Z) l : add (map f l) (map g l) = map (fun p => (f p + g p)%Z) l.
Proof. induction l as [|a l IH]; cbn; [reflexivity|]. now rewrite IH. Qed.
Lemma greatest_le l c : 0 <= c -> (forall x, In x l -> IZR x <= c) -> IZR (greatest l) <= c.
Proof.
  intros Hc. induction l as [|a l IH]; intros H; cbn; [assumption|].
  destruct (Z.max_spec a (greatest l)) as [[_ E]|[_ E]]; unfold greatest in *; rewrite E.
  - apply IH. intros; apply H. now right.
  - apply H. now left.
Qed.

Lemma choquet_below N D Q ps v : (0 < D)%Z -> prior N Q -> Forall (keeps N D Q) ps ->
  let entry := fun x => (nth x v 0%Z, map (fun p : piece => nth x (snd p) 0%Z) ps) in
  forall o S, NoDup (S ++ o) -> incl (S ++ o) (seq 0 N) -> suml (S ++ o) Q = 1 -> o <> [] ->
  Sorted.LocallySorted (fun x y => Falling.leb x y = true) (map entry o) ->
  forall held, (forall p, In p ps -> IZR (held p) = suml S (fun x => IZR (nth x (snd p) 0%Z)) - IZR (fst p)) ->
  IZR (choquet D (map held ps) (map entry o))
    <= IZR D * (suml o (fun x => Q x * IZR (nth x v 0%Z)) + suml S Q * IZR (nth (hd O o) v 0%Z)).
Proof.
  intros HD [Hpos _] Hk entry. induction o as [|a o IH]; intros S Nd Hi H1 Hne Hs held Hh; [congruence|].
  destruct o as [|b o].
  - cbn [map choquet entry hd suml fold_right]. rewrite mult_IZR. rewrite suml_app in H1. cbn in H1.
    right. replace (suml S Q) with (1 - Q a) by lra. ring.
  - assert (E : S ++ a :: b :: o = (S ++ [a]) ++ b :: o) by now rewrite <- app_assoc. rewrite E in Nd, Hi, H1.
    set (held' := fun p : piece => (held p + nth a (snd p) 0)%Z).
    assert (Hh' : forall p, In p ps ->
        IZR (held' p) = suml (S ++ [a]) (fun x => IZR (nth x (snd p) 0%Z)) - IZR (fst p)).
    { intros p Hp. unfold held'. rewrite plus_IZR, (Hh p Hp), suml_app. cbn. ring. }
    change (map entry (a :: b :: o)) with (entry a :: entry b :: map entry o) in Hs |- *.
    inversion Hs as [| |? ? ? Hs' Hab]; subst. unfold Falling.leb in Hab. cbn [fst entry] in Hab.
    apply Z.leb_le in Hab.
    specialize (IH (S ++ [a]) Nd Hi H1 ltac:(discriminate) Hs' held' Hh').
    cbn [hd] in IH |- *. unfold entry at 1 2. cbn [choquet].
    rewrite add_map. fold held'. change (map (fun p => (held p + nth a (snd p) 0)%Z) ps) with (map held' ps).
    change ((nth b v 0%Z, map (fun p : piece => nth b (snd p) 0%Z) ps) :: map entry o) with (map entry (b :: o)).
    rewrite plus_IZR, mult_IZR, minus_IZR.
    assert (G : IZR (greatest (map held' ps)) <= IZR D * suml (S ++ [a]) Q).
    { assert (Nd' : NoDup (S ++ [a])).
      { clear -Nd. induction (S ++ [a]) as [|z l IHl]; [constructor|]. inversion Nd; subst.
        constructor; [|now apply IHl]. intro. apply H1. apply in_or_app. now left. }
      assert (Hi' : incl (S ++ [a]) (seq 0 N)) by (intros z Hz; apply Hi, in_or_app; now left).
      apply greatest_le.
      - apply Rmult_le_pos; [now apply IZR_le, Z.lt_le_incl|]. apply suml_nonneg. intros x Hx.
        apply Hpos, in_range. now apply Hi'.
      - intros z Hz. apply in_map_iff in Hz. destruct Hz as [p [<- Hp]]. rewrite (Hh' p Hp).
        rewrite Forall_forall in Hk. apply (Hk p Hp); assumption. }
    apply (Rmult_le_compat_l (IZR (nth a v 0%Z) - IZR (nth b v 0%Z))) in G;
      [|apply IZR_le in Hab; lra].
    eapply Rle_trans; [apply Rplus_le_compat; [exact G | exact IH]|].
    rewrite !suml_app. cbn [suml fold_right]. right. unfold suml. ring.
Qed.

Theorem least_sound N D ps Q v : (0 < D)%Z -> prior N Q -> Forall (keeps N D Q) ps -> length v = N ->
  IZR (least D ps (mass_rows N ps) v) <= IZR D * mean N Q (fun x => IZR (nth x v 0%Z)).
Proof.
  intros HD HQ Hk Hl. unfold least, mass_rows.
  rewrite (list_as_map 0%Z v) at 1. rewrite Hl, combine_map.
  set (entry := fun x => (nth x v 0%Z, map (fun p : piece => nth x (snd p) 0%Z) ps)).
  pose proof (Falls.LocallySorted_sort (map entry (seq 0 N))) as Hs.
  pose proof (Falls.Permuted_sort (map entry (seq 0 N))) as Hp.
  destruct (Permutation_map_inv _ _ (Permutation_sym Hp)) as [o [Eo Po]].
  change (IZR (choquet D (map (fun p : piece => - fst p)%Z ps) (Falls.sort (map entry (seq 0 N))))
    <= IZR D * mean N Q (fun x => IZR (nth x v 0%Z))).
  rewrite Eo in Hs |- *.
  assert (N <> O). { destruct HQ as [_ H1]. intros ->. cbn in H1. lra. }
  pose proof (choquet_below N D Q ps v HD HQ Hk o []) as B. cbn [app] in B.
  unfold mean. rewrite sum_suml. rewrite (suml_perm _ _ _ Po).
  replace (suml o _) with (suml o (fun x => Q x * IZR (nth x v 0%Z)) + suml [] Q * IZR (nth (hd O o) v 0%Z))
    by (cbn; ring).
  apply B.
  - apply (Permutation_NoDup Po), seq_NoDup.
  - intros x Hx. now apply (Permutation_in x (Permutation_sym Po)).
  - rewrite <- (suml_perm _ _ Q Po). apply HQ.
  - intros ->. apply Permutation_sym, Permutation_nil in Po. destruct N; [congruence|discriminate].
  - exact Hs.
  - intros p _. rewrite opp_IZR. cbn. ring.
Qed.
