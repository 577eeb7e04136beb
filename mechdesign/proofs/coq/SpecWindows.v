(** What a file of windows promises about any strings. This page is all that an auditor has to read of such a file, beside
    [Spec]. Strings are numbered from 0 to N - 1, however many there are. [lands s x b] is the probability that the string x
    lies in bucket b of the circle of seed s: 1 for the bucket of its hash, or parts of 1 for a heavy string. All is said for
    every family of such laws, so that nothing is assumed of the hash, the seeds or the strings. *)
From Coq Require Import Reals List ZArith.
Require Import Spec.
Import ListNotations.
Open Scope R_scope.

(* On a circle of q buckets a window (p, n) holds the n buckets from p on. What lies in bucket b with probability f b lies
   in the window with probability [inside q f (p, n)]. *)
Definition inside (q : nat) (f : nat -> R) (w : nat * nat) : R := sum (snd w) (fun i => f ((fst w + i) mod q)%nat).

(* The file, as data: integers only. A seed has the bucket where its first window begins, and for each window its length and
   how much of all samples it holds. Each window begins where the one before ends, so that they go round the circle. *)
Record windows_file := WindowsFile { buckets : Z; windows_eps : epsilon; windows_cap : option epsilon; uniform : Z;
  all_samples : Z; least_held : Z; seeds : list (Z * list (Z * Z)) }.
Fixpoint windows_from (p : nat) (l : list (Z * Z)) : list (nat * nat) :=
  match l with [] => [] | (n, _) :: l => (p, Z.to_nat n) :: windows_from (p + Z.to_nat n) l end.
Definition circle (f : windows_file) : nat := Z.to_nat (buckets f).
Definition number_of_seeds (f : windows_file) : nat := length (seeds f).
Definition seed (f : windows_file) (s : nat) : Z * list (Z * Z) := nth s (seeds f) (0, [])%Z.
Definition windows (f : windows_file) (s : nat) : list (nat * nat) := windows_from (Z.to_nat (fst (seed f s))) (snd (seed f s)).
Definition window (f : windows_file) (s j : nat) : nat * nat := nth j (windows f s) (O, O).
Definition is_window (f : windows_file) (s j : nat) : Prop := (s < number_of_seeds f)%nat /\ (j < length (windows f s))%nat.
(* How often the windows of a seed go round, and the probability that a report is a uniform window, whatever the string is. *)
Definition rounds (f : windows_file) (s : nat) : R := IZR (total (map fst (snd (seed f s)))) / IZR (buckets f).
Definition floor (f : windows_file) : R := IZR (uniform f) / 2 ^ 60.

(* The probability of the report (s, j), window j of seed s, where the string is x: the seed is uniform; then the window is
   uniform, or that in which a bucket of the string lies in a uniform round. *)
Definition windows_K (f : windows_file) (lands : nat -> nat -> nat -> R) (x s j : nat) : R :=
  (floor f / INR (length (windows f s)) + (1 - floor f) * inside (circle f) (lands s x) (window f s j) / rounds f s)
  / INR (number_of_seeds f).

(* The share of a population in a window, the share that windows must hold, and the populations in which they do. *)
Definition held_by (f : windows_file) (N : nat) (lands : nat -> nat -> nat -> R) (Q : nat -> R) (s j : nat) : R :=
  mean N Q (fun x => inside (circle f) (lands s x) (window f s j)).
Definition least_share (f : windows_file) : R := (1 - floor f) / (exp (nats (windows_eps f)) - floor f).
Definition populations (f : windows_file) (N : nat) (lands : nat -> nat -> nat -> R) (Q : nat -> R) : Prop :=
  prior N Q /\ forall s j, is_window f s j -> least_share f <= held_by f N lands Q s j.

(* Of the samples, whose strings have the shares P, each window holds at least what the file states. *)
Definition stated (f : windows_file) (s j : nat) : R := IZR (nth j (map snd (snd (seed f s))) 0%Z) / IZR (all_samples f).
Definition as_stated (f : windows_file) (N : nat) (lands : nat -> nat -> nat -> R) (P : nat -> R) : Prop :=
  prior N P /\ forall s j, is_window f s j -> stated f s j <= held_by f N lands P s j.

(* Where strings lie: each somewhere on the circle of every seed. *)
Definition laws_of_strings (f : windows_file) (N : nat) (lands : nat -> nat -> nat -> R) : Prop :=
  forall s x, (s < number_of_seeds f)%nat -> (x < N)%nat -> prior (circle f) (lands s x).

(* Some strings and samples of them are held as stated. Wherever strings lie, reports are probabilities; no report makes a
   string more likely by more than e^eps in any of the populations, nor with a cap one string by more than e^cap than another
   in any; and samples that are held as stated are such a population, so that there is one. *)
Definition windows_promise (f : windows_file) : Prop :=
  (exists N lands P, laws_of_strings f N lands /\ as_stated f N lands P) /\
  forall N lands, laws_of_strings f N lands ->
  (forall x, (x < N)%nat -> (forall s j, is_window f s j -> 0 <= windows_K f lands x s j) /\
    sum (number_of_seeds f) (fun s => sum (length (windows f s)) (fun j => windows_K f lands x s j)) = 1) /\
  (forall Q, populations f N lands Q -> forall x s j, (x < N)%nat -> is_window f s j ->
    windows_K f lands x s j <= exp (nats (windows_eps f)) * mean N Q (fun x' => windows_K f lands x' s j)) /\
  match windows_cap f with None => True
  | Some c => forall x x' s j, (x < N)%nat -> (x' < N)%nat -> is_window f s j ->
      windows_K f lands x s j <= exp (nats c) * windows_K f lands x' s j end /\
  (forall P, as_stated f N lands P -> populations f N lands P).
