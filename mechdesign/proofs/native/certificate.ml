(* A certificate: the definitions and proofs letter by letter, and the term, which is read back. *)
open Checker
open Number

(* The proofs as modules of one file, as these sources have them. *)

let after prefix line =
  let n = String.length prefix in
  if String.length line >= n && String.sub line 0 n = prefix then Some (String.sub line n (String.length line - n)) else None

let from_coq = after "From Coq Require Import "
let lines_of = String.split_on_char '\n'

let in_one_file line =
  match (from_coq line, after "Require Import " line) with
  | Some names, _ | None, Some names -> "Import " ^ names
  | None, None -> line

let modules sources =
  let bare names = String.sub names 0 (String.length names - 1) in
  let names line = match from_coq line with Some names -> words (bare names) | None -> []
  and once found name = if List.mem name found then found else name :: found in
  let asked = List.concat_map (fun (_, source) -> List.concat_map names (lines_of source)) sources in
  let body (name, source) =
    Printf.sprintf "Module %s.\n%sEnd %s.\n" name (String.concat "\n" (List.map in_one_file (lines_of source))) name
  in
  let libraries = String.concat " " (List.rev (List.fold_left once [] asked)) in
  String.concat "\n" (Printf.sprintf "From Coq Require %s.\n" libraries :: List.map body sources)

let head = "(* What a mechanism file promises, proved. The file has the SHA-256\n   "
let rest_of_head ~of_secret =
  Printf.sprintf ".\n   Read the module%s; coqc checks the rest, and prints the integers and the axioms. *)\n"
    (if of_secret then "s Spec and SpecSecret" else " Spec")
let opening ~of_secret =
  Printf.sprintf
    "\nModule Certificate.\nImport List ZArith %s.\nImport ListNotations.\nOpen Scope Z_scope.\nDefinition the_file : %sfile :=\n  "
    (if of_secret then "Spec SpecSecret Secret" else "Spec Check") (if of_secret then "secret_" else "")
let closing ~of_secret =
  let kind = if of_secret then "secret_" else "" in
  Printf.sprintf
    ".\nTheorem the_promise_holds : %spromise the_file.\nProof. apply %scheck_correct. vm_cast_no_check (eq_refl true). Qed.\n"
    kind kind
  ^ "Set Printing Depth 1000000.\nSet Printing Width 1000.\nPrint the_file.\nPrint Assumptions the_promise_holds.\n"
  ^ "End Certificate.\n"

(* The second theorem, about all samples or about the counts: where # stands, numbers are read, and where ? stands, ranges
   of counts. *)
let before_samples =
  "\nModule Samples.\nImport Reals List ZArith Spec Limits Learnt Observed Certificate.\nImport ListNotations.\n"
  ^ "Open Scope Z_scope.\nTheorem the_samples_support_the_radius : learnt"
let about_samples ~of_counts =
  (if of_counts then "_from_counts the_file" else " the_file") ^ " (Z.to_nat #) (ratio # #).\nProof. apply ("
  ^ (if of_counts then "counts_supported" else "samples_supported")
  ^ " the_file # (#, #%positive) [?]). vm_cast_no_check (eq_refl true). Qed.\n"
  ^ "Set Printing Depth 1000000.\nSet Printing Width 1000.\n"
  ^ "Check the_samples_support_the_radius.\nPrint Assumptions the_samples_support_the_radius.\nEnd Samples.\n"

let edited number =
  need false ~status:1
    (Printf.sprintf
       "the certificate is not that of these proofs from its line %d on: it was edited, or written by another version"
       number)

(* The SHA-256 that a certificate names. *)
let named text = String.sub text (String.length head) 64

