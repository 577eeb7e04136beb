//! Report any strings through a file of windows, with the standard library alone.
//!
//! The windows are read as `mechdesign verify` proves them, which is to be run before. Strings are brought to the normal
//! form that the file names. As elsewhere here, nothing runs in constant time.

use crate::hashes::{blake2b, sha256};
use crate::inflate::{inflated, of_base64};
use crate::json::{self, Value};
use crate::nfc::{folded, nfc};
use crate::words::{is_below, Words};
use crate::{add_number, add_text, check, check_attribute, check_ids, is_space, Error};
use std::collections::{HashMap, HashSet};
use std::io;

pub const SCHEMA: &str = "mechdesign/windows/1";
const FORMAT: &[u8] = b"mechdesign/windows/fingerprint/1";
pub(crate) const FORMS: [&str; 2] = ["nfc", "nfc-casefold"];
const HASH: &[u8] = b"windows1";
const KEYED: &[u8] = b"mechdesign-key-w";
const FIRST: u64 = 1 << 52; // of the numbers of reports
const FLOOR: u64 = 1 << 60;
const MOST_SEEDS: u64 = 100_000;
const MOST_BUCKETS: u64 = 1 << 16;
const MOST_CELLS: u64 = 1 << 27;
const MOST_HEAVY: usize = 200;
const MOST_UNITS: u64 = 1 << 31;
const MOST_SIGNS: usize = 1_000_000;

/// Gives uniform numbers below a limit: draw 0 for the floor, 1 for the seed, 2 for the unit and 3 for the round.
pub type Draws<'a> = dyn FnMut(usize, u64) -> io::Result<u64> + 'a;

/// What reports about any strings have in common.
pub trait StringReports {
    /// What is hashed for a permanent report before the string.
    type Start;

    fn form(&self) -> &str;

    /// The words of a fresh report.
    fn words(&self) -> usize;

    /// The SHA-256 hash of what reports depend on.
    fn fingerprint(&self) -> [u8; 32];

    fn start(&self, attribute: &str) -> Self::Start;

    /// The number of the window that a string in the normal form reports.
    fn window_of(&self, string: &str, draw: &mut Draws) -> io::Result<u64>;

    fn permanent_window(&self, key: &[u8; 32], start: &Self::Start, string: &str, id: &str) -> u64;

    /// One fresh report for each string. `fill` fills an array with random bytes.
    fn fresh_reports(
        &self,
        strings: &[&str],
        fill: impl FnMut(&mut [u8]) -> io::Result<()>,
    ) -> Result<Vec<String>, Error> {
        let found = self.normals(strings.iter().copied())?;
        let first = self.first();
        let mut words = Words::new(fill, found.len() * self.words());
        let mut reports = Vec::with_capacity(found.len());
        for string in found {
            let window = self.window_of(&string, &mut |_, limit| words.below(limit));
            reports.push((first + window.map_err(Error::Source)?).to_string());
        }
        Ok(reports)
    }

    /// One permanent report for each pair of an id and a string.
    fn permanent_reports(
        &self,
        key: &[u8; 32],
        records: &[(&str, &str)],
        attribute: &str,
    ) -> Result<Vec<String>, Error> {
        check_attribute(attribute)?;
        let found = self.normals(records.iter().map(|record| record.1))?;
        check_ids(records)?;
        let (first, start) = (self.first(), self.start(attribute));
        let pairs = records.iter().zip(found);
        Ok(pairs
            .map(|((id, _), string)| (first + self.permanent_window(key, &start, &string, id)).to_string())
            .collect())
    }

    /// The normal forms of all strings: nothing is reported before the last one is found to be text.
    fn normals<'a>(&self, strings: impl Iterator<Item = &'a str>) -> Result<Vec<String>, Error> {
        let refused = |position| Error::Record(position, "it is empty, or too long".into());
        let found = |(position, string)| normal(string, self.form()).ok_or_else(|| refused(position));
        strings.enumerate().map(found).collect()
    }

    /// The number of the first report: 2^52, and the first 20 bits of the fingerprint times 2^32.
    fn first(&self) -> u64 {
        let print = self.fingerprint();
        FIRST + (u64::from(u32::from_be_bytes([0, print[0], print[1], print[2]]) >> 4) << 32)
    }
}

/// What reports depend on.
pub struct Windows {
    master: String,
    buckets: u64,
    form: String,
    floor: u64,
    heavy: Option<Heavy>,
    circles: Vec<Circle>,
}

