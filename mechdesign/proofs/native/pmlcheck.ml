(* The promise of a file, decided by the tests that are proved in Check.v, Columns.v, Secret.v and RecordsColumns.v. *)
open Checker
open Number

let usage =
  "pmlcheck FILE.json: is the promise of a mechanism file true, or of views of records? Status 0: guaranteed; 1: false; 2: malformed; 3: undecided.\n\
   pmlcheck --read-back FILE.v FILE.json: is this the certificate of this file? (coqc FILE.v checks its proof.)\n\
   pmlcheck --canonical FILE: print the integers and the promise of a mechanism file, or of a certificate, as JSON.\n\
   pmlcheck --version: print whose integers it computes with."

let content path =
  let channel = open_in_bin path in
  let size = in_channel_length channel in
  if size > Json.most_bytes then Json.malformed "the file is too long";
  let text = really_input_string channel size in
  close_in channel;
  text

let parsed path =
  let text = content path in
  need ~status:3 (not (String.length text > 1 && String.sub text 0 2 = "PK"))
    "an NPZ file is beyond this program: give the JSON";
  Json.parse text

let is_certificate path = Filename.check_suffix path ".v"
(* What the file says, whether its delta is true or not. *)
let said path = (Mechanism_file.of_json ~judge:(fun _ _ _ _ _ -> Samples.Undecided) (parsed path)).file

let term path =
  if is_certificate path then Certificate.(file_of_term (fst (term_in (content path)))) else said path

let decided_mechanism content =
  let found = Mechanism_file.of_json content in
  let holds, refusals, place =
    match found.file with
    | Mechanism_file.Of_data f -> (check_by_columns f, (fun () -> refused f), "input")
    | Mechanism_file.Of_secret f -> (secret_check f, (fun () -> secret_refused f), "secret value")
  in
  if not holds then begin
    match refusals () with
    | (y, x) :: rest ->
      let label names n = line (List.nth names (int_of n)) in
      let others = if rest = [] then "" else Printf.sprintf ", and of %d more" (List.length rest) in
      let broken =
        if int_of y = List.length found.reports then "the maximal leakage of all outputs together"
        else if int_of x = List.length found.places then Printf.sprintf "the cap of output '%s'" (label found.reports y)
        else Printf.sprintf "that of output '%s' at the %s '%s'" (label found.reports y) place (label found.places x)
      in
      need false ~status:1 (Printf.sprintf "the guarantee is false: %s%s" broken others)
    | [] -> need false ~status:3 "the proved test says no, and names no output that breaks the guarantee; report this file"
  end;
  "guaranteed: " ^ found.promise

let decided path =
  match parsed path with
  | Json.Table t when Mechanism_file.is_of "records" t -> "guaranteed: " ^ Records_file.decided t
  | content -> decided_mechanism content

let read_back proof file =
  let wanted = Certificate.canonical (said file) in
  need ~status:1 (Certificate.canonical (term proof) = wanted)
    "the certificate is about another file: its term has other integers, another promise or another set";
  let named = Certificate.named (content proof) and own = Sha256.hex (content file) in
  need ~status:1 (named = own)
    (Printf.sprintf "the certificate is about another file: it names the SHA-256 %s, and this one has %s" named own);
  let second =
    match snd (Certificate.term_in (content proof)) with
    | Some (of_counts, m, a, b) ->
      let whole = Mechanism_file.(table (get (table (Json.parse (content file))) "guarantee")) in
      let samples = Mechanism_file.get whole "samples" and delta = Mechanism_file.get whole "delta" in
      let proved () = shown (make (Integers.of_digits a) (Integers.of_digits b)) in
      need ~status:1 (samples = Json.Number m && delta <> Json.Null && shown (number delta) = proved ())
        "the certificate is about another file: it has other samples, or another delta";
      Printf.sprintf ", also that %s%s samples support the radius with delta = %s/%s" (if of_counts then "the counts of " else "") m a b
    | None -> ""
  in
  Printf.sprintf "%s is the certificate of %s, whose labels are not in it; coqc checks its proof%s" (line proof) (line file) second

let answer = function
  | [ "--read-back"; proof; file ] when is_certificate proof -> read_back proof file
  | [ "--canonical"; path ] -> Certificate.canonical (term path)
  | [ "--version" ] -> "integers: " ^ Integers.name
  | [ path ] when path <> "" && path.[0] <> '-' -> decided path
  | _ -> raise (Stop (2, usage))

let () =
  let told, status =
    try (answer (List.tl (Array.to_list Sys.argv)), 0) with
    | Stop (status, words) -> (words, status)
    | Json.Malformed words | Sys_error words | Failure words | Invalid_argument words ->
      ("this is not a mechanism file (" ^ words ^ ")", 2)
    | End_of_file -> ("this is not a mechanism file (it ends too early)", 2)
    | Stack_overflow | Out_of_memory -> ("the file is too large for this program", 3)
  in
  print_string told;
  if not (status = 0 && Array.length Sys.argv > 1 && Sys.argv.(1) = "--canonical") then print_newline ();
  exit status
