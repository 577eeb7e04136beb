(* A file of views of whole records: the term of Coq that it stands for, and what is asked of it beside the proved test.

   The test is about the views one by one, whatever records there are. So a reader has to see that labels are those of
   records, that views which share attributes have a law of these in common, and that epsilon and delta of the whole are
   those of the views. *)
open Checker
open Number
open Mechanism_file

(* Between the labels of several attributes in the label of their combination. *)
let joint = " & "

let split s =
  let n = String.length joint and size = String.length s in
  let rec from start i found =
    if i + n > size then List.rev (String.sub s start (size - start) :: found)
    else if String.sub s i n = joint then from (i + n) (i + n) (String.sub s start (i - start) :: found)
    else from start (i + 1) found
  in
  from 0 0 []

let is_in l x = List.mem x l
let distinct l = List.sort_uniq compare l
let no_twice l = List.compare_lengths (distinct l) l = 0

(* A view: its own set as the file writes it, the labels of its attributes in each cell, and the merged one. *)
type view = { name : string; attributes : string list; weight : Integers.z; own : table; labels : string list;
              cells : string list list; merged : string option; mechanism : Mechanism_file.t; file : file; every : bool;
              delta : Number.t option; taken : int }

(* Deltas. *)

let sum_of_deltas found =
  let asked = List.filter_map (fun (every, delta) -> if every then None else Some delta) found in
  if asked = [] || List.mem None asked then None
  else
    let total = sum_of (List.filter_map Fun.id asked) in
    Some (if le total one then total else one)

let stated_by own =
  let limits = match List.find_map (function _, Json.Table t -> Some t | _ -> None) own with Some t -> t | None -> own in
  if given limits "delta" then Some (number (get limits "delta")) else None

(* The least mean of a set: a whole number over another. *)
let least_mean own names =
  let trusted _ _ _ _ _ = Samples.Proved and size = List.length names in
  let d, least = bound (nat size) (known trusted own names).term in
  fun column -> make (least column) d

let is_ball own = List.mem_assoc "radius" own
let but_at chosen all = List.map (fun x -> if chosen x then zero else unit) all

(* Whether a set holds all priors, and its delta if it has one. *)
let rec delta_of own names =
  if List.mem_assoc "sets" own then begin
    let found = List.map (fun t -> delta_of (table t) names) (list_of (get own "sets")) in
    let covers = if given own "cover" then [ delta_of (table (get own "cover")) names ] else found in
    (List.exists fst covers, sum_of_deltas found)
  end
  else if List.mem_assoc "factors" own then begin
    let factor t = delta_of (List.remove_assoc "inputs" t) (Mechanism_file.labels (get t "inputs")) in
    let found = List.map (fun t -> factor (table t)) (list_of (get own "factors")) in
    (List.for_all fst found, sum_of_deltas found)
  end
  else
    let every =
      if is_ball own then equal (number (get own "radius")).over (z 2) && equal (number (get own "radius")).under unit
      else
        let least = least_mean own names in
        List.for_all (fun x -> equal (least (but_at (( = ) x) names)).over zero) names
    in
    (every, stated_by own)

(* A view that merges combinations has chosen them by its counts: delta is that of all combinations apart. *)

let most_apart = 10_000

let check_apart own cells size =
  let columns = List.mapi (fun k _ -> List.map (fun labels -> List.nth labels k) cells) (List.hd cells) in
  let others = List.map (fun column -> List.length (distinct column) - 1) columns in
  let all = if is_in others 0 then 0 else List.fold_left (fun n k -> min (n * k) (most_apart + 1)) 1 others in
  let apart = max all size in
  need ~status:3 (apart <= most_apart) "a view that merges so many combinations is beyond this program; mechdesign verify decides it";
  let counts = counts_of (get own "counts") @ List.init (apart - size) (fun _ -> zero) in
  let bound = match get own "bound" with Json.Text bound -> bound | _ -> "weissman" in
  let samples = int_of_string (Integers.to_digits (sum counts)) in
  let verdict = Samples.verdict counts (number (get own "radius")) samples (number (get own "delta")) bound in
  need ~status:1 (verdict <> Samples.False)
    "delta is false: the radius is not that of all combinations, of which some are merged";
  Bool.to_int (verdict = Samples.Undecided)

