(* SHA-256 (FIPS 180-4), in hexadecimal: the name of a file in the first comment of its certificate. No proof rests on it. *)

(* 32 bits of the fractional parts of the cube roots, and of the square roots, of the first primes. *)
let of_cube_roots =
  [|
     0x428a2f98; 0x71374491; 0xb5c0fbcf; 0xe9b5dba5; 0x3956c25b; 0x59f111f1; 0x923f82a4; 0xab1c5ed5;
     0xd807aa98; 0x12835b01; 0x243185be; 0x550c7dc3; 0x72be5d74; 0x80deb1fe; 0x9bdc06a7; 0xc19bf174;
     0xe49b69c1; 0xefbe4786; 0x0fc19dc6; 0x240ca1cc; 0x2de92c6f; 0x4a7484aa; 0x5cb0a9dc; 0x76f988da;
     0x983e5152; 0xa831c66d; 0xb00327c8; 0xbf597fc7; 0xc6e00bf3; 0xd5a79147; 0x06ca6351; 0x14292967;
     0x27b70a85; 0x2e1b2138; 0x4d2c6dfc; 0x53380d13; 0x650a7354; 0x766a0abb; 0x81c2c92e; 0x92722c85;
     0xa2bfe8a1; 0xa81a664b; 0xc24b8b70; 0xc76c51a3; 0xd192e819; 0xd6990624; 0xf40e3585; 0x106aa070;
     0x19a4c116; 0x1e376c08; 0x2748774c; 0x34b0bcb5; 0x391c0cb3; 0x4ed8aa4a; 0x5b9cca4f; 0x682e6ff3;
     0x748f82ee; 0x78a5636f; 0x84c87814; 0x8cc70208; 0x90befffa; 0xa4506ceb; 0xbef9a3f7; 0xc67178f2
  |]

let of_square_roots =
  [|
     0x6a09e667; 0xbb67ae85; 0x3c6ef372; 0xa54ff53a; 0x510e527f; 0x9b05688c; 0x1f83d9ab; 0x5be0cd19
  |]

let ( +% ) a b = (a + b) land 0xFFFFFFFF
let turned x n = ((x lsr n) lor (x lsl (32 - n))) land 0xFFFFFFFF

(* The text, a bit 1, zeros, and the number of bits of the text in 64: a multiple of 64 bytes. *)
let padded text =
  let size = String.length text in
  let zeros = (119 - (size mod 64)) mod 64 in
  let length = Bytes.create 8 in
  Bytes.set_int64_be length 0 (Int64.of_int (8 * size));
  text ^ "\x80" ^ String.make zeros '\000' ^ Bytes.to_string length

let words_of block =
  let w = Array.make 64 0 in
  for i = 0 to 15 do w.(i) <- Int32.to_int (String.get_int32_be block (4 * i)) land 0xFFFFFFFF done;
  for i = 16 to 63 do
    let a = w.(i - 15) and b = w.(i - 2) in
    let s = turned a 7 lxor turned a 18 lxor (a lsr 3) and t = turned b 17 lxor turned b 19 lxor (b lsr 10) in
    w.(i) <- w.(i - 16) +% s +% w.(i - 7) +% t
  done;
  w

let mixed state block =
  let w = words_of block in
  let rec rounds i (a, b, c, d, e, f, g, h) =
    if i = 64 then [| a; b; c; d; e; f; g; h |]
    else
      let s = turned e 6 lxor turned e 11 lxor turned e 25 and choice = (e land f) lxor (lnot e land g) in
      let t = h +% s +% choice +% of_cube_roots.(i) +% w.(i) in
      let r = turned a 2 lxor turned a 13 lxor turned a 22 and most = (a land b) lxor (a land c) lxor (b land c) in
      rounds (i + 1) (t +% r +% most, a, b, c, d +% t, e, f, g)
  in
  let s = state in
  Array.map2 ( +% ) s (rounds 0 (s.(0), s.(1), s.(2), s.(3), s.(4), s.(5), s.(6), s.(7)))

let hex text =
  let all = padded text in
  let rec from i state = if i = String.length all then state else from (i + 64) (mixed state (String.sub all i 64)) in
  String.concat "" (List.map (Printf.sprintf "%08x") (Array.to_list (from 0 of_square_roots)))
