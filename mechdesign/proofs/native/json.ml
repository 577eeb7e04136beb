(* JSON (RFC 8259) in UTF-8. Numbers are kept as they are written, and keys of a table differ. *)

type t =
  | Null
  | Bool of bool
  | Number of string
  | Text of string  (* in UTF-8; half of a surrogate pair, which escapes can write, as three bytes *)
  | List of t list
  | Table of (string * t) list

exception Malformed of string

let malformed text = raise (Malformed text)
let is_whole number = not (List.exists (String.contains number) [ '.'; 'e'; 'E' ])
let most_bytes = 192 lsl 20
let most_bytes_of_letters = 48 lsl 20
let most_values = 11_000_000
let most_colons = 1_000_000
let most_keys = 100
let longest_integer = 20
let deepest = 900

(* The length of the letter at a place, after a check that its bytes are one of UTF-8; texts from escapes may hold
   halves of surrogate pairs, bytes of a file may not. *)
let letter ?(halves = false) s i =
  let byte k = if i + k < String.length s then Char.code s.[i + k] else 0 in
  let later k = byte k land 0xC0 = 0x80 in
  let first = byte 0 in
  if first < 0x80 then 1
  else if first >= 0xC2 && first <= 0xDF && later 1 then 2
  else if first land 0xF0 = 0xE0 && later 1 && later 2
          && (first <> 0xE0 || byte 1 >= 0xA0)
          && (halves || first <> 0xED || byte 1 < 0xA0) then 3
  else if first >= 0xF0 && first <= 0xF4 && later 1 && later 2 && later 3
          && (first <> 0xF0 || byte 1 >= 0x90)
          && (first <> 0xF4 || byte 1 < 0x90) then 4
  else malformed (Printf.sprintf "it is not UTF-8 (byte %d)" i)

let check_size s =
  if String.length s > most_bytes then malformed "the file is too long";
  let values = ref 0 and colons = ref 0 and ascii = ref true in
  String.iter
    (fun c ->
      if c = ',' || c = '[' || c = '{' then incr values;
      if c = ':' then incr colons;
      if c >= '\x80' then ascii := false)
    s;
  if !values > most_values || !colons > most_colons then malformed "the file holds too many values";
  if (not !ascii) && String.length s > most_bytes_of_letters then malformed "the file has too many letters";
  let i = ref 0 in
  while !i < String.length s do i := !i + letter s !i done

let parse s =
  check_size s;
  let size = String.length s in
  let at = ref (if size >= 3 && String.sub s 0 3 = "\xEF\xBB\xBF" then 3 else 0) in
  let wrong () = malformed (Printf.sprintf "it is not JSON (byte %d)" !at) in
  let peek () = if !at < size then s.[!at] else '\000' in
  let rec skip () =
    if !at < size && (match s.[!at] with ' ' | '\t' | '\n' | '\r' -> true | _ -> false) then (incr at; skip ())
  in
  let take c = if !at < size && s.[!at] = c then incr at else wrong () in
  let word w value =
    let n = String.length w in
    if !at + n <= size && String.sub s !at n = w then (at := !at + n; value) else wrong ()
  in
  let digits () =
    let start = !at in
    while (match peek () with '0' .. '9' -> true | _ -> false) do incr at done;
    if !at = start then wrong ()
  in
  let number () =
    let start = !at in
    if peek () = '-' then incr at;
    if peek () = '0' then incr at else digits ();
    let whole = ref true in
    if peek () = '.' then (whole := false; incr at; digits ());
    if peek () = 'e' || peek () = 'E' then begin
      whole := false;
      incr at;
      if peek () = '+' || peek () = '-' then incr at;
      let rec after_zeros i = if i < size && s.[i] = '0' then after_zeros (i + 1) else i in
      let from = after_zeros !at in
      digits ();
      if !at - from > 18 then malformed "a number has too long an exponent"
    end;
    let text = String.sub s start (!at - start) in
    if !whole && String.length text > longest_integer then malformed "an integer is too long";
    Number text
  in
  let unit_of_escape () =
    let digit c =
      match c with
      | '0' .. '9' -> Char.code c - 48
      | 'a' .. 'f' -> Char.code c - 87
      | 'A' .. 'F' -> Char.code c - 55
      | _ -> wrong ()
    in
    let value = ref 0 in
    for _ = 1 to 4 do
      value := (16 * !value) + digit (peek ());
      incr at
    done;
    !value
  in
  let add buffer code =
    let byte n = Buffer.add_char buffer (Char.chr n) in
    let later shift = byte (0x80 lor ((code lsr shift) land 0x3F)) in
    if code < 0x80 then byte code
    else if code < 0x800 then (byte (0xC0 lor (code lsr 6)); later 0)
    else if code < 0x10000 then (byte (0xE0 lor (code lsr 12)); later 6; later 0)
    else (byte (0xF0 lor (code lsr 18)); later 12; later 6; later 0)
  in
  let rec escaped buffer =
    let code = unit_of_escape () in
    if code lsr 10 = 0x36 && !at + 1 < size && s.[!at] = '\\' && s.[!at + 1] = 'u' then begin
      at := !at + 2;
      let before = !at in
      let low = unit_of_escape () in
      if low lsr 10 = 0x37 then add buffer (0x10000 + ((code land 0x3FF) lsl 10) + (low land 0x3FF))
      else (add buffer code; at := before; escaped buffer)
    end
    else add buffer code
  in
  let text () =
    take '"';
    let buffer = Buffer.create 16 in
    let rec go () =
      if !at >= size then wrong ();
      match s.[!at] with
      | '"' -> incr at
      | '\000' .. '\031' -> wrong ()
      | '\\' ->
        incr at;
        let c = peek () in
        incr at;
        (match c with
         | '"' | '\\' | '/' -> Buffer.add_char buffer c
         | 'b' -> Buffer.add_char buffer '\b'
         | 'f' -> Buffer.add_char buffer '\012'
         | 'n' -> Buffer.add_char buffer '\n'
         | 'r' -> Buffer.add_char buffer '\r'
         | 't' -> Buffer.add_char buffer '\t'
         | 'u' -> escaped buffer
         | _ -> wrong ());
        go ()
      | c -> Buffer.add_char buffer c; incr at; go ()
    in
    go ();
    Buffer.contents buffer
  in
  let rec value depth =
    if depth > deepest then malformed "it is nested too deeply";
    skip ();
    let found =
      match peek () with
      | '{' -> incr at; table depth
      | '[' -> incr at; list depth
      | '"' -> Text (text ())
      | 't' -> word "true" (Bool true)
      | 'f' -> word "false" (Bool false)
      | 'n' -> word "null" Null
      | _ -> number ()
    in
    skip ();
    found
  and list depth =
    skip ();
    if peek () = ']' then (incr at; List [])
    else
      let rec more items =
        let items = value (depth + 1) :: items in
        if peek () = ',' then (incr at; more items) else (take ']'; List (List.rev items))
      in
      more []
  and table depth =
    skip ();
    if peek () = '}' then (incr at; Table [])
    else
      let rec more count pairs =
        if count > most_keys then malformed "a table has over 100 keys";
        skip ();
        let key = text () in
        if List.mem_assoc key pairs then malformed (Printf.sprintf "the key %s occurs twice" key);
        skip ();
        take ':';
        let pairs = (key, value (depth + 1)) :: pairs in
        if peek () = ',' then (incr at; more (count + 1) pairs) else (take '}'; Table (List.rev pairs))
      in
      more 1 []
  in
  let found = value 0 in
  if !at < size then wrong ();
  found