(* Reading. *)

let beyond what = raise (Stop (3, what ^ " is beyond this program; mechdesign verify decides it"))
let promised = [ "epsilon"; "lower"; "cap"; "maximal_leakage" ]

let view_of part =
  let a = fields "name attributes weight mechanism" ~others:"merged" (table part) in
  let name = List.hd (Mechanism_file.labels (Json.List [ get a "name" ])) in
  let attributes = Mechanism_file.labels (get a "attributes") in
  let weight = integer (get a "weight") in
  need (attributes <> [] && less zero weight) "a view needs attributes and a weight";
  let content = get a "mechanism" in
  (match content with
   | Json.Table t when get t "schema" = Json.Text "mechdesign/windows/1" -> beyond "a view of windows"
   | _ -> ());
  let mechanism = of_json content in
  let guarantee = table (get (table content) "guarantee") in
  let own = List.filter (fun (key, _) -> not (is_in promised key)) guarantee in
  let file = match mechanism.file with
    | Of_data file -> file
    | Of_secret _ -> beyond "a promise of views about a secret" in
  let labels = mechanism.places and grouped = List.length attributes > 1 in
  let merged = if given a "merged" then Some (text (get a "merged")) else None in
  need (Option.fold ~none:true ~some:(fun label -> grouped && is_in labels label) merged)
    "what is merged is an input of a group";
  let cell label = if grouped then split label else [ label ] in
  let cells = List.map cell labels in
  need (List.for_all (fun labels -> List.compare_lengths labels attributes = 0) cells)
    "a label of a view is not of so many attributes";
  let check_alone label =
    let alone place part = List.length (List.filter (fun labels -> List.nth labels place = part) cells) = 1 in
    need (List.for_all Fun.id (List.mapi alone (cell label))) "the merged combination shares a label with another"
  in
  Option.iter check_alone merged;
  let judged = merged <> None && List.mem_assoc "counts" own && given own "delta" in
  let more = if judged then check_apart own cells (List.length labels) else 0 in
  if grouped then
    List.iter
      (fun part ->
        ignore (Mechanism_file.labels (Json.List [ Json.Text part ]));
        need (split (" " ^ part ^ " ") = [ " " ^ part ^ " " ]) "a label could be read as others")
      (distinct (List.concat cells));
  let every, delta = delta_of own labels in
  { name; attributes; weight; own; labels; cells; merged; mechanism; file; every; delta; taken = mechanism.taken + more }

(* Shared tables. *)

let shared one other = List.filter (is_in other.attributes) one.attributes
let place name view =
  let rec at i = function first :: rest -> if first = name then i else at (i + 1) rest | [] -> raise Not_found in
  at 0 view.attributes
let cells_of both view =
  let places = List.map (fun name -> place name view) both in
  List.map (fun labels -> List.map (List.nth labels) places) view.cells

let rec pairs = function [] -> [] | one :: rest -> List.map (fun other -> (one, other)) rest @ pairs rest

(* Estimates of what two l1 balls share are no farther apart than both radii. *)
let check_estimates views =
  let check (one, other) =
    match shared one other with
    | [] -> ()
    | both ->
      let away = Hashtbl.create 64 in
      let put sign view =
        let masses = shares (estimate view.own) in
        List.iter2
          (fun cell mass ->
            let before = Option.value (Hashtbl.find_opt away cell) ~default:none in
            Hashtbl.replace away cell (sign before mass))
          (cells_of both view) masses
      in
      put add one;
      put sub other;
      let radius view = number (get view.own "radius") in
      let apart = Hashtbl.fold (fun _ mass total -> add total (magnitude mass)) away none in
      need ~status:1 (le apart (add (radius one) (radius other)))
        (Printf.sprintf "no law has the tables of the views %s and %s of what they share" (line one.name) (line other.name))
  in
  List.iter check (pairs (List.filter (fun view -> is_ball view.own) views))

