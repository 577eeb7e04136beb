//! Report prefixes of strings, each of a length that is drawn, through a file of windows of prefixes.
//!
//! The windows are read as `mechdesign verify` proves them, which is to be run before.

use crate::hashes::sha256;
use crate::json::{self, Value};
use crate::windows::{drawn_by_hash, started, Draws, StringReports, Windows, FORMS};
use crate::{add_number, add_text, check, Error};
use std::io;

pub const SCHEMA: &str = "mechdesign/prefix-windows/1";
const FORMAT: &[u8] = b"mechdesign/prefix-windows/fingerprint/1";
const MOST_LEVELS: usize = 32;
const MOST_SIGNS: u64 = 1_000;
const MARK: char = '\u{2026}'; // after the prefix of a longer string

/// What reports depend on.
pub struct Prefixes {
    form: String,
    levels: Vec<Level>,
}

/// The windows of the prefixes of one length, and how many windows earlier levels have.
struct Level {
    length: u64,
    windows: Windows,
    before: u64,
}

impl Prefixes {
    /// From the content of a file of windows of prefixes.
    pub fn read(content: &[u8]) -> Result<Prefixes, Error> {
        let table = json::parse(content).map_err(Error::Input)?;
        check(
            table.get("schema").and_then(Value::text) == Some(SCHEMA),
            format!("its schema is not {SCHEMA}"),
        )?;
        let form = table.get("form").and_then(Value::text).unwrap_or("");
        check(FORMS.contains(&form), "the form is another, or missing")?;
        let listed = |key| table.get(key).and_then(Value::list).unwrap_or(&[]);
        let lengths: Vec<u64> = listed("lengths").iter().filter_map(Value::whole).collect();
        let is_rising = lengths.windows(2).all(|pair| pair[0] < pair[1]);
        let is_whole = lengths.len() == listed("lengths").len() && (1..=MOST_LEVELS).contains(&lengths.len());
        check(
            is_whole && is_rising && lengths[0] >= 1 && lengths[lengths.len() - 1] <= MOST_SIGNS,
            format!("the lengths are not 1 to {MOST_LEVELS} whole numbers that rise to at most {MOST_SIGNS}"),
        )?;
        check(
            listed("levels").len() == lengths.len(),
            "there is not one level of windows for each length",
        )?;
        let (mut levels, mut before) = (Vec::<Level>::new(), 0);
        for (length, given) in lengths.into_iter().zip(listed("levels")) {
            let windows = Windows::of(given)?;
            check(windows.form() == "nfc", "the form of a level is not nfc")?;
            let size = windows.size();
            levels.push(Level {
                length,
                windows,
                before,
            });
            before += size;
        }
        let floor = levels[0].windows.floor();
        check(
            levels.iter().all(|level| level.windows.floor() == floor),
            "levels have other floors",
        )?;
        let form = form.to_owned();
        Ok(Prefixes { form, levels })
    }
}

impl StringReports for Prefixes {
    type Start = (Vec<u8>, Vec<Vec<u8>>);

    fn form(&self) -> &str {
        &self.form
    }

    fn words(&self) -> usize {
        1 + self.levels[0].windows.words()
    }

    fn fingerprint(&self) -> [u8; 32] {
        let mut bytes = FORMAT.to_vec();
        add_text(&mut bytes, &self.form);
        self.levels
            .iter()
            .for_each(|level| add_number(&mut bytes, level.length));
        for level in &self.levels {
            bytes.extend_from_slice(&level.windows.fingerprint());
        }
        sha256(&bytes)
    }

    /// For the level, and for the window on each level.
    fn start(&self, attribute: &str) -> Self::Start {
        let of_levels = self.levels.iter().map(|level| level.windows.start(attribute));
        (started(self.fingerprint(), attribute), of_levels.collect())
    }

    fn window_of(&self, string: &str, draw: &mut Draws) -> io::Result<u64> {
        let at = draw(0, self.levels.len() as u64)?;
        let level = &self.levels[at as usize];
        Ok(level.before + level.windows.window_of(&level.prefix(string), draw)?)
    }

    fn permanent_window(&self, key: &[u8; 32], start: &Self::Start, string: &str, id: &str) -> u64 {
        let at = drawn_by_hash(key, &start.0, id, |draw| draw(0, self.levels.len() as u64)) as usize;
        let level = &self.levels[at];
        let prefix = level.prefix(string);
        level.before + level.windows.permanent_window(key, &start.1[at], &prefix, id)
    }
}

impl Level {
    /// A string, or of a longer one so many characters and the mark.
    fn prefix(&self, string: &str) -> String {
        match string.char_indices().nth(self.length as usize) {
            None => string.to_owned(),
            Some((end, _)) => format!("{}{MARK}", &string[..end]),
        }
    }
}
