(* A mechanism file: the term of Coq that it stands for, and words for what it promises. Nothing is converted silently,
   and what is unknown is refused. *)
open Checker
open Number

type table = (string * Json.t) list

let table = function Json.Table pairs -> pairs | _ -> raise (Stop (2, "something is not a table"))
let list_of = function
  | Json.List items ->
    need (List.compare_length_with items 10_000 <= 0) "a list has over 10,000 items";
    items
  | _ -> raise (Stop (2, "something is not a list"))

(* The value of a key; null is what is absent. *)
let get (t : table) key = match List.assoc_opt key t with Some value -> value | None -> Json.Null
let given t key = get t key <> Json.Null

let fields ?(others = "") needed t =
  let needed = words needed and others = words others in
  let known key = List.mem key needed || List.mem key others in
  let has key = List.mem_assoc key t in
  need (List.for_all has needed && List.for_all (fun (key, _) -> known key) t)
    (Printf.sprintf "a table has the keys %s, and perhaps %s" (String.concat " " needed) (String.concat " " others));
  t

let integer = function
  | Json.Number s when Json.is_whole s -> Integers.of_digits s
  | _ -> raise (Stop (2, "something is not a whole number"))

let most = ten 15

let labels ?(whole = false) value =
  let name = function
    | Json.Number s when whole && Json.is_whole s -> Integers.to_digits (Integers.of_digits s)
    | other -> text ~longest:1000 other
  in
  let names = List.map name (list_of value) in
  let clean s = s <> "" && strip s = s && not (has_control s) in
  need (List.for_all clean names && List.length (List.sort_uniq compare names) = List.length names)
    "labels are printable, and differ";
  names

let vector ?(greatest = one) value =
  let numbers = List.map number (list_of value) in
  need (List.for_all (fun q -> le none q && le q greatest) numbers) "a number is out of range";
  numbers

let counts_of value =
  let counts = List.map integer (list_of value) in
  let right n = at_most zero n && at_most n most in
  need (List.length counts > 1 && List.for_all right counts && List.exists (less zero) counts) "wrong counts";
  counts

(* Weights, whose sum may miss 1 by the float 1e-9. *)
let slightly = make (Integers.of_digits "4835703278458517") (power (z 2) 82)

let prior value =
  let weights, common = over_common ~digits:900 (vector ~greatest:(whole (z 2)) value) in
  need (List.length weights > 1) "probabilities sum to 1";
  need (le (magnitude (sub (make (sum weights) common) one)) slightly) "probabilities sum to 1";
  weights

(* The samples behind a delta, and whether they are asserted. *)
let asked_samples a =
  let n = get a "samples" and asserted = get a "asserted_samples" and counts = get a "counts" in
  let some = match counts with Json.List (_ :: _) -> true | _ -> false in
  need ((counts = Json.Null && n = Json.Null) || (asserted = Json.Null && some))
    "samples belong to counts, asserted ones to a center";
  need (given a "delta" = (n <> Json.Null || asserted <> Json.Null)) "delta needs samples";
  if given a "delta" then begin
    let delta = number (get a "delta") in
    need (le none delta && lt delta one) "delta is from 0 to 1"
  end;
  let positive k = less zero k && at_most k most in
  if n = Json.Null then begin
    if asserted = Json.Null then None
    else
      let k = integer asserted in
      need (positive k) "wrong samples or delta";
      Some (k, true)
  end
  else begin
    let k = integer n in
    need (positive k) "samples are a whole number";
    need ~status:1 (equal k (sum (List.map integer (list_of counts)))) "delta is false: the counts are of other samples";
    Some (k, false)
  end

let failure a =
  match asked_samples a with
  | None -> ""
  | Some (k, asserted) ->
    let written = match get a "delta" with Json.Number s | Json.Text s -> line s | _ -> "" in
    Printf.sprintf "; delta = %s by %s samples%s" written (Integers.to_digits k)
      (if asserted then " (asserted, not shown)" else "")

(* Sets: each is a term, words for it, words for its delta, which may be taken as given, how many deltas in it are, and, but
   for sets that are made of priors or of others, whether a prior is in it. *)
