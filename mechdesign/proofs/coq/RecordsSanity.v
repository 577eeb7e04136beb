(** What the definitions of [SpecRecords] should imply, what samples of whole records tell, and files that [records_check]
    should take or refuse. *)
From Coq Require Import Reals List ZArith Lia Lra.
Require Import Spec ExpLow Support Check Sanity SpecRecords Records Delta Limits Learnt Observed RecordsLearnt.
Import ListNotations.
Open Scope R_scope.

(** * The whole leaks what its views do, for every joint law *)

Lemma possible_view n see P i x : prior n P -> (x < n)%nat -> P x <= law_of_view n see P i (see i x).
Proof.
  intros [H _] Hx. unfold law_of_view, mass.
  apply Rle_trans with (suml (seq 0 n) (fun x' => if Nat.eqb x' x then P x else 0));
    [right; symmetry; apply suml_one; [apply seq_NoDup|now apply in_range]|].
  apply suml_le. intros x' Hx'. apply in_range in Hx'. specialize (H x' Hx').
  destruct (Nat.eqb_spec x' x) as [->|]; [rewrite Nat.eqb_refl; lra|]. destruct (Nat.eqb _ _); lra.
Qed.
Lemma possible_record n see P i z : prior n P -> 0 < law_of_view n see P i z -> exists x, (x < n)%nat /\ see i x = z /\ 0 < P x.
Proof.
  intros [H _] Hz. unfold law_of_view, mass in Hz. rewrite sum_suml in Hz.
  assert (G : forall l, (forall x, In x l -> (x < n)%nat) -> 0 < suml l (fun x => if Nat.eqb (see i x) z then P x else 0) ->
    exists x, (x < n)%nat /\ see i x = z /\ 0 < P x).
  { induction l as [|x l IH]; intros Hl S; [cbn in S; lra|].
    change (0 < (if Nat.eqb (see i x) z then P x else 0) + suml l (fun x => if Nat.eqb (see i x) z then P x else 0)) in S.
    destruct (Rlt_dec 0 (suml l (fun x => if Nat.eqb (see i x) z then P x else 0))) as [L|L].
    - apply IH; [intros; apply Hl; now right|assumption].
    - destruct (Nat.eqb_spec (see i x) z) as [E|E]; [|lra]. exists x. split; [apply Hl; now left|split; [assumption|lra]]. }
  apply (G _ (fun x Hx => proj1 (in_range x n) Hx) Hz).
Qed.
(* Of a report (i, y) with a weight: no possible record becomes more likely by more than c if, and only if, no possible
   value of view i does. So the leakage of the whole is the greatest of its views, and weights do not matter. *)
Theorem the_whole_leaks_what_its_views_do f n see P i y c : prior n P -> (i < views f)%nat -> 0 < view_weight f i ->
  (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) ->
  (forall x, (x < n)%nat -> 0 < P x -> record_K f see x i y <= c * mean n P (fun x' => record_K f see x' i y)) <->
  (forall z, (z < inputs (view f i))%nat -> 0 < law_of_view n see P i z ->
    K (view f i) z y <= c * mean (inputs (view f i)) (law_of_view n see P i) (fun z' => K (view f i) z' y)).
Proof.
  intros HP Hi Hw HS. rewrite (mean_of_report f n see P i y Hi HS).
  set (m := mean (inputs (view f i)) (law_of_view n see P i) (fun z' => K (view f i) z' y)). unfold record_K. split; intros H.
  - intros z Hz L. destruct (possible_record n see P i z HP L) as [x [Hx [<- Hp]]]. specialize (H x Hx Hp).
    apply (Rmult_le_reg_l (view_weight f i)); [assumption|]. lra.
  - intros x Hx Hp. pose proof (possible_view n see P i x HP Hx) as L.
    specialize (H (see i x) (HS i x Hi Hx) ltac:(lra)). apply (Rmult_le_compat_l (view_weight f i)) in H; lra.
Qed.

(** * The definitions *)

Theorem a_larger_epsilon_of_records_is_weaker e e' b ps : nats e <= nats e' ->
  record_promise (RecordsFile e None b ps) -> record_promise (RecordsFile e' None b ps).
Proof.
  intros He [A [B C]]. split; [exact A|split; [exact B|]]. intros n see HS. destruct (C n see HS) as [R [G _]].
  split; [exact R|split; [|exact I]]. intros P HP x i y Hx H. eapply Rle_trans; [exact (G P HP x i y Hx H)|].
  apply Rmult_le_compat_r.
  - destruct HP as [HP _]. rewrite <- (mean_const n P 0 HP). apply mean_le; [exact HP|]. intros x' Hx'. now apply (R x' Hx').
  - cbn [record_eps]. destruct He as [L| ->]; [left; now apply exp_increasing|right; reflexivity].
Qed.
Theorem records_have_the_promises_of_their_views f i : record_promise f -> (i < views f)%nat -> promise (view f i).
Proof. intros [H _]. apply H. Qed.
Theorem some_records_have_all_views f : record_promise f -> exists n see P, prior n P /\
  forall i, (i < length (parts f))%nat -> (forall x, (x < n)%nat -> (see i x < inputs (snd (nth i (parts f) no_view)))%nat) /\
    among (inputs (view f i)) (set (view f i)) (fun z => sum n (fun x => if Nat.eqb (see i x) z then P x else 0)).
Proof.
  intros [_ [[n [see [P [S [HP HB]]]]] _]]. exists n, see, P. split; [exact HP|]. intros i Hi. split; [intros x Hx; now apply S|now apply HB].
Qed.
Theorem reports_of_records_are_probabilities f n see x : record_promise f ->
  (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) -> (x < n)%nat ->
  (forall i y, (i < views f)%nat -> (y < outputs (view f i))%nat -> 0 <= record_K f see x i y) /\
  sum (views f) (fun i => sum (outputs (view f i)) (fun y => record_K f see x i y)) = 1.
Proof. intros [_ [_ H]] HS Hx. destruct (H n see HS) as [R _]. destruct (R x Hx) as [A B]. split; [|exact B]. intros; now apply A. Qed.
(* A file of one view promises what its record_eps says of the data of that view. *)
Theorem the_promise_of_one_view e l g : (forall Q, among (inputs g) (set g) Q -> prior (inputs g) Q) ->
  record_promise (RecordsFile e l 0 [(1%Z, g)]) ->
  from_above (inputs g) (outputs g) (K g) (among (inputs g) (set g)) (nats e) /\
  match l with None => True | Some l => from_below (inputs g) (outputs g) (K g) (among (inputs g) (set g)) (nats l) end.
Proof.
  intros HG [_ [_ H]]. set (f := RecordsFile e l 0 [(1%Z, g)]) in *. set (N := inputs g) in *.
  assert (V : forall i, (i < views f)%nat -> i = O) by (unfold views; cbn; lia).
  assert (S : forall i x, (i < views f)%nat -> (x < N)%nat -> (x < inputs (view f i))%nat) by (intros i x Hi Hx; now rewrite (V i Hi)).
  assert (L : forall Q, among N (set g) Q -> record_laws f N (fun _ x => x) Q).
  { intros Q HQ. split; [now apply HG|]. intros i Hi. rewrite (V i Hi). apply (among_agrees _ _ Q); [|exact HQ].
    intros z Hz. unfold law_of_view, mass. symmetry.
    rewrite sum_suml, (suml_ext _ _ (fun x => if Nat.eqb x z then Q z else 0)); [apply suml_one; [apply seq_NoDup|now apply in_range]|].
    intros x _. destruct (Nat.eqb_spec x z) as [->|]; reflexivity. }
  assert (E : forall x y, record_K f (fun _ x => x) x O y = K g x y) by (intros; unfold record_K, view_weight, view; cbn; lra).
  destruct (H N (fun _ x => x) S) as [_ [A B]]. split.
  - intros Q HQ x y Hx Hy. specialize (A Q (L Q HQ) x O y Hx (conj (le_n 1) Hy)). rewrite E in A.
    rewrite (mean_ext N Q _ (fun x' => K g x' y)) in A by (intros; apply E). exact A.
  - destruct l as [l|]; [|exact I]. cbn [record_lower f] in B. intros Q HQ x y Hx Hy.
    specialize (B Q (L Q HQ) x O y Hx (conj (le_n 1) Hy)). rewrite E in B.
    rewrite (mean_ext N Q _ (fun x' => K g x' y)) in B by (intros; apply E). exact B.
Qed.
Theorem identity_of_a_record_breaks_every_promise_for_all_priors e l e' : ~ record_promise (RecordsFile e l 0 [(1%Z, identity e' all)]).
Proof. intros [H _]. exact (identity_breaks_every_promise_for_all_priors e' (H O (le_n 1))). Qed.
Theorem identity_of_a_record_breaks_a_promise_below_log_2 e l e' :
  exp (nats e) < 2 -> ~ record_promise (RecordsFile e l 0 [(1%Z, identity e' known)]).
Proof.
  intros He H. destruct H as [V R]. pose proof (conj V R : record_promise _) as H.
  destruct (the_promise_of_one_view e l (identity e' known)) as [A _]; [|exact H|].
  - intros Q HQ. exact (proj1 HQ).
  - specialize (V O (le_n 1)). apply (identity_breaks_a_promise_below_log_2_for_a_known_prior e He).
    destruct V as [M [X _]]. exact (conj M (conj X (conj A (conj I (conj I I))))).
Qed.

(** * What samples tell of whole records *)

Theorem a_larger_delta_is_weaker_for_records f m es a b : a <= b -> records_learnt f m es a -> records_learnt f m es b.
Proof.
  intros H [E [D L]]. split; [exact E|split; [exact D|]]. intros n see P HP HS. destruct (L n see P HP HS) as [B C].
  split; [lra|exact C].
Qed.
(* No view misleads more often than the delta of the whole. *)
Theorem each_view_misleads_no_more_often_than_any f m es delta n see P i : records_learnt f m es delta -> prior n P ->
  (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) -> (i < views f)%nat ->
  prob (inputs (view f i)) (law_of_view n see P i) m (misled (view f i) (nth i es Given) (law_of_view n see P i)) <= delta.
Proof.
  intros [_ [_ H]] HP HS Hi. destruct (H n see P HP HS) as [B _]. eapply Rle_trans; [|exact B]. unfold prob.
  rewrite <- (draws_of_a_view n see P i _ m (fun x Hx => HS i x Hi Hx)
    (fun l => indicator (misled (view f i) (nth i es Given) (law_of_view n see P i) l))).
  apply expect_le; [exact HP|]. intros l. unfold indicator.
  destruct (misled _ _ _ (map (see i) l)) eqn:E; [|destruct (misled_somewhere _ _ _ _ _ _); lra].
  replace (misled_somewhere f es n see P l) with true; [lra|]. symmetry. apply existsb_exists. exists i.
  split; [now apply in_range|exact E].
Qed.
(* If all samples are the evidence of a view, its own delta is at most that of the whole; so it is with counts. *)
Theorem all_samples_mislead_about_a_view_as_they_do_alone f m es delta n see P i a b c r d : records_learnt f m es delta ->
  prior n P -> (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) -> (i < views f)%nat ->
  nth i es Given = AllSamples a b -> set (view f i) = Ball c r d ->
  prob (inputs (view f i)) (law_of_view n see P i) m (outside (inputs (view f i)) (law_of_view n see P i) (ratio r d)) <= delta.
Proof.
  intros H HP HS Hi E S. pose proof (each_view_misleads_no_more_often_than_any f m es delta n see P i H HP HS Hi) as B.
  unfold misled in B. rewrite E, S in B. exact B.
Qed.
Theorem counts_contradict_the_law_of_a_view_as_they_do_alone f m es delta n see P i a b c r d : records_learnt f m es delta ->
  prior n P -> (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) -> (i < views f)%nat ->
  nth i es Given = TheseCounts a b -> set (view f i) = Ball c r d ->
  prob (inputs (view f i)) (law_of_view n see P i) m
    (contradicted (inputs (view f i)) (law_of_view n see P i) (ratio a b / (2 ^ inputs (view f i) - 2))) <= delta.
Proof.
  intros H HP HS Hi E S. pose proof (each_view_misleads_no_more_often_than_any f m es delta n see P i H HP HS Hi) as B.
  unfold misled in B. rewrite E, S in B. exact B.
Qed.
Theorem counts_of_views_are_as_many_as_the_records f m es delta i : records_learnt f m es delta -> (i < views f)%nat ->
  nth i es Given <> Given -> total (counts_in (view f i)) = Z.of_nat m /\ length (counts_in (view f i)) = inputs (view f i).
Proof.
  intros [_ [[n [see [l [_ [_ [_ D]]]]]] _]] Hi He. specialize (D i Hi He). split; [exact (total_drawn _ _ _ _ D)|].
  destruct D as [_ [_ ->]]. now rewrite map_length, seq_length.
Qed.
(* Whoever makes a mechanism for each sample of m records, so that it keeps its promise wherever these do not mislead, keeps it
   but with probability delta. *)
Theorem what_records_promise_holds_but_with_delta f m es delta n see P (kept : list nat -> bool) : records_learnt f m es delta ->
  prior n P -> (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) ->
  (forall l, misled_somewhere f es n see P l = false -> kept l = true) -> prob n P m (fun l => negb (kept l)) <= delta.
Proof.
  intros [_ [_ H]] HP HS HK. destruct (H n see P HP HS) as [B _]. eapply Rle_trans; [|exact B]. unfold prob.
  apply expect_le; [exact HP|]. intros l. specialize (HK l). unfold indicator.
  destruct (misled_somewhere f es n see P l); [destruct (kept l); cbn; lra|]. rewrite (HK eq_refl). cbn. lra.
Qed.
(* Views that were not learnt are given: what the records promise then holds of all laws that have them. *)
Theorem records_that_do_not_mislead_have_the_laws_of_the_file f m es delta n see P l : records_learnt f m es delta ->
  prior n P -> (forall i x, (i < views f)%nat -> (x < n)%nat -> (see i x < inputs (view f i))%nat) ->
  records_drawn f m es n see l -> misled_somewhere f es n see P l = false ->
  (forall i, (i < views f)%nat -> nth i es Given = Given -> among (inputs (view f i)) (set (view f i)) (law_of_view n see P i)) ->
  record_laws f n see P.
Proof.
  intros [_ [_ H]] HP HS HD HM HG. destruct (H n see P HP HS) as [_ C]. split; [exact HP|]. intros i Hi.
  destruct (nth i es Given) eqn:E; [now apply HG| |]; (apply (C l HD HM i Hi); congruence).
Qed.

(** * Files *)

Definition takes_records (f : records_file) : Prop := records_check f = true.
Definition refuses_records (f : records_file) : Prop := records_check f = false.
Definition first : file := warner log3 (Some log3) None all.
Definition second : file := warner (Log 3 2) None None known.
Example two_views_are_taken : takes_records (RecordsFile log3 None 2 [(3, first); (1, second)])%Z. Proof. vm_compute. reflexivity. Qed.
Example the_whole_has_the_greatest_epsilon : refuses_records (RecordsFile (Log 3 2) None 2 [(3, first); (1, second)])%Z.
Proof. vm_compute. reflexivity. Qed.
Example weights_of_another_sum_are_refused : refuses_records (RecordsFile log3 None 2 [(3, first); (2, second)])%Z.
Proof. vm_compute. reflexivity. Qed.
Example a_negative_weight_is_refused : refuses_records (RecordsFile log3 None 2 [(5, first); (-1, second)])%Z.
Proof. vm_compute. reflexivity. Qed.
Example from_below_all_views_count : takes_records (RecordsFile log3 (Some log3) 2 [(3, first); (1, second)])%Z. Proof. vm_compute. reflexivity. Qed.
Example and_no_less_from_below : refuses_records (RecordsFile log3 (Some less) 2 [(3, first); (1, second)])%Z. Proof. vm_compute. reflexivity. Qed.
Example a_view_that_breaks_its_own_promise_is_refused : refuses_records (RecordsFile log3 None 0 [(1, warner less None None all)])%Z.
Proof. vm_compute. reflexivity. Qed.
Example no_view_is_refused : refuses_records (RecordsFile log3 None 0 []). Proof. vm_compute. reflexivity. Qed.
(* Four records of two values, two of each: of radius 1, or 0.99, and a delta of 1/8 or a little less. *)
Definition four (r : Z) (d : positive) : file := File 2 2 2 [[3; 1]; [1; 3]]%Z log3 None None None (Ball [2; 2]%Z r d).
Definition of_four (m : Z) (a : Z) (b : positive) (s : support_of_view) (r : Z) (d : positive) : bool :=
  records_support (RecordsFile log3 None 1 [(1%Z, four r d); (1%Z, first)]) m (a, b) [s; NoSupport].
Definition by_all (a : Z) (b : positive) : support_of_view := ByAllSamples (a, b) [Rare 3 0; Rare 4 0].
Definition by_counts (a : Z) (b : positive) : support_of_view := ByTheseCounts (a, b) [Rare 2 0; Gap 4].
Example four_samples_teach_within_1 : of_four 4 1 8 (by_all 1 8) 1 1 = true. Proof. vm_compute. reflexivity. Qed.
Example and_not_within_less : of_four 4 1 8 (by_all 1 8) 99 100 = false. Proof. vm_compute. reflexivity. Qed.
Example nor_more_often : of_four 4 12 100 (by_all 12 100) 1 1 = false. Proof. vm_compute. reflexivity. Qed.
Example the_whole_misleads_as_often : of_four 4 12 100 (by_all 1 8) 1 1 = false. Proof. vm_compute. reflexivity. Qed.
Example three_records_do_not_have_these_counts : of_four 3 1 8 (by_all 1 8) 1 1 = false. Proof. vm_compute. reflexivity. Qed.
Example five_records_do_not_have_these_counts : of_four 5 1 8 (ByAllSamples (1%Z, 8%positive) [Rare 3 0; Rare 4 0; Rare 5 0]) 1 1 = false.
Proof. vm_compute. reflexivity. Qed.
Example these_counts_teach_more : of_four 4 1 8 (by_counts 1 8) 4 5 = true. Proof. vm_compute. reflexivity. Qed.
Example two_deltas_add : records_support (RecordsFile log3 None 1 [(1%Z, four 1 1); (1%Z, four 1 1)]) 4 (1%Z, 4%positive) [by_all 1 8; by_all 1 8] = true.
Proof. vm_compute. reflexivity. Qed.
Example and_to_no_less : records_support (RecordsFile log3 None 1 [(1%Z, four 1 1); (1%Z, four 1 1)]) 4 (24%Z, 100%positive) [by_all 1 8; by_all 1 8] = false.
Proof. vm_compute. reflexivity. Qed.
