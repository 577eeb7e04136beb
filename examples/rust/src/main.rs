//! mechdesign-report mechanism.json < labels > reports
//! mechdesign-report mechanism.json KEY [ATTRIBUTE] < lines > reports
//!
//! The first reads one label a line, in UTF-8, and draws fresh reports from /dev/urandom. The second draws permanent
//! reports from the key file KEY, which `mechdesign key` makes: it reads an id, a tab and a label on each line, and the
//! same id and label always get the same report, which is that of `mechdesign privatize --key-file`. Through a file of
//! windows, also of prefixes, any string is reported; with a key a line then holds one tab, since a string may hold a tab as an id may.
//! Through a file of views of records a line holds a record, {"sex": "f", "age": "41"}, in place of a label; a view, a tab
//! and a report are written.

use mechdesign_report::json::{parse, Value};
use mechdesign_report::prefixes::Prefixes;
use mechdesign_report::records::Records;
use mechdesign_report::windows::{StringReports, Windows};
use mechdesign_report::{key_of, Error, Mechanism};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::process::exit;

const USAGE: &str = "usage: mechdesign-report mechanism.json [KEY [ATTRIBUTE]] < labels (with a key: id, tab, label)";
const MOST_KEY_BYTES: u64 = 1024;

fn fail(message: &str) -> ! {
    eprintln!("Error: {message}");
    exit(2)
}

fn read_key(path: &str) -> [u8; 32] {
    let status = fs::metadata(path).unwrap_or_else(|error| fail(&format!("cannot read {path}: {error}")));
    if !status.is_file() || status.len() > MOST_KEY_BYTES {
        fail(&format!("{path} is not a key file"));
    }
    let mut file = File::open(path).unwrap_or_else(|error| fail(&format!("cannot read {path}: {error}")));
    #[cfg(unix)]
    check_private(path, &file);
    let mut content = Vec::new();
    file.read_to_end(&mut content)
        .unwrap_or_else(|error| fail(&format!("cannot read {path}: {error}")));
    key_of(&content).unwrap_or_else(|_| fail(&format!("{path} is not a key file")))
}

#[cfg(unix)]
fn check_private(path: &str, file: &File) {
    use std::os::unix::fs::MetadataExt;
    let status = file
        .metadata()
        .unwrap_or_else(|error| fail(&format!("cannot read {path}: {error}")));
    if status.mode() & 0o077 != 0 {
        fail(&format!(
            "{path} can be read or written by others; make another key, or, if nobody has read it: chmod 600 {path}"
        ));
    }
    // The standard library does not tell who runs this; a process of Linux belongs to whoever owns its folder in /proc.
    let user = fs::metadata("/proc/self").map_or(status.uid(), |own| own.uid());
    if user != 0 && status.uid() != 0 && status.uid() != user {
        fail(&format!("{path} belongs to another user, who knows the key"));
    }
}

/// The lines of standard input, without their ends.
fn lines(content: &[u8]) -> Vec<&str> {
    let mut parts: Vec<&[u8]> = content.split(|&byte| byte == b'\n').collect();
    if parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    parts
        .into_iter()
        .enumerate()
        .map(|(i, line)| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            std::str::from_utf8(line)
                .unwrap_or_else(|_| fail(&format!("line {}: it is not UTF-8; nothing was reported", i + 1)))
        })
        .collect()
}

/// A mechanism: a matrix, windows of strings or of prefixes, or views of records.
enum Kind {
    Matrix(Mechanism),
    Strings(Windows),
    Prefixes(Prefixes),
    Views(Records),
}

impl Kind {
    fn read(content: &[u8], path: &str) -> Result<Kind, Error> {
        let schema = parse(content).map_err(Error::Input)?;
        let schema = schema.get("schema").and_then(Value::text).unwrap_or("");
        if schema.starts_with("mechdesign/windows/") {
            return Windows::read(content).map(Kind::Strings);
        }
        if schema.starts_with("mechdesign/prefix-windows/") {
            return Prefixes::read(content).map(Kind::Prefixes);
        }
        if schema.starts_with("mechdesign/records/") {
            return Records::read(content).map(Kind::Views);
        }
        Mechanism::read(content, path).map(Kind::Matrix)
    }