type set = { term : priors; words : string; delta : string; given : bool; taken : int; holds : (Number.t list -> bool) option }

let told set = if set.given then set.delta ^ " is taken as given" else set.delta
let marks = [ "box"; "lower-limits"; "l1-box"; "relative-ball"; "event-set"; "priors"; "factors"; "secret"; "sets" ]
let as_written key a = match get a key with Json.Number s | Json.Text s -> line s | _ -> ""
let ratio_of q = (q.over, Integers.positive q.under)
let ball_term weights radius = let r, d = ratio_of radius in Ball (weights, r, d)

let estimate a =
  if given a "counts" then begin
    need (not (given a "center")) "two estimates";
    counts_of (get a "counts")
  end
  else prior (get a "center")

let half q = make q.over (q.under *! z 2)

let ball judge t size =
  let a = fields "radius" ~others:"center counts samples asserted_samples delta bound" t in
  let centered = List.mem_assoc "center" a in
  need (not (centered && List.mem_assoc "counts" a)) "two estimates";
  let weights = if centered then prior (get a "center") else counts_of (get a "counts") in
  let radius = number (Json.Text (text (get a "radius"))) in
  need (le none radius && le radius (whole (z 2))) "a number is out of range";
  let masses = shares weights in
  ignore (over_common ~digits:3000 (half radius :: masses));
  need (List.length weights = size) "numbers are missing";
  need (List.for_all (fun p -> lt none (add p (half radius))) masses) "a symbol has probability 0 in the whole set";
  need (List.mem (get a "bound") [ Json.Null; Json.Text "weissman"; Json.Text "clopper-pearson"; Json.Text "observed-sums" ])
    "an unknown bound";
  need (not (centered && get a "bound" = Json.Text "observed-sums")) "sums of observed counts without counts";
  let delta = failure a in
  need (delta <> "" || not (given a "bound")) "a bound belongs to delta";
  let words = Printf.sprintf "within %s (l1) of its %s" (as_written "radius" a) (if centered then "center" else "counts") in
  let verdict =
    match asked_samples a with
    | None -> Samples.Proved
    | Some (n, _) ->
      let bound = match get a "bound" with Json.Text bound -> bound | _ -> "weissman" in
      judge weights radius (int_of_string (Integers.to_digits n)) (number (get a "delta")) bound
  in
  need ~status:1 (verdict <> Samples.False) "delta is false: the samples do not support the radius";
  let far q = sum_of (List.map2 (fun p q -> magnitude (sub p q)) masses q) in
  { term = ball_term weights radius; words; delta; given = verdict = Samples.Undecided;
    taken = Bool.to_int (verdict = Samples.Undecided); holds = Some (fun q -> le (far q) radius) }

let keys_of = function
  | "box" -> "lower upper"
  | "lower-limits" -> "lower"
  | "l1-box" -> "lower upper radius"
  | "relative-ball" -> "alpha gamma"
  | _ -> "alphas gammas"

let box_term low high =
  let numbers, common = over_common (low @ high) in
  let size = List.length low in
  Box (List.filteri (fun i _ -> i < size) numbers, List.filteri (fun i _ -> i >= size) numbers, Integers.positive common)

let rec pairs_of = function a :: b :: rest -> (a, b) :: pairs_of rest | _ -> []

let events_term weights lines =
  let numbers, common = over_common (List.concat_map (fun (a, g) -> [ a; g ]) lines) in
  Events (weights, pairs_of numbers, Integers.positive common)

