(** What the definitions of [SpecWindows] should imply, and files that [windows_check] should take or refuse. *)
From Coq Require Import Reals List ZArith Lia Lra.
Require Import Spec ExpLow Support Check SpecWindows Windows.
Import ListNotations.
Open Scope R_scope.

Theorem a_window_of_all_buckets_holds_every_string q f p : prior q f -> (0 < q)%nat -> inside q f (p, q) = 1.
Proof. intros [_ H] Hq. now rewrite inside_round. Qed.
Theorem a_window_of_one_bucket_holds_what_lies_there q f p : (p < q)%nat -> inside q f (p, 1%nat) = f p.
Proof. intros H. now rewrite inside_one, Nat.mod_small. Qed.
Theorem two_windows_hold_together_what_lies_in_both q f p n m :
  inside q f (p, (n + m)%nat) = inside q f (p, n) + inside q f ((p + n)%nat, m).
Proof. apply inside_split. Qed.
Theorem windows_begin_where_the_one_before_ends p n h l :
  windows_from p ((n, h) :: l) = (p, Z.to_nat n) :: windows_from (p + Z.to_nat n) l.
Proof. reflexivity. Qed.

Theorem without_a_floor_windows_hold_e_to_minus_eps f : uniform f = 0%Z -> least_share f = exp (- nats (windows_eps f)).
Proof.
  intros H. unfold least_share, floor. rewrite H. pose proof (exp_pos (nats (windows_eps f))). rewrite exp_Ropp. field. lra.
Qed.
Theorem populations_are_priors_whose_windows_hold_enough f N lands Q :
  populations f N lands Q <-> prior N Q /\ forall s j, is_window f s j ->
    least_share f <= sum N (fun x => Q x * inside (circle f) (lands s x) (window f s j)).
Proof. reflexivity. Qed.
(* Where a string lies in a window and the window holds too little, the report says too much: the set is no larger than told. *)
Theorem outside_of_the_populations_the_promise_is_broken f N lands Q x s j :
  windows_check f = true -> uniform f = 0%Z -> prior N Q -> (x < N)%nat -> is_window f s j ->
  inside (circle f) (lands s x) (window f s j) = 1 -> held_by f N lands Q s j < exp (- nats (windows_eps f)) ->
  exp (nats (windows_eps f)) * mean N Q (fun x' => windows_K f lands x' s j) < windows_K f lands x s j.
Proof.
  intros Hf Hu HQ Hx H Hin Hh. pose proof (proj1 H) as Hs.
  assert (K : forall x, windows_K f lands x s j = / (INR (number_of_seeds f) * rounds f s) * inside (circle f) (lands s x) (window f s j)).
  { intros y. unfold windows_K, floor. rewrite Hu. pose proof (seeds_pos f Hf) as A.
    destruct (turns_whole f Hf s Hs) as [_ [B _]]. pose proof (w_pos f Hf s Hs) as C. field. lra. }
  rewrite (mean_ext N Q _ (fun x' => / (INR (number_of_seeds f) * rounds f s) * inside (circle f) (lands s x') (window f s j)))
    by (intros; apply K).
  rewrite mean_scal, K, Hin. change (mean N Q (fun x' => inside (circle f) (lands s x') (window f s j))) with (held_by f N lands Q s j).
  pose proof (seeds_pos f Hf) as A. destruct (turns_whole f Hf s Hs) as [_ [B _]].
  set (c := / (INR (number_of_seeds f) * rounds f s)). assert (P : 0 < c) by (apply Rinv_0_lt_compat; now apply Rmult_lt_0_compat).
  pose proof (exp_pos (nats (windows_eps f))) as PX. set (X := exp (nats (windows_eps f))) in *.
  rewrite exp_Ropp in Hh. fold X in Hh. apply (Rmult_lt_compat_l X) in Hh; [|assumption]. rewrite Rinv_r in Hh by lra.
  apply (Rmult_lt_compat_l c) in Hh; [|assumption]. lra.
