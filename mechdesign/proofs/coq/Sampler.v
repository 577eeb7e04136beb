(** The sampler: of all bytes that it may read, the share that reports y is the numerator of y over 2^bits. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.

(* How many of the numbers 0, ..., n - 1 have a property. *)
Fixpoint count (n : nat) (P : nat -> bool) : nat :=
  match n with O => 0 | S n => count n P + (if P n then 1 else 0) end.
Fixpoint all (row : list nat) : nat := match row with [] => 0 | a :: row => a + all row end.

(** * What is drawn *)

(* The output to which r belongs: subtract the numerators one after the other; the first that is above what is left. *)
Fixpoint select (row : list nat) (r : nat) : nat :=
  match row with [] => 0 | a :: row => if r <? a then 0 else S (select row (r - a)) end.

(* The same by bisection among the sums of the first numerators. *)
Fixpoint sums (held : nat) (row : list nat) : list nat :=
  match row with [] => [] | a :: row => (held + a) :: sums (held + a) row end.
Fixpoint bisect (steps : nat) (thresholds : list nat) (r low high : nat) : nat :=
  match steps with
  | O => low
  | S steps =>
    if low <? high then
      let middle := (low + high) / 2 in
      if nth middle thresholds 0 <=? r then bisect steps thresholds r (middle + 1) high
      else bisect steps thresholds r low middle
    else low
  end.
Definition compared (row : list nat) (r : nat) : nat :=
  bisect (length row) (sums 0 row) r 0 (length row - 1).

(* The output of all numbers of [bits] bits that begin with the [table] bits of a block, if they have one output. *)
Definition guide (row : list nat) (bits table block : nat) : option nat :=
  let width := 2 ^ (bits - table) in
  let y := select row (block * width) in
  if y =? select row (block * width + (width - 1)) then Some y else None.

(* First bits, and a word that is read where they leave the output open. *)
Definition looked_up (first : nat) (row : list nat) (bits table f : nat) : option nat :=
  guide row bits table (f / 2 ^ (first - table)).
Definition completed (first word bits f w : nat) : nat :=
  if bits <=? first then f / 2 ^ (first - bits)
  else f * 2 ^ (bits - first) + w / 2 ^ (word - (bits - first)).
Definition drawn (first word : nat) (row : list nat) (bits table f w : nat) : nat :=
  match looked_up first row bits table f with
  | Some y => y
  | None => compared row (completed first word bits f w)
  end.

(** * Its proof *)

Lemma count_ext n P Q : (forall i, i < n -> P i = Q i) -> count n P = count n Q.
Proof. induction n as [|n IH]; intros H; [reflexivity|]. cbn [count]. rewrite IH, H by (intros; try apply H; lia). reflexivity. Qed.
Lemma count_split a b P : count (a + b) P = count a P + count b (fun i => P (a + i)).
Proof.
  induction b as [|b IH]; [rewrite Nat.add_0_r; cbn [count]; lia|].
  rewrite <- plus_n_Sm. cbn [count]. rewrite IH. lia.
Qed.
Lemma count_none n P : (forall i, i < n -> P i = false) -> count n P = 0.
Proof. intros H. rewrite (count_ext n P (fun _ => false) H). clear H. induction n; cbn [count]; lia. Qed.
Lemma count_every n P : (forall i, i < n -> P i = true) -> count n P = n.
Proof. intros H. rewrite (count_ext n P (fun _ => true) H). clear H. induction n; cbn [count]; lia. Qed.
Lemma count_blocks width n P : width <> 0 -> count (n * width) (fun i => P (i / width)) = count n P * width.
Proof.
  intros H. induction n as [|n IH]; [reflexivity|].
  rewrite Nat.mul_succ_l, count_split, IH. cbn [count]. rewrite Nat.mul_add_distr_r. f_equal.
  rewrite (count_ext width _ (fun _ => P n)).
  - destruct (P n); [rewrite count_every | rewrite count_none]; intros; lia.
  - intros i Hi. f_equal. rewrite Nat.div_add_l, Nat.div_small by lia. lia.
Qed.

Theorem select_counts row y : count (all row) (fun r => select row r =? y) = nth y row 0.
Proof.
  revert y. induction row as [|a row IH]; intros y; [destruct y; reflexivity|].
  cbn [all]. rewrite count_split. destruct y as [|y]; cbn [nth].
  - rewrite count_every, count_none; [lia| |]; intros i Hi; cbn [select].
    + destruct (Nat.ltb_spec (a + i) a); [lia|reflexivity].
    + destruct (Nat.ltb_spec i a); [reflexivity|lia].
  - rewrite count_none.
    + rewrite <- IH. apply count_ext. intros i Hi. cbn [select].
      destruct (Nat.ltb_spec (a + i) a); [lia|]. replace (a + i - a) with i by lia. reflexivity.
    + intros i Hi. cbn [select]. destruct (Nat.ltb_spec i a); [reflexivity|lia].
Qed.

Lemma select_rises row r s : r <= s -> select row r <= select row s.
Proof.
  revert r s. induction row as [|a row IH]; intros r s H; cbn [select]; [lia|].
  destruct (Nat.ltb_spec r a); [lia|]. destruct (Nat.ltb_spec s a); [lia|]. specialize (IH (r - a) (s - a)). lia.
Qed.
Lemma select_within row r : r < all row -> select row r < length row.
Proof.
  revert r. induction row as [|a row IH]; intros r H; cbn [select all length] in *; [lia|].
  destruct (Nat.ltb_spec r a); [lia|]. specialize (IH (r - a)). lia.
Qed.
Lemma below_select row held r m : m < length row ->
  (nth m (sums held row) 0 <= held + r <-> m < select row r).
Proof.
  revert held r m. induction row as [|a row IH]; intros held r m H; cbn [length] in H; [lia|].
  cbn [sums select]. destruct m as [|m]; cbn [nth].
  - destruct (Nat.ltb_spec r a); lia.
  - destruct (Nat.ltb_spec r a) as [L|L].
    + split; [|lia]. intros G. exfalso.
      assert (M : forall row held m, m < length row -> held <= nth m (sums held row) 0).
      { clear. induction row as [|b row IH]; intros held m H; cbn [length] in H; [lia|].
        destruct m as [|m]; cbn [sums nth]; [lia|]. specialize (IH (held + b) m). lia. }
      specialize (M row (held + a) m). lia.
    + specialize (IH (held + a) (r - a) m). replace (held + a + (r - a)) with (held + r) in IH by lia.
      rewrite IH by lia. lia.
Qed.

Lemma bisect_right row r : r < all row -> forall steps low high, high - low <= steps -> high < length row ->
  low <= select row r <= high -> bisect steps (sums 0 row) r low high = select row r.
Proof.
  intros Hr. induction steps as [|steps IH]; intros low high Hs Hh Hl; cbn [bisect]; [lia|].
  destruct (Nat.ltb_spec low high) as [L|L]; [|lia].
  assert (Hm : low <= (low + high) / 2 < high).
  { split; [apply Nat.div_le_lower_bound; lia | apply Nat.div_lt_upper_bound; lia]. }
  set (m := (low + high) / 2) in *. cbv zeta.
  pose proof (below_select row 0 r m ltac:(lia)) as B. cbn [Nat.add] in B.
  destruct (Nat.leb_spec (nth m (sums 0 row) 0) r); apply IH; lia.
Qed.
Theorem bisection_selects row r : r < all row -> compared row r = select row r.
Proof.
  intros H. pose proof (select_within row r H). apply bisect_right; [assumption | lia | lia | lia].
Qed.

Theorem guide_right row bits table r y : guide row bits table (r / 2 ^ (bits - table)) = Some y -> select row r = y.
Proof.
  unfold guide. set (w := 2 ^ (bits - table)). intros H.
  assert (Hw : w <> 0) by (apply Nat.pow_nonzero; lia).
  destruct (Nat.eqb_spec (select row (r / w * w)) (select row (r / w * w + (w - 1)))) as [E|]; [|discriminate].
  assert (select row (r / w * w) = y) as <- by congruence.
  pose proof (Nat.div_mod r w Hw) as D. pose proof (Nat.mod_upper_bound r w Hw) as U.
  pose proof (select_rises row (r / w * w) r). pose proof (select_rises row r (r / w * w + (w - 1))). lia.
Qed.

Lemma pow_split a b : 2 ^ (a + b) = 2 ^ a * 2 ^ b. Proof. apply Nat.pow_add_r. Qed.
Lemma pow_not_0 a : 2 ^ a <> 0. Proof. apply Nat.pow_nonzero. lia. Qed.
Lemma halves r a b c : c = a + b -> r / 2 ^ a / 2 ^ b = r / 2 ^ c.
Proof. intros ->. rewrite Nat.div_div by apply pow_not_0. now rewrite pow_split. Qed.

(* The first bits and the word, as one number c. *)
Lemma completed_is_a_part first word bits c : bits <= first + word ->
  completed first word bits (c / 2 ^ word) (c mod 2 ^ word) = c / 2 ^ (first + word - bits).
Proof.
  intros H. unfold completed. destruct (Nat.leb_spec bits first) as [L|L]; [apply halves; lia|].
  set (m := bits - first). pose proof (pow_not_0 (word - m)) as N0.
  replace (first + word - bits) with (word - m) by lia.
  rewrite (Nat.div_mod c (2 ^ word)) at 3 by apply pow_not_0.
  replace (2 ^ word) with (2 ^ m * 2 ^ (word - m)) at 3 by (rewrite <- pow_split; f_equal; lia).
  replace (2 ^ m * 2 ^ (word - m) * (c / 2 ^ word)) with (c / 2 ^ word * 2 ^ m * 2 ^ (word - m)) by ring.
  now rewrite Nat.div_add_l.
Qed.

Theorem drawn_selects first word row bits table c : all row = 2 ^ bits -> table <= bits -> table <= first ->
  bits <= first + word -> c < 2 ^ (first + word) ->
  drawn first word row bits table (c / 2 ^ word) (c mod 2 ^ word) = select row (c / 2 ^ (first + word - bits)).
Proof.
  intros Hs Ht Hf Hb Hc. unfold drawn, looked_up.
  assert (E : c / 2 ^ word / 2 ^ (first - table) = c / 2 ^ (first + word - bits) / 2 ^ (bits - table)).
  { rewrite !(halves _ _ _ (first + word - table)) by lia. reflexivity. }
  rewrite E. destruct (guide row bits table _) as [y|] eqn:G; [symmetry; now apply guide_right in G|].
  rewrite completed_is_a_part by assumption. apply bisection_selects. rewrite Hs.
  apply Nat.div_lt_upper_bound; [apply pow_not_0|]. rewrite <- pow_split. now replace (first + word - bits + bits) with (first + word) by lia.
Qed.

Theorem drawn_is_exact first word row bits table y : all row = 2 ^ bits -> table <= bits -> table <= first ->
  bits <= first + word ->
  count (2 ^ (first + word)) (fun c => drawn first word row bits table (c / 2 ^ word) (c mod 2 ^ word) =? y)
  = nth y row 0 * 2 ^ (first + word - bits).
Proof.
  intros Hs Ht Hf Hb. rewrite (count_ext _ _ (fun c => select row (c / 2 ^ (first + word - bits)) =? y)).
  - replace (2 ^ (first + word)) with (all row * 2 ^ (first + word - bits)) by (rewrite Hs, <- pow_split; f_equal; lia).
    rewrite (count_blocks _ _ (fun r => select row r =? y)) by apply pow_not_0. now rewrite select_counts.
  - intros c Hc. now rewrite drawn_selects.
Qed.

(* A consumer that reads one word for each report (the conformance kit). *)
Theorem words_are_exact word row bits y : all row = 2 ^ bits -> bits <= word ->
  count (2 ^ word) (fun w => select row (w / 2 ^ (word - bits)) =? y) = nth y row 0 * 2 ^ (word - bits).
Proof.
  intros Hs Hb. replace (2 ^ word) with (all row * 2 ^ (word - bits)) by (rewrite Hs, <- pow_split; f_equal; lia).
  rewrite (count_blocks _ _ (fun r => select row r =? y)) by apply pow_not_0. now rewrite select_counts.
Qed.
