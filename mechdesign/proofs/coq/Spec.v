(** What a mechanism file promises. An auditor has to read this page, and the statements that are called [Theorem]. *)
From Coq Require Import Reals List ZArith.
Import ListNotations.
Open Scope R_scope.

(* The finite sum f 0 + ... + f (n - 1). *)
Definition sum (n : nat) (f : nat -> R) : R := fold_right (fun i s => f i + s) 0 (seq 0 n).

(* A prior over N symbols, the mean of a function under it, and the probability of a set of symbols. *)
Definition prior (N : nat) (Q : nat -> R) : Prop := (forall x, (x < N)%nat -> 0 <= Q x) /\ sum N Q = 1.
Definition mean (N : nat) (Q f : nat -> R) : R := sum N (fun x => Q x * f x).
Definition mass (N : nat) (Q : nat -> R) (S : nat -> bool) : R := sum N (fun x => if S x then Q x else 0).

(* Sets of priors: near P in l1; mixtures of V; between limits; all sets of symbols above lines of their estimate. *)
Definition ball (N : nat) (P : nat -> R) (r : R) (Q : nat -> R) : Prop :=
  prior N Q /\ sum N (fun x => Rabs (Q x - P x)) <= r.
Definition hull (N : nat) (V : list (nat -> R)) (Q : nat -> R) : Prop :=
  exists w, prior (length V) w /\
  forall x, (x < N)%nat -> Q x = sum (length V) (fun j => w j * nth j V (fun _ => 0) x).
Definition box (N : nat) (l u : nat -> R) (Q : nat -> R) : Prop :=
  prior N Q /\ forall x, (x < N)%nat -> l x <= Q x <= u x.
Definition events (N : nat) (P : nat -> R) (lines : list (R * R)) (Q : nat -> R) : Prop :=
  prior N Q /\ forall alpha gamma, In (alpha, gamma) lines -> forall S, alpha * mass N P S - gamma <= mass N Q S.
(* Pairs (i, j), in row order: i has a law in A, and j, given each i, a law in B. *)
Definition product (m n : nat) (A B : (nat -> R) -> Prop) (Q : nat -> R) : Prop :=
  exists q c, A q /\ (forall i, (i < m)%nat -> B (c i)) /\
  forall i j, (i < m)%nat -> (j < n)%nat -> Q (i * n + j)%nat = q i * c i j.

(* A mechanism: K x y is the probability of the report y given the input x. *)
Definition mechanism (N M : nat) (K : nat -> nat -> R) : Prop :=
  forall x, (x < N)%nat -> (forall y, (y < M)%nat -> 0 <= K x y) /\ sum M (K x) = 1.

(* Pointwise maximal leakage: no lift K(y|x) / P(y) is above e^eps, nor below e^-low, at any prior of the set. *)
Definition from_above (N M : nat) (K : nat -> nat -> R) (B : (nat -> R) -> Prop) (eps : R) : Prop :=
  forall Q, B Q -> forall x y, (x < N)%nat -> (y < M)%nat -> K x y <= exp eps * mean N Q (fun x' => K x' y).
Definition from_below (N M : nat) (K : nat -> nat -> R) (B : (nat -> R) -> Prop) (low : R) : Prop :=
  forall Q, B Q -> forall x y, (x < N)%nat -> (y < M)%nat -> exp (- low) * mean N Q (fun x' => K x' y) <= K x y.
(* Local differential privacy, whatever the prior is. *)
Definition capped (N M : nat) (K : nat -> nat -> R) (cap : R) : Prop :=
  forall x x' y, (x < N)%nat -> (x' < N)%nat -> (y < M)%nat -> K x y <= exp cap * K x' y.
(* Maximal leakage, whatever the prior is: the greatest probabilities of all reports sum to at most e^most. *)
Definition top (N : nat) (f : nat -> R) : R := fold_right (fun x m => Rmax (f x) m) 0 (seq 0 N).
Definition on_average (N M : nat) (K : nat -> nat -> R) (most : R) : Prop := sum M (fun y => top N (fun x => K x y)) <= exp most.

(* The file, as data: integers only. *)
Definition ratio (a : Z) (b : positive) : R := IZR a / IZR (Zpos b).
Inductive epsilon := Nats (a : Z) (b : positive) | Log (a b : positive).  (* a/b, or log(a/b) *)
Definition nats (e : epsilon) : R := match e with Nats a b => ratio a b | Log a b => ln (ratio (Zpos a) b) end.
Definition total (w : list Z) : Z := fold_right Z.add 0%Z w.
Definition share (w : list Z) (x : nat) : R := IZR (nth x w 0%Z) / IZR (total w).     (* counts, or weights *)
Inductive priors :=
| Ball (counts : list Z) (radius : Z) (over : positive)
| Hull (vertices : list (list Z))
| Box (low high : list Z) (over : positive)
| Events (counts : list Z) (lines : list (Z * Z)) (over : positive)
| Both (s t : priors)
| Either (s t : priors)
| Pairs (m : nat) (s : priors) (n : nat) (t : priors).
Fixpoint among (N : nat) (s : priors) (Q : nat -> R) : Prop :=
  match s with
  | Ball c r d => ball N (share c) (ratio r d) Q
  | Hull V => hull N (map share V) Q
  | Box l u d => box N (fun x => ratio (nth x l 0%Z) d) (fun x => ratio (nth x u 0%Z) d) Q
  | Events c g d => events N (share c) (map (fun line => (ratio (fst line) d, ratio (snd line) d)) g) Q
  | Both s t => among N s Q /\ among N t Q
  | Either s t => among N s Q \/ among N t Q
  | Pairs m s n t => N = (m * n)%nat /\ product m n (among m s) (among n t) Q
  end.