(* The text of the term, and the numbers of the second theorem if there is one, after a check that all around it is as it is written by these proofs. *)
let term_in text =
  let place = ref 0 and line = ref 1 in
  let follow wanted =
    String.iter
      (fun c ->
        if !place >= String.length text || text.[!place] <> c then edited !line;
        if c = '\n' then incr line;
        incr place)
      wanted
  in
  follow head;
  for _ = 1 to 64 do
    match if !place < String.length text then text.[!place] else ' ' with
    | '0' .. '9' | 'a' .. 'f' -> incr place
    | _ -> edited !line
  done;
  let of_secret =
    let mark = ".\n   Read the modules" in
    let n = String.length mark in
    String.length text >= !place + n && String.sub text !place n = mark
  in
  let library = if of_secret then Library.sources @ Library.of_secrets else Library.sources in
  follow (rest_of_head ~of_secret ^ modules library ^ opening ~of_secret);
  let start = !place in
  (match String.index_from_opt text start '.' with Some stop -> place := stop | None -> edited !line);
  let term = String.sub text start (!place - start) in
  String.iter (fun c -> if c = '\n' then incr line) term;
  follow (closing ~of_secret);
  let run test =
    let start = !place in
    while !place < String.length text && test text.[!place] do incr place done;
    if !place = start then edited !line;
    String.sub text start (!place - start)
  in
  let digit c = '0' <= c && c <= '9' in
  let range c = digit c || c = ' ' || c = ';' || String.contains "RiseFallRareGap" c in
  let numbers = ref [] and of_counts = ref false in
  if !place <> String.length text && not of_secret then begin
    follow ("\n" ^ modules Library.of_samples ^ before_samples);
    of_counts := !place < String.length text && text.[!place] = '_';
    String.iter
      (function
        | '#' -> numbers := run digit :: !numbers
        | '?' -> ignore (run range)
        | c -> follow (String.make 1 c))
      (about_samples ~of_counts:!of_counts)
  end;
  if !place <> String.length text then edited !line;
  (term, match List.rev !numbers with m :: a :: b :: _ -> Some (!of_counts, m, a, b) | _ -> None)

(* The term: words, whole numbers and brackets, and nothing else. *)

type token = Word of string | Whole of string | Mark of char

let tokens text =
  let within first last c = first <= c && c <= last in
  let digit = within '0' '9' in
  let letter c = within 'a' 'z' c || within 'A' 'Z' c in
  let rec run test i = if i < String.length text && test text.[i] then run test (i + 1) else i in
  let rec read i found =
    if i = String.length text then List.rev found
    else
      let part stop = String.sub text i (stop - i) in
      match text.[i] with
      | ' ' | '\n' -> read (i + 1) found
      | c when digit c -> let stop = run digit i in read stop (Whole (part stop) :: found)
      | '-' -> let stop = run digit (i + 1) in need (stop > i + 1) "a sign without a number"; read stop (Whole (part stop) :: found)
      | c when letter c -> let stop = run letter i in read stop (Word (part stop) :: found)
      | ('[' | ']' | '(' | ')' | ';' | ',') as c -> read (i + 1) (Mark c :: found)
      | _ -> raise (Stop (2, "the term holds what no term of a file holds"))
  in
  read 0 []

let file_of_term text =
  let left = ref (tokens text) in
  let wrong () = raise (Stop (2, "the certificate holds no term of a file")) in
  let next () = match !left with token :: rest -> left := rest; token | [] -> wrong () in
  let mark c = if next () <> Mark c then wrong () in
  let at c = match !left with token :: _ -> token = Mark c | [] -> false in
  let bracketed read = if at '(' then (mark '('; let found = read () in mark ')'; found) else read () in
  let integer () = bracketed (fun () -> match next () with Whole s -> Integers.of_digits s | _ -> wrong ()) in
  let natural () =
    match next () with Whole s when String.length s <= 9 && s.[0] <> '-' -> nat (int_of_string s) | _ -> wrong ()
  in
  let above_0 () = let n = integer () in if less zero n then Integers.positive n else wrong () in
  let list read =
    mark '[';
    let rec more found = if at ';' then (mark ';'; more (read () :: found)) else List.rev found in
    let found = if at ']' then [] else more [ read () ] in
    mark ']';
    found
  in
  let integers () = list integer in
  let pair () = mark '('; let a = integer () in mark ','; let b = integer () in mark ')'; (a, b) in
  let epsilon () =
    bracketed (fun () ->
      match next () with
      | Word "Nats" -> let a = integer () in Nats (a, above_0 ())
      | Word "Log" -> let a = above_0 () in Log (a, above_0 ())
      | _ -> wrong ())
  in
  let optional () =
    bracketed (fun () -> match next () with Word "None" -> None | Word "Some" -> Some (epsilon ()) | _ -> wrong ())
  in
  let rec priors () =
    bracketed (fun () ->
      match next () with
      | Word "Ball" -> let counts = integers () in let r = integer () in Ball (counts, r, above_0 ())
      | Word "Hull" -> Hull (list integers)
      | Word "Box" -> let low = integers () in let high = integers () in Box (low, high, above_0 ())
      | Word "Events" -> let counts = integers () in let lines = list pair in Events (counts, lines, above_0 ())
      | Word "Both" -> let s = priors () in Both (s, priors ())
      | Word "Either" -> let s = priors () in Either (s, priors ())
      | Word "Pairs" -> let m = natural () in let s = priors () in let n = natural () in Pairs (m, s, n, priors ())
      | _ -> wrong ())
  in
  let of_secret = match next () with Word "File" -> false | Word "SecretFile" -> true | _ -> wrong () in
  let inputs = natural () in
  let outputs = natural () in
  let bits = natural () in
  let rows = list integers in
  let eps = epsilon () in
  let lower = optional () in
  let cap = optional () in
  let average = optional () in
  let set = priors () in
  let found =
    if of_secret then
      Mechanism_file.Of_secret { data_inputs = inputs; data_outputs = outputs; data_bits = bits; data_rows = rows; secret_eps = eps;
                                 secret_lower = lower; data_cap = cap; data_average = average; secret_law = set;
                                 given = list priors }
    else Mechanism_file.Of_data { inputs; outputs; bits; rows; eps; lower; cap; average; set }
  in
  if !left <> [] then wrong ();
  found

