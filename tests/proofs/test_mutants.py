"""Wrong definitions and wrong tests are noticed: a proof breaks, or a theorem of Sanity.v that the definitions imply."""
# ruff: noqa: E501 - a line for each mutant

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import mechdesign

COQ = Path(mechdesign.__file__).parent / "proofs" / "coq"
FILES = tuple(name.removesuffix(".v") for name in (COQ / "_CoqProject").read_text().split() if name.endswith(".v"))
# The file, what stands there, what takes its place, and the file whose statements or proofs then break.
MUTANTS = {
    "rows sum to anything": ("Spec", "0 <= K x y) /\\ sum M (K x) = 1.", "0 <= K x y).", "Check"),
    "entries of any sign": ("Spec", "(forall y, (y < M)%nat -> 0 <= K x y) /\\ sum M (K x) = 1.", "sum M (K x) = 1.", "Check"),
    "priors of any sign": ("Spec", "(forall x, (x < N)%nat -> 0 <= Q x) /\\ sum N Q = 1.", "sum N Q = 1.", "Support"),
    "priors of any sum": ("Spec", "(forall x, (x < N)%nat -> 0 <= Q x) /\\ sum N Q = 1.", "(forall x, (x < N)%nat -> 0 <= Q x).", "Support"),
    "a smaller ball": ("Spec", "Rabs (Q x - P x)) <= r.", "Rabs (Q x - P x)) <= r / 2.", "Check"),
    "a ball without bars": ("Spec", "Rabs (Q x - P x)", "(Q x - P x)", "Check"),
    "a box without upper limits": ("Spec", "-> l x <= Q x <= u x.", "-> l x <= Q x.", "Check"),
    "events on the wrong side": ("Spec", "* mass N P S - gamma <=", "* mass N P S + gamma <=", "Check"),
    "independent pairs alone": (
        "Spec",
        "(forall i, (i < m)%nat -> B (c i)) /\\\n  forall",
        "(forall i, (i < m)%nat -> B (c i) /\\ c i = c O) /\\\n  forall",
        "Check",
    ),
    "a hull of two at most": ("Spec", "exists w, prior (length V) w /\\", "exists w, prior 2 w /\\", "Check"),
    "some prior in the place of every": ("Spec", "forall Q, B Q -> forall x y, (x < N)%nat -> (y < M)%nat -> K x y <=", "exists Q, B Q /\\ forall x y, (x < N)%nat -> (y < M)%nat -> K x y <=", "Check"),
    "e^-eps from above": ("Spec", "K x y <= exp eps * mean", "K x y <= exp (- eps) * mean", "Check"),
    "twice epsilon": ("Spec", "K x y <= exp eps * mean", "K x y <= exp (2 * eps) * mean", "Check"),
    "e^low from below": ("Spec", "exp (- low) * mean N Q (fun x' => K x' y) <= K x y", "K x y <= exp low * mean N Q (fun x' => K x' y)", "Check"),
    "a cap of one input": ("Spec", "K x y <= exp cap * K x' y.", "K x y <= exp cap * K x y.", "Check"),
    "a logarithm that is none": ("Spec", "ln (ratio (Zpos a) b)", "ratio (Zpos a) b", "ExpLow"),
    "half the bits": ("Spec", "0%Z) / 2 ^ bits f.", "0%Z) / 4 ^ bits f.", "Check"),
    "shares of the first count": ("Spec", "/ IZR (total w).", "/ IZR (nth 0 w 0%Z).", "Check"),
    "both is either": ("Spec", "| Both s t => among N s Q /\\ among N t Q", "| Both s t => among N s Q \\/ among N t Q", "Check"),
    "no member is asked for": ("Spec", "  (exists Q, among (inputs f) (set f) Q) /\\\n", "  (exists Q : nat -> R, True) /\\\n", "Check"),
    "no promise from below": ("Spec", "from_below (inputs f) (outputs f) (K f) (among (inputs f) (set f)) (nats l) end", "True end", "Check"),
    "no cap": ("Spec", "capped (inputs f) (outputs f) (K f) (nats c) end", "True end", "Check"),
    "an average from one on": ("Spec", "Rmax (f x) m) 0 (seq", "Rmax (f x) m) 1 (seq", "Check"),
    "the least entries on average": ("Spec", "Rmax (f x) m) 0 (seq", "Rmin (f x) m) 0 (seq", "Check"),
    "twice the average": ("Spec", "K x y)) <= exp most.", "K x y)) <= exp (2 * most).", "Check"),
    "no average": ("Spec", "| Some l => on_average (inputs f) (outputs f) (K f) (nats l) end", "| Some l => True end", "Check"),
    "an average of one report less": ("Spec", "sum M (fun y => top N", "sum (pred M) (fun y => top N", "Check"),
    "rows that sum to two on average": ("Check", "<=? fst b * one)", "<=? fst b * (2 * one))", "Check"),
    "an average below nothing": ("Check", "in proper e && (total tops", "in (total tops", "Check"),
    "no average is tested": ("Check", "let b := below_exp e in proper e && (total", "let b := below_exp e in true || (total", "Check"),
    "the average of one column": ("Columns", "(map greatest (columns (outputs f) (rows f)))", "(map greatest (columns 1 (rows f)))", "Columns"),
    "no average beside a secret": ("SpecSecret", "| Some l => on_average (data_inputs f) (data_outputs f) (data_K f) (nats l) end", "| Some l => True end", "Secret"),
    "the set of the promise is empty": ("Spec", "from_above (inputs f) (outputs f) (K f) (among (inputs f) (set f)) (nats (eps f))", "from_above (inputs f) (outputs f) (K f) (fun _ => False) (nats (eps f))", "Check"),
    "exp rounded up": ("ExpLow", "horner n a b (k + 1) * a / (b * k))", "horner n a b (k + 1) * a / (b * k) + 1)", "ExpLow"),
    "the greatest piece from 1": ("Support", "fold_right Z.max 0%Z l.", "fold_right Z.max 1%Z l.", "Support"),
    "values that rise": ("Support", "(fst y <=? fst x)%Z.", "(fst x <=? fst y)%Z.", "Support"),
    "more mass than slack": ("Check", "[(r * total c, map (Z.mul (2 * Zpos d)) c)]", "[(r * total c, map (Z.mul (3 * Zpos d)) c)]", "Check"),
    "rows of any sum": ("Check", " && Z.eqb (total row) one.", ".", "Check"),
    "numerators of any sign": ("Check", "Nat.eqb (length row) M && forallb (Z.leb 0) row &&", "Nat.eqb (length row) M &&", "Check"),
    "no member is looked for": ("Check", " && inhabited N (set f)", "", "Check"),
    "the first output alone": ("Check", "fst t v && snd t v) (seq 0 (outputs f)).", "fst t v && snd t v) (seq 0 1).", "Check"),
    "a negative epsilon": ("ExpLow", "(0 <=? a)%Z end.", "true end.", "ExpLow"),
    "nothing is proved": ("Check", "Definition check (f : file) : bool :=\n", "Definition check (f : file) : bool := false &&\n", "Check"),
    "draws that are all alike": ("Spec", "sum N (fun x => Q x * expect N Q m", "sum N (fun x => / INR N * expect N Q m", "Delta"),
    "the chance of the contrary": ("Spec", "if b then 1 else 0.", "if b then 0 else 1.", "Delta"),
    "hits of what is not in the set": ("Spec", "length (filter S l).", "length (filter (fun x => negb (S x)) l).", "Delta"),
    "shares of one draw more": ("Spec", "/ INR (length l).", "/ INR (S (length l)).", "Delta"),
    "draws that are near mislead": ("Spec", "if Rlt_dec t x then true else false.", "if Rlt_dec t x then false else true.", "Delta"),
    "draws mislead at twice the distance": ("Spec", "above r (sum N", "above (2 * r) (sum N", "Delta"),
    "signed distances of draws": ("Spec", "above r (sum N (fun x => Rabs (Q x - freq l x)))", "above r (sum N (fun x => Q x - freq l x))", "Delta"),
    "draws from some prior": ("Spec", "forall Q, prior (inputs f) Q -> prob", "exists Q, prior (inputs f) Q /\\ prob", "Learnt"),
    "samples without the counts": ("Spec", "=> exists l, drawn (inputs f) m c l | _ => False end.", "=> True | _ => False end.", "Observed"),
    "counts beside all samples of any total": ("Observed", "(forallb (Z.leb 0) c && (total c =? m)%Z)", "forallb (Z.leb 0) c", "Observed"),
    "twice the radius": ("Spec", "Q (ratio r d)) <= delta", "Q (2 * ratio r d)) <= delta", "Learnt"),
    "at least delta": ("Spec", "Q (ratio r d)) <= delta", "Q (ratio r d)) >= delta", "Learnt"),
    "a tail without its first weight": ("Delta", "  | O => 1\n  | S k => match n with", "  | O => 0\n  | S k => match n with", "Delta"),
    "large numbers rounded down": ("Limits", "(Z.shiftr (fst x) s + 1, snd x + s)", "(Z.shiftr (fst x) s, snd x + s)", "Limits"),
    "k! from 2": ("Limits", "cut_down (times (k + 1, 0) (snd x))", "cut_down (times (k + 2, 0) (snd x))", "RecordsSanity"),
    "a tail that may be twice the level": ("Limits", "(times (times (snd x) (la * unit, 0))", "(times (times (snd x) (2 * la * unit, 0))", "Limits"),
    "a tail that ends too early": ("Limits", "| O => up (unit * v) (v - u)", "| O => unit", "Limits"),
    "too steep a rise": ("Limits", "(60 * m * unit * unit +", "(61 * m * unit * unit +", "Limits"),
    "a rise without curvature": ("Limits", "- c * (20 * unit * unit", "- 0 * (20 * unit * unit", "Limits"),
    "too flat a fall": ("Limits", "((3 * unit * m + m * m) *", "((3 * unit * m) *", "Limits"),
    "the first count left out": ("Limits", "la lb (A / D + 1) 0 false ((1, 0), (1, 0)) l.\n\n", "la lb (A / D + 2) 0 false ((1, 0), (1, 0)) l.\n\n", "Learnt"),
    "the last counts left out": ("Limits", "| [] => n <? i", "| [] => true", "Limits"),
    "a rise to a gap": ("Limits", "rises n A D i j && shown l &&", "rises n A D i j &&", "Limits"),
    "a fall from a gap": ("Limits", "small && (i <=? j) && falls", "(i <=? j) && falls", "Limits"),
    "a fall next to a gap": ("Limits", "gap i j && ranges_hold gap n A D la lb (j + 1) k false", "gap i j && ranges_hold gap n A D la lb (j + 1) k true", "Limits"),
    "a gap anywhere": ("Limits", "(i <=? j) && gap i j &&", "(i <=? j) &&", "Limits"),
    "a rise to anything": ("Limits", "| Rare _ _ :: _ => true | _ => false end.", "| Rare _ _ :: _ => true | _ => true end.", "Limits"),
    "priors are contradicted by few hits": ("Spec", "Nat.leb (hits S l) (hits S l')", "Nat.leb (hits S l') (hits S l)", "Observed"),
    "priors are contradicted by what is likely": ("Spec", "in negb (above a (prob", "in (fun b : bool => b) (above a (prob", "Observed"),
    "one set alone contradicts": ("Spec", "(seq 1 (2 ^ N - 2)).", "(seq 1 1).", "Observed"),
    "all sets contradict": ("Spec", "(seq 1 (2 ^ N - 2)).", "(seq 0 (2 ^ N)).", "Observed"),
    "counts of more draws or fewer": ("Spec", "length l = m /\\ Forall", "Forall", "Observed"),
    "draws of other symbols": ("Spec", "Forall (fun x => (x < N)%nat) l /\\ c =", "c =", "Observed"),
    "counts of any draws": ("Spec", " /\\ c = map (fun x => Z.of_nat (hits (Nat.eqb x) l)) (seq 0 N).", ".", "Observed"),
    "delta for each set": ("Spec", "let a := delta / (2 ^ N - 2) in", "let a := delta in", "Observed"),
    "delta for half the sets": ("Spec", "let a := delta / (2 ^ N - 2) in", "let a := delta / (2 ^ (N - 1) - 1) in", "Observed"),
    "draws may contradict their prior": ("Spec", "    (forall Q, prior N Q -> prob N Q m (contradicted N Q a) <= delta) /\\\n", "", "Observed"),
    "draws seldom contradict some prior": ("Spec", "(forall Q, prior N Q -> prob N Q m (contradicted", "(exists Q, prior N Q /\\ prob N Q m (contradicted", "Observed"),
    "twice delta": ("Spec", "(contradicted N Q a) <= delta)", "(contradicted N Q a) <= 2 * delta)", "Observed"),
    "counts that nobody drew": ("Spec", "    (exists l, drawn N m c l) /\\\n", "", "Observed"),
    "priors that are not contradicted may be far": ("Spec", "contradicted N Q a l = false -> ball N (share c) (ratio r d) Q)", "contradicted N Q a l = false -> prior N Q)", "Observed"),
    "priors are near at twice the radius": ("Spec", "= false -> ball N (share c) (ratio r d) Q)", "= false -> ball N (share c) (2 * ratio r d) Q)", "Observed"),
    "contradicted priors are near": ("Spec", "contradicted N Q a l = false -> ball", "contradicted N Q a l = true -> ball", "Observed"),
    "no sum of nothing": ("Observed", "  | [] => false\n", "  | [] => true\n", "Observed"),
    "sums without the first count": ("Observed", "if apart c (whole - x) low high then apart c (whole - x) (low - x) (high - x) else false", "apart c (whole - x) low high", "Observed"),
    "sums with the first count": ("Observed", "if apart c (whole - x) low high then apart c (whole - x) (low - x) (high - x) else false", "apart c (whole - x) (low - x) (high - x)", "Observed"),
    "sums that are the lower end": ("Observed", "(high <? 0) || (whole <? low)", "(high <? 0) || (whole <=? low)", "Observed"),
    "sums that are the upper end": ("Observed", "(high <? 0) || (whole <? low)", "(high <=? 0) || (whole <? low)", "Observed"),
    "sums above all but two": ("Observed", "let most := m - least c in", "let most := m - 2 * least c in", "Observed"),
    "the greatest of the counts for the least": ("Observed", "fold_right Z.min (total c) c.", "fold_right Z.max 0 c.", "Observed"),
    "gaps above most sums": ("Observed", "if most <? low then true", "if most <=? low then true", "Observed"),
    "counts of any sign": ("Observed", " && forallb (Z.leb 0) c && (total", " && (total", "Observed"),
    "counts of another total": ("Observed", " && (total c =? m)\n", "\n", "Observed"),
    "counts of other symbols": ("Observed", " && Nat.eqb (length c) (inputs f)", "", "Observed"),
    "one symbol": ("Observed", "(1 <? Z.of_nat (inputs f)) && (0 <? r)", "(0 <? r)", "Observed"),
    "counts at half the level": ("Observed", "(2 ^ Z.of_nat (inputs f) - 2)) l)", "(2 ^ (Z.of_nat (inputs f) - 1) - 1)) l)", "Observed"),
    "counts at the whole radius": ("Observed", "(Zpos d * 2) (fst delta)", "(Zpos d) (fst delta)", "Observed"),
    "sets without their complements": ("Learnt", "(2 ^ Z.of_nat (inputs f) - 2)) l", "(2 ^ (Z.of_nat (inputs f) - 1) - 1)) l", "Learnt"),
    "the whole radius for the half": ("Learnt", "(Zpos d * 2) (fst delta)", "(Zpos d) (fst delta)", "Learnt"),
    "a joint law with some law of the data": ("SpecSecret", "forall s, (s < T)%nat -> C s (A s).", "exists s, (s < T)%nat /\\ C s (A s).", "Secret"),
    "a joint law with any law of the secret": ("SpecSecret", "  B p /\\ forall s", "  True /\\ forall s", "Secret"),
    "the report of one value": ("SpecSecret", "mean T p (fun s => report_given N K A s y).", "report_given N K A O y.", "Secret"),
    "the law of another value": ("SpecSecret", "mean N (A s) (fun x => K x y).", "mean N (A O) (fun x => K x y).", "Secret"),
    "twice epsilon of a secret": ("SpecSecret", "report_given N K A s y <= exp eps *", "report_given N K A s y <= exp (2 * eps) *", "Secret"),
    "a secret from below the other way": ("SpecSecret", "exp (- low) * report T N K p A y <= report_given N K A s y.", "report T N K p A y <= exp (- low) * report_given N K A s y.", "Secret"),
    "some joint law in the place of every": ("SpecSecret", "forall p A, J p A -> forall s y, (s < T)%nat -> (y < M)%nat -> report_given N K A s y <=", "exists p A, J p A /\\ forall s y, (s < T)%nat -> (y < M)%nat -> report_given N K A s y <=", "Secret"),
    "no joint law is asked for": ("SpecSecret", "(exists p A, joint_laws f p A) /\\", "(exists p : nat -> R, True) /\\", "Secret"),
    "no secret from below": ("SpecSecret", "| Some l => secret_below (values f) (data_inputs f) (data_outputs f) (data_K f) (joint_laws f) (nats l) end", "| Some l => True end", "Secret"),
    "no cap beside a secret": ("SpecSecret", "| Some c => capped (data_inputs f) (data_outputs f) (data_K f) (nats c) end", "| Some c => True end", "Secret"),
    "the least mean of the value": ("Secret", "snd o (replaced s (at_ high s) low)", "snd o low", "Secret"),
    "the greatest means of all values": ("Secret", "snd o (replaced s (at_ high s) low)", "snd o high", "Secret"),
    "from below with the least means": ("Secret", "greatest_mean o (replaced s (at_ low s) high)", "greatest_mean o low", "Secret"),
    "no law of the data is looked for": ("Secret", "shaped (data_inputs f) s && inhabited (data_inputs f) s", "shaped (data_inputs f) s", "Secret"),
    "a lower that is negative": ("Secret", "proper l && at_least_1 (below_exp l)", "proper l", "Secret"),
    "no cap of a secret is tested": ("Secret", "(if most v then [] else [values f])", "[]", "Secret"),
    "the first column of a secret": ("Secret", "is_empty (t (column (data_rows f) y))) (seq 0 (data_outputs f)).", "is_empty (t (column (data_rows f) y))) (seq 0 1).", "Secret"),
    "the first value alone": ("Secret", "at_ high s * fst o * snd e <=? fst e * snd o (replaced s (at_ high s) low))) (seq 0 (length low)).", "at_ high s * fst o * snd e <=? fst e * snd o (replaced s (at_ high s) low))) (seq 0 1).", "Secret"),
    "windows hold what lies before them": ("SpecWindows", "f ((fst w + i) mod q)%nat).", "f ((fst w + q - i) mod q)%nat).", "Windows"),
    "windows that all begin at one place": ("SpecWindows", "windows_from (p + Z.to_nat n) l end.", "windows_from p l end.", "Windows"),
    "no floor in a report": ("SpecWindows", "(floor f / INR (length (windows f s)) + (1 - floor f) *", "(0 + (1 - floor f) *", "Windows"),
    "windows hold half the share": ("SpecWindows", "(1 - floor f) / (exp (nats (windows_eps f)) - floor f).", "(1 - floor f) / (2 * (exp (nats (windows_eps f)) - floor f)).", "Windows"),
    "one population": ("SpecWindows", "-> least_share f <= held_by f N lands Q s j.", "-> least_share f < held_by f N lands Q s j < 0.", "Windows"),
    "the strings of one law": ("SpecWindows", "prior N Q /\\ forall s j, is_window f s j -> least_share", "forall s j, is_window f s j -> least_share", "Windows"),
    "windows promise twice epsilon": ("SpecWindows", "windows_K f lands x s j <= exp (nats (windows_eps f)) * mean", "windows_K f lands x s j <= exp (2 * nats (windows_eps f)) * mean", "Windows"),
    "reports of any sum": ("SpecWindows", "sum (length (windows f s)) (fun j => windows_K f lands x s j)) = 1) /\\", "sum (length (windows f s)) (fun j => windows_K f lands x s j)) <= 1) /\\", "Windows"),
    "no cap of windows": ("SpecWindows", "windows_K f lands x s j <= exp (nats c) * windows_K f lands x' s j end", "True end", "Windows"),
    "samples prove nothing": ("SpecWindows", "(forall P, as_stated f N lands P -> populations f N lands P).", "True.", "Windows"),
    "nobody is in the populations": ("SpecWindows", "  (exists N lands P, laws_of_strings f N lands /\\ as_stated f N lands P) /\\\n", "  (exists N : nat, True) /\\\n", "Windows"),
    "samples that lie anywhere": ("SpecWindows", "laws_of_strings f N lands /\\ as_stated f N lands P)", "as_stated f N lands P)", "Windows"),
    "samples that are held in no window": ("SpecWindows", "laws_of_strings f N lands /\\ as_stated f N lands P)", "laws_of_strings f N lands /\\ prior N P)", "Windows"),
    "windows hold what nobody has": ("Windows", " && samples_lie (buckets f) (all_samples f) s.", ".", "Windows"),
    "more samples than there were": ("Windows", " && (total (map snd masses) <=? all)", "", "Windows"),
    "less than no samples": ("Windows", " && (fst m <? q) && (0 <=? snd m)) masses", " && (fst m <? q)) masses", "Windows"),
    "windows that lie elsewhere": ("Windows", "&& hold_as_stated masses q (p + n) l end.", "&& hold_as_stated masses q p l end.", "Windows"),
    "windows of one bucket more": ("Windows", "(if d <? 0 then d + q else d) <? n then", "(if d <? 0 then d + q else d) <=? n then", "Windows"),
    "windows of any length": ("Windows", "forallb (fun w => (1 <=? fst w) && (fst w <=? q)) (snd s).", "forallb (fun w => (1 <=? fst w)) (snd s).", "Windows"),
    "windows that do not meet": ("Windows", " && (total (map fst (snd s)) mod q =? 0)", "", "Windows"),
    "windows hold anything": ("Windows", "    && forallb (fun w => least_held f <=? snd w) (snd s) && samples_lie", "    && samples_lie", "Windows"),
    "the share without the floor": ("Windows", "held * (fst e * whole - u * snd e).", "held * (fst e * whole).", "Windows"),
    "a cap without the floor": ("Windows", "<=? fst e * u * turns.", "<=? fst e * whole * turns.", "Windows"),
    "the first seed alone": ("Windows", "forallb (seed_holds f) (seeds f).", "forallb (seed_holds f) (firstn 1 (seeds f)).", "Windows"),
    "weights that do not count": ("SpecRecords", "view_weight f i * K (view f i) (see i x) y.", "K (view f i) (see i x) y.", "Records"),
    "reports about another view": ("SpecRecords", "K (view f i) (see i x) y.", "K (view f i) (see O x) y.", "Records"),
    "the law of no view": ("SpecRecords", "mass n P (fun x => Nat.eqb (see i x) z).", "mass n P (fun x => Nat.eqb x z).", "Records"),
    "weights of one bit more": ("SpecRecords", "/ 2 ^ weight_bits f.", "/ 2 ^ S (weight_bits f).", "Records"),
    "some view has its law": ("SpecRecords", "prior n P /\\ forall i, (i < views f)%nat -> among", "prior n P /\\ exists i, (i < views f)%nat /\\ among", "Records"),
    "views promise nothing": ("SpecRecords", "(forall i, (i < views f)%nat -> promise (view f i)) /\\", "True /\\", "Records"),
    "no records have the views": ("SpecRecords", "/\\ record_laws f n see P) /\\", ") /\\", "SpecRecords"),
    "records promise twice epsilon": ("SpecRecords", "record_K f see x i y <= exp (nats (record_eps f)) *", "record_K f see x i y <= exp (2 * nats (record_eps f)) *", "Records"),
    "records promise nothing from below": ("SpecRecords", "exp (- nats l) * mean n P (fun x' => record_K f see x' i y) <= record_K f see x i y end.", "True end.", "Records"),
    "weights of any sum": ("Records", "(total (map fst (parts f)) =? 2 ^ Z.of_nat (weight_bits f))", "true", "Records"),
    "weights of any sign": ("Records", "(0 <=? fst p) && check", "check", "Records"),
    "the first view alone": ("Records", "forallb (part_holds (record_eps f) (record_lower f)) (parts f).", "forallb (part_holds (record_eps f) (record_lower f)) (firstn 1 (parts f)).", "Records"),
    "views without their own test": ("Records", "(0 <=? fst p) && check (snd p)", "(0 <=? fst p)", "Records"),
    "the whole without a test": ("Records", "then true else check (promising (snd p) e l)).", "then true else true).", "Records"),
    "epsilons that are alike": ("Records", "| Nats a b, Nats c d => (a =? c) && Pos.eqb b d", "| Nats a b, Nats c d => (a =? c)", "Records"),
    "evidence misleads never": ("SpecRecords", "=> outside (inputs g) Q (ratio r d) l\n", "=> false\n", "RecordsLearnt"),
    "all samples within twice the radius": ("SpecRecords", "=> outside (inputs g) Q (ratio r d) l\n", "=> outside (inputs g) Q (2 * ratio r d) l\n", "RecordsLearnt"),
    "counts that contradict nothing": ("SpecRecords", "=> contradicted (inputs g) Q (ratio a b / (2 ^ inputs g - 2)) l", "=> false", "RecordsLearnt"),
    "the first view alone misleads": ("SpecRecords", "(map (see i) l)) (seq 0 (views f)).", "(map (see i) l)) (seq 0 1).", "RecordsLearnt"),
    "records without the counts of the file": ("SpecRecords", "drawn (inputs (view f i)) m (counts_in (view f i)) (map (see i) l).", "True.", "RecordsLearnt"),
    "records twice as often misled": ("SpecRecords", "(misled_somewhere f es n see P) <= delta /\\", "(misled_somewhere f es n see P) <= 2 * delta /\\", "RecordsLearnt"),
    "learnt views have any law": ("SpecRecords", "nth i es Given <> Given ->\n        among (inputs (view f i)) (set (view f i)) (law_of_view n see P i).", "nth i es Given <> Given -> True.", "RecordsLearnt"),
    "no records have the counts": ("SpecRecords", " /\\ records_drawn f m es n see l) /\\", " /\\ length (l : list nat) = m) /\\", "RecordsLearnt"),
    "deltas of the whole at will": ("RecordsLearnt", "(let t := sum_of_deltas ss in fst t * Zpos (snd delta) <=? fst delta * Zpos (snd t))", "true", "RecordsLearnt"),
    "the greatest delta for the sum": ("RecordsLearnt", "fst d * Zpos (snd t) + fst t * Zpos (snd d)", "Z.max (fst d * Zpos (snd t)) (fst t * Zpos (snd d))", "RecordsLearnt"),
    "counts of views of any total": ("RecordsLearnt", " && forallb (Z.leb 0) c && (total c =? m).", " && forallb (Z.leb 0) c.", "RecordsLearnt"),
    "views without a test of samples": ("RecordsLearnt", "are_counts g m && support g m delta l", "are_counts g m", "RecordsLearnt"),
    "the first column again": ("Columns", "columns M (map (@tl Z) rows) end", "columns M rows end", "Columns"),
    "the first view alone by columns": ("RecordsColumns", "(record_lower f)) (parts f).\n\n", "(record_lower f)) (firstn 1 (parts f)).\n\n", "RecordsColumns"),
    "views by columns without their own test": ("RecordsColumns", "(0 <=? fst p) && check_by_columns (snd p)", "(0 <=? fst p)", "RecordsColumns"),
    "the whole by columns without a test": ("RecordsColumns", "then true else check_by_columns (promising (snd p) e l)).", "then true else true).", "RecordsColumns"),
    "weights by columns of any sum": ("RecordsColumns", "(total (map fst (parts f)) =? 2 ^ Z.of_nat (weight_bits f))", "true", "RecordsColumns"),
    "no column": ("Columns", "(columns (outputs f) (rows f)).", "(columns 0 (rows f)).", "Columns"),
    "one number too many": ("Sampler", "if r <? a then 0 else S (select row (r - a))", "if r <=? a then 0 else S (select row (r - a))", "Sampler"),
    "bisection on the wrong side": ("Sampler", "if nth middle thresholds 0 <=? r then", "if nth middle thresholds 0 <? r then", "Sampler"),
    "blocks of one number more": ("Sampler", "(block * width + (width - 1)) then", "(block * width + (width - 2)) then", "Sampler"),
    "the last bits of a word": ("Sampler", "w / 2 ^ (word - (bits - first)).", "w mod 2 ^ (bits - first + 1).", "Sampler"),
    "first bits alone": ("Sampler", "f * 2 ^ (bits - first) + w / 2 ^ (word - (bits - first)).", "f * 2 ^ (bits - first).", "Sampler"),
}  # fmt: skip

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")