Qed.
Theorem a_larger_epsilon_of_windows_has_more_populations q e e' c u n h l N lands Q :
  (0 <= u < whole)%Z -> 0 <= nats e -> nats e <= nats e' ->
  populations (WindowsFile q e c u n h l) N lands Q -> populations (WindowsFile q e' c u n h l) N lands Q.
Proof.
  intros [U0 U1] H0 H [HQ HB]. split; [exact HQ|]. intros s j Hj. eapply Rle_trans; [|exact (HB s j Hj)].
  unfold least_share, floor. cbn [uniform windows_eps]. apply IZR_le in U0. apply IZR_lt in U1. rewrite whole_is in U1.
  pose proof whole_pos as PG. rewrite whole_is in PG. set (G := 2 ^ 60) in *.
  assert (A : 0 <= IZR u / G < 1).
  { split; [apply Rmult_le_pos; [assumption|left; now apply Rinv_0_lt_compat]|].
    apply (Rmult_lt_reg_r G); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (E1 : 1 <= exp (nats e)) by (destruct H0 as [L| <-]; [pose proof (exp_ineq1 (nats e)); lra|rewrite exp_0; lra]).
  assert (E2 : exp (nats e) <= exp (nats e')) by (destruct H as [L| ->]; [left; now apply exp_increasing|lra]).
  apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.
Theorem one_window_of_all_buckets_tells_nothing f N lands s j x x' :
  (forall s x, (s < number_of_seeds f)%nat -> (x < N)%nat -> prior (circle f) (lands s x)) -> (0 < circle f)%nat ->
  is_window f s j -> snd (window f s j) = circle f -> (x < N)%nat -> (x' < N)%nat ->
  windows_K f lands x s j = windows_K f lands x' s j.
Proof.
  intros HL Hq H E Hx Hx'. unfold windows_K. destruct (window f s j) as [p n]. cbn [snd] in E. subst n.
  rewrite !inside_round by assumption. now rewrite (proj2 (HL s x (proj1 H) Hx)), (proj2 (HL s x' (proj1 H) Hx')).
Qed.
Theorem a_promise_of_windows_is_about_some_population f : windows_promise f -> exists N lands P,
  (forall s x, (s < number_of_seeds f)%nat -> (x < N)%nat -> prior (circle f) (lands s x)) /\ prior N P /\
  (forall s j, is_window f s j -> stated f s j <= held_by f N lands P s j) /\ populations f N lands P.
Proof.
  intros [[N [lands [P [HL HP]]]] H]. exists N, lands, P. split; [exact HL|]. destruct HP as [HP HS]. split; [exact HP|]. split; [exact HS|].
  destruct (H N lands HL) as [_ [_ [_ D]]]. apply D. now split.
Qed.
Theorem a_promise_of_windows_has_its_parts f N lands : windows_promise f ->
  (forall s x, (s < number_of_seeds f)%nat -> (x < N)%nat -> prior (circle f) (lands s x)) ->
  (forall x, (x < N)%nat -> sum (number_of_seeds f) (fun s => sum (length (windows f s)) (fun j => windows_K f lands x s j)) = 1) /\
  (forall x s j, (x < N)%nat -> is_window f s j -> 0 <= windows_K f lands x s j) /\
  (forall Q x s j, prior N Q -> (forall s j, is_window f s j -> least_share f <= held_by f N lands Q s j) -> (x < N)%nat ->
    is_window f s j -> windows_K f lands x s j <= exp (nats (windows_eps f)) * mean N Q (fun x' => windows_K f lands x' s j)) /\
  (forall c x x' s j, windows_cap f = Some c -> (x < N)%nat -> (x' < N)%nat -> is_window f s j ->
    windows_K f lands x s j <= exp (nats c) * windows_K f lands x' s j) /\
  (forall P, prior N P -> (forall s j, is_window f s j -> stated f s j <= held_by f N lands P s j) -> populations f N lands P).
Proof.
  intros [_ H] HL. destruct (H N lands HL) as [A [B [C D]]]. split; [|split; [|split; [|split]]].
  - intros x Hx. now apply A.
  - intros x s j Hx Hj. now apply A.
  - intros Q x s j HQ HB Hx Hj. apply B; [now split|assumption|assumption].
  - intros c x x' s j E. rewrite E in C. apply C.
  - intros P HP HS. apply D. now split.
Qed.

(* Two windows of one bucket each cannot hold three of four samples each, and no sample lies so. *)
Theorem windows_that_hold_more_than_there_was_promise_nothing :
  ~ windows_promise (WindowsFile 2 (Log 2 1) None 0 4 2 [(0, [(1, 3); (1, 3)])])%Z.
Proof.
  set (f := WindowsFile _ _ _ _ _ _ _). intros H. destruct (a_promise_of_windows_is_about_some_population f H) as [N [lands [P [HL [HP [HS _]]]]]].
  pose proof (HS O O (conj (le_n 1) (le_S _ _ (le_n 1)))) as A. pose proof (HS O 1%nat (conj (le_n 1) (le_n 2))) as B.
  assert (E : held_by f N lands P O O + held_by f N lands P O 1 = 1).
  { unfold held_by. rewrite <- (mean_const N P 1 HP). unfold mean. rewrite !sum_suml, <- suml_plus. apply suml_ext. intros x Hx.
    apply in_range in Hx. rewrite <- Rmult_plus_distr_l. f_equal. destruct (HL O x (le_n 1) Hx) as [_ S].
    change (circle f) with 2%nat in S. rewrite <- S. change (window f 0 0) with (0, 1)%nat. change (window f 0 1) with (1, 1)%nat.
    change (circle f) with 2%nat. unfold inside, sum. cbn. ring. }
  unfold stated in A, B. cbn in A, B. lra.
Qed.

(** * Files: two buckets, of which each is a window that holds one of two samples; and others. *)

Definition two (e : epsilon) (c : option epsilon) (u n h : Z) : windows_file := WindowsFile 2 e c u n h [(0, [(1, h); (1, h)])]%Z.
Definition taken (f : windows_file) : Prop := windows_check f = true.
Definition refused_here (f : windows_file) : Prop := windows_check f = false.
Example windows_that_hold_more_than_there_was_are_refused : refused_here (WindowsFile 2 (Log 2 1) None 0 4 2 [(0, [(1, 3); (1, 3)])])%Z.
Proof. vm_compute. reflexivity. Qed.
Example so_many_samples_are_somewhere : taken (WindowsFile 2 (Log 2 1) None 0 4 2 [(0, [(1, 2); (1, 2)])])%Z. Proof. vm_compute. reflexivity. Qed.
(* Three windows go round four buckets twice; the samples in the buckets from 3 on are 2, 1, 1, 1. *)
Example windows_that_go_round_twice_hold_samples_twice :
  taken (WindowsFile 4 (Log 5 3) None 0 5 3 [(3, [(3, 4); (2, 3); (3, 3)])])%Z. Proof. vm_compute. reflexivity. Qed.
(* Samples are 12 / 2, and one window of all buckets holds three of them. *)
Example windows_within_others_hold_no_more : refused_here (WindowsFile 4 (Log 2 1) None 0 6 3 [(0, [(4, 3); (1, 4); (3, 5)])])%Z.
Proof. vm_compute. reflexivity. Qed.
Example a_half_is_enough_for_log_2 : taken (two (Log 2 1) None 0 2 1). Proof. vm_compute. reflexivity. Qed.
Example and_for_no_less : refused_here (two (Log 1999999999 1000000000) None 0 2 1). Proof. vm_compute. reflexivity. Qed.
Example a_little_less_than_a_half_is_too_little : refused_here (two (Log 2 1) None 0 2000000001 1000000000).
Proof. vm_compute. reflexivity. Qed.
Example a_window_that_holds_less_is_refused : refused_here (WindowsFile 2 (Log 2 1) None 0 2 1 [(0, [(1, 1); (1, 0)])]%Z).
Proof. vm_compute. reflexivity. Qed.
Example windows_that_do_not_meet_are_refused : refused_here (WindowsFile 3 (Log 2 1) None 0 2 1 [(0, [(1, 1); (1, 1)])]%Z).
Proof. vm_compute. reflexivity. Qed.
Example windows_of_more_than_the_circle_are_refused : refused_here (WindowsFile 2 (Log 2 1) None 0 2 1 [(0, [(4, 2)])]%Z).
Proof. vm_compute. reflexivity. Qed.
Example a_window_of_no_bucket_is_refused : refused_here (WindowsFile 2 (Log 2 1) None 0 2 1 [(0, [(0, 1); (2, 1)])]%Z).
Proof. vm_compute. reflexivity. Qed.
Example windows_may_go_round_three_times : taken (WindowsFile 4 (Log 4 3) None 0 4 3 [(3, [(3, 3); (3, 3); (3, 3); (3, 3)])]%Z).
Proof. vm_compute. reflexivity. Qed.
Example no_seed_is_refused : refused_here (WindowsFile 2 (Log 2 1) None 0 2 1 []). Proof. vm_compute. reflexivity. Qed.
(* A floor of a half: windows hold a half over 5/2, a fifth; and e^cap is 3 over a half, 6. *)
Example a_floor_keeps_a_cap : taken (two (Log 3 1) (Some (Log 5 1)) (2 ^ 59) 2 1). Proof. vm_compute. reflexivity. Qed.
Example two_windows_a_round_keep_log_3 : taken (two (Log 3 1) (Some (Log 3 1)) (2 ^ 59) 2 1). Proof. vm_compute. reflexivity. Qed.
Example and_no_less_than_log_3 : refused_here (two (Log 3 1) (Some (Log 2999999999 1000000000)) (2 ^ 59) 2 1).
Proof. vm_compute. reflexivity. Qed.
Example a_cap_needs_a_floor : refused_here (two (Log 3 1) (Some (Log 100 1)) 0 2 1). Proof. vm_compute. reflexivity. Qed.
Example no_floor_is_the_whole : refused_here (two (Log 3 1) None (2 ^ 60) 2 1). Proof. vm_compute. reflexivity. Qed.
Example with_a_floor_a_fifth_is_enough : taken (two (Log 3 1) None (2 ^ 59) 5 1). Proof. vm_compute. reflexivity. Qed.
Example and_not_less_than_a_fifth : refused_here (two (Log 3 1) None (2 ^ 59) 5000000001 1000000000).
Proof. vm_compute. reflexivity. Qed.