Record file := File { inputs : nat; outputs : nat; bits : nat; rows : list (list Z);
                      eps : epsilon; lower : option epsilon; cap : option epsilon;
                      average : option epsilon; set : priors }.
Definition K (f : file) (x y : nat) : R := IZR (nth y (nth x (rows f) []) 0%Z) / 2 ^ bits f.

Definition promise (f : file) : Prop :=
  mechanism (inputs f) (outputs f) (K f) /\
  (exists Q, among (inputs f) (set f) Q) /\
  from_above (inputs f) (outputs f) (K f) (among (inputs f) (set f)) (nats (eps f)) /\
  match lower f with None => True
  | Some l => from_below (inputs f) (outputs f) (K f) (among (inputs f) (set f)) (nats l) end /\
  match cap f with None => True | Some c => capped (inputs f) (outputs f) (K f) (nats c) end /\
  match average f with None => True | Some l => on_average (inputs f) (outputs f) (K f) (nats l) end.

(* Samples: the mean of f over the lists of m independent draws from Q, and the probability of an event. *)
Fixpoint expect (N : nat) (Q : nat -> R) (m : nat) (f : list nat -> R) : R :=
  match m with
  | O => f []
  | S m => sum N (fun x => Q x * expect N Q m (fun l => f (x :: l)))
  end.
Definition indicator (b : bool) : R := if b then 1 else 0.
Definition prob (N : nat) (Q : nat -> R) (m : nat) (A : list nat -> bool) : R := expect N Q m (fun l => indicator (A l)).
(* How many of the draws are in S, which share of them is x, and whether these shares are farther than r from Q. *)
Definition hits (S : nat -> bool) (l : list nat) : nat := length (filter S l).
Definition freq (l : list nat) (x : nat) : R := INR (hits (Nat.eqb x) l) / INR (length l).
Definition above (t x : R) : bool := if Rlt_dec t x then true else false.
Definition outside (N : nat) (Q : nat -> R) (r : R) (l : list nat) : bool :=
  above r (sum N (fun x => Rabs (Q x - freq l x))).
(* The counts c are those of m draws, in the list l. *)
Definition drawn (N m : nat) (c : list Z) (l : list nat) : Prop :=
  length l = m /\ Forall (fun x => (x < N)%nat) l /\ c = map (fun x => Z.of_nat (hits (Nat.eqb x) l)) (seq 0 N).
(* Whatever the prior is, it is farther than the radius of the file from the shares of m draws with probability at most
   delta; and the counts in the file are those of m draws. So it is in the set of the file but with that probability. *)
Definition seldom_far (f : file) (m : nat) (delta : R) : Prop :=
  match set f with
  | Ball _ r d => forall Q, prior (inputs f) Q -> prob (inputs f) Q m (outside (inputs f) Q (ratio r d)) <= delta
  | _ => False
  end.
Definition learnt (f : file) (m : nat) (delta : R) : Prop :=
  seldom_far f m delta /\ match set f with Ball c _ _ => exists l, drawn (inputs f) m c l | _ => False end.
(* Draws contradict a prior at level a if some set of symbols was hit so often that as many draws from the prior hit it
   that often with probability at most a. All sets count but the empty and the full one; x is in set i if i has bit x. *)
Definition contradicted (N : nat) (Q : nat -> R) (a : R) (l : list nat) : bool :=
  existsb (fun i => let S := Nat.testbit i in negb (above a (prob N Q (length l) (fun l' => Nat.leb (hits S l) (hits S l')))))
    (seq 1 (2 ^ N - 2)).
(* Whatever the prior is, m draws from it contradict it with probability at most delta; the counts in the file are those
   of m draws; and every prior that these do not contradict is within the radius of the file. *)
Definition learnt_from_counts (f : file) (m : nat) (delta : R) : Prop :=
  match set f with
  | Ball c r d =>
    let N := inputs f in let a := delta / (2 ^ N - 2) in
    (forall Q, prior N Q -> prob N Q m (contradicted N Q a) <= delta) /\
    (exists l, drawn N m c l) /\
    (forall Q l, prior N Q -> drawn N m c l -> contradicted N Q a l = false -> ball N (share c) (ratio r d) Q)
  | _ => False
  end.
