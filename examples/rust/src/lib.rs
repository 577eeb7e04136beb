//! Report labels through an exported mechanism, with the standard library alone.
//!
//! The probabilities are precisely those that `mechdesign verify` proves, which is to be run before: of the guarantee the
//! cap is proved here alone. Nothing here runs in constant time: who can time it may learn what it reports.
//!
//! ```no_run
//! use mechdesign_report::{key_of, Mechanism};
//! use std::io::Read;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mechanism = Mechanism::read(&std::fs::read("mechanism.json")?, "mechanism.json")?;
//! let mut source = std::fs::File::open("/dev/urandom")?;
//! let reports = mechanism.fresh_reports(&["no", "yes"], |bytes| source.read_exact(bytes))?;
//! let key = key_of(&std::fs::read("key")?)?;
//! let again = mechanism.permanent_reports(&key, &[("ann", "no")], "smokes")?;
//! # Ok(())
//! # }
//! ```

pub mod bins;
pub mod cap;
pub mod hashes;
pub mod inflate;
pub mod json;
pub mod nfc;
pub mod prefixes;
pub mod records;
pub mod windows;
mod words;

use json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use words::Words;

const SCHEMAS: [&str; 2] = ["mechdesign/mechanism/1", "mechdesign/mechanism/2"];
const MOST_BITS: u64 = 52;
const WORD_BYTES: usize = 8;

/// Why nothing was reported.
#[derive(Debug)]
pub enum Error {
    /// A mechanism file, a key file or an attribute is refused.
    Input(String),
    /// A record is refused, by its position from 0.
    Record(usize, String),
    /// The source of random bytes failed.
    Source(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input(message) => write!(formatter, "{message}"),
            Error::Record(position, message) => write!(formatter, "record {position}: {message}"),
            Error::Source(error) => write!(formatter, "no random bytes: {error}"),
        }
    }
}

impl std::error::Error for Error {}

fn check(holds: bool, message: impl Into<String>) -> Result<(), Error> {
    if holds {
        Ok(())
    } else {
        Err(Error::Input(message.into()))
    }
}

/// What reports depend on.
pub struct Mechanism {
    pub name: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub bits: u64,
    numerators: Vec<Vec<u64>>,
    cumulative: Vec<Vec<u64>>,
    rows: HashMap<String, usize>,
}

impl Mechanism {
    /// From the content of a mechanism file.
    pub fn read(content: &[u8], name: &str) -> Result<Mechanism, Error> {
        Mechanism::of(&json::parse(content).map_err(Error::Input)?, name)
    }

    /// From the table that a mechanism file holds.
    pub fn of(table: &Value, name: &str) -> Result<Mechanism, Error> {
        let schema = table.get("schema").and_then(Value::text).unwrap_or("");
        check(SCHEMAS.contains(&schema), "its schema is another, or missing")?;
        let inputs = labels(table.get("inputs"), "inputs")?;
        let outputs = labels(table.get("outputs"), "outputs")?;
        let bits = table.get("bits").and_then(Value::whole).unwrap_or(0);
        check(
            (1..=MOST_BITS).contains(&bits),
            format!("bits are not a whole number from 1 to {MOST_BITS}"),
        )?;
        let rows = table.get("numerators").and_then(Value::list).unwrap_or(&[]);
        check(rows.len() == inputs.len(), "there is not one row for each input")?;
        let mut numerators = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            numerators.push(checked_row(row, i, outputs.len(), 1 << bits)?);
        }
        for k in 0..outputs.len() {
            check(
                numerators.iter().any(|row| row[k] > 0),
                format!("output {} is never reported", k + 1),
            )?;
        }
        if let Some(guarantee) = table.get("guarantee") {
            cap::check_cap(guarantee, schema == SCHEMAS[1], &numerators)?;
        }
        let cumulative = numerators.iter().map(|row| cumulated(row)).collect();
        let rows = inputs.iter().enumerate().map(|(i, label)| (label.clone(), i)).collect();
        Ok(Mechanism {
            name: name.into(),
            inputs,
            outputs,
            bits,
            numerators,
            cumulative,
            rows,
        })
    }

    /// One fresh report for each label. `fill` fills an array with random bytes: 8 for each label, in their order.
    pub fn fresh_reports(
        &self,
        labels: &[&str],
        fill: impl FnMut(&mut [u8]) -> io::Result<()>,
    ) -> Result<Vec<&str>, Error> {
        let rows = self.rows_of(labels.iter().copied())?;
        let mut words = Words::new(fill, rows.len());
        let drawn = rows.into_iter().map(|row| Ok(self.output_at(row, words.word()?)));
        drawn.collect()
    }

    /// One permanent report for each pair of an id and a label.
    pub fn permanent_reports(
        &self,
        key: &[u8; 32],
        records: &[(&str, &str)],
        attribute: &str,
    ) -> Result<Vec<&str>, Error> {
        check_attribute(attribute)?;
        let rows = self.rows_of(records.iter().map(|record| record.1))?;
        check_ids(records)?;
        let mut start = self.fingerprint().to_vec();
        add_text(&mut start, attribute);
        let pairs = records.iter().zip(rows);
        Ok(pairs
            .map(|((id, _), row)| self.permanent_report(key, &start, id, row))
            .collect())
    }

    /// A permanent report; `start` is what is hashed before the label of the row.
    fn permanent_report(&self, key: &[u8; 32], start: &[u8], id: &str, row: usize) -> &str {
        let mut message = start.to_vec();
        add_text(&mut message, &self.inputs[row]);
        message.extend_from_slice(id.as_bytes());
        self.output_at(row, hashes::keyed_hash(key, &message))
    }

    /// The SHA-256 hash of what reports depend on.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut bytes = b"mechdesign/fingerprint/1".to_vec();
        for labels in [&self.inputs, &self.outputs] {
            add_number(&mut bytes, labels.len() as u64);
            for label in labels {
                add_text(&mut bytes, label);
            }
        }
        add_number(&mut bytes, self.bits);
        for &numerator in self.numerators.iter().flatten() {
            add_number(&mut bytes, numerator);
        }
        hashes::sha256(&bytes)
    }

    /// The rows of all labels: nothing is reported before the last one is found.
    fn rows_of<'a>(&self, labels: impl Iterator<Item = &'a str>) -> Result<Vec<usize>, Error> {
        let row = |(position, label): (usize, &str)| {
            let told = || Error::Record(position, format!("{label:?} is not an input of {}", self.name));
            self.rows.get(label).copied().ok_or_else(told)
        };
        labels.enumerate().map(row).collect()
    }

    /// The first output whose cumulative numerator exceeds the first bits of a word.
    fn output_at(&self, row: usize, word: [u8; WORD_BYTES]) -> &str {
        &self.outputs[place_at(&self.cumulative[row], word, self.bits)]
    }
}