(* Limits of symbols, or of all events: pieces (slack, masses), of which each asks Q(S) >= masses(S) - slack. *)
let limits mark t size =
  let a = fields (keys_of mark) ~others:"center counts samples asserted_samples delta" (table (get (fields mark t) mark)) in
  let weights = estimate a in
  let masses = shares weights in
  let has = List.mem_assoc in
  let row key = if has key a then Some (vector (get a key)) else None in
  let low = row "lower" and high = row "upper" in
  let most_times = whole (ten 6) in
  let column key =
    if has (key ^ "s") a then vector ~greatest:most_times (get a (key ^ "s"))
    else if has key a then vector ~greatest:most_times (Json.List [ get a key ])
    else []
  in
  let alphas = column "alpha" and gammas = column "gamma" in
  let radius = if has "radius" a then Some (List.hd (vector ~greatest:(whole (z 2)) (Json.List [ get a "radius" ]))) else None in
  let alphas, gammas = match radius with None -> (alphas, gammas) | Some r -> ([ one ], [ half r ]) in
  let sized = List.for_all (fun row -> List.length row = size) in
  need (sized (masses :: (Option.to_list low @ Option.to_list high)) && List.length alphas = List.length gammas)
    "numbers are missing";
  need ((low <> None || alphas <> []) && List.for_all (lt none) alphas && List.length alphas * size <= 100_000)
    "there are no pieces, or too many";
  let lines = List.combine alphas gammas in
  let piece slack row = Option.to_list (Option.map (fun row -> (slack row, row)) row) in
  let pieces =
    piece (fun _ -> none) low
    @ piece (fun row -> sub (sum_of row) one) high
    @ List.map (fun (alpha, gamma) -> (gamma, List.map (mul alpha) masses)) lines
  in
  ignore (over_common ~digits:3000 (List.concat_map (fun (slack, row) -> slack :: row) pieces));
  let excess p q = greatest none (sub p q) in
  let holds q = List.for_all (fun (slack, row) -> le (sum_of (List.map2 excess row q)) slack) pieces in
  need (holds masses) "the estimate is outside";
  let least row = List.fold_left (fun p q -> if le p q then p else q) (List.hd row) row in
  need (List.for_all (fun (slack, row) -> lt (sub (sub (sum_of row) slack) (least row)) one) pieces)
    "a symbol has probability 0 in the whole set";
  let delta = failure a in
  need (delta = "" || low = None || size <= 1000) "there are too many symbols";
  let term =
    match (low, high, radius) with
    | Some l, Some u, Some r -> Both (ball_term weights r, box_term l u)
    | Some l, Some u, None -> box_term l u
    | Some l, None, _ -> box_term l (List.map (fun _ -> one) l)
    | None, _, _ -> events_term weights lines
  in
  let told = List.filter (fun key -> has key a) [ "radius"; "alpha"; "gamma" ] in
  let told = String.concat ", " (List.map (fun key -> key ^ " = " ^ as_written key a) told) in
  let words = "in its " ^ mark ^ if told = "" then "" else " (" ^ told ^ ")" in
  { term; words; delta; given = delta <> ""; taken = Bool.to_int (delta <> ""); holds = Some holds }

let weights_of_mixture a size =
  if given a "weights" then begin
    let values = get a "weights" in
    let found = if size > 1 then over_common (vector ~greatest:(whole (z 2)) values) else over_common (vector values) in
    if size > 1 then ignore (prior values);
    need (List.length (fst found) = size) "there is a weight for each";
    need (size > 1 || equal (sum (fst found)) (snd found)) "weights sum to 1"
  end

let hull t size =
  let a = fields "priors" ~others:"weights" t in
  let rows = list_of (get a "priors") in
  need (List.fold_left (fun n row -> n + List.length (list_of row)) 0 rows <= 1_000_000) "there are too many probabilities";
  let rows = List.map prior rows in
  need (rows <> [] && List.for_all (fun row -> List.length row = size) rows) "numbers are missing";
  let seen = List.fold_left (List.map2 (fun some w -> some || less zero w)) (List.map (fun _ -> false) (List.hd rows)) rows in
  need (List.for_all Fun.id seen) "a symbol lacks a probability above 0";
  ignore (over_common ~digits:3000 (List.concat_map shares rows));
  weights_of_mixture a (List.length rows);
  let common = List.fold_left (fun c row -> lcm c (sum row)) unit rows in
  let even row = List.map (( *! ) (common /! sum row)) row in
  { term = Hull (List.map even rows); delta = ""; given = false; taken = 0; holds = None;
    words = Printf.sprintf "that mixes its %d priors" (List.length rows) }

