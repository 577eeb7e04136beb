(* The delta of an l1 ball, decided by the proved tests [support] and [support_by_sums]. They are about ranges of counts,
   which are looked for here; nobody has to trust how. With T = a/d half the radius times n, and F(k) = P[Bin(n, (k - T)/n)
   >= k], each range says that F rises to its end, or falls to it, or is at most the level la/lb, or that its counts are
   gaps: no sums of the observed counts over sets of symbols. *)
open Checker
open Number

type question = { n : int; a : Integers.z; d : Integers.z; la : Integers.z; lb : Integers.z; asked : int -> bool }

(* How far the search is: the counts before k, the products that the proved test needs at k, and log C(n, k). *)
type walk = { of_ : question; k : int; products : (Integers.z * Integers.z) * (Integers.z * Integers.z); log_choose : float }

(* Of more samples delta is left undecided. *)
let most_samples = 1_000_000

(* A j, as great as a search by doubling finds, for which something holds from first to j. *)
let furthest holds first most =
  let rec on last step growing =
    if step = 0 then last
    else if last + step <= most && holds (last + step) then on (last + step) (if growing then 2 * step else step / 2) growing
    else on last (step / 2) false
  in
  if holds first then Some (on first 1 true) else None

let advanced walk k =
  let n = walk.of_.n in
  let rec log_choose found j =
    if j = k then found else log_choose (found +. log (float_of_int (n - j) /. float_of_int (j + 1))) (j + 1)
  in
  { walk with k; products = chain (z n) (nat (k - walk.k)) (z walk.k) walk.products;
    log_choose = log_choose walk.log_choose walk.k }

(* Floats choose what is tried: about the logarithm of a whole number, and of the bound of P[Bin(n, (j - T)/n) >= k] by so
   many terms and a geometric series. *)

let log_of x =
  let s = Integers.to_digits x in
  let left = max 0 (String.length s - 15) in
  log (float_of_string (String.sub s 0 (String.length s - left))) +. (float_of_int left *. log 10.)

let log_bound walk j terms =
  let q = walk.of_ in
  let n = float_of_int q.n and k = float_of_int walk.k in
  let p = (float_of_int j -. exp (log_of q.a -. log_of q.d)) /. n in
  if p <= 0. || p >= 1. then infinity
  else
    let ratio i = p *. (n -. i) /. ((i +. 1.) *. (1. -. p)) in
    let rec sum i weight total =
      if i = walk.k + terms then
        let last = ratio (float_of_int i) in
        if last >= 1. then infinity else total +. (weight /. (1. -. last))
      else sum (i + 1) (weight *. ratio (float_of_int i)) (total +. weight)
    in
    walk.log_choose +. (k *. log p) +. ((n -. k) *. log (1. -. p)) +. log (sum walk.k 1. 0.)

(* From the count of the walk on F is at most the level: up to a count, by a number of terms; none if that is not so. *)
let rare_from walk =
  let q = walk.of_ in
  let most = min (q.n - walk.k) ((8 * int_of_float (sqrt (float_of_int q.n))) + 64) in
  let level = log_of q.la -. log_of q.lb -. 1e-9 in
  let likely terms j = log_bound walk j terms <= level in
  let last = Option.value (furthest (likely most) walk.k q.n) ~default:walk.k in
  let rec enough terms = if terms >= most || likely terms last then min terms most else enough (max 1 (2 * terms)) in
  let proved (last, terms) = rare (z q.n) q.a q.d q.la q.lb (z walk.k) (z last) (nat terms) walk.products in
  List.find_opt proved [ (last, enough 0); (walk.k, most) ]

(* Whether a count is asked about: every one is, or the sums of the observed counts over sets of symbols that are neither
   empty nor all. The sums of so many greatest counts are listed, and the others may add anything. *)
let every _ = true
let few_listed = 16

let sums ~listed:most counts n =
  let greatest_first = List.sort (fun k l -> compare l k) counts in
  let listed = List.filteri (fun i _ -> i < most) greatest_first in
  let others = List.fold_left ( + ) 0 (List.filteri (fun i _ -> i >= most) greatest_first) in
  let found = Bytes.make (n + 1) '0' in
  Bytes.set found 0 '1';
  let add k = for s = n downto k do if Bytes.get found (s - k) = '1' then Bytes.set found s '1' done in
  List.iter add listed;
  let last = ref (-1 - others) in
  for s = 0 to n do
    if Bytes.get found s = '1' then last := s else if s <= !last + others then Bytes.set found s '1'
  done;
  let least = List.fold_left min n counts in
  fun k -> Bytes.get found k = '1' && k <= n - least

