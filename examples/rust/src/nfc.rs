//! Normal form C of Unicode, from the table in `nfc.txt`, and the full folding of case.

use std::collections::HashMap;
use std::sync::OnceLock;

const TABLE: &str = include_str!("nfc.txt");
// Syllables of Hangul are composed by arithmetic: of a leading letter, a vowel and perhaps a trailing letter.
const SYLLABLES: u32 = 0xac00;
const LEADING: u32 = 0x1100;
const VOWELS: u32 = 0x1161;
const TRAILING: u32 = 0x11a7; // which itself is not a trailing letter
const LEADS: u32 = 19;
const VOWEL_COUNT: u32 = 21;
const TRAILS: u32 = 28;

struct Table {
    parts: HashMap<u32, (u32, Option<u32>)>,
    composed: HashMap<(u32, u32), u32>,
    classes: HashMap<u32, u8>,
}

fn table() -> &'static Table {
    static FOUND: OnceLock<Table> = OnceLock::new();
    FOUND.get_or_init(|| {
        let (mut parts, mut composed, mut classes) = (HashMap::new(), HashMap::new(), HashMap::new());
        let code = |text: &str| u32::from_str_radix(text, 16).expect("a code point");
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split(' ').collect();
            if let Some((first, last)) = words[0].split_once('-') {
                let class = words[1].parse().expect("a combining class");
                classes.extend((code(first)..=code(last)).map(|each| (each, class)));
                continue;
            }
            let second = words.get(2).filter(|&&word| word != "!").map(|word| code(word));
            parts.insert(code(words[0]), (code(words[1]), second));
            if let (Some(second), false) = (second, words.contains(&"!")) {
                composed.insert((code(words[1]), second), code(words[0]));
            }
        }
        Table {
            parts,
            composed,
            classes,
        }
    })
}

impl Table {
    fn class(&self, code: u32) -> u8 {
        self.classes.get(&code).copied().unwrap_or(0)
    }

    fn decompose(&self, code: u32, found: &mut Vec<u32>) {
        let syllable = code.wrapping_sub(SYLLABLES);
        if syllable < LEADS * VOWEL_COUNT * TRAILS {
            found.push(LEADING + syllable / (VOWEL_COUNT * TRAILS));
            found.push(VOWELS + syllable / TRAILS % VOWEL_COUNT);
            if syllable % TRAILS > 0 {
                found.push(TRAILING + syllable % TRAILS);
            }
        } else if let Some(&(first, second)) = self.parts.get(&code) {
            self.decompose(first, found);
            found.extend(second); // the second part of a letter is never composed
        } else {
            found.push(code);
        }
    }

    fn compose(&self, first: u32, second: u32) -> Option<u32> {
        let (lead, vowel) = (first.wrapping_sub(LEADING), second.wrapping_sub(VOWELS));
        if lead < LEADS && vowel < VOWEL_COUNT {
            return Some(SYLLABLES + (lead * VOWEL_COUNT + vowel) * TRAILS);
        }
        let (syllable, trail) = (first.wrapping_sub(SYLLABLES), second.wrapping_sub(TRAILING));
        if syllable < LEADS * VOWEL_COUNT * TRAILS && syllable % TRAILS == 0 && (1..TRAILS).contains(&trail) {
            return Some(first + trail);
        }
        self.composed.get(&(first, second)).copied()
    }
}

/// The normal form C of a text.
pub fn nfc(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let table = table();
    let mut codes = Vec::new();
    for sign in text.chars() {
        table.decompose(sign as u32, &mut codes);
    }
    let mut start = 0; // of a letter and its marks, which are sorted by their classes
    while start < codes.len() {
        let is_mark = |&&code: &&u32| table.class(code) > 0;
        let end = start + 1 + codes[start + 1..].iter().take_while(is_mark).count();
        codes[start..end].sort_by_key(|&code| table.class(code));
        start = end;
    }
    let mut found: Vec<u32> = Vec::with_capacity(codes.len());
    let (mut starter, mut last) = (None, 0); // where the last letter of class 0 is, and the class after it
    for code in codes {
        let class = table.class(code);
        let open = starter.filter(|&at: &usize| at + 1 == found.len() || last < class);
        if let Some((at, joined)) = open.and_then(|at| table.compose(found[at], code).map(|joined| (at, joined))) {
            found[at] = joined;
            continue;
        }
        if class == 0 {
            starter = Some(found.len());
        }
        last = class;
        found.push(code);
    }
    found
        .into_iter()
        .map(|code| char::from_u32(code).expect("a letter"))
        .collect()
}

/// The full case folding of a text: the small letters of the capitals, but for the dotless i and for Cherokee.
pub fn folded(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '\u{131}' => found.push(sign),
            '\u{13a0}'..='\u{13f5}' | '\u{13f8}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => {
                found.extend(sign.to_uppercase());
            }
            _ => found.extend(
                sign.to_lowercase()
                    .flat_map(char::to_uppercase)
                    .flat_map(char::to_lowercase),
            ),
        }
    }
    found
}