let rec known judge t names =
  let has key = List.mem_assoc key t in
  if has "center" || has "counts" then ball judge t (List.length names)
  else
    match List.filter has marks with
    | [ "priors" ] -> hull t (List.length names)
    | [ "factors" ] -> product judge t names
    | [ "sets" ] -> union judge t names
    | [ "secret" ] -> raise (Stop (2, "a promise about a secret is the whole promise"))
    | [ mark ] -> limits mark t (List.length names)
    | _ -> raise (Stop (2, "a set is one of center, counts, " ^ String.concat ", " marks))

and product judge t names =
  let a = fields "factors separator" t in
  let factor = function
    | Json.Table pairs ->
      need (not (List.mem_assoc "secret" pairs)) "a product is about the data themselves";
      (labels (get pairs "inputs"), List.remove_assoc "inputs" pairs)
    | _ -> raise (Stop (2, "a factor is not a table"))
  in
  match List.map factor (list_of (get a "factors")) with
  | [ (rows, first); (columns, second) ] ->
    let separator = text (get a "separator") in
    need (List.length rows * List.length columns = List.length names) "the inputs are all pairs";
    let outer = known judge first rows in
    let inner = known judge second columns in
    let pairs = List.concat_map (fun i -> List.map (fun j -> i ^ separator ^ j) columns) rows in
    need (pairs = names) "a pair has another label";
    let words =
      Printf.sprintf "whose first factor is one %s%s; the second, given the first, is one %s%s" outer.words (told outer)
        inner.words (told inner)
    in
    { term = Pairs (nat (List.length rows), outer.term, nat (List.length columns), inner.term); words; delta = ""; given = false;
      taken = outer.taken + inner.taken; holds = None }
  | _ -> raise (Stop (2, "a product has two factors"))

and union judge t names =
  let a = fields "sets" ~others:"names weights cover" t in
  let sets = List.map table (list_of (get a "sets")) and size = List.length names in
  let count = List.length sets in
  need (count > 0 && count <= 500 && count * size <= 200_000) "there are no sets, or too many";
  let cover = if given a "cover" then table (get a "cover") else [] in
  let made t = List.exists (fun key -> List.mem_assoc key t) [ "sets"; "factors"; "secret" ] in
  need (not (List.exists made (cover :: sets))) "a set holds others";
  let found = List.map (fun t -> known judge t names) sets in
  if given a "names" then need (List.length (labels ~whole:true (get a "names")) = count) "there is a name for each set";
  weights_of_mixture a count;
  let taken = List.fold_left (fun n s -> n + s.taken) 0 found in
  let delta =
    match List.filter (( <> ) "") (List.map (fun s -> s.delta) found) with
    | [] -> ""
    | deltas ->
      let given = List.length (List.filter (fun s -> s.given) found) in
      Printf.sprintf "; of the deltas of %d sets, %d are taken as given" (List.length deltas) given
  in
  if given a "cover" then begin
    need (List.for_all (List.mem_assoc "radius") (cover :: sets)) "a cover and what it holds are balls";
    let part t = (shares (estimate t), number (get t "radius")) in
    let center, radius = part cover in
    let whole_cover = known judge cover names in
    let reach t =
      let masses, r = part t in
      let far = add r (sum_of (List.map2 (fun p q -> magnitude (sub p q)) center masses)) in
      if le far (whole (z 2)) then far else whole (z 2)
    in
    need ~status:1 (List.for_all (fun t -> le (reach t) radius) sets) "the cover does not hold each set";
    { term = whole_cover.term; delta; given = false; taken; holds = None;
      words = Printf.sprintf "within %s (l1) of the center of the ball that holds its %d sets" (as_written "radius" cover) count }
  end
  else
    let rec joined = function
      | [ s ] -> s.term
      | s :: rest -> Either (s.term, joined rest)
      | [] -> raise (Stop (2, "there are no sets"))
    in
    { term = joined found; delta; given = false; taken; holds = None; words = Printf.sprintf "in one of its %d sets or mixed from these" count }

(* A secret: its values, the set of its laws, those of the laws of the data given each of its values, and words. *)

