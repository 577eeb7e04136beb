//! The views of records of the conformance kit.

mod common;

use common::{bytes, content, fill, hex, key, rows, split_mix, text, texts};
use mechdesign_report::bins::Bins;
use mechdesign_report::hashes::sha256;
use mechdesign_report::json::{parse, Value};
use mechdesign_report::records::Records;
use mechdesign_report::Error;

fn records(path: &str) -> Result<Records, Error> {
    Records::read(&content(path))
}

fn listed<'a>(row: &'a Value, key: &str) -> &'a [Value] {
    row.get(key).and_then(Value::list).expect(key)
}

fn copied(record: &Value) -> Value {
    let Value::Table(entries) = record else {
        panic!("{record:?}")
    };
    let copy = entries.iter().map(|(name, value)| {
        let label = value.text().expect("a label").to_owned();
        (name.clone(), Value::Text(label))
    });
    Value::Table(copy.collect())
}

#[test]
fn fingerprints_of_views() {
    for row in rows("records.json") {
        let file = text(&row, "file");
        let found = records(file).expect(file).fingerprint();
        assert_eq!(hex(&found), text(&row, "fingerprint"), "{file}");
    }
}

#[test]
fn files_of_views_that_are_refused() {
    for row in rows("records-refused.json") {
        let file = text(&row, "file");
        let refused = matches!(records(file), Err(Error::Input(_)));
        assert_eq!(
            refused,
            text(&row, "by") != "verify",
            "{file}: {}",
            text(&row, "reason")
        );
    }
}

#[test]
fn fresh_reports_of_views() {
    for row in rows("records-fresh.json") {
        let file = text(&row, "mechanism");
        let consumer = records(file).expect(file);
        let mut given: Vec<Value> = listed(&row, "records").iter().map(copied).collect();
        let source = bytes(text(&row, "bytes"));
        let mut rest = &source[..];
        let reports = consumer
            .fresh_reports(&given, |wanted| fill(&mut rest, wanted))
            .expect(file);
        let reported = texts(&row, "reports").into_iter().map(str::to_owned);
        let expected: Vec<_> = texts(&row, "views").into_iter().zip(reported).collect();
        assert_eq!(reports, expected, "{file}");
        assert!(rest.is_empty());
        let others = [Value::Null, Value::Table(Vec::new())];
        for record in listed(&row, "refused").iter().map(copied).chain(others) {
            let told = format!("{file}: {record:?}");
            given.push(record);
            let refused = consumer.fresh_reports(&given, |_| panic!("bytes were drawn"));
            assert!(
                matches!(refused, Err(Error::Record(position, _)) if position + 1 == given.len()),
                "{told}"
            );
            given.pop();
        }
    }
}

#[test]
fn permanent_reports_of_views() {
    for row in rows("records-keyed.json") {
        let file = text(&row, "mechanism");
        let consumer = records(file).expect(file);
        let given = listed(&row, "records");
        let pairs: Vec<_> = texts(&row, "ids").into_iter().zip(given).collect();
        let reports = consumer.permanent_reports(&key(&row), &pairs, text(&row, "attribute"));
        let reported = texts(&row, "reports").into_iter().map(str::to_owned);
        let expected: Vec<_> = texts(&row, "views").into_iter().zip(reported).collect();
        assert_eq!(reports.expect(file), expected, "{file}");
        let refused = consumer.permanent_reports(&[0; 32], &[("ann", &given[0]), (" bob", &given[0])], "");
        assert!(matches!(refused, Err(Error::Record(1, _))));
        let refused = consumer.permanent_reports(&[0; 32], &pairs, " word");
        assert!(matches!(refused, Err(Error::Input(_))));
    }
}

#[test]
fn numbers_in_bins() {
    for row in rows("records-bins.json") {
        let bins = Bins::read(row.get("edges").expect("edges"), "numbers").expect("bins");
        assert_eq!(bins.labels, texts(&row, "labels"));
        let found: Vec<&str> = texts(&row, "texts").iter().map(|text| bins.label_of(text)).collect();
        assert_eq!(found, texts(&row, "labelled"));
    }
    for edges in ["[]", "[1, \"2\"]", "[1e400]", "[2, 1]", "[0, -0.0]", "{}"] {
        let refused = Bins::read(&parse(edges.as_bytes()).expect("JSON"), "numbers");
        assert!(refused.is_err(), "{edges}");
    }
}

#[test]
fn streams_of_views() {
    let mut tried = 0;
    let given = rows("records-fresh.json");
    for row in rows("records-streams.json") {
        let file = text(&row, "mechanism");
        let draws = row.get("draws").and_then(Value::whole).expect("draws") as usize;
        let consumer = records(file).expect(file);
        let own = given.iter().find(|each| text(each, "mechanism") == file).expect(file);
        let those: Vec<Value> = listed(own, "records").iter().cycle().take(draws).map(copied).collect();
        let ids: Vec<String> = (0..draws).map(|i| format!("id {i}")).collect();
        let pairs: Vec<_> = ids.iter().map(String::as_str).zip(&those).collect();
        let reports = match row.get("key") {
            None => consumer.fresh_reports(&those, split_mix()),
            Some(_) => consumer.permanent_reports(&key(&row), &pairs, text(&row, "attribute")),
        };
        let lines = reports.expect(file).into_iter();
        let told: String = lines.map(|(view, report)| format!("{view}\t{report}\n")).collect();
        assert_eq!(hex(&sha256(told.as_bytes())), text(&row, "sha256"), "{file}, {draws}");
        tried += draws;
    }
    assert_eq!(tried, 14_000);
}
