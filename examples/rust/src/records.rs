//! Report one of several views of each record, with the standard library alone.
//!
//! A record is a table with a text for each attribute. Nobody draws a second view of one. The promise of the file is not
//! proved here but for the caps of views; as elsewhere here, nothing runs in constant time.

use crate::bins::Bins;
use crate::hashes::{blake2b, sha256};
use crate::json::{self, Value};
use crate::{add_number, add_text, check, check_attribute, check_ids, check_label, cumulated, drawn_words};
use crate::{labels, place_at, Error, Mechanism, MOST_BITS};
use std::collections::{BTreeMap, HashSet};
use std::io;

pub const SCHEMA: &str = "mechdesign/records/1";
const FORMAT: &[u8] = b"mechdesign/records/fingerprint/1";
const PART: &str = "mechdesign/records/part/1";
const DRAW: &[u8] = b"mechdesign-view1";
const JOINT: &str = " & "; // between the labels of several attributes
const MOST_VIEWS: usize = 1_000;

/// What reports depend on.
pub struct Records {
    views: Vec<View>,
    bits: u64,
    sums: Vec<u64>,
    bins: BTreeMap<String, Bins>,
}

struct View {
    name: String,
    attributes: Vec<String>,
    weight: u64,
    mechanism: Mechanism,
}

impl Records {
    /// From the content of a file of views of records.
    pub fn read(content: &[u8]) -> Result<Records, Error> {
        let table = json::parse(content).map_err(Error::Input)?;
        check(
            table.get("schema").and_then(Value::text) == Some(SCHEMA),
            format!("its schema is not {SCHEMA}"),
        )?;
        let bits = table.get("weight_bits").and_then(Value::whole).unwrap_or(0);
        check(
            (1..=MOST_BITS).contains(&bits),
            format!("weight_bits are not a whole number from 1 to {MOST_BITS}"),
        )?;
        let parts = table.get("parts").and_then(Value::list).unwrap_or(&[]);
        check(
            (1..=MOST_VIEWS).contains(&parts.len()),
            "there are no views, or too many",
        )?;
        let mut views = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            views.push(View::read(part, &format!("view {}", i + 1), 1 << bits)?);
        }
        let names: HashSet<_> = views.iter().map(|view| &view.name).collect();
        check(names.len() == views.len(), "two views have one name")?;
        let shown: HashSet<_> = views.iter().map(View::shown).collect();
        check(shown.len() == views.len(), "two views show the same attributes")?;
        let sums = cumulated(&views.iter().map(|view| view.weight).collect::<Vec<_>>());
        check(
            sums[sums.len() - 1] == 1 << bits,
            "the weights do not sum to 2^weight_bits",
        )?;
        let bins = checked_bins(table.get("bins"), &views)?;
        Ok(Records {
            views,
            bits,
            sums,
            bins,
        })
    }

    /// The name of a view and a report for each record. `fill` fills an array with random bytes: 16 for each record.
    pub fn fresh_reports(
        &self,
        records: &[Value],
        fill: impl FnMut(&mut [u8]) -> io::Result<()>,
    ) -> Result<Vec<(&str, &str)>, Error> {
        let rows = self.rows_of(records.iter())?;
        let words = drawn_words(2 * rows.len(), fill)?;
        let drawn = rows.iter().zip(words.chunks_exact(2)).map(|(rows, words)| {
            let at = place_at(&self.sums, words[0], self.bits);
            let view = &self.views[at];
            (view.name.as_str(), view.mechanism.output_at(rows[at], words[1]))
        });
        Ok(drawn.collect())
    }

    /// The name of a view and a report for each pair of an id and a record. The view follows from key and id alone.
    pub fn permanent_reports(
        &self,
        key: &[u8; 32],
        records: &[(&str, &Value)],
        attribute: &str,
    ) -> Result<Vec<(&str, &str)>, Error> {
        check_attribute(attribute)?;
        let rows = self.rows_of(records.iter().map(|record| record.1))?;
        check_ids(records)?;
        let mut start = self.fingerprint().to_vec();
        add_text(&mut start, attribute);
        let starts: Vec<_> = self.views.iter().map(|view| view.start(attribute)).collect();
        let drawn = records.iter().zip(rows).map(|((id, _), rows)| {
            let word = blake2b(&[&start, id.as_bytes()].concat(), DRAW, key);
            let at = place_at(&self.sums, word, self.bits);
            let view = &self.views[at];
            let report = view.mechanism.permanent_report(key, &starts[at], id, rows[at]);
            (view.name.as_str(), report)
        });
        Ok(drawn.collect())
    }

    /// The SHA-256 hash of what reports depend on.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut bytes = FORMAT.to_vec();
        add_number(&mut bytes, self.bits);
        add_number(&mut bytes, self.bins.len() as u64);
        for (name, bins) in &self.bins {
            add_text(&mut bytes, name);
            add_number(&mut bytes, bins.edges.len() as u64);
            bytes.extend(bins.edges.iter().flat_map(|edge| edge.to_le_bytes()));
        }
        add_number(&mut bytes, self.views.len() as u64);
        for view in &self.views {
            add_text(&mut bytes, &view.name);
            add_number(&mut bytes, view.attributes.len() as u64);
            view.attributes.iter().for_each(|name| add_text(&mut bytes, name));
            add_number(&mut bytes, view.weight);
            bytes.extend_from_slice(&view.mechanism.fingerprint());
        }
        sha256(&bytes)
    }

    /// The row of each view for each record: nothing is drawn before every view is found to know the last record.
    fn rows_of<'a>(&self, records: impl Iterator<Item = &'a Value>) -> Result<Vec<Vec<usize>>, Error> {
        let rows = |(position, record)| {
            let row = |view| self.row_of(view, record);
            let found: Result<Vec<usize>, String> = self.views.iter().map(row).collect();
            found.map_err(|message| Error::Record(position, message))
        };
        records.enumerate().map(rows).collect()
    }

    fn row_of(&self, view: &View, record: &Value) -> Result<usize, String> {
        let mut labels = Vec::new();
        for name in &view.attributes {
            let text = record.get(name).and_then(Value::text);
            let text = text.ok_or_else(|| format!("there is no text for {name:?}"))?;
            labels.push(self.bins.get(name).map_or(text, |bins| bins.label_of(text)));
        }
        let symbol = labels.join(JOINT);
        let row = view.mechanism.rows.get(&symbol).copied();
        row.ok_or_else(|| format!("{symbol:?} is not an input of the view {:?}", view.name))
    }
}

