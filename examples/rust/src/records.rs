//! Report one of several views of each record, with the standard library alone.
//!
//! A record is a table with a text for each attribute. Nobody draws a second view of one. The promise of the file is not
//! proved here but for the caps of views; as elsewhere here, nothing runs in constant time.

use crate::bins::Bins;
use crate::hashes::{blake2b, sha256};
use crate::json::{self, Value};
use crate::windows::{normal, started, StringReports, Windows};
use crate::words::Words;
use crate::{add_number, add_text, check, check_attribute, check_ids, check_label, cumulated};
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
    kind: Kind,
}

/// What reports about a view. A matrix may have an input, by its row, that stands for all combinations of the labels of
/// each attribute that are no inputs.
enum Kind {
    Matrix {
        mechanism: Mechanism,
        merged: Option<usize>,
        labels: Vec<HashSet<String>>,
    },
    Strings {
        windows: Windows,
        first: u64,
    },
}

/// What a view shows of a record: the row of an input, or a string in the normal form.
enum Shown {
    Row(usize),
    Text(String),
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
        views.iter().try_for_each(|view| view.check_alone(&views))?;
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

    /// The name of a view and a report for each record. `fill` fills an array with random bytes.
    pub fn fresh_reports(
        &self,
        records: &[Value],
        fill: impl FnMut(&mut [u8]) -> io::Result<()>,
    ) -> Result<Vec<(&str, String)>, Error> {
        let shown = self.shown_of(records.iter())?;
        let mut words = Words::new(fill, 2 * shown.len());
        let drawn = shown.iter().map(|shown| {
            let at = place_at(&self.sums, words.word()?, self.bits);
            let report = self.views[at].kind.fresh_report(&shown[at], &mut words)?;
            Ok((self.views[at].name.as_str(), report))
        });
        drawn.collect()
    }

    /// The name of a view and a report for each pair of an id and a record. The view follows from key and id alone.
    pub fn permanent_reports(
        &self,
        key: &[u8; 32],
        records: &[(&str, &Value)],
        attribute: &str,
    ) -> Result<Vec<(&str, String)>, Error> {
        check_attribute(attribute)?;
        let shown = self.shown_of(records.iter().map(|record| record.1))?;
        check_ids(records)?;
        let start = started(self.fingerprint(), attribute);
        let starts: Vec<_> = self.views.iter().map(|view| view.start(attribute)).collect();
        let drawn = records.iter().zip(shown).map(|((id, _), shown)| {
            let word = blake2b(&[&start, id.as_bytes()].concat(), DRAW, key);
            let at = place_at(&self.sums, word, self.bits);
            let report = self.views[at].kind.permanent_report(key, &starts[at], id, &shown[at]);
            (self.views[at].name.as_str(), report)
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
            bytes.extend_from_slice(&view.kind.fingerprint());
        }
        let all = self.views.iter().enumerate();
        let merging: Vec<_> = all.filter_map(|(at, view)| Some((at, view.kind.merged()?))).collect();
        if !merging.is_empty() {
            add_number(&mut bytes, merging.len() as u64);
        }
        for (at, label) in merging {
            add_number(&mut bytes, at as u64);
            add_text(&mut bytes, label);
        }
        sha256(&bytes)
    }

    /// What each view shows of each record: nothing is drawn before every view is found to know the last record.
    fn shown_of<'a>(&self, records: impl Iterator<Item = &'a Value>) -> Result<Vec<Vec<Shown>>, Error> {
        let shown = |(position, record)| {
            let each = |view| self.shown_by(view, record);
            let found: Result<Vec<Shown>, String> = self.views.iter().map(each).collect();
            found.map_err(|message| Error::Record(position, message))
        };
        records.enumerate().map(shown).collect()
    }

    fn shown_by(&self, view: &View, record: &Value) -> Result<Shown, String> {
        let mut own = Vec::new();
        for name in &view.attributes {
            let text = record.get(name).and_then(Value::text);
            let text = text.ok_or_else(|| format!("there is no text for {name:?}"))?;
            own.push(self.bins.get(name).map_or(text, |bins| bins.label_of(text)));
        }
        let found = view.kind.shown(&own);
        found.ok_or_else(|| format!("{:?} is not an input of the view {:?}", own.join(JOINT), view.name))
    }
}

impl Kind {
    fn read(part: &Value, attributes: &[String], place: &str) -> Result<Kind, Error> {
        let table = part.get("mechanism").unwrap_or(&Value::Null);
        let merged = part.get("merged").filter(|value| **value != Value::Null);
        let schema = table.get("schema").and_then(Value::text).unwrap_or("");
        if schema.starts_with("mechdesign/windows/") {
            let is_one = attributes.len() == 1 && merged.is_none();
            check(
                is_one,
                format!("{place} is of windows, and shows several attributes or merges"),
            )?;
            let windows = Windows::of(table)?;
            let first = windows.first();
            return Ok(Kind::Strings { windows, first });
        }
        let mechanism = Mechanism::of(table, place)?;
        let input = merged.and_then(Value::text).filter(|_| attributes.len() > 1);
        let row = input.and_then(|label| mechanism.rows.get(label).copied());
        check(
            merged.is_none() || row.is_some(),
            format!("{place} merges into what is no input of several attributes"),
        )?;
        let mut labels = vec![HashSet::new(); attributes.len()];
        for (at, label) in mechanism.inputs.iter().enumerate() {
            let parts = parts_of(label, attributes.len(), place)?;
            let own = input.filter(|_| row != Some(at)).unwrap_or("").split(JOINT);
            check(
                !own.zip(&parts).any(|(own, part)| own == *part),
                format!("{place} merges into an input that shares a label with another"),
            )?;
            labels.iter_mut().zip(parts).for_each(|(own, part)| {
                own.insert(part.to_owned());
            });
        }
        Ok(Kind::Matrix {
            mechanism,
            merged: row,
            labels,
        })
    }