/// The heavy strings, each with its units.
struct Heavy {
    strings: Vec<String>,
    prints: Vec<u64>,
    units: Vec<u64>,
    light: u64,
    one_layer: u64,
    places: HashMap<u64, usize>,
}

/// A seed: its words, where its windows are, and where the heavy strings lie on a circle of `size` units. For one layer
/// arcs are put in at the points `above`, and shift the points behind them by `shifts`.
struct Circle {
    words: [u64; 2],
    start: u64,
    ends: Vec<u64>,
    before: u64,
    size: u64,
    firsts: Vec<u64>,
    above: Vec<u64>,
    shifts: Vec<u64>,
}

impl Windows {
    /// From the content of a file of windows.
    pub fn read(content: &[u8]) -> Result<Windows, Error> {
        Windows::of(&json::parse(content).map_err(Error::Input)?)
    }

    /// From the table that such a file holds.
    pub fn of(table: &Value) -> Result<Windows, Error> {
        check(
            table.get("schema").and_then(Value::text) == Some(SCHEMA),
            format!("its schema is not {SCHEMA}"),
        )?;
        let master = table.get("master").and_then(Value::text).map(str::to_owned);
        let master = master.filter(|text| text.chars().count() <= 1_000);
        let master = master.ok_or_else(|| Error::Input("the master word is not text".into()))?;
        let seeds = whole(table, "seeds", 1, MOST_SEEDS)?;
        let buckets = whole(table, "buckets", 2, MOST_BUCKETS)?;
        check(seeds * buckets <= MOST_CELLS, "there are too many seeds and buckets")?;
        let form = table.get("form").and_then(Value::text).unwrap_or("");
        check(FORMS.contains(&form), "the form is another, or missing")?;
        let floor = floor(table)?;
        let heavy = match table.get("heavy") {
            None | Some(Value::Null) => None,
            Some(given) => Some(Heavy::read(given, seeds)?),
        };
        let packed = |key, size| unpacked(table.get("windows").and_then(|windows| windows.get(key)), size, key);
        let counts: Vec<u64> = packed("counts", seeds)?.into_iter().map(|count| count + 1).collect();
        let starts = packed("starts", seeds)?;
        let lengths = packed("lengths", counts.iter().sum())?;
        let mut circles = Vec::with_capacity(counts.len());
        let mut before = 0;
        for (number, (&count, &start)) in (0..).zip(counts.iter().zip(&starts)) {
            let own = &lengths[before as usize..(before + count) as usize];
            let ends: Vec<u64> = own
                .iter()
                .scan(0, |end, length| {
                    *end += length + 1;
                    Some(*end)
                })
                .collect();
            let fits = count <= buckets && start < buckets && own.iter().all(|&length| length < buckets);
            check(fits, format!("seed {number}: a number is above the number of buckets"))?;
            let is_closed = ends[ends.len() - 1] % buckets == 0;
            check(
                is_closed,
                format!("seed {number}: the windows do not go round the circle a whole number of times"),
            )?;
            circles.push(Circle::new(&master, number, heavy.as_ref(), start, ends, before));
            before += count;
        }
        Ok(Windows {
            master,
            buckets,
            form: form.to_owned(),
            floor,
            heavy,
            circles,
        })
    }

    /// The probability of a uniform window, in units of 2^-60.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// How many windows there are.
    pub fn size(&self) -> u64 {
        self.circles.iter().map(|circle| circle.ends.len() as u64).sum()
    }

    /// The number of the window that a string of this fingerprint reports.
    fn window_at(&self, print: u64, draw: &mut Draws) -> io::Result<u64> {
        let is_uniform = self.floor > 0 && draw(0, FLOOR)? < self.floor;
        let seed = draw(1, self.circles.len() as u64)?;
        let circle = &self.circles[seed as usize];
        let found = self
            .heavy
            .as_ref()
            .and_then(|heavy| Some((heavy, *heavy.places.get(&print)?)));
        let unit = draw(2, found.map_or(1, |(heavy, index)| heavy.units[index]))?;
        if is_uniform {
            return Ok(circle.before + draw(3, circle.ends.len() as u64)?);
        }
        let bucket = match found {
            Some((_, index)) => (circle.firsts[index] + unit) % circle.size * self.buckets / circle.size,
            None => self.light_bucket(circle, print),
        };
        let end = circle.ends[circle.ends.len() - 1];
        let round = draw(3, end / self.buckets)?;
        let place = (bucket + self.buckets - circle.start) % self.buckets + round * self.buckets;
        Ok(circle.before + circle.ends.partition_point(|&end| end <= place) as u64)
    }