let secret judge t names =
  let a = table (get (fields "secret" t) "secret") in
  let a = fields "name useful values counts" ~others:"limits not_protected" a in
  let name key = text ~longest:200 (get a key) in
  need (name "name" <> name "useful" && name "name" <> "" && name "useful" <> "") "two columns have names";
  if given a "not_protected" then ignore (text (get a "not_protected"));
  let values = labels ~whole:true (get a "values") and size = List.length names in
  let rows = List.map counts_of (list_of (get a "counts")) in
  let count = List.length rows in
  need (1 < count && count = List.length values && count <= 1000) "a row for each value";
  need (List.for_all (fun row -> List.length row = size) rows) "a row for each value";
  let seen = List.fold_left (List.map2 (fun some n -> some || less zero n)) (List.map (fun _ -> false) names) rows in
  need (List.for_all Fun.id seen && count * size <= 1_000_000) "an unseen category, or too many";
  let all = List.map sum rows :: rows in
  if not (given a "limits") then
    match List.map (fun row -> Hull [ row ]) all with
    | law :: inner -> (values, law, inner, "of its counts, about the secret")
    | [] -> raise (Stop (2, "a row for each value"))
  else begin
    let limit value counts names =
      let t = table value in
      let made key = List.mem_assoc key t in
      need (not (made "sets" || made "factors" || made "secret")) "a limit is not made of other sets";
      let found = known judge t names in
      let holds = match found.holds with
        | Some holds -> holds
        | None -> raise (Stop (3, "a hull among limits is beyond this program; mechdesign verify --machine-checked decides it"))
      in
      let own = match List.find_opt (function _, Json.Table _ -> true | _ -> false) t with Some (_, Json.Table own) -> own | _ -> t in
      let same = function Json.List found -> List.compare_lengths found counts = 0 && List.for_all2 equal (List.map integer found) counts | _ -> false in
      need (holds (shares counts) && ((not (given own "counts")) || same (get own "counts"))) "a limit is about other counts";
      found
    in
    let limits = list_of (get a "limits") in
    need (List.compare_lengths limits all = 0) "there is a set for the secret, and one for each value";
    let names_of = values :: List.map (fun _ -> names) rows in
    let found = List.map2 (fun (value, counts) names -> limit value counts names) (List.combine limits all) names_of in
    let deltas = List.filter (fun s -> s.delta <> "") found in
    let taken = List.length (List.filter (fun s -> s.given) deltas) in
    let told =
      if deltas = [] then "" else Printf.sprintf "; of the deltas of %d sets, %d are taken as given" (List.length deltas) taken
    in
    match List.map (fun s -> s.term) found with
    | law :: inner -> (values, law, inner, "within its limits of the counts, about the secret" ^ told)
    | [] -> raise (Stop (2, "there is a set for the secret"))
  end

(* epsilon, lower and cap *)

let epsilon_of value =
  let s = strip (text value) in
  let size = String.length s in
  let inside = if size > 5 && String.sub s 0 4 = "log(" && s.[size - 1] = ')' then Some (String.sub s 4 (size - 5)) else None in
  let x = rational (Option.value inside ~default:s) in
  match inside with
  | Some _ ->
    need (le one x && le x (whole (ten 304))) "epsilon is from 0 to 700";
    Log (Integers.positive x.over, Integers.positive x.under)
  | None ->
    need (le none x && le x (whole (z 700))) "epsilon is from 0 to 700";
    let a, b = ratio_of x in
    Nats (a, b)

(* A promise about the data, or about a secret. *)
type promised = Of_data of file | Of_secret of secret_file
(* Where it may break: at inputs, or at values of the secret. *)
(* Of a promise about the data, also how many deltas are taken as given. *)
type t = { file : promised; rows : Integers.z list list; bits : int; places : string list; reports : string list;
           promise : string; taken : int }

(* Whether a file is of a kind, whatever its version is. *)
let is_of kind t =
  match List.assoc_opt "schema" t with
  | Some (Json.Text s) -> String.starts_with ~prefix:("mechdesign/" ^ kind ^ "/") s
  | _ -> false