    /// What the view shows of the labels of a record; None where it does not know them.
    fn shown(&self, own: &[&str]) -> Option<Shown> {
        let (mechanism, merged, labels) = match self {
            Kind::Strings { windows, .. } => return normal(own[0], windows.form()).map(Shown::Text),
            Kind::Matrix {
                mechanism,
                merged,
                labels,
            } => (mechanism, merged, labels),
        };
        let is_known = || labels.iter().zip(own).all(|(known, &label)| known.contains(label));
        let row = mechanism.rows.get(&own.join(JOINT)).copied();
        row.or_else(|| merged.filter(|_| is_known())).map(Shown::Row)
    }

    fn fresh_report<F: FnMut(&mut [u8]) -> io::Result<()>>(
        &self,
        shown: &Shown,
        words: &mut Words<F>,
    ) -> Result<String, Error> {
        match (self, shown) {
            (Kind::Matrix { mechanism, .. }, Shown::Row(row)) => Ok(mechanism.output_at(*row, words.word()?).into()),
            (Kind::Strings { windows, first }, Shown::Text(string)) => {
                words.needed += windows.words() - 1;
                let window = windows.window_of(string, &mut |_, limit| words.below(limit));
                Ok((first + window.map_err(Error::Source)?).to_string())
            }
            _ => unreachable!("what a view shows is of its kind"),
        }
    }

    fn permanent_report(&self, key: &[u8; 32], start: &Vec<u8>, id: &str, shown: &Shown) -> String {
        match (self, shown) {
            (Kind::Matrix { mechanism, .. }, Shown::Row(row)) => {
                mechanism.permanent_report(key, start, id, *row).into()
            }
            (Kind::Strings { windows, first }, Shown::Text(string)) => {
                (first + windows.permanent_window(key, start, string, id)).to_string()
            }
            _ => unreachable!("what a view shows is of its kind"),
        }
    }

    fn fingerprint(&self) -> [u8; 32] {
        match self {
            Kind::Matrix { mechanism, .. } => mechanism.fingerprint(),
            Kind::Strings { windows, .. } => windows.fingerprint(),
        }
    }

    /// The input that stands for all combinations that are no inputs.
    fn merged(&self) -> Option<&str> {
        match self {
            Kind::Matrix { mechanism, merged, .. } => merged.map(|row| mechanism.inputs[row].as_str()),
            Kind::Strings { .. } => None,
        }
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
        let kind = Kind::read(part, &attributes, place);
        let kind = kind.map_err(|error| Error::Input(format!("{place}: {error}")))?;
        Ok(View {
            name: name.to_owned(),
            attributes,
            weight,
            kind,
        })
    }

    /// Check that a view of windows, or one that merges combinations, shares no attribute with another.
    fn check_alone(&self, views: &[View]) -> Result<(), Error> {
        let shares = |other: &View| other.attributes.iter().any(|name| self.attributes.contains(name));
        let is_open = matches!(self.kind, Kind::Strings { .. });
        let others = views.iter().filter(|other| other.name != self.name);
        check(
            !(is_open || self.kind.merged().is_some()) || !others.into_iter().any(shares),
            format!("the view {:?} shares an attribute with another", self.name),
        )
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
        bytes.extend_from_slice(&self.kind.fingerprint());
        add_text(&mut bytes, &self.name);
        started(sha256(&bytes), attribute)
    }

    /// Whether a label of an attribute occurs in the inputs.
    fn knows(&self, name: &str, label: &str) -> bool {
        let at = self.attributes.iter().position(|each| each == name);
        match (&self.kind, at) {
            (Kind::Matrix { labels, .. }, Some(at)) => labels[at].contains(label),
            _ => false,
        }
    }
}

/// The labels that a label is made of, after checking that they are so many, in one way.
fn parts_of<'a>(label: &'a str, count: usize, place: &str) -> Result<Vec<&'a str>, Error> {
    if count == 1 {
        return Ok(vec![label]);
    }
    let parts: Vec<&str> = label.split(JOINT).collect();
    check(
        parts.len() == count,
        format!("{place}: an input is not made of {count} labels"),
    )?;
    for part in &parts {
        check_label(part, &format!("{place}, a label in an input"))?;
        check(
            !format!(" {part} ").contains(JOINT),
            format!("{place}: an input can be read in two ways"),
        )?;
    }
    Ok(parts)
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
        let is_known = |label: &String| views.iter().any(|view| view.knows(name, label));
        check(
            bins.labels.iter().all(is_known),
            format!("no view has all labels of the bins of {name:?}"),
        )?;
        found.insert(name.clone(), bins);
    }
    Ok(found)
}