(* Ranges that cover all counts from one on; none if F is above the level at one that is asked about. A range in which F
   rises ends before one that is asked about and rare, and F falls from a count at which it is known to be small. *)
let rec ranges_from walk ~small first =
  let q = walk.of_ in
  let n = z q.n in
  let falls last = falls n q.a q.d (z (first - 1)) (z (last - 1)) and rises first last = rises n q.a q.d (z first) (z last) in
  let rec risen first =
    match furthest (rises first) first q.n with Some last -> last :: risen (last + 1) | None -> []
  in
  let rec last_asked k = if k < first then None else if q.asked k then Some k else last_asked (k - 1) in
  let rec next_asked k = if k > q.n || q.asked k then k else next_asked (k + 1) in
  let rest walk ~small found last = Option.map (List.append found) (ranges_from walk ~small (last + 1)) in
  if first > q.n then Some []
  else
    match if small then furthest falls first q.n else None with
    | Some last -> rest walk ~small:true [ Fall (z last) ] last
    | None -> (
      let ends = risen first in
      match last_asked (List.fold_left max (first - 1) ends + 1) with
      | Some start ->
        let before = List.filter (fun last -> last < start - 1) ends @ if start > first then [ start - 1 ] else [] in
        let walk = advanced walk start in
        let found last terms = List.map (fun last -> Rise (z last)) before @ [ Rare (z last, nat terms) ] in
        Option.bind (rare_from walk) (fun (last, terms) -> rest walk ~small:true (found last terms) last)
      | None ->
        let last = next_asked first - 1 in
        rest walk ~small:false [ Gap (z last) ] last)

(* Does a proved test accept a delta for a ball around shares of so many draws? *)
let accepts test asked counts radius n delta =
  let size = List.length counts in
  let set = Ball (counts, radius.over, Integers.positive radius.under) in
  let nothing = Nats (zero, Integers.positive unit) in
  let file = { inputs = nat size; outputs = O; bits = O; rows = []; eps = nothing; lower = None; cap = None; average = None; set } in
  let sets = power (z 2) size -! z 2 in
  let q = { n; a = z n *! radius.over; d = radius.under *! z 2; la = delta.over; lb = delta.under *! sets; asked } in
  let start = { of_ = q; k = 0; products = ((unit, zero), (unit, zero)); log_choose = 0. } in
  let judged ranges = test file (z n) (delta.over, Integers.positive delta.under) ranges in
  less zero delta.over && less zero radius.over
  && Option.fold ~none:false ~some:judged
       (ranges_from start ~small:false (int_of_string (Integers.to_digits (q.a /! q.d)) + 1))

type verdict = Proved | False | Undecided

(* By the bound of Weissman et al. sets fail with probability e^(-2 n t^2) each, t half the radius. *)
let within_weissman size radius n delta =
  let x = make (z n *! radius.over *! radius.over) (z 2 *! radius.under *! radius.under) in
  let x = if le x (whole (z 20_000)) then x else whole (z 20_000) in
  let below, one = below_exp (Nats (x.over, Integers.positive x.under)) in
  le (whole (power (z 2) size -! z 2)) (mul (make below one) delta)

(* Derived radii are multiples of 1e-15, to which a radius is rounded down, as by the package. *)
let verdict counts radius n delta bound =
  let grid = ten 15 in
  let rounded = make (radius.over *! grid /! radius.under) grid in
  let radii = if rounded = radius then [ radius ] else [ rounded; radius ] in
  let proved test asked = List.for_all (fun radius -> accepts test asked counts radius n delta) radii in
  let by_sums () =
    let counts = List.map (fun k -> int_of_string (Integers.to_digits k)) counts in
    if proved support_by_sums (sums ~listed:few_listed counts n) then Proved
    else if proved (fun _ _ _ _ -> true) (sums ~listed:max_int counts n) then Undecided
    else False
  in
  if equal rounded.over (z 2 *! rounded.under) then Proved
  else if (bound = "weissman") && not (within_weissman (List.length counts) rounded n delta) then False
  else if n > most_samples then Undecided
  else if proved support every then Proved
  else match bound with "clopper-pearson" -> False | "observed-sums" -> by_sums () | _ -> Undecided
