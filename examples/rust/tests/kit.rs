//! The conformance kit. The streams of a million draws are tried by `cargo test --release -- --include-ignored`.

mod common;

use common::{bytes, content, fill, hex, key, rows, split_mix, text, texts};
use mechdesign_report::hashes::{keyed_hash, sha256};
use mechdesign_report::json::Value;
use mechdesign_report::{key_of, Error, Mechanism};

fn mechanism(path: &str) -> Result<Mechanism, Error> {
    Mechanism::read(&content(path), path)
}

#[test]
fn sha256_has_its_published_values() {
    let cases = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (
            "abc",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
    ];
    for (message, hash) in cases {
        assert_eq!(hex(&sha256(message.as_bytes())), hash);
    }
}

#[test]
fn fingerprints() {
    for row in rows("fingerprints.json") {
        let file = text(&row, "file");
        assert_eq!(
            hex(&mechanism(file).expect(file).fingerprint()),
            text(&row, "fingerprint"),
            "{file}"
        );
    }
}

#[test]
fn files_that_are_refused() {
    for row in rows("refused.json") {
        let file = text(&row, "file");
        if text(&row, "by") != "verify" {
            assert!(
                matches!(mechanism(file), Err(Error::Input(_))),
                "{file}: {}",
                text(&row, "reason")
            );
        }
    }
}

#[test]
fn fresh_reports() {
    for row in rows("fresh.json") {
        let file = text(&row, "mechanism");
        let consumer = mechanism(file).expect(file);
        let source = bytes(text(&row, "bytes"));
        let mut rest = &source[..];
        let inputs = texts(&row, "inputs");
        let reports = consumer.fresh_reports(&inputs, |wanted| fill(&mut rest, wanted));
        assert_eq!(reports.expect(file), texts(&row, "reports"), "{file}");
        assert!(rest.is_empty());
        for label in texts(&row, "refused") {
            let mut wrong = inputs.clone();
            wrong.push(label);
            let refused = consumer.fresh_reports(&wrong, |_| panic!("bytes were drawn"));
            assert!(
                matches!(refused, Err(Error::Record(position, _)) if position == inputs.len()),
                "{label:?}"
            );
        }
    }
}

#[test]
fn permanent_reports() {
    for row in rows("keyed.json") {
        let file = text(&row, "mechanism");
        let consumer = mechanism(file).expect(file);
        let (ids, inputs, attribute) = (texts(&row, "ids"), texts(&row, "inputs"), text(&row, "attribute"));
        for ((id, input), hash) in ids.iter().zip(&inputs).zip(texts(&row, "hashes")) {
            let mut message = consumer.fingerprint().to_vec();
            for part in [attribute, input] {
                message.extend_from_slice(&(part.len() as u64).to_le_bytes());
                message.extend_from_slice(part.as_bytes());
            }
            message.extend_from_slice(id.as_bytes());
            assert_eq!(hex(&keyed_hash(&key(&row), &message)), hash, "{file}, {id:?}");
        }
        let records: Vec<_> = ids.into_iter().zip(inputs).collect();
        let reports = consumer.permanent_reports(&key(&row), &records, attribute);
        assert_eq!(reports.expect(file), texts(&row, "reports"), "{file}");
    }
}

#[test]
fn ids_that_are_refused() {
    let consumer = mechanism("mechanisms/warner.json").expect("a mechanism");
    for row in rows("ids.json") {
        if let Ok(id) = String::from_utf8(bytes(text(&row, "bytes"))) {
            let refused = consumer.permanent_reports(&[0; 32], &[("ann", "no"), (&id, "no")], "");
            assert!(matches!(refused, Err(Error::Record(1, _))), "{}", text(&row, "reason"));
        }
    }
}

#[test]
fn attributes_that_are_refused() {
    let consumer = mechanism("mechanisms/warner.json").expect("a mechanism");
    for row in rows("attributes.json") {
        if let Ok(attribute) = String::from_utf8(bytes(text(&row, "bytes"))) {
            let refused = consumer.permanent_reports(&[0; 32], &[("ann", "no")], &attribute);
            assert!(matches!(refused, Err(Error::Input(_))), "{}", text(&row, "reason"));
        }
    }
}

#[test]
fn key_files() {
    for row in rows("key-files.json") {
        let read = key_of(&bytes(text(&row, "bytes")));
        match row.get("key") {
            Some(_) => assert_eq!(read.expect("a key"), key(&row)),
            None => assert!(read.is_err(), "{}", text(&row, "reason")),
        }
    }
}

fn try_streams(wanted: impl Fn(usize) -> bool) -> usize {
    let mut tried = 0;
    for row in rows("streams.json") {
        let draws = row.get("draws").and_then(Value::whole).expect("draws") as usize;
        if !wanted(draws) {
            continue;
        }
        let file = text(&row, "mechanism");
        let consumer = mechanism(file).expect(file);
        let inputs: Vec<&str> = consumer.inputs.iter().map(String::as_str).cycle().take(draws).collect();
        let reports = match row.get("key") {
            None => consumer.fresh_reports(&inputs, split_mix()),
            Some(_) => {
                let ids: Vec<String> = (0..draws).map(|i| format!("id {i}")).collect();
                let records: Vec<_> = ids.iter().map(String::as_str).zip(inputs).collect();
                consumer.permanent_reports(&key(&row), &records, text(&row, "attribute"))
            }
        };
        let told: String = reports.expect(file).iter().flat_map(|report| [report, "\n"]).collect();
        assert_eq!(hex(&sha256(told.as_bytes())), text(&row, "sha256"), "{file}, {draws}");
        tried += draws;
    }
    tried
}

#[test]
fn short_streams() {
    assert_eq!(try_streams(|draws| draws <= 1_000), 26_000);
}

#[test]
#[ignore = "a million draws each: by cargo test --release -- --include-ignored"]
fn long_streams() {
    assert_eq!(try_streams(|draws| draws > 1_000), 3_000_000);
}