(* Files of other kinds are refused by name. *)
let check_kind t =
  need (not (is_of "windows" t))
    "the file holds windows, which this program does not decide; mechdesign verify --machine-checked does";
  need (not (is_of "prefix-windows" t)) "the file holds windows of prefixes, which this program does not decide";
  need (not (is_of "records" t)) "the file holds views of records, and a file of one mechanism is wanted here"

(* The judge of deltas, which may leave all undecided, is that of Samples. *)
let of_json ?(judge = Samples.verdict) content =
  let whole = table content in
  check_kind whole;
  let a = fields "schema inputs outputs bits numerators guarantee" ~others:"optimality provenance table" whole in
  let rows = List.map (fun row -> List.map integer (list_of row)) (list_of (get a "numerators")) in
  let names = labels (get a "inputs") in
  let reports = labels (get a "outputs") in
  let guarantee = table (get a "guarantee") in
  need (List.mem_assoc "epsilon" guarantee) "there is no epsilon";
  ignore (text (get guarantee "epsilon"));
  let sides = List.length (List.filter (given guarantee) [ "lower"; "cap"; "maximal_leakage" ]) in
  let bits = match integer (get a "bits") with b when at_most unit b && at_most b (z 52) -> int_of_string (Integers.to_digits b)
             | _ -> raise (Stop (2, "bits are from 1 to 52")) in
  let limit = power (z 2) 63 in
  need (names <> [] && List.length rows = List.length names) "a row for each input";
  need (List.for_all (fun row -> List.length row = List.length reports) rows) "a numerator for each output";
  need (List.for_all (List.for_all (fun n -> less n limit && less (Z.opp limit) n)) rows) "numerators are wrong";
  need (sides < 2 && get a "schema" = Json.Text (Printf.sprintf "mechdesign/mechanism/%d" (1 + sides)))
    "a wrong schema for this guarantee";
  let own = List.filter (fun (key, _) -> not (List.mem key [ "epsilon"; "lower"; "cap"; "maximal_leakage" ])) guarantee in
  let is_secret = List.filter (fun key -> List.mem_assoc key own) ("center" :: "counts" :: marks) = [ "secret" ] in
  let about, places, words, taken =
    if is_secret then let values, law, inner, words = secret judge own names in (Either.Right (law, inner), values, words, 0)
    else let set = known judge own names in (Either.Left set.term, names, set.words ^ told set, set.taken)
  in
  let eps = epsilon_of (get guarantee "epsilon") in
  let side key = if given guarantee key then Some (epsilon_of (get guarantee key)) else None in
  let lower = side "lower" and cap = side "cap" and average = side "maximal_leakage" in
  let one = power (z 2) bits in
  let right row = List.for_all (at_most zero) row && equal (sum row) one in
  let seen = List.fold_left (List.map2 (fun some n -> some || less zero n)) (List.map (fun _ -> false) reports) rows in
  need (reports <> [] && List.for_all right rows && List.for_all Fun.id seen) "a wrong row, or column";
  let high = nat (List.length names) and wide = nat (List.length reports) in
  let file =
    match about with
    | Either.Left set -> Of_data { inputs = high; outputs = wide; bits = nat bits; rows; eps; lower; cap; average; set }
    | Either.Right (secret_law, given) ->
      Of_secret { data_inputs = high; data_outputs = wide; data_bits = nat bits; data_rows = rows; secret_eps = eps;
                  secret_lower = lower; data_cap = cap; data_average = average; secret_law; given }
  in
  let spaced = String.map (fun c -> if c = '_' then ' ' else c) in
  let written key = if given guarantee key then Printf.sprintf " and %s = %s" (spaced key) (line (text (get guarantee key))) else "" in
  let constraints = if given a "table" then "; constraints of a table are not looked at" else "" in
  let promise =
    Printf.sprintf "epsilon = %s%s%s%s at every prior %s%s" (line (text (get guarantee "epsilon"))) (written "lower")
      (written "cap") (written "maximal_leakage") words constraints
  in
  { file; rows; bits; places; reports; promise; taken }
