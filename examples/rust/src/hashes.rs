//! SHA-256 (FIPS 180-4) and BLAKE2b (RFC 7693). Nothing here runs in constant time.

const PERSON: &[u8; 16] = b"mechdesign-key-1";
const BLOCK: usize = 128;
const START: [u64; 8] = [
    0x6a09e667f3bcc908,
    0xbb67ae8584caa73b,
    0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1,
    0x510e527fade682d1,
    0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b,
    0x5be0cd19137e2179,
];
const ORDERS: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/// BLAKE2b with a key of 32 bytes, a result of 8 bytes, and the personalization of permanent reports.
pub fn keyed_hash(key: &[u8; 32], message: &[u8]) -> [u8; 8] {
    blake2b(message, PERSON, key)
}

/// BLAKE2b. The personalization has up to 16 bytes (zeros follow), the key up to 64, the result 8 to 64 in whole words.
pub fn blake2b<const SIZE: usize>(message: &[u8], person: &[u8], key: &[u8]) -> [u8; SIZE] {
    let mut parameters = [0; 64];
    parameters[..4].copy_from_slice(&[SIZE as u8, key.len() as u8, 1, 1]);
    parameters[48..48 + person.len()].copy_from_slice(person);
    let mut state = START;
    for (word, part) in state.iter_mut().zip(parameters.chunks_exact(8)) {
        *word ^= u64::from_le_bytes(part.try_into().expect("8 bytes"));
    }
    let mut block = [0; BLOCK];
    let mut counted = 0;
    if !key.is_empty() || message.is_empty() {
        block[..key.len()].copy_from_slice(key);
        counted = if key.is_empty() { 0 } else { BLOCK };
        compress(&mut state, &block, counted, message.is_empty());
    }
    let mut rest = message;
    while !rest.is_empty() {
        let size = rest.len().min(BLOCK);
        block = [0; BLOCK];
        block[..size].copy_from_slice(&rest[..size]);
        rest = &rest[size..];
        counted += size;
        compress(&mut state, &block, counted, rest.is_empty());
    }
    let mut result = [0; SIZE];
    for (part, word) in result.chunks_exact_mut(8).zip(state) {
        part.copy_from_slice(&word.to_le_bytes());
    }
    result
}

fn compress(state: &mut [u64; 8], block: &[u8; BLOCK], counted: usize, is_last: bool) {
    let mut m = [0; 16];
    for (word, part) in m.iter_mut().zip(block.chunks_exact(8)) {
        *word = u64::from_le_bytes(part.try_into().expect("8 bytes"));
    }
    let mut v = [0; 16];
    v[..8].copy_from_slice(state);
    v[8..].copy_from_slice(&START);
    v[12] ^= counted as u64;
    if is_last {
        v[14] = !v[14];
    }
    for round in 0..12 {
        let order = &ORDERS[round % 10];
        for i in 0..4 {
            mix(&mut v, [i, 4 + i, 8 + i, 12 + i], m[order[2 * i]], m[order[2 * i + 1]]);
        }
        for i in 0..4 {
            let places = [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4];
            mix(&mut v, places, m[order[8 + 2 * i]], m[order[9 + 2 * i]]);
        }
    }
    for i in 0..8 {
        state[i] ^= v[i] ^ v[i + 8];
    }
}

fn mix(v: &mut [u64; 16], [a, b, c, d]: [usize; 4], x: u64, y: u64) {
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(x);
    v[d] = (v[d] ^ v[a]).rotate_right(32);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(24);
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(y);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(63);
}

/// SHA-256. Its constants are the first 32 bits of fractional parts of roots of primes, which are computed exactly.
pub fn sha256(message: &[u8]) -> [u8; 32] {
    let primes: Vec<u64> = (2..312).filter(|n| (2..*n).all(|divisor| n % divisor != 0)).collect();
    let keys: Vec<u32> = primes[..64].iter().map(|&prime| first_bits_of_root(prime, 3)).collect();
    let mut state: Vec<u32> = primes[..8].iter().map(|&prime| first_bits_of_root(prime, 2)).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - message.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(8 * message.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut w: Vec<u32> = block
            .chunks_exact(4)
            .map(|part| u32::from_be_bytes(part.try_into().expect("4 bytes")))
            .collect();
        for i in 16..64 {
            let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
            let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h]: [u32; 8] = state[..].try_into().expect("8 words");
        for i in 0..64 {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let first = h
                .wrapping_add(s1)
                .wrapping_add(choice)
                .wrapping_add(keys[i])
                .wrapping_add(w[i]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            (h, g, f, e, d, c, b, a) = (
                g,
                f,
                e,
                d.wrapping_add(first),
                c,
                b,
                a,
                first.wrapping_add(s0.wrapping_add(majority)),
            );
        }
        for (word, added) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(added);
        }
    }
    let mut result = [0; 32];
    for (part, word) in result.chunks_exact_mut(4).zip(state) {
        part.copy_from_slice(&word.to_be_bytes());
    }
    result
}

/// The first 32 bits of the fractional part of the square root or cube root of a number below 312.
fn first_bits_of_root(number: u64, degree: u32) -> u32 {
    let wanted = u128::from(number) << (32 * degree);
    let mut root: u128 = 0;
    for bit in (0..37).rev() {
        let tried = root | (1 << bit);
        if tried.pow(degree) <= wanted {
            root = tried;
        }
    }
    root as u32
}