    fn light_bucket(&self, circle: &Circle, print: u64) -> u64 {
        let place = place_of(&circle.words, print);
        match &self.heavy {
            Some(heavy) if !circle.above.is_empty() => {
                let point = scaled(place, heavy.light);
                let before = circle.above.partition_point(|&above| above <= point);
                (point + circle.shifts[before]) * self.buckets / circle.size
            }
            _ => scaled(place, self.buckets),
        }
    }
}

impl StringReports for Windows {
    type Start = Vec<u8>;

    fn form(&self) -> &str {
        &self.form
    }

    fn words(&self) -> usize {
        if self.floor > 0 {
            4
        } else {
            3
        }
    }

    fn fingerprint(&self) -> [u8; 32] {
        let mut bytes = FORMAT.to_vec();
        add_text(&mut bytes, &self.master);
        add_text(&mut bytes, &self.form);
        let mut numbers = vec![self.circles.len() as u64, self.buckets, self.floor];
        if let Some(heavy) = &self.heavy {
            numbers.drain(..).for_each(|number| add_number(&mut bytes, number));
            heavy.strings.iter().for_each(|string| add_text(&mut bytes, string));
            numbers.extend(&heavy.units);
            numbers.extend([heavy.strings.len() as u64, heavy.light, heavy.one_layer]);
        }
        numbers.extend(self.circles.iter().map(|circle| circle.ends.len() as u64));
        for circle in &self.circles {
            numbers.extend(&circle.ends);
            numbers.push(circle.start);
        }
        numbers.into_iter().for_each(|number| add_number(&mut bytes, number));
        sha256(&bytes)
    }

    fn start(&self, attribute: &str) -> Vec<u8> {
        started(self.fingerprint(), attribute)
    }

    fn window_of(&self, string: &str, draw: &mut Draws) -> io::Result<u64> {
        self.window_at(print_of(string), draw)
    }

    fn permanent_window(&self, key: &[u8; 32], start: &Vec<u8>, string: &str, id: &str) -> u64 {
        let print = print_of(string);
        let mut before = start.clone();
        add_number(&mut before, print);
        drawn_by_hash(key, &before, id, |draw| self.window_at(print, draw))
    }
}

impl Heavy {
    fn read(given: &Value, seeds: u64) -> Result<Heavy, Error> {
        let listed = |key| given.get(key).and_then(Value::list).unwrap_or(&[]);
        let strings: Option<Vec<String>> = listed("strings")
            .iter()
            .map(|one| one.text().map(str::to_owned))
            .collect();
        let strings = strings.unwrap_or_default();
        check(
            (1..=MOST_HEAVY).contains(&strings.len()) && strings.iter().all(|string| !string.is_empty()),
            "the heavy strings are not a list of strings, or too many",
        )?;
        check(
            strings.iter().collect::<HashSet<_>>().len() == strings.len(),
            "a heavy string occurs twice",
        )?;
        let in_range = |value: &Value| value.whole().filter(|units| (1..=MOST_UNITS).contains(units));
        let units: Vec<u64> = listed("units").iter().filter_map(in_range).collect();
        check(
            units.len() == strings.len() && listed("units").len() == strings.len(),
            "there are not units for each heavy string",
        )?;
        let prints: Vec<u64> = strings.iter().map(|string| print_of(string)).collect();
        Ok(Heavy {
            places: prints.iter().enumerate().map(|(i, &print)| (print, i)).collect(),
            light: whole(given, "light_units", 1, 2 * MOST_UNITS)?,
            one_layer: whole(given, "one_layer", 1, seeds)?,
            strings,
            prints,
            units,
        })
    }
}

impl Circle {
    fn new(master: &str, number: u64, heavy: Option<&Heavy>, start: u64, ends: Vec<u64>, before: u64) -> Circle {
        let mut message = master.as_bytes().to_vec();
        add_number(&mut message, number);
        let hash: [u8; 16] = blake2b(&message, HASH, &[]);
        let words = [word_at(&hash, 0) | 1, word_at(&hash, 1)];
        let (mut size, mut firsts, mut above, mut shifts) = (0, Vec::new(), Vec::new(), vec![0]);
        if let Some(heavy) = heavy {
            let places: Vec<u64> = heavy.prints.iter().map(|&print| place_of(&words, print)).collect();
            let mut order: Vec<usize> = (0..places.len()).collect();
            order.sort_by_key(|&i| places[i]);
            let total: u64 = heavy.units.iter().sum();
            let is_one = number < heavy.one_layer;
            size = if is_one { total + heavy.light } else { total };
            firsts = vec![0; places.len()];
            for i in order {
                let shift = shifts[shifts.len() - 1];
                if is_one {
                    above.push(scaled(places[i], heavy.light));
                    firsts[i] = above[above.len() - 1] + shift;
                } else {
                    firsts[i] = (shift + (words[1] >> 17) % total) % total;
                }
                shifts.push(shift + heavy.units[i]);
            }
        }
        Circle {
            words,
            start,
            ends,
            before,
            size,
            firsts,
            above,
            shifts,
        }
    }
}