(* Of other sets single cells are compared: no view has one less often than another. *)
let check_cells views =
  let tables = distinct (List.map (fun (one, other) -> List.sort compare (shared one other)) (pairs views)) in
  let check both =
    let own = List.filter (fun view -> List.for_all (is_in view.attributes) both) views in
    if not (List.for_all (fun view -> is_ball view.own) own) then begin
      let told = List.map (fun view -> (cells_of both view, least_mean view.own view.labels)) own in
      let limits cell (cells, least) =
        (least (List.map (fun each -> if each = cell then unit else zero) cells), sub one (least (but_at (( = ) cell) cells)))
      in
      let agree cell =
        let found = List.map (limits cell) told in
        List.for_all (fun (low, _) -> List.for_all (fun (_, high) -> le low high) found) found
      in
      need ~status:1 (List.for_all agree (distinct (List.concat_map fst told)))
        ("no law has what all views say of " ^ line (String.concat " and " both))
    end
  in
  List.iter check (List.filter (( <> ) []) tables)

(* Bins of numbers: the shortest decimals that are read as their edges, as Python prints them. *)

let printed x =
  let rec shortest digits =
    let s = Printf.sprintf "%.*e" (digits - 1) x in
    if digits = 17 || float_of_string s = x then s else shortest (digits + 1)
  in
  let s = shortest 1 in
  let mantissa, exponent = split_at s (( = ) 'e') in
  let e = int_of_string (let e = Option.get exponent in if e.[0] = '+' then String.sub e 1 (String.length e - 1) else e) in
  let sign, mantissa = if x < 0. then ("-", String.sub mantissa 1 (String.length mantissa - 1)) else ("", mantissa) in
  let before, after = split_at mantissa (( = ) '.') in
  let digits = before ^ Option.value after ~default:"" in
  let size = String.length digits in
  let rec used n = if n > 1 && digits.[n - 1] = '0' then used (n - 1) else n in
  let digits = String.sub digits 0 (used size) in
  let size = String.length digits in
  let part i n = String.sub digits i n in
  sign
  ^
  if e < -4 || e >= 16 then
    Printf.sprintf "%s%se%c%02d" (part 0 1) (if size > 1 then "." ^ part 1 (size - 1) else "") (if e < 0 then '-' else '+') (abs e)
  else if e < 0 then "0." ^ String.make (-e - 1) '0' ^ digits
  else if size <= e + 1 then digits ^ String.make (e + 1 - size) '0'
  else part 0 (e + 1) ^ "." ^ part (e + 1) (size - e - 1)

let check_bins bins views =
  let check (name, value) =
    let edge = function Json.Number s -> float_of_string s +. 0. | _ -> raise (Stop (2, "edges of bins are finite numbers")) in
    let edges = List.map edge (list_of value) in
    let finite x = Float.is_finite x in
    need (edges <> [] && List.compare_length_with edges 9_999 <= 0 && List.for_all finite edges)
      "edges of bins are finite numbers";
    let rec between = function
      | low :: (high :: _ as rest) ->
        need (low < high) "edges of bins increase";
        (printed low ^ " to under " ^ printed high) :: between rest
      | [ last ] -> [ printed last ^ " or more" ]
      | [] -> []
    in
    let made = ("under " ^ printed (List.hd edges)) :: between edges in
    let shown view = if is_in view.attributes name then List.map List.hd (cells_of [ name ] view) else [] in
    let known = List.concat_map shown views in
    need (List.for_all (is_in known) made) "no view has the labels of the bins"
  in
  List.iter check bins

(* Whether the promise of a file holds: words for it. *)

let most_records = 10_000_000