def compiled(folder, name, kind):
    """Ask Coq for the statements of a file ("vos") or the proofs of a file whose statements are there ("vok")."""
    command = ["coqc", "-q", f"-{kind}", "-R", ".", "Mechdesign", f"{name}.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


def needed(name):
    """Return the files of the project that a file requires."""
    required = re.findall(r"^Require Import ([^.]*)\.", source(name), re.MULTILINE)
    return set(re.findall(r"\w+", " ".join(required)))


def between(first, last):
    """Return the files that stand on one file and that another one needs, with both, in the order of the project."""
    above, below = {first}, {last}
    for name in FILES:
        if needed(name) & above:
            above.add(name)
    for name in reversed(FILES):
        if name in below:
            below |= needed(name)
    return [name for name in FILES if name in above & below]


def source(name):
    return (COQ / f"{name}.v").read_text()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The statements of all files, whose proofs Coq accepts one by one."""
    folder = tmp_path_factory.mktemp("coq")
    for name in FILES:
        shutil.copy(COQ / f"{name}.v", folder)
    assert [name for name in FILES if not compiled(folder, name, "vos")] == []
    assert [name for name in FILES if not compiled(folder, name, "vok")] == []
    return folder


@pytest.mark.parametrize("name", MUTANTS)
def test_the_place_of_every_mutant_is_there(name):
    file, old, *_ = MUTANTS[name]
    assert source(file).count(old) == (2 if name == "exp rounded up" else 1)  # the definition, and in its proof


def holds(built, folder, file, text, noticed):
    """Return whether the proofs of one file still hold where another one has this text."""
    shutil.copytree(built, folder, dirs_exist_ok=True)
    (folder / f"{file}.v").write_text(text)
    *before, last = between(file, noticed)
    assert [name for name in before if not compiled(folder, name, "vos")] == []
    return compiled(folder, last, "vos") and compiled(folder, last, "vok")


@pytest.mark.slow
@needs_coq
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_breaks_a_proof(built, tmp_path, name):
    file, old, new, noticed = MUTANTS[name]
    assert not holds(built, tmp_path, file, source(file).replace(old, new, 1), noticed)


@pytest.mark.slow
@needs_coq
@pytest.mark.parametrize("noticed", ["Observed", "RecordsSanity"])
def test_a_change_of_nothing_breaks_no_proof(built, tmp_path, noticed):
    """A file that was left out in between would be refused as out of date, whatever the mutant says."""
    assert holds(built, tmp_path, "Spec", source("Spec") + "\nDefinition asked_by_nobody := O.\n", noticed)


@needs_coq
def test_what_a_file_needs_is_what_coq_reads_in_it():
    found = subprocess.run(
        ["coqdep", "-R", ".", "Mechdesign", *(f"{name}.v" for name in FILES)],
        cwd=COQ, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    read = dict(re.findall(r"^(\w+)\.vo .*?: \w+\.v(.*)$", found, re.MULTILINE))
    assert {name: set(re.findall(r"(\w+)\.vo\b", read[name])) for name in FILES} == {
        name: needed(name) for name in FILES
    }
