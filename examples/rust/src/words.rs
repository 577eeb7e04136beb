//! Words of 64 bits from a source of random bytes.

use crate::Error;
use std::io;

const MOST_WORDS: usize = 8_192; // of random bytes at once

/// Words of random bytes, of which no more are drawn than are needed.
pub(crate) struct Words<F> {
    pub needed: usize,
    fill: F,
    block: Vec<u8>,
    place: usize,
}

impl<F: FnMut(&mut [u8]) -> io::Result<()>> Words<F> {
    pub fn new(fill: F, needed: usize) -> Words<F> {
        Words {
            needed,
            fill,
            block: Vec::new(),
            place: 0,
        }
    }

    pub fn word(&mut self) -> Result<[u8; 8], Error> {
        self.drawn().map_err(Error::Source)
    }

    /// A uniform number below a limit: words are taken again while they are not uniform.
    pub fn below(&mut self, limit: u64) -> io::Result<u64> {
        loop {
            let word = u64::from_le_bytes(self.drawn()?);
            if is_below(word, limit) {
                return Ok(word % limit);
            }
            self.needed += 1;
        }
    }

    fn drawn(&mut self) -> io::Result<[u8; 8]> {
        if self.place == self.block.len() {
            self.block.resize(8 * self.needed.min(MOST_WORDS), 0);
            (self.fill)(&mut self.block)?;
            self.place = 0;
        }
        let word = self.block[self.place..self.place + 8].try_into().expect("8 bytes");
        self.place += 8;
        self.needed -= 1;
        Ok(word)
    }
}

/// Whether a word of 64 bits does not lie in the last, incomplete round of a limit.
pub(crate) fn is_below(word: u64, limit: u64) -> bool {
    word <= u64::MAX - (u64::MAX % limit + 1) % limit
}