let check_views views bits =
  need (no_twice (List.map (fun view -> view.name) views)) "two views have one name";
  need (no_twice (List.map (fun view -> List.sort compare view.attributes) views)) "two views show the same attributes";
  need (equal (sum (List.map (fun view -> view.weight) views)) (power (z 2) bits)) "the weights do not sum to 2^weight_bits";
  let alone view =
    view.merged = None || List.for_all (fun other -> other.name = view.name || shared view other = []) views
  in
  need (List.for_all alone views) "a view that merges combinations shares an attribute with another";
  let labels = Hashtbl.create 64 in
  let read view =
    List.iter
      (fun name ->
        let before = Option.value (Hashtbl.find_opt labels name) ~default:[] in
        Hashtbl.replace labels name (distinct (before @ List.map List.hd (cells_of [ name ] view))))
      view.attributes
  in
  List.iter read views;
  let size view =
    List.fold_left (fun n name -> min (n * List.length (Hashtbl.find labels name)) (most_records + 1)) 1 view.attributes
  in
  need (List.for_all (fun view -> size view <= most_records) views) "a view is too large"

let check_delta a views =
  let total = sum_of_deltas (List.map (fun view -> (view.every, view.delta)) views) in
  let stated = if given a "delta" then Some (rational (text (get a "delta"))) else None in
  need (Option.fold ~none:true ~some:(fun delta -> lt delta one) total) "the deltas of the views sum to 1 or more";
  need (Option.fold ~none:true ~some:(fun delta -> le none delta && lt delta one) stated) "delta is from 0 to 1";
  let right = match (stated, total) with Some stated, Some total -> le total stated | None, None -> true | _ -> false in
  need ~status:1 right "delta is that of the views"

let refusal file views =
  match records_refused file with
  | (i, y) :: rest ->
    let view = List.nth views (int_of i) in
    let whose = Printf.sprintf "the view '%s'" (line view.name) in
    let reports = view.mechanism.reports in
    let broken =
      if int_of y >= List.length reports then "that of " ^ whose
      else Printf.sprintf "that of output '%s' of %s" (line (List.nth reports (int_of y))) whose
    in
    let others = if rest = [] then "" else Printf.sprintf ", and of %d more" (List.length rest) in
    raise (Stop (1, Printf.sprintf "the guarantee is false: %s%s" broken others))
  | [] -> raise (Stop (3, "the proved test says no, and names no view that breaks the guarantee; report this file"))

let decided content =
  let a = fields "schema epsilon weight_bits parts" ~others:"delta bins optimality secret" content in
  need (get a "schema" = Json.Text "mechdesign/records/1") "the schema is unknown";
  let bits = integer (get a "weight_bits") and parts = list_of (get a "parts") in
  need (at_most unit bits && at_most bits (z 52) && parts <> [] && List.compare_length_with parts 1000 <= 0)
    "wrong weight_bits, or number of views";
  let bits = int_of_string (Integers.to_digits bits) in
  let views = List.map view_of parts in
  check_views views bits;
  need (not (given a "secret")) "the secret is that of the views";
  let told = List.filter (fun view -> not view.every) views in
  check_estimates told;
  check_cells told;
  if given a "bins" then check_bins (table (get a "bins")) views;
  let eps = epsilon_of (get a "epsilon") in
  let e epsilon = let over, under = below_exp epsilon in make over under in
  need ~status:1 (List.for_all (fun view -> le (e view.file.eps) (e eps)) views) "epsilon is below that of a view";
  check_delta a views;
  let file = { record_eps = eps; record_lower = None; weight_bits = nat bits; parts = List.map (fun view -> (view.weight, view.file)) views } in
  if not (records_check_by_columns file) then refusal file views;
  let taken = List.length (List.filter (fun view -> view.taken > 0) views) in
  Printf.sprintf
    "epsilon = %s about the whole record, which reports one of %d views, for every joint law whose views lie in their sets%s%s"
    (line (text (get a "epsilon")))
    (List.length views)
    (if given a "delta" then "; delta = " ^ line (text (get a "delta")) else "")
    (if taken > 0 then Printf.sprintf "; of the deltas of %d of them, some are taken as given" taken else "")
