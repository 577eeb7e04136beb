"""Wrong definitions and wrong tests are noticed: a proof breaks, or a theorem of Sanity.v that the definitions imply."""
# ruff: noqa: E501 - a line for each mutant

import shutil
import subprocess
from pathlib import Path

import pytest

import mechdesign

COQ = Path(mechdesign.__file__).parent / "proofs" / "coq"
FILES = tuple(name.removesuffix(".v") for name in (COQ / "_CoqProject").read_text().split() if name.endswith(".v"))
MUTANTS = {
    "rows sum to anything": ("Spec", "0 <= K x y) /\\ sum M (K x) = 1.", "0 <= K x y)."),
    "entries of any sign": ("Spec", "(forall y, (y < M)%nat -> 0 <= K x y) /\\ sum M (K x) = 1.", "sum M (K x) = 1."),
    "priors of any sign": ("Spec", "(forall x, (x < N)%nat -> 0 <= Q x) /\\ sum N Q = 1.", "sum N Q = 1."),
    "priors of any sum": ("Spec", "(forall x, (x < N)%nat -> 0 <= Q x) /\\ sum N Q = 1.", "(forall x, (x < N)%nat -> 0 <= Q x)."),
    "a smaller ball": ("Spec", "Rabs (Q x - P x)) <= r.", "Rabs (Q x - P x)) <= r / 2."),
    "a ball without bars": ("Spec", "Rabs (Q x - P x)", "(Q x - P x)"),
    "a box without upper limits": ("Spec", "-> l x <= Q x <= u x.", "-> l x <= Q x."),
    "events on the wrong side": ("Spec", "* mass N P S - gamma <=", "* mass N P S + gamma <="),
    "independent pairs alone": (
        "Spec",
        "(forall i, (i < m)%nat -> B (c i)) /\\\n  forall",
        "(forall i, (i < m)%nat -> B (c i) /\\ c i = c O) /\\\n  forall",
    ),
    "a hull of two at most": ("Spec", "exists w, prior (length V) w /\\", "exists w, prior 2 w /\\"),
    "some prior in the place of every": ("Spec", "forall Q, B Q -> forall x y, (x < N)%nat -> (y < M)%nat -> K x y <=", "exists Q, B Q /\\ forall x y, (x < N)%nat -> (y < M)%nat -> K x y <="),
    "e^-eps from above": ("Spec", "K x y <= exp eps * mean", "K x y <= exp (- eps) * mean"),
    "twice epsilon": ("Spec", "K x y <= exp eps * mean", "K x y <= exp (2 * eps) * mean"),
    "e^low from below": ("Spec", "exp (- low) * mean N Q (fun x' => K x' y) <= K x y", "K x y <= exp low * mean N Q (fun x' => K x' y)"),
    "a cap of one input": ("Spec", "K x y <= exp cap * K x' y.", "K x y <= exp cap * K x y."),
    "a logarithm that is none": ("Spec", "ln (ratio (Zpos a) b)", "ratio (Zpos a) b"),
    "half the bits": ("Spec", "0%Z) / 2 ^ bits f.", "0%Z) / 4 ^ bits f."),
    "shares of the first count": ("Spec", "/ IZR (total w).", "/ IZR (nth 0 w 0%Z)."),
    "both is either": ("Spec", "| Both s t => among N s Q /\\ among N t Q", "| Both s t => among N s Q \\/ among N t Q"),
    "no member is asked for": ("Spec", "  (exists Q, among (inputs f) (set f) Q) /\\\n", "  (exists Q : nat -> R, True) /\\\n"),
    "no promise from below": ("Spec", "from_below (inputs f) (outputs f) (K f) (among (inputs f) (set f)) (nats l) end", "True end"),
    "no cap": ("Spec", "capped (inputs f) (outputs f) (K f) (nats c) end", "True end"),
    "an average from one on": ("Spec", "Rmax (f x) m) 0 (seq", "Rmax (f x) m) 1 (seq"),
    "the least entries on average": ("Spec", "Rmax (f x) m) 0 (seq", "Rmin (f x) m) 0 (seq"),
    "twice the average": ("Spec", "K x y)) <= exp most.", "K x y)) <= exp (2 * most)."),
    "no average": ("Spec", "| Some l => on_average (inputs f) (outputs f) (K f) (nats l) end", "| Some l => True end"),
    "an average of one report less": ("Spec", "sum M (fun y => top N", "sum (pred M) (fun y => top N"),
    "rows that sum to two on average": ("Check", "<=? fst b * one)", "<=? fst b * (2 * one))"),
    "an average below nothing": ("Check", "in proper e && (total tops", "in (total tops"),
    "no average is tested": ("Check", "let b := below_exp e in proper e && (total", "let b := below_exp e in true || (total"),
    "the average of one column": ("Columns", "(map greatest (columns (outputs f) (rows f)))", "(map greatest (columns 1 (rows f)))"),
    "no average beside a secret": ("SpecSecret", "| Some l => on_average (data_inputs f) (data_outputs f) (data_K f) (nats l) end", "| Some l => True end"),
    "the set of the promise is empty": ("Spec", "from_above (inputs f) (outputs f) (K f) (among (inputs f) (set f)) (nats (eps f))", "from_above (inputs f) (outputs f) (K f) (fun _ => False) (nats (eps f))"),
    "exp rounded up": ("ExpLow", "horner n a b (k + 1) * a / (b * k))", "horner n a b (k + 1) * a / (b * k) + 1)"),
    "the greatest piece from 1": ("Support", "fold_right Z.max 0%Z l.", "fold_right Z.max 1%Z l."),
    "values that rise": ("Support", "(fst y <=? fst x)%Z.", "(fst x <=? fst y)%Z."),
    "more mass than slack": ("Check", "[(r * total c, map (Z.mul (2 * Zpos d)) c)]", "[(r * total c, map (Z.mul (3 * Zpos d)) c)]"),
    "rows of any sum": ("Check", " && Z.eqb (total row) one.", "."),
    "numerators of any sign": ("Check", "Nat.eqb (length row) M && forallb (Z.leb 0) row &&", "Nat.eqb (length row) M &&"),
    "no member is looked for": ("Check", " && inhabited N (set f)", ""),
    "the first output alone": ("Check", "fst t v && snd t v) (seq 0 (outputs f)).", "fst t v && snd t v) (seq 0 1)."),
    "a negative epsilon": ("ExpLow", "(0 <=? a)%Z end.", "true end."),
    "nothing is proved": ("Check", "Definition check (f : file) : bool :=\n", "Definition check (f : file) : bool := false &&\n"),
    "draws that are all alike": ("Spec", "sum N (fun x => Q x * expect N Q m", "sum N (fun x => / INR N * expect N Q m"),
    "the chance of the contrary": ("Spec", "if b then 1 else 0.", "if b then 0 else 1."),
    "hits of what is not in the set": ("Spec", "length (filter S l).", "length (filter (fun x => negb (S x)) l)."),
    "shares of one draw more": ("Spec", "/ INR (length l).", "/ INR (S (length l))."),
    "draws that are near mislead": ("Spec", "if Rlt_dec t x then true else false.", "if Rlt_dec t x then false else true."),
    "draws mislead at twice the distance": ("Spec", "above r (sum N", "above (2 * r) (sum N"),
    "signed distances of draws": ("Spec", "above r (sum N (fun x => Rabs (Q x - freq l x)))", "above r (sum N (fun x => Q x - freq l x))"),
    "draws from some prior": ("Spec", "forall Q, prior (inputs f) Q -> prob", "exists Q, prior (inputs f) Q /\\ prob"),
    "samples without the counts": ("Spec", "=> exists l, drawn (inputs f) m c l | _ => False end.", "=> True | _ => False end."),
    "counts beside all samples of any total": ("Observed", "(forallb (Z.leb 0) c && (total c =? m)%Z)", "forallb (Z.leb 0) c"),
    "twice the radius": ("Spec", "Q (ratio r d)) <= delta", "Q (2 * ratio r d)) <= delta"),
    "at least delta": ("Spec", "Q (ratio r d)) <= delta", "Q (ratio r d)) >= delta"),
    "a tail without its first weight": ("Delta", "  | O => 1\n  | S k => match n with", "  | O => 0\n  | S k => match n with"),
    "large numbers rounded down": ("Limits", "(Z.shiftr (fst x) s + 1, snd x + s)", "(Z.shiftr (fst x) s, snd x + s)"),
    "k! from 2": ("Limits", "cut_down (times (k + 1, 0) (snd x))", "cut_down (times (k + 2, 0) (snd x))"),
    "a tail that may be twice the level": ("Limits", "(times (times (snd x) (la * unit, 0))", "(times (times (snd x) (2 * la * unit, 0))"),
    "a tail that ends too early": ("Limits", "| O => up (unit * v) (v - u)", "| O => unit"),
    "too steep a rise": ("Limits", "(60 * m * unit * unit +", "(61 * m * unit * unit +"),
    "a rise without curvature": ("Limits", "- c * (20 * unit * unit", "- 0 * (20 * unit * unit"),
    "too flat a fall": ("Limits", "((3 * unit * m + m * m) *", "((3 * unit * m) *"),
    "the first count left out": ("Limits", "la lb (A / D + 1) 0 false ((1, 0), (1, 0)) l.\n\n", "la lb (A / D + 2) 0 false ((1, 0), (1, 0)) l.\n\n"),
    "the last counts left out": ("Limits", "| [] => n <? i", "| [] => true"),
    "a rise to a gap": ("Limits", "rises n A D i j && shown l &&", "rises n A D i j &&"),
    "a fall from a gap": ("Limits", "small && (i <=? j) && falls", "(i <=? j) && falls"),
    "a fall next to a gap": ("Limits", "gap i j && ranges_hold gap n A D la lb (j + 1) k false", "gap i j && ranges_hold gap n A D la lb (j + 1) k true"),
    "a gap anywhere": ("Limits", "(i <=? j) && gap i j &&", "(i <=? j) &&"),
    "a rise to anything": ("Limits", "| Rare _ _ :: _ => true | _ => false end.", "| Rare _ _ :: _ => true | _ => true end."),
    "priors are contradicted by few hits": ("Spec", "Nat.leb (hits S l) (hits S l')", "Nat.leb (hits S l') (hits S l)"),
    "priors are contradicted by what is likely": ("Spec", "in negb (above a (prob", "in (fun b : bool => b) (above a (prob"),
    "one set alone contradicts": ("Spec", "(seq 1 (2 ^ N - 2)).", "(seq 1 1)."),
    "all sets contradict": ("Spec", "(seq 1 (2 ^ N - 2)).", "(seq 0 (2 ^ N))."),
    "counts of more draws or fewer": ("Spec", "length l = m /\\ Forall", "Forall"),
    "draws of other symbols": ("Spec", "Forall (fun x => (x < N)%nat) l /\\ c =", "c ="),
    "counts of any draws": ("Spec", " /\\ c = map (fun x => Z.of_nat (hits (Nat.eqb x) l)) (seq 0 N).", "."),
    "delta for each set": ("Spec", "let a := delta / (2 ^ N - 2) in", "let a := delta in"),
    "delta for half the sets": ("Spec", "let a := delta / (2 ^ N - 2) in", "let a := delta / (2 ^ (N - 1) - 1) in"),
    "draws may contradict their prior": ("Spec", "    (forall Q, prior N Q -> prob N Q m (contradicted N Q a) <= delta) /\\\n", ""),
    "draws seldom contradict some prior": ("Spec", "(forall Q, prior N Q -> prob N Q m (contradicted", "(exists Q, prior N Q /\\ prob N Q m (contradicted"),
    "twice delta": ("Spec", "(contradicted N Q a) <= delta)", "(contradicted N Q a) <= 2 * delta)"),
    "counts that nobody drew": ("Spec", "    (exists l, drawn N m c l) /\\\n", ""),
    "priors that are not contradicted may be far": ("Spec", "contradicted N Q a l = false -> ball N (share c) (ratio r d) Q)", "contradicted N Q a l = false -> prior N Q)"),
    "priors are near at twice the radius": ("Spec", "= false -> ball N (share c) (ratio r d) Q)", "= false -> ball N (share c) (2 * ratio r d) Q)"),
    "contradicted priors are near": ("Spec", "contradicted N Q a l = false -> ball", "contradicted N Q a l = true -> ball"),
    "no sum of nothing": ("Observed", "  | [] => false\n", "  | [] => true\n"),
    "sums without the first count": ("Observed", "if apart c (whole - x) low high then apart c (whole - x) (low - x) (high - x) else false", "apart c (whole - x) low high"),
    "sums with the first count": ("Observed", "if apart c (whole - x) low high then apart c (whole - x) (low - x) (high - x) else false", "apart c (whole - x) (low - x) (high - x)"),
    "sums that are the lower end": ("Observed", "(high <? 0) || (whole <? low)", "(high <? 0) || (whole <=? low)"),
    "sums that are the upper end": ("Observed", "(high <? 0) || (whole <? low)", "(high <=? 0) || (whole <? low)"),
    "sums above all but two": ("Observed", "let most := m - least c in", "let most := m - 2 * least c in"),
    "the greatest of the counts for the least": ("Observed", "fold_right Z.min (total c) c.", "fold_right Z.max 0 c."),
    "gaps above most sums": ("Observed", "if most <? low then true", "if most <=? low then true"),
    "counts of any sign": ("Observed", " && forallb (Z.leb 0) c && (total", " && (total"),
    "counts of another total": ("Observed", " && (total c =? m)\n", "\n"),
    "counts of other symbols": ("Observed", " && Nat.eqb (length c) (inputs f)", ""),
    "one symbol": ("Observed", "(1 <? Z.of_nat (inputs f)) && (0 <? r)", "(0 <? r)"),
    "counts at half the level": ("Observed", "(2 ^ Z.of_nat (inputs f) - 2)) l)", "(2 ^ (Z.of_nat (inputs f) - 1) - 1)) l)"),
    "counts at the whole radius": ("Observed", "(Zpos d * 2) (fst delta)", "(Zpos d) (fst delta)"),
    "sets without their complements": ("Learnt", "(2 ^ Z.of_nat (inputs f) - 2)) l", "(2 ^ (Z.of_nat (inputs f) - 1) - 1)) l"),
    "the whole radius for the half": ("Learnt", "(Zpos d * 2) (fst delta)", "(Zpos d) (fst delta)"),
    "a joint law with some law of the data": ("SpecSecret", "forall s, (s < T)%nat -> C s (A s).", "exists s, (s < T)%nat /\\ C s (A s)."),
    "a joint law with any law of the secret": ("SpecSecret", "  B p /\\ forall s", "  True /\\ forall s"),
    "the report of one value": ("SpecSecret", "mean T p (fun s => report_given N K A s y).", "report_given N K A O y."),
    "the law of another value": ("SpecSecret", "mean N (A s) (fun x => K x y).", "mean N (A O) (fun x => K x y)."),
    "twice epsilon of a secret": ("SpecSecret", "report_given N K A s y <= exp eps *", "report_given N K A s y <= exp (2 * eps) *"),
    "a secret from below the other way": ("SpecSecret", "exp (- low) * report T N K p A y <= report_given N K A s y.", "report T N K p A y <= exp (- low) * report_given N K A s y."),
    "some joint law in the place of every": ("SpecSecret", "forall p A, J p A -> forall s y, (s < T)%nat -> (y < M)%nat -> report_given N K A s y <=", "exists p A, J p A /\\ forall s y, (s < T)%nat -> (y < M)%nat -> report_given N K A s y <="),
    "no joint law is asked for": ("SpecSecret", "(exists p A, joint_laws f p A) /\\", "(exists p : nat -> R, True) /\\"),
    "no secret from below": ("SpecSecret", "| Some l => secret_below (values f) (data_inputs f) (data_outputs f) (data_K f) (joint_laws f) (nats l) end", "| Some l => True end"),
    "no cap beside a secret": ("SpecSecret", "| Some c => capped (data_inputs f) (data_outputs f) (data_K f) (nats c) end", "| Some c => True end"),
    "the least mean of the value": ("Secret", "snd o (replaced s (at_ high s) low)", "snd o low"),
    "the greatest means of all values": ("Secret", "snd o (replaced s (at_ high s) low)", "snd o high"),
    "from below with the least means": ("Secret", "greatest_mean o (replaced s (at_ low s) high)", "greatest_mean o low"),
    "no law of the data is looked for": ("Secret", "shaped (data_inputs f) s && inhabited (data_inputs f) s", "shaped (data_inputs f) s"),
    "a lower that is negative": ("Secret", "proper l && at_least_1 (below_exp l)", "proper l"),
    "no cap of a secret is tested": ("Secret", "(if most v then [] else [values f])", "[]"),
    "the first column of a secret": ("Secret", "is_empty (t (column (data_rows f) y))) (seq 0 (data_outputs f)).", "is_empty (t (column (data_rows f) y))) (seq 0 1)."),
    "the first value alone": ("Secret", "at_ high s * fst o * snd e <=? fst e * snd o (replaced s (at_ high s) low))) (seq 0 (length low)).", "at_ high s * fst o * snd e <=? fst e * snd o (replaced s (at_ high s) low))) (seq 0 1)."),
    "windows hold what lies before them": ("SpecWindows", "f ((fst w + i) mod q)%nat).", "f ((fst w + q - i) mod q)%nat)."),
    "windows that all begin at one place": ("SpecWindows", "windows_from (p + Z.to_nat n) l end.", "windows_from p l end."),
    "no floor in a report": ("SpecWindows", "(floor f / INR (length (windows f s)) + (1 - floor f) *", "(0 + (1 - floor f) *"),
    "windows hold half the share": ("SpecWindows", "(1 - floor f) / (exp (nats (windows_eps f)) - floor f).", "(1 - floor f) / (2 * (exp (nats (windows_eps f)) - floor f))."),
    "one population": ("SpecWindows", "-> least_share f <= held_by f N lands Q s j.", "-> least_share f < held_by f N lands Q s j < 0."),
    "the strings of one law": ("SpecWindows", "prior N Q /\\ forall s j, is_window f s j -> least_share", "forall s j, is_window f s j -> least_share"),
    "windows promise twice epsilon": ("SpecWindows", "windows_K f lands x s j <= exp (nats (windows_eps f)) * mean", "windows_K f lands x s j <= exp (2 * nats (windows_eps f)) * mean"),
    "reports of any sum": ("SpecWindows", "sum (length (windows f s)) (fun j => windows_K f lands x s j)) = 1) /\\", "sum (length (windows f s)) (fun j => windows_K f lands x s j)) <= 1) /\\"),
    "no cap of windows": ("SpecWindows", "windows_K f lands x s j <= exp (nats c) * windows_K f lands x' s j end", "True end"),
    "samples prove nothing": ("SpecWindows", "(forall P, as_stated f N lands P -> populations f N lands P).", "True."),
    "nobody is in the populations": ("SpecWindows", "  (exists N lands P, laws_of_strings f N lands /\\ as_stated f N lands P) /\\\n", "  (exists N : nat, True) /\\\n"),
    "samples that lie anywhere": ("SpecWindows", "laws_of_strings f N lands /\\ as_stated f N lands P)", "as_stated f N lands P)"),
    "samples that are held in no window": ("SpecWindows", "laws_of_strings f N lands /\\ as_stated f N lands P)", "laws_of_strings f N lands /\\ prior N P)"),
    "windows hold what nobody has": ("Windows", " && samples_lie (buckets f) (all_samples f) s.", "."),
    "more samples than there were": ("Windows", " && (total (map snd masses) <=? all)", ""),
    "less than no samples": ("Windows", " && (fst m <? q) && (0 <=? snd m)) masses", " && (fst m <? q)) masses"),
    "windows that lie elsewhere": ("Windows", "&& hold_as_stated masses q (p + n) l end.", "&& hold_as_stated masses q p l end."),
    "windows of one bucket more": ("Windows", "(if d <? 0 then d + q else d) <? n then", "(if d <? 0 then d + q else d) <=? n then"),
    "windows of any length": ("Windows", "forallb (fun w => (1 <=? fst w) && (fst w <=? q)) (snd s).", "forallb (fun w => (1 <=? fst w)) (snd s)."),
    "windows that do not meet": ("Windows", " && (total (map fst (snd s)) mod q =? 0)", ""),
    "windows hold anything": ("Windows", "    && forallb (fun w => least_held f <=? snd w) (snd s) && samples_lie", "    && samples_lie"),
    "the share without the floor": ("Windows", "held * (fst e * whole - u * snd e).", "held * (fst e * whole)."),
    "a cap without the floor": ("Windows", "<=? fst e * u * turns.", "<=? fst e * whole * turns."),
    "the first seed alone": ("Windows", "forallb (seed_holds f) (seeds f).", "forallb (seed_holds f) (firstn 1 (seeds f))."),
    "weights that do not count": ("SpecRecords", "view_weight f i * K (view f i) (see i x) y.", "K (view f i) (see i x) y."),
    "reports about another view": ("SpecRecords", "K (view f i) (see i x) y.", "K (view f i) (see O x) y."),
    "the law of no view": ("SpecRecords", "mass n P (fun x => Nat.eqb (see i x) z).", "mass n P (fun x => Nat.eqb x z)."),
    "weights of one bit more": ("SpecRecords", "/ 2 ^ weight_bits f.", "/ 2 ^ S (weight_bits f)."),
    "some view has its law": ("SpecRecords", "prior n P /\\ forall i, (i < views f)%nat -> among", "prior n P /\\ exists i, (i < views f)%nat /\\ among"),
    "views promise nothing": ("SpecRecords", "(forall i, (i < views f)%nat -> promise (view f i)) /\\", "True /\\"),
    "no records have the views": ("SpecRecords", "/\\ record_laws f n see P) /\\", ") /\\"),
    "records promise twice epsilon": ("SpecRecords", "record_K f see x i y <= exp (nats (record_eps f)) *", "record_K f see x i y <= exp (2 * nats (record_eps f)) *"),
    "records promise nothing from below": ("SpecRecords", "exp (- nats l) * mean n P (fun x' => record_K f see x' i y) <= record_K f see x i y end.", "True end."),
    "weights of any sum": ("Records", "(total (map fst (parts f)) =? 2 ^ Z.of_nat (weight_bits f))", "true"),
    "weights of any sign": ("Records", "(0 <=? fst p) && check", "check"),
    "the first view alone": ("Records", "forallb (part_holds (record_eps f) (record_lower f)) (parts f).", "forallb (part_holds (record_eps f) (record_lower f)) (firstn 1 (parts f))."),
    "views without their own test": ("Records", "(0 <=? fst p) && check (snd p)", "(0 <=? fst p)"),
    "the whole without a test": ("Records", "then true else check (promising (snd p) e l)).", "then true else true)."),
    "epsilons that are alike": ("Records", "| Nats a b, Nats c d => (a =? c) && Pos.eqb b d", "| Nats a b, Nats c d => (a =? c)"),
    "evidence misleads never": ("SpecRecords", "=> outside (inputs g) Q (ratio r d) l\n", "=> false\n"),
    "all samples within twice the radius": ("SpecRecords", "=> outside (inputs g) Q (ratio r d) l\n", "=> outside (inputs g) Q (2 * ratio r d) l\n"),
    "counts that contradict nothing": ("SpecRecords", "=> contradicted (inputs g) Q (ratio a b / (2 ^ inputs g - 2)) l", "=> false"),
    "the first view alone misleads": ("SpecRecords", "(map (see i) l)) (seq 0 (views f)).", "(map (see i) l)) (seq 0 1)."),
    "records without the counts of the file": ("SpecRecords", "drawn (inputs (view f i)) m (counts_in (view f i)) (map (see i) l).", "True."),
    "records twice as often misled": ("SpecRecords", "(misled_somewhere f es n see P) <= delta /\\", "(misled_somewhere f es n see P) <= 2 * delta /\\"),
    "learnt views have any law": ("SpecRecords", "nth i es Given <> Given ->\n        among (inputs (view f i)) (set (view f i)) (law_of_view n see P i).", "nth i es Given <> Given -> True."),
    "no records have the counts": ("SpecRecords", " /\\ records_drawn f m es n see l) /\\", " /\\ length (l : list nat) = m) /\\"),
    "deltas of the whole at will": ("RecordsLearnt", "(let t := sum_of_deltas ss in fst t * Zpos (snd delta) <=? fst delta * Zpos (snd t))", "true"),
    "the greatest delta for the sum": ("RecordsLearnt", "fst d * Zpos (snd t) + fst t * Zpos (snd d)", "Z.max (fst d * Zpos (snd t)) (fst t * Zpos (snd d))"),
    "counts of views of any total": ("RecordsLearnt", " && forallb (Z.leb 0) c && (total c =? m).", " && forallb (Z.leb 0) c."),
    "views without a test of samples": ("RecordsLearnt", "are_counts g m && support g m delta l", "are_counts g m"),
    "the first column again": ("Columns", "columns M (map (@tl Z) rows) end", "columns M rows end"),
    "the first view alone by columns": ("RecordsColumns", "(record_lower f)) (parts f).\n\n", "(record_lower f)) (firstn 1 (parts f)).\n\n"),
    "views by columns without their own test": ("RecordsColumns", "(0 <=? fst p) && check_by_columns (snd p)", "(0 <=? fst p)"),
    "the whole by columns without a test": ("RecordsColumns", "then true else check_by_columns (promising (snd p) e l)).", "then true else true)."),
    "weights by columns of any sum": ("RecordsColumns", "(total (map fst (parts f)) =? 2 ^ Z.of_nat (weight_bits f))", "true"),
    "no column": ("Columns", "(columns (outputs f) (rows f)).", "(columns 0 (rows f))."),
    "one number too many": ("Sampler", "if r <? a then 0 else S (select row (r - a))", "if r <=? a then 0 else S (select row (r - a))"),
    "bisection on the wrong side": ("Sampler", "if nth middle thresholds 0 <=? r then", "if nth middle thresholds 0 <? r then"),
    "blocks of one number more": ("Sampler", "(block * width + (width - 1)) then", "(block * width + (width - 2)) then"),
    "the last bits of a word": ("Sampler", "w / 2 ^ (word - (bits - first)).", "w mod 2 ^ (bits - first + 1)."),
    "first bits alone": ("Sampler", "f * 2 ^ (bits - first) + w / 2 ^ (word - (bits - first)).", "f * 2 ^ (bits - first)."),
}  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The proofs, compiled."""
    folder = tmp_path_factory.mktemp("coq")
    for name in FILES:
        shutil.copy(COQ / f"{name}.v", folder)
    assert broken(folder, "Spec") is None
    return folder


def broken(folder, first):
    """Return the first file, from one on, that Coq refuses."""
    for name in FILES[FILES.index(first) :]:
        command = ["coqc", "-q", "-R", ".", "Mechdesign", f"{name}.v"]
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
            return name
    return None


@pytest.mark.parametrize("name", MUTANTS)
def test_the_place_of_every_mutant_is_there(name):
    file, old, _ = MUTANTS[name]
    found = (COQ / f"{file}.v").read_text().count(old)
    assert found == (2 if name == "exp rounded up" else 1)  # the first is the definition, the second in its proof


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_breaks_a_proof(built, tmp_path, name):
    file, old, new = MUTANTS[name]
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    source = (tmp_path / f"{file}.v").read_text()
    (tmp_path / f"{file}.v").write_text(source.replace(old, new, 1))
    assert broken(tmp_path, file) is not None
