(** What a file of views of records promises about the whole record. This page is all that an auditor has to read of such a
    file, beside [Spec]. Records are numbered from 0 to n - 1, however many there are, and view i of the record x is the input
    [see i x] of its mechanism. A report (i, y) says that view i was drawn, and what its mechanism reported. *)
From Coq Require Import Reals List ZArith.
Require Import Spec.
Import ListNotations.
Open Scope R_scope.

(* The file, as data: its views with their weights out of 2^weight_bits, and what is promised of the whole. *)
Record records_file := RecordsFile { record_eps : epsilon; record_lower : option epsilon; weight_bits : nat;
  parts : list (Z * file) }.
Definition views (f : records_file) : nat := length (parts f).
Definition no_view : Z * file := (0%Z, File 0 0 0 [] (Nats 0 1) None None None (Hull [])).
Definition view_weight (f : records_file) (i : nat) : R := IZR (fst (nth i (parts f) no_view)) / 2 ^ weight_bits f.
Definition view (f : records_file) (i : nat) : file := snd (nth i (parts f) no_view).

(* The law of view i, z the view, where records have the law P. *)
Definition law_of_view (n : nat) (see : nat -> nat -> nat) (P : nat -> R) (i z : nat) : R := mass n P (fun x => Nat.eqb (see i x) z).
(* The probability of the report (i, y) where the record is x. *)
Definition record_K (f : records_file) (see : nat -> nat -> nat) (x i y : nat) : R := view_weight f i * K (view f i) (see i x) y.
Definition is_report (f : records_file) (i y : nat) : Prop := (i < views f)%nat /\ (y < outputs (view f i))%nat.
(* Every joint law of the record, however its attributes depend on each other, if each view has a law in its set. *)
Definition record_laws (f : records_file) (n : nat) (see : nat -> nat -> nat) (P : nat -> R) : Prop :=
  prior n P /\ forall i, (i < views f)%nat -> among (inputs (view f i)) (set (view f i)) (law_of_view n see P i).

(* Each view keeps its own promise; reports are probabilities; some records have a joint law with all these views; and
   whatever the records and their views are, no report says more of the whole record than e^eps, nor less than e^-low. *)
Definition record_promise (f : records_file) : Prop :=
  (forall i, (i < views f)%nat -> promise (view f i)) /\
  (exists n see P, (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) /\ record_laws f n see P) /\
  forall n see, (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) ->
    (forall x, (x < n)%nat -> (forall i y, is_report f i y -> 0 <= record_K f see x i y) /\
      sum (views f) (fun i => sum (outputs (view f i)) (fun y => record_K f see x i y)) = 1) /\
    (forall P, record_laws f n see P -> forall x i y, (x < n)%nat -> is_report f i y ->
      record_K f see x i y <= exp (nats (record_eps f)) * mean n P (fun x' => record_K f see x' i y)) /\
    match record_lower f with None => True
    | Some l => forall P, record_laws f n see P -> forall x i y, (x < n)%nat -> is_report f i y ->
        exp (- nats l) * mean n P (fun x' => record_K f see x' i y) <= record_K f see x i y end.

(* What shows that the law of a view is in its set: nothing here, so that it is given; that all samples lie within the radius
   of their prior but with probability a/b; or that the counts of the file do not contradict it, at a delta of a/b. *)
Inductive evidence := Given | AllSamples (a : Z) (b : positive) | TheseCounts (a : Z) (b : positive).
(* Draws of a view of the law Q mislead about it. *)
Definition misled (g : file) (e : evidence) (Q : nat -> R) (l : list nat) : bool :=
  match e, set g with
  | Given, _ => false
  | AllSamples _ _, Ball _ r d => outside (inputs g) Q (ratio r d) l
  | TheseCounts a b, Ball _ _ _ => contradicted (inputs g) Q (ratio a b / (2 ^ inputs g - 2)) l
  | _, _ => true
  end.
(* Draws of records mislead about some view, each with its own evidence. *)
Definition misled_somewhere (f : records_file) (es : list evidence) (n : nat) (see : nat -> nat -> nat) (P : nat -> R)
  (l : list nat) : bool :=
  existsb (fun i => misled (view f i) (nth i es Given) (law_of_view n see P i) (map (see i) l)) (seq 0 (views f)).
(* The list l holds m records, and their views have the counts in the file where these are evidence. *)
Definition counts_in (g : file) : list Z := match set g with Ball c _ _ => c | _ => [] end.
Definition records_drawn (f : records_file) (m : nat) (es : list evidence) (n : nat) (see : nat -> nat -> nat) (l : list nat) : Prop :=
  length l = m /\ Forall (fun x => (x < n)%nat) l /\
  forall i, (i < views f)%nat -> nth i es Given <> Given -> drawn (inputs (view f i)) m (counts_in (view f i)) (map (see i) l).
(* The counts in the file are those of m records. Whatever the records, their views and their joint law are, m independent
   draws from it mislead about some view with probability at most delta; and if m records with these counts mislead about
   none, every view with evidence has a law in its set. *)
Definition records_learnt (f : records_file) (m : nat) (es : list evidence) (delta : R) : Prop :=
  length es = views f /\
  (exists n see l, (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) /\ records_drawn f m es n see l) /\
  forall n see P, prior n P -> (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) ->
    prob n P m (misled_somewhere f es n see P) <= delta /\
    forall l, records_drawn f m es n see l -> misled_somewhere f es n see P l = false ->
      forall i, (i < views f)%nat -> nth i es Given <> Given ->
        among (inputs (view f i)) (set (view f i)) (law_of_view n see P i).