/// A fingerprint and the text of an attribute, as they are hashed.
pub(crate) fn started(fingerprint: [u8; 32], attribute: &str) -> Vec<u8> {
    let mut start = fingerprint.to_vec();
    add_text(&mut start, attribute);
    start
}

/// What is drawn by a hash of what stands before a counter and the id: all is taken again while a word is not uniform.
pub(crate) fn drawn_by_hash(
    key: &[u8; 32],
    before: &[u8],
    id: &str,
    drawn: impl Fn(&mut Draws) -> io::Result<u64>,
) -> u64 {
    let mut message = before.to_vec();
    for counter in 0.. {
        message.truncate(before.len());
        add_number(&mut message, counter);
        message.extend_from_slice(id.as_bytes());
        let hash: [u8; 32] = blake2b(&message, KEYED, key);
        let mut is_uniform = true;
        let found = drawn(&mut |which, limit| {
            let word = word_at(&hash, which);
            is_uniform &= is_below(word, limit);
            Ok(word % limit)
        });
        if is_uniform {
            return found.expect("a hash needs no source");
        }
    }
    unreachable!()
}

/// The normal form of a string; None for one that is empty or too long.
pub fn normal(string: &str, form: &str) -> Option<String> {
    if string.len() > MOST_SIGNS && string.chars().count() > MOST_SIGNS {
        return None;
    }
    let composed = nfc(string);
    let plain = composed.trim_matches(is_space);
    let found = if form == "nfc" {
        plain.to_owned()
    } else {
        nfc(&folded(plain))
    };
    (!found.is_empty()).then_some(found)
}

fn word_at(bytes: &[u8], i: usize) -> u64 {
    u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("8 bytes"))
}

fn print_of(string: &str) -> u64 {
    u64::from_le_bytes(blake2b(string.as_bytes(), HASH, &[]))
}

fn place_of(words: &[u64; 2], print: u64) -> u64 {
    let place = words[0].wrapping_mul(print).wrapping_add(words[1]);
    (place ^ (place >> 33)).wrapping_mul(0xff51afd7ed558ccd)
}

/// The upper half of a place, times a size of at most 2^32, over 2^32.
fn scaled(place: u64, size: u64) -> u64 {
    ((place >> 32) * size) >> 32
}

fn whole(table: &Value, key: &str, low: u64, high: u64) -> Result<u64, Error> {
    let found = table
        .get(key)
        .and_then(Value::whole)
        .filter(|value| (low..=high).contains(value));
    found.ok_or_else(|| Error::Input(format!("{key} is not a whole number from {low} to {high}")))
}

/// The probability of a uniform window, in units of 2^-60; 0 without a cap.
fn floor(table: &Value) -> Result<u64, Error> {
    let given = |key| table.get(key).filter(|value| **value != Value::Null);
    match (given("cap"), given("floor")) {
        (None, None) => Ok(0),
        (Some(_), Some(floor)) => {
            let digits = floor
                .text()
                .filter(|text| text.starts_with(|first: char| ('1'..='9').contains(&first)));
            let found = digits
                .and_then(|text| text.parse().ok())
                .filter(|&units: &u64| units <= FLOOR);
            found.ok_or_else(|| Error::Input("the floor is not a whole number of at most 2^60, as text".into()))
        }
        _ => Err(Error::Input(
            "it has a cap without a floor, or a floor without a cap".into(),
        )),
    }
}

/// So many numbers of 16 bits, the lowest byte first, compressed with zlib and written in base64.
fn unpacked(text: Option<&Value>, size: u64, name: &str) -> Result<Vec<u64>, Error> {
    let content = text.and_then(Value::text).and_then(of_base64);
    let bytes = content.and_then(|content| inflated(&content, 2 * size as usize));
    let bytes = bytes.ok_or_else(|| Error::Input(format!("windows.{name} do not hold {size} numbers")))?;
    Ok(bytes
        .chunks_exact(2)
        .map(|pair| u64::from(u16::from_le_bytes([pair[0], pair[1]])))
        .collect())
}
