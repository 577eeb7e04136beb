//! A reader of zlib (RFC 1950, RFC 1951) and of base64 (RFC 4648).

const END: usize = 256; // the symbol after which a block has nothing more
const LENGTHS: [(u16, u8); 29] = counted(
    3,
    [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ],
    258,
);
const DISTANCES: [(u16, u8); 30] = counted(
    1,
    [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ],
    24_577,
);
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The first number and the further bits of each symbol; the last one begins where it is told.
const fn counted<const N: usize>(first: u16, bits: [u8; N], last: u16) -> [(u16, u8); N] {
    let mut found = [(0, 0); N];
    let (mut i, mut next) = (0, first);
    while i < N {
        found[i] = (if i + 1 == N { last } else { next }, bits[i]);
        next += 1 << bits[i];
        i += 1;
    }
    found
}

/// The bytes that a text in base64 stands for.
pub fn of_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if text.len() % 4 != 0 || text.len() - digits.len() > 2 {
        return None;
    }
    let (mut found, mut held, mut bits) = (Vec::new(), 0u32, 0);
    for sign in digits.bytes() {
        let digit = match sign {
            b'A'..=b'Z' => sign - b'A',
            b'a'..=b'z' => sign - b'a' + 26,
            b'0'..=b'9' => sign - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            found.push((held >> bits) as u8);
        }
    }
    Some(found)
}

/// What a stream of zlib holds, if it is whole, nothing follows it, and it has so many bytes; no more are made.
pub fn inflated(content: &[u8], size: usize) -> Option<Vec<u8>> {
    let head = content.get(..2)?;
    let is_zlib = head[0] & 15 == 8 && head[0] >> 4 <= 7 && head[1] & 32 == 0;
    if !is_zlib || u16::from_be_bytes([head[0], head[1]]) % 31 != 0 {
        return None;
    }
    let mut bits = Bits {
        bytes: &content[2..],
        place: 0,
    };
    let mut found = Vec::new();
    loop {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut found, size)?,
            1 => {
                let lengths: Vec<u8> = (0..288)
                    .map(|i| match i {
                        144..=255 => 9,
                        256..=279 => 7,
                        _ => 8,
                    })
                    .collect();
                coded(
                    &mut bits,
                    &mut found,
                    size,
                    &Code::new(&lengths)?,
                    &Code::new(&[5; 30])?,
                )?;
            }
            2 => {
                let (letters, distances) = codes(&mut bits)?;
                coded(&mut bits, &mut found, size, &letters, &distances)?;
            }
            _ => return None,
        }
        if is_last {
            break;
        }
    }
    let rest = &bits.bytes[bits.place.div_ceil(8)..];
    (found.len() == size && rest == checksum(&found).to_be_bytes()).then_some(found)
}

/// Adler-32.
fn checksum(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    for &byte in bytes {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    b << 16 | a
}

struct Bits<'a> {
    bytes: &'a [u8],
    place: usize, // in bits
}

impl Bits<'_> {
    /// So many bits, the lowest first.
    fn take(&mut self, count: u8) -> Option<usize> {
        let mut found = 0;
        for i in 0..count {
            let byte = *self.bytes.get(self.place / 8)?;
            found |= usize::from(byte >> (self.place % 8) & 1) << i;
            self.place += 1;
        }
        Some(found)
    }
}

/// A canonical code of Huffman: how many words each length has, and the symbols in the order of their words.
struct Code {
    counts: [usize; 16],
    symbols: Vec<usize>,
}

impl Code {
    /// None if the lengths ask for more words than there are.
    fn new(lengths: &[u8]) -> Option<Code> {
        let mut counts = [0; 16];
        for &length in lengths {
            counts[usize::from(length)] += 1;
        }
        counts[0] = 0;
        let used = (1..16).map(|length| counts[length] << (15 - length)).sum::<usize>();
        let mut symbols: Vec<usize> = (0..lengths.len()).filter(|&i| lengths[i] > 0).collect();
        symbols.sort_by_key(|&i| lengths[i]);
        (used <= 1 << 15).then_some(Code { counts, symbols })
    }

    fn symbol(&self, bits: &mut Bits) -> Option<usize> {
        let (mut word, mut first, mut before) = (0, 0, 0);
        for count in &self.counts[1..] {
            word |= bits.take(1)?;
            if word < first + count {
                return self.symbols.get(before + word - first).copied();
            }
            before += count;
            first = (first + count) << 1;
            word <<= 1;
        }
        None
    }
}

fn stored(bits: &mut Bits, found: &mut Vec<u8>, size: usize) -> Option<()> {
    bits.place = bits.place.next_multiple_of(8);
    let (length, inverse) = (bits.take(16)?, bits.take(16)?);
    let start = bits.place / 8;
    let part = bits.bytes.get(start..start + length)?;
    if length != inverse ^ 0xffff || found.len() + length > size {
        return None;
    }
    found.extend_from_slice(part);
    bits.place += 8 * length;
    Some(())
}

/// The codes that a block states: of letters and lengths, and of distances.
fn codes(bits: &mut Bits) -> Option<(Code, Code)> {
    let (letters, distances, given) = (bits.take(5)? + 257, bits.take(5)? + 1, bits.take(4)? + 4);
    let mut lengths = [0; 19];
    for &place in &ORDER[..given] {
        lengths[place] = bits.take(3)? as u8;
    }
    let code = Code::new(&lengths)?;
    let mut found: Vec<u8> = Vec::new();
    while found.len() < letters + distances {
        let (length, times) = match code.symbol(bits)? {
            16 => (*found.last()?, bits.take(2)? + 3),
            17 => (0, bits.take(3)? + 3),
            18 => (0, bits.take(7)? + 11),
            length => (length as u8, 1),
        };
        found.resize(found.len() + times, length);
    }
    let is_whole = found.len() == letters + distances && letters <= 286 && distances <= 30 && found[END] > 0;
    if !is_whole {
        return None;
    }
    Some((Code::new(&found[..letters])?, Code::new(&found[letters..])?))
}

fn coded(bits: &mut Bits, found: &mut Vec<u8>, size: usize, letters: &Code, distances: &Code) -> Option<()> {
    loop {
        let symbol = letters.symbol(bits)?;
        if symbol == END {
            return Some(());
        }
        if symbol < END {
            found.push(symbol as u8);
        } else {
            let &(first, more) = LENGTHS.get(symbol - END - 1)?;
            let length = usize::from(first) + bits.take(more)?;
            let &(first, more) = DISTANCES.get(distances.symbol(bits)?)?;
            let start = found.len().checked_sub(usize::from(first) + bits.take(more)?)?;
            if found.len() + length > size {
                return None;
            }
            for place in start..start + length {
                found.push(found[place]);
            }
        }
        if found.len() > size {
            return None;
        }
    }
}
