//! What the tests read of the conformance kit.

use mechdesign_report::json::{parse, Value};
use std::fs;
use std::path::Path;

pub fn content(path: &str) -> Vec<u8> {
    fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../conformance")
            .join(path),
    )
    .expect(path)
}

pub fn rows(path: &str) -> Vec<Value> {
    match parse(&content(path)) {
        Ok(Value::List(rows)) => rows,
        other => panic!("{path}: {other:?}"),
    }
}

pub fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row.get(key).and_then(Value::text).expect(key)
}

pub fn texts<'a>(row: &'a Value, key: &str) -> Vec<&'a str> {
    row.get(key)
        .and_then(Value::list)
        .expect(key)
        .iter()
        .map(|value| value.text().expect(key))
        .collect()
}

pub fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex"))
        .collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn key(row: &Value) -> [u8; 32] {
    bytes(text(row, "key")).try_into().expect("32 bytes")
}

/// Fills arrays with the words of SplitMix64.
pub fn split_mix() -> impl FnMut(&mut [u8]) -> std::io::Result<()> {
    let mut state: u64 = 0;
    move |bytes| {
        for part in bytes.chunks_exact_mut(8) {
            state = state.wrapping_add(0x9e3779b97f4a7c15);
            let mut word = (state ^ (state >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d049bb133111eb);
            part.copy_from_slice(&(word ^ (word >> 31)).to_le_bytes());
        }
        Ok(())
    }
}

/// Fills arrays with bytes that are given, and leaves the rest of them.
pub fn fill(rest: &mut &[u8], wanted: &mut [u8]) -> std::io::Result<()> {
    let (now, later) = rest.split_at(wanted.len());
    wanted.copy_from_slice(now);
    *rest = later;
    Ok(())
}
