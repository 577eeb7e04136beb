//! Numbers in bins between edges, which are compared as floats of 64 bits. Any text that is no decimal number stands for
//! itself.

use crate::json::Value;
use crate::{check, Error};

const MOST_EDGES: usize = 9_999;

pub struct Bins {
    pub edges: Vec<f64>,
    pub labels: Vec<String>,
}

impl Bins {
    /// From the list of edges that a file holds.
    pub fn read(given: &Value, name: &str) -> Result<Bins, Error> {
        let listed = given.list().unwrap_or(&[]);
        check(
            (1..=MOST_EDGES).contains(&listed.len()),
            format!("bins of {name:?}: there are no edges, or too many"),
        )?;
        let finite = |value: &Value| value.number().filter(|edge| edge.is_finite());
        let edges: Vec<f64> = listed.iter().filter_map(finite).map(|edge| edge + 0.0).collect(); // there is one zero
        check(
            edges.len() == listed.len() && edges.windows(2).all(|pair| pair[0] < pair[1]),
            format!("bins of {name:?}: the edges are not finite numbers that increase"),
        )?;
        let ends: Vec<String> = edges.iter().map(|&edge| shown(edge)).collect();
        let mut labels = vec![format!("under {}", ends[0])];
        labels.extend(ends.windows(2).map(|pair| format!("{} to under {}", pair[0], pair[1])));
        labels.push(format!("{} or more", ends[ends.len() - 1]));
        Ok(Bins { edges, labels })
    }

    /// The label of the bin of a number; another text as it is.
    pub fn label_of<'a>(&'a self, text: &'a str) -> &'a str {
        // The standard library also reads words, such as inf.
        let is_plain = text.bytes().all(|sign| b"0123456789.eE+-".contains(&sign));
        match text.parse::<f64>() {
            Ok(number) if is_plain => &self.labels[self.edges.partition_point(|&edge| edge <= number)],
            _ => text,
        }
    }
}

/// The shortest decimal of a float; it has an exponent, of two digits at least, below 1e-4 and from 1e16 on.
fn shown(edge: f64) -> String {
    let written = format!("{edge:e}");
    let (digits, power) = parts(&written);
    let places = digits.trim_start_matches('-').len().saturating_sub(2); // after the point
    if (-4..16).contains(&power) {
        let decimals = (places as i32 - power).max(0) as usize;
        return even(edge, format!("{edge:.decimals$}"), edge.to_string());
    }
    let written = even(edge, format!("{edge:.places$e}"), written);
    let (digits, power) = parts(&written);
    format!("{digits}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
}

/// Of two decimals of one length that are as near, that which ends in an even digit: a format with so many digits has it,
/// and the shortest that the standard library writes may be the other.
fn even(edge: f64, rounded: String, shortest: String) -> String {
    if rounded.parse() == Ok(edge) {
        rounded
    } else {
        shortest
    }
}

/// The digits and the exponent of a number that is written with both.
fn parts(written: &str) -> (&str, i32) {
    let (digits, power) = written.split_once('e').expect("an exponent");
    (digits, power.parse().expect("a whole number"))
}