(* Canonical JSON of a term: numbers in lowest terms, weights as probabilities, no spaces, keys in order. *)

let quoted s = "\"" ^ s ^ "\""
let array items = "[" ^ String.concat "," items ^ "]"
let rationals numbers = array (List.map (fun q -> quoted (shown q)) numbers)

let rec set_parts = function
  | Ball (counts, r, d) ->
    [ quoted "ball"; rationals (shares counts); quoted (shown (make r (Integers.of_positive d))) ]
  | Hull priors -> [ quoted "hull"; array (List.map (fun w -> rationals (shares w)) priors) ]
  | Box (low, high, d) -> quoted "box" :: List.map (fun side -> rationals (over d side)) [ low; high ]
  | Events (counts, lines, d) ->
    let line (a, g) = rationals (over d [ a; g ]) in
    [ quoted "events"; rationals (shares counts); array (List.map line lines) ]
  | Pairs (m, s, n, t) ->
    [ quoted "pairs"; string_of_int (int_of m); set_json s; string_of_int (int_of n); set_json t ]
  | Both (s, t) -> quoted "both" :: set_json s :: (match t with Both _ -> List.tl (set_parts t) | _ -> [ set_json t ])
  | Either (s, t) -> quoted "either" :: set_json s :: (match t with Either _ -> List.tl (set_parts t) | _ -> [ set_json t ])

and set_json s = array (set_parts s)
and over d numbers = List.map (fun a -> make a (Integers.of_positive d)) numbers

(* The parts of both kinds of files. *)
type parts = { high : nat; wide : nat; bits_ : nat; lines : Integers.z list list; sides : epsilon option list; about : string }
let parts = function
  | Mechanism_file.Of_data f ->
    { high = f.inputs; wide = f.outputs; bits_ = f.bits; lines = f.rows; sides = [ f.cap; Some f.eps; f.lower; f.average ];
      about = "\"set\":" ^ set_json f.set }
  | Mechanism_file.Of_secret f ->
    { high = f.data_inputs; wide = f.data_outputs; bits_ = f.data_bits; lines = f.data_rows;
      sides = [ f.data_cap; Some f.secret_eps; f.secret_lower; f.data_average ];
      about = "\"secret\":" ^ array [ set_json f.secret_law; array (List.map set_json f.given) ] }

let canonical file =
  let file = parts file in
  let side = function
    | Nats (a, b) -> array [ quoted "nats"; quoted (shown (make a (Integers.of_positive b))) ]
    | Log (a, b) -> array [ quoted "log"; quoted (shown (make (Integers.of_positive a) (Integers.of_positive b))) ]
  in
  let perhaps = function None -> "null" | Some e -> side e in
  let rows = array (List.map (fun row -> array (List.map Integers.to_digits row)) file.lines) in
  let sized = List.for_all (fun row -> List.length row = int_of file.wide) file.lines in
  need (sized && List.length file.lines = int_of file.high) "the rows are not as many or as long as the term says";
  let side_of key value = quoted key ^ ":" ^ perhaps value in
  let sides = List.map2 side_of [ "cap"; "epsilon"; "lower"; "maximal_leakage" ] file.sides in
  Printf.sprintf "{\"bits\":%d,%s,\"numerators\":%s,%s}" (int_of file.bits_) (String.concat "," sides) rows file.about