    fn fresh_reports(
        &self,
        lines: &[&str],
        fill: impl FnMut(&mut [u8]) -> io::Result<()>,
    ) -> Result<Vec<String>, Error> {
        match self {
            Kind::Matrix(matrix) => Ok(owned(matrix.fresh_reports(lines, fill)?)),
            Kind::Strings(windows) => windows.fresh_reports(lines, fill),
            Kind::Prefixes(windows) => windows.fresh_reports(lines, fill),
            Kind::Views(views) => Ok(joined(views.fresh_reports(&parsed(lines.iter().copied())?, fill)?)),
        }
    }

    fn permanent_reports(
        &self,
        key: &[u8; 32],
        records: &[(&str, &str)],
        attribute: &str,
    ) -> Result<Vec<String>, Error> {
        match self {
            Kind::Matrix(matrix) => Ok(owned(matrix.permanent_reports(key, records, attribute)?)),
            Kind::Strings(windows) => windows.permanent_reports(key, records, attribute),
            Kind::Prefixes(windows) => windows.permanent_reports(key, records, attribute),
            Kind::Views(views) => {
                let values = parsed(records.iter().map(|record| record.1))?;
                let pairs: Vec<_> = records.iter().map(|record| record.0).zip(&values).collect();
                Ok(joined(views.permanent_reports(key, &pairs, attribute)?))
            }
        }
    }

    /// Where a string may hold tabs, a second tab would leave open where the id ends.
    fn check_tabs(&self, lines: &[&str]) {
        let position = lines.iter().position(|line| line.matches('\t').count() != 1);
        if let (Kind::Strings(_) | Kind::Prefixes(_), Some(position)) = (self, position) {
            fail(&format!(
                "line {}: it is not an id, one tab and a string; nothing was reported",
                position + 1
            ));
        }
    }
}

/// The records that lines hold in JSON.
fn parsed<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<Value>, Error> {
    let refused = |position| Error::Record(position, "it is not a record, a table in JSON".into());
    let record = |(position, line): (usize, &str)| parse(line.as_bytes()).map_err(|_| refused(position));
    lines.enumerate().map(record).collect()
}

fn joined(reports: Vec<(&str, String)>) -> Vec<String> {
    reports
        .iter()
        .map(|(view, report)| format!("{view}\t{report}"))
        .collect()
}

fn owned(reports: Vec<&str>) -> Vec<String> {
    reports.into_iter().map(str::to_owned).collect()
}

/// Write one report for each line of standard input, or none at all: all lines are checked first, since a second run
/// over the same records would be a second report about each.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() || arguments.len() > 3 {
        fail(USAGE);
    }
    let path = &arguments[0];
    let content = fs::read(path).unwrap_or_else(|error| fail(&format!("cannot read {path}: {error}")));
    let mechanism = Kind::read(&content, path).unwrap_or_else(|error| match error {
        Error::Input(message) => fail(&format!("{path} is refused: {message}")),
        error => fail(&error.to_string()),
    });
    let key = arguments.get(1).map(|path| read_key(path));
    let mut given = Vec::new();
    io::stdin()
        .read_to_end(&mut given)
        .unwrap_or_else(|error| fail(&format!("cannot read the records: {error}")));
    let lines = lines(&given);
    let reported = match key {
        None => File::open("/dev/urandom")
            .map_err(Error::Source)
            .and_then(|mut source| mechanism.fresh_reports(&lines, |bytes| source.read_exact(bytes))),
        Some(key) => {
            mechanism.check_tabs(&lines);
            // Labels and records hold no tabs, so the last one ends the id.
            let records: Vec<_> = lines
                .iter()
                .map(|line| line.rsplit_once('\t').unwrap_or(("", line)))
                .collect();
            mechanism.permanent_reports(&key, &records, arguments.get(2).map_or("", String::as_str))
        }
    };
    let reports = reported.unwrap_or_else(|error| match error {
        Error::Input(message) => fail(&message),
        Error::Record(position, message) => fail(&format!("line {}: {message}; nothing was reported", position + 1)),
        Error::Source(error) => fail(&format!("cannot read /dev/urandom: {error}; nothing was reported")),
    });
    let text: String = reports.iter().flat_map(|report| [report.as_str(), "\n"]).collect();
    if let Err(error) = io::stdout().write_all(text.as_bytes()) {
        fail(&format!("cannot write the reports: {error}"));
    }
}
