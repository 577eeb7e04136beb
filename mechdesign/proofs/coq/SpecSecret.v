(** What a file promises about a secret S, where reports are made from data X that depend on S. This page is all that an
    auditor has to read of such a file, beside [Spec]. It says nothing about X: a report may give X away, as far as X
    tells nothing about S. *)
From Coq Require Import Reals List ZArith.
Require Import Spec.
Import ListNotations.
Open Scope R_scope.

(* A joint law of a secret with T values and of data with N symbols: p s is the probability of the value s, and A s x
   that of the data x given s. The law of the secret is in B, and the law of the data given s in C s. *)
Definition joint (T N : nat) (B : (nat -> R) -> Prop) (C : nat -> (nat -> R) -> Prop) (p : nat -> R) (A : nat -> nat -> R) : Prop :=
  B p /\ forall s, (s < T)%nat -> C s (A s).

(* The probability of the report y given the value s, and that of the report y. *)
Definition report_given (N : nat) (K : nat -> nat -> R) (A : nat -> nat -> R) (s y : nat) : R := mean N (A s) (fun x => K x y).
Definition report (T N : nat) (K : nat -> nat -> R) (p : nat -> R) (A : nat -> nat -> R) (y : nat) : R :=
  mean T p (fun s => report_given N K A s y).

(* No report makes a value of the secret more likely by more than e^eps, nor less likely by less than e^-low. *)
Definition secret_above (T N M : nat) (K : nat -> nat -> R) (J : (nat -> R) -> (nat -> nat -> R) -> Prop) (eps : R) : Prop :=
  forall p A, J p A -> forall s y, (s < T)%nat -> (y < M)%nat -> report_given N K A s y <= exp eps * report T N K p A y.
Definition secret_below (T N M : nat) (K : nat -> nat -> R) (J : (nat -> R) -> (nat -> nat -> R) -> Prop) (low : R) : Prop :=
  forall p A, J p A -> forall s y, (s < T)%nat -> (y < M)%nat -> exp (- low) * report T N K p A y <= report_given N K A s y.

(* The file, as data: the sets are those of [Spec], one for the law of the secret and one for each of its values. *)
Record secret_file := SecretFile { data_inputs : nat; data_outputs : nat; data_bits : nat; data_rows : list (list Z);
  secret_eps : epsilon; secret_lower : option epsilon; data_cap : option epsilon; data_average : option epsilon; secret_law : priors; given : list priors }.
Definition values (f : secret_file) : nat := length (given f).
Definition data_K (f : secret_file) (x y : nat) : R := IZR (nth y (nth x (data_rows f) []) 0%Z) / 2 ^ data_bits f.
Definition joint_laws (f : secret_file) : (nat -> R) -> (nat -> nat -> R) -> Prop :=
  joint (values f) (data_inputs f) (among (values f) (secret_law f)) (fun s => among (data_inputs f) (nth s (given f) (Hull []))).

Definition secret_promise (f : secret_file) : Prop :=
  mechanism (data_inputs f) (data_outputs f) (data_K f) /\
  (exists p A, joint_laws f p A) /\
  secret_above (values f) (data_inputs f) (data_outputs f) (data_K f) (joint_laws f) (nats (secret_eps f)) /\
  match secret_lower f with None => True
  | Some l => secret_below (values f) (data_inputs f) (data_outputs f) (data_K f) (joint_laws f) (nats l) end /\
  match data_cap f with None => True | Some c => capped (data_inputs f) (data_outputs f) (data_K f) (nats c) end /\
  match data_average f with None => True | Some l => on_average (data_inputs f) (data_outputs f) (data_K f) (nats l) end.