impl View {
    fn read(part: &Value, place: &str, most: u64) -> Result<View, Error> {
        let name = part.get("name").and_then(Value::text).unwrap_or("");
        check_label(name, &format!("the name of {place}"))?;
        let attributes = labels(part.get("attributes"), &format!("attributes of {place}"))?;
        let weight = part.get("weight").and_then(Value::whole).unwrap_or(0);
        check(
            (1..=most).contains(&weight),
            format!("the weight of {place} is not a whole number from 1 to {most}"),
        )?;
        check(
            matches!(part.get("merged"), None | Some(Value::Null)),
            format!("{place} merges combinations, which is not done here"),
        )?;
        let mechanism = Mechanism::of(part.get("mechanism").unwrap_or(&Value::Null), place);
        let mechanism = mechanism.map_err(|error| Error::Input(format!("{place}: {error}")))?;
        for label in mechanism.inputs.iter().filter(|_| attributes.len() > 1) {
            check_combination(label, attributes.len(), place)?;
        }
        Ok(View {
            name: name.to_owned(),
            attributes,
            weight,
            mechanism,
        })
    }

    /// The attributes in an order that does not depend on that of the file.
    fn shown(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.attributes.iter().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// What is hashed for a permanent report before the label.
    fn start(&self, attribute: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        add_text(&mut bytes, PART);
        bytes.extend_from_slice(&self.mechanism.fingerprint());
        add_text(&mut bytes, &self.name);
        let mut start = sha256(&bytes).to_vec();
        add_text(&mut start, attribute);
        start
    }

    /// The labels of an attribute in the inputs.
    fn labels_of<'a>(&'a self, name: &str) -> Vec<&'a str> {
        let Some(at) = self.attributes.iter().position(|each| each == name) else {
            return Vec::new();
        };
        let inputs = self.mechanism.inputs.iter();
        if self.attributes.len() == 1 {
            return inputs.map(String::as_str).collect();
        }
        inputs.filter_map(|label| label.split(JOINT).nth(at)).collect()
    }
}

/// Check that a label is made of so many, in one way.
fn check_combination(label: &str, count: usize, place: &str) -> Result<(), Error> {
    let parts: Vec<&str> = label.split(JOINT).collect();
    check(
        parts.len() == count,
        format!("{place}: an input is not made of {count} labels"),
    )?;
    for part in parts {
        check_label(part, &format!("{place}, a label in an input"))?;
        check(
            !format!(" {part} ").contains(JOINT),
            format!("{place}: an input can be read in two ways"),
        )?;
    }
    Ok(())
}

/// Check that every bin is the label of an attribute in some view.
fn checked_bins(given: Option<&Value>, views: &[View]) -> Result<BTreeMap<String, Bins>, Error> {
    let entries = match given {
        None | Some(Value::Null) => &[][..],
        Some(Value::Table(entries)) => entries,
        Some(_) => return Err(Error::Input("the bins are not a table".into())),
    };
    let mut found = BTreeMap::new();
    for (name, edges) in entries {
        let bins = Bins::read(edges, name)?;
        let known: HashSet<&str> = views.iter().flat_map(|view| view.labels_of(name)).collect();
        check(
            bins.labels.iter().all(|label| known.contains(label.as_str())),
            format!("no view has all labels of the bins of {name:?}"),
        )?;
        found.insert(name.clone(), bins);
    }
    Ok(found)
}