/// The index of the first cumulated number that exceeds the first bits of a word.
fn place_at(sums: &[u64], word: [u8; WORD_BYTES], bits: u64) -> usize {
    let integer = u64::from_le_bytes(word) >> (64 - bits);
    sums.partition_point(|&sum| sum <= integer)
}

/// The key in the content of a key file. No message shows any of it.
pub fn key_of(content: &[u8]) -> Result<[u8; 32], Error> {
    let wrong = || Error::Input("it is not a key file".into());
    let digits = content.strip_prefix(b"mechdesign-key-1 ").ok_or_else(wrong)?;
    let digits = digits
        .strip_suffix(b"\n")
        .map_or(digits, |line| line.strip_suffix(b"\r").unwrap_or(line));
    check(digits.len() == 64, "it is not a key file")?;
    let mut key = [0; 32];
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        for &digit in pair {
            let value = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'f' => digit - b'a' + 10,
                _ => return Err(wrong()),
            };
            *byte = 16 * *byte + value;
        }
    }
    Ok(key)
}

fn labels(value: Option<&Value>, kind: &str) -> Result<Vec<String>, Error> {
    let listed = value.and_then(Value::list).unwrap_or(&[]);
    check(!listed.is_empty(), format!("the {kind} are not a list of labels"))?;
    let mut found = Vec::new();
    for value in listed {
        let label = value
            .text()
            .ok_or_else(|| Error::Input(format!("{kind}: a label is not text")))?;
        check_label(label, kind)?;
        found.push(label.to_owned());
    }
    check(
        found.iter().collect::<HashSet<_>>().len() == found.len(),
        format!("{kind}: a label occurs twice"),
    )?;
    Ok(found)
}

/// Check the attribute of permanent reports: it is empty, or a label.
fn check_attribute(attribute: &str) -> Result<(), Error> {
    if attribute.is_empty() {
        return Ok(());
    }
    check_label(attribute, "the attribute")
}

/// Check the ids of pairs of an id and a value, before anything is reported.
fn check_ids<T>(records: &[(&str, T)]) -> Result<(), Error> {
    match records.iter().position(|record| !is_bare(record.0)) {
        None => Ok(()),
        Some(position) => Err(Error::Record(
            position,
            "the id is empty, or has white space around it".into(),
        )),
    }
}

fn check_label(label: &str, place: &str) -> Result<(), Error> {
    check(
        is_bare(label),
        format!("{place}: a label is empty, or has white space around it"),
    )?;
    check(
        !label.chars().any(char::is_control),
        format!("{place}: a label holds a control character"),
    )
}

/// Whether a text is not empty and neither begins nor ends with white space.
fn is_bare(text: &str) -> bool {
    let ends = [text.chars().next(), text.chars().next_back()];
    ends.iter().all(|end| end.is_some_and(|sign| !is_space(sign)))
}

fn is_space(sign: char) -> bool {
    matches!(sign,
        '\t'..='\r' | '\x1c'..=' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

fn checked_row(row: &Value, i: usize, size: usize, total: u64) -> Result<Vec<u64>, Error> {
    let values = row.list().unwrap_or(&[]);
    check(
        values.len() == size,
        format!("row {} does not have one numerator for each output", i + 1),
    )?;
    let whole: Option<Vec<u64>> = values
        .iter()
        .map(|value| value.whole().filter(|&each| each <= total))
        .collect();
    let found = whole.ok_or_else(|| {
        Error::Input(format!(
            "row {} holds other than whole numbers from 0 to {total}",
            i + 1
        ))
    })?;
    let sum: u128 = found.iter().map(|&numerator| u128::from(numerator)).sum();
    check(
        sum == u128::from(total),
        format!("row {} does not sum to {total}", i + 1),
    )?;
    Ok(found)
}

fn cumulated(row: &[u64]) -> Vec<u64> {
    row.iter()
        .scan(0, |sum, numerator| {
            *sum += numerator;
            Some(*sum)
        })
        .collect()
}

fn add_number(bytes: &mut Vec<u8>, value: u64) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

fn add_text(bytes: &mut Vec<u8>, text: &str) {
    add_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}
