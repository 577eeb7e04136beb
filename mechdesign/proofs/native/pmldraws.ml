(* pmldraws FILE.json TABLE BYTES CODES: the reports of the proved sampler, a byte for each.

   CODES holds a byte for each record, the row of its input. Of BYTES, for each 65,536 records, first 16 bits are read for
   each of them, and then 64 bits for each that is still open, lowest byte first; TABLE is how many bits the guide has. *)

let block = 65_536
let number = Big_int_Z.big_int_of_int

let content path =
  let channel = open_in_bin path in
  let text = really_input_string channel (in_channel_length channel) in
  close_in channel;
  text

let () =
  let file = Mechanism_file.of_json (Json.parse (content Sys.argv.(1))) in
  let rows = Array.of_list file.rows and bits = number file.bits in
  let table = number (int_of_string Sys.argv.(2)) in
  let bytes = content Sys.argv.(3) and codes = content Sys.argv.(4) in
  let first = number 16 and word = number 64 in
  let unsigned text = if Int64.compare text 0L >= 0 then Z.of_int64 text else Z.add (Z.of_int64 text) (Z.shift_left Z.one 64) in
  let size = String.length codes in
  let outputs = Bytes.create size in
  let at = ref 0 in
  let start = ref 0 in
  while !start < size do
    let records = min block (size - !start) in
    let begun = !at in
    let row i = rows.(Char.code codes.[!start + i]) and bits_of i = number (String.get_uint16_le bytes (begun + (2 * i))) in
    at := begun + (2 * records);
    let report i y = Bytes.set_uint8 outputs (!start + i) (Big_int_Z.int_of_big_int y) in
    let still_open = ref [] in
    for i = 0 to records - 1 do
      match Sampler.looked_up first (row i) bits table (bits_of i) with
      | Some y -> report i y
      | None -> still_open := i :: !still_open
    done;
    let complete i =
      let rest = if file.bits > 16 then (at := !at + 8; String.get_int64_le bytes (!at - 8)) else 0L in
      report i (Sampler.drawn first word (row i) bits table (bits_of i) (unsigned rest))
    in
    List.iter complete (List.rev !still_open);
    start := !start + records
  done;
  if !at <> String.length bytes then (prerr_endline "bytes are left over"; exit 2);
  set_binary_mode_out stdout true;
  print_string (Bytes.to_string outputs)
