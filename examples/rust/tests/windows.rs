//! The windows of the conformance kit, of strings and of prefixes. The streams of a million draws are tried by `cargo test --release --
//! --include-ignored`.

mod common;

use common::{bytes, content, fill, hex, key, rows, split_mix, text, texts};
use mechdesign_report::hashes::sha256;
use mechdesign_report::inflate::inflated;
use mechdesign_report::json::Value;
use mechdesign_report::prefixes::Prefixes;
use mechdesign_report::windows::{normal, StringReports, Windows};
use mechdesign_report::Error;

type Read<M> = fn(&[u8]) -> Result<M, Error>;

const STRINGS: (&str, Read<Windows>) = ("windows", Windows::read);
const PREFIXES: (&str, Read<Prefixes>) = ("prefixes", Prefixes::read);

fn try_fingerprints<M: StringReports>((kind, read): (&str, Read<M>)) {
    for row in rows(&format!("{kind}.json")) {
        let file = text(&row, "file");
        let found = read(&content(file)).expect(file).fingerprint();
        assert_eq!(hex(&found), text(&row, "fingerprint"), "{file}");
    }
}

#[test]
fn fingerprints_of_windows() {
    try_fingerprints(STRINGS);
    try_fingerprints(PREFIXES);
}

fn try_refusals<M: StringReports>((kind, read): (&str, Read<M>)) {
    for row in rows(&format!("{kind}-refused.json")) {
        let file = text(&row, "file");
        if text(&row, "by") != "verify" {
            let refused = matches!(read(&content(file)), Err(Error::Input(_)));
            assert!(refused, "{file}: {}", text(&row, "reason"));
        }
    }
}

#[test]
fn files_of_windows_that_are_refused() {
    try_refusals(STRINGS);
    try_refusals(PREFIXES);
}

#[test]
fn normal_forms_of_strings() {
    let consumer = Windows::read(&content("windows/light.json")).expect("windows");
    for row in rows("strings.json") {
        let given = String::from_utf8(bytes(text(&row, "bytes")));
        if row.get("reason").is_none() {
            let found = normal(&given.expect("a text"), text(&row, "form")).expect("a normal form");
            assert_eq!(hex(found.as_bytes()), text(&row, "normal"), "{}", text(&row, "bytes"));
        } else if let Ok(given) = given {
            let times = row.get("times").and_then(Value::whole).expect("times");
            let string = given.repeat(times as usize);
            let refused = consumer.fresh_reports(&["s0", &string], |_| panic!("bytes were drawn"));
            assert!(matches!(refused, Err(Error::Record(1, _))), "{}", text(&row, "reason"));
        }
    }
}

fn try_fresh<M: StringReports>((kind, read): (&str, Read<M>)) {
    for row in rows(&format!("{kind}-fresh.json")) {
        let file = text(&row, "mechanism");
        let source = bytes(text(&row, "bytes"));
        let mut rest = &source[..];
        let reports = read(&content(file))
            .expect(file)
            .fresh_reports(&texts(&row, "strings"), |wanted| fill(&mut rest, wanted));
        assert_eq!(reports.expect(file), texts(&row, "reports"), "{file}");
        assert!(rest.is_empty());
    }
}

#[test]
fn fresh_reports_of_windows() {
    try_fresh(STRINGS);
    try_fresh(PREFIXES);
}

fn try_permanent<M: StringReports>((kind, read): (&str, Read<M>)) {
    for row in rows(&format!("{kind}-keyed.json")) {
        let file = text(&row, "mechanism");
        let consumer = read(&content(file)).expect(file);
        let records: Vec<_> = texts(&row, "ids").into_iter().zip(texts(&row, "strings")).collect();
        let reports = consumer.permanent_reports(&key(&row), &records, text(&row, "attribute"));
        assert_eq!(reports.expect(file), texts(&row, "reports"), "{file}");
        let refused = consumer.permanent_reports(&[0; 32], &[("ann", "a"), (" bob", "a")], "");
        assert!(matches!(refused, Err(Error::Record(1, _))));
        let refused = consumer.permanent_reports(&[0; 32], &[("ann", "a")], " word");
        assert!(matches!(refused, Err(Error::Input(_))));
    }
}

#[test]
fn permanent_reports_of_windows() {
    try_permanent(STRINGS);
    try_permanent(PREFIXES);
}

#[test]
fn streams_of_zlib() {
    // By zlib itself: stored; with the fixed code; and with copies that overlap.
    let stored = "7801010500faff68656c6c6f062c0215";
    let fixed = "78dacb48cdc9c90700062c0215";
    assert_eq!(inflated(&bytes(stored), 5).expect("stored"), b"hello");
    assert_eq!(inflated(&bytes(fixed), 5).expect("fixed"), b"hello");
    assert_eq!(
        inflated(&bytes("78da4b4c1c05a380fa0000eebae359"), 600).expect("copies"),
        [b'a'; 600]
    );
    for whole in [stored, fixed] {
        assert!(inflated(&bytes(whole), 4).is_none());
        assert!(inflated(&bytes(whole), 6).is_none());
        assert!(inflated(&bytes(&format!("{whole}00")), 5).is_none());
        for cut in 0..whole.len() / 2 {
            assert!(inflated(&bytes(&whole[..2 * cut]), 5).is_none());
        }
    }
}

fn try_streams<M: StringReports>(
    (kind, read): (&str, Read<M>),
    string_at: impl Fn(usize) -> String,
    wanted: impl Fn(usize) -> bool,
) -> usize {
    let mut tried = 0;
    for row in rows(&format!("{kind}-streams.json")) {
        let draws = row.get("draws").and_then(Value::whole).expect("draws") as usize;
        if !wanted(draws) {
            continue;
        }
        let file = text(&row, "mechanism");
        let consumer = read(&content(file)).expect(file);
        let strings: Vec<String> = (0..draws).map(&string_at).collect();
        let reports = match row.get("key") {
            None => {
                let strings: Vec<&str> = strings.iter().map(String::as_str).collect();
                consumer.fresh_reports(&strings, split_mix())
            }
            Some(_) => {
                let ids: Vec<String> = (0..draws).map(|i| format!("id {i}")).collect();
                let pairs = ids.iter().zip(&strings);
                let records: Vec<_> = pairs.map(|(id, string)| (id.as_str(), string.as_str())).collect();
                consumer.permanent_reports(&key(&row), &records, text(&row, "attribute"))
            }
        };
        let told: String = reports
            .expect(file)
            .iter()
            .map(|report| format!("{report}\n"))
            .collect();
        assert_eq!(hex(&sha256(told.as_bytes())), text(&row, "sha256"), "{file}, {draws}");
        tried += draws;
    }
    tried
}

fn square(i: usize) -> String {
    format!("s{}", i * i % 1_009)
}

#[test]
fn short_streams_of_prefixes() {
    let row = &rows("prefixes-keyed.json")[0];
    let strings = texts(row, "strings");
    let string_at = |i: usize| strings[i % strings.len()].to_owned();
    assert_eq!(try_streams(PREFIXES, string_at, |_| true), 6_000);
}

#[test]
fn short_streams_of_windows() {
    assert_eq!(try_streams(STRINGS, square, |draws| draws <= 1_000), 16_000);
}

#[test]
#[ignore = "a million draws each: by cargo test --release -- --include-ignored"]
fn long_streams_of_windows() {
    assert_eq!(try_streams(STRINGS, square, |draws| draws > 1_000), 3_000_000);
}
