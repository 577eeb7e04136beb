//! A reader of JSON (RFC 8259). Numbers stay as they are written, and keys that occur twice are refused.

const DEEPEST: usize = 100;

#[derive(Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Value>),
    Table(Vec<(String, Value)>),
}

impl Value {
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Value]> {
        match self {
            Value::List(values) => Some(values),
            _ => None,
        }
    }

    /// A whole number that is not negative, written without a point or an exponent; `-0` is 0.
    pub fn whole(&self) -> Option<u64> {
        match self {
            Value::Number(digits) if digits == "-0" => Some(0),
            Value::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// A number as the nearest float, which is infinite for one that is too large.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }
}

/// Read a text of JSON; the error says what is wrong with it.
pub fn parse(content: &[u8]) -> Result<Value, String> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let text = std::str::from_utf8(content).map_err(|_| "it is not UTF-8")?;
    let mut reader = Reader {
        bytes: text.as_bytes(),
        place: 0,
    };
    let value = reader.value(0)?;
    reader.space();
    if reader.place < reader.bytes.len() {
        return Err("it is not JSON: something follows the value".into());
    }
    Ok(value)
}

struct Reader<'a> {
    bytes: &'a [u8],
    place: usize,
}

impl Reader<'_> {
    fn wrong<T>(&self) -> Result<T, String> {
        Err(format!("it is not JSON (byte {})", self.place))
    }

    fn peek(&self) -> u8 {
        self.bytes.get(self.place).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.place += 1;
        }
    }

    fn take(&mut self, wanted: &[u8]) -> bool {
        let found = self.bytes[self.place..].starts_with(wanted);
        if found {
            self.place += wanted.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err("it is nested too deeply".into());
        }
        self.space();
        match self.peek() {
            b'{' => self.table(depth),
            b'[' => self.items(depth),
            b'"' => Ok(Value::Text(self.string()?)),
            b'-' | b'0'..=b'9' => self.number(),
            _ if self.take(b"true") => Ok(Value::Bool(true)),
            _ if self.take(b"false") => Ok(Value::Bool(false)),
            _ if self.take(b"null") => Ok(Value::Null),
            _ => self.wrong(),
        }
    }

    fn items(&mut self, depth: usize) -> Result<Value, String> {
        self.place += 1;
        let mut found = Vec::new();
        self.space();
        if self.take(b"]") {
            return Ok(Value::List(found));
        }
        loop {
            found.push(self.value(depth + 1)?);
            self.space();
            if self.take(b"]") {
                return Ok(Value::List(found));
            }
            if !self.take(b",") {
                return self.wrong();
            }
        }
    }

    fn table(&mut self, depth: usize) -> Result<Value, String> {
        self.place += 1;
        let mut found: Vec<(String, Value)> = Vec::new();
        self.space();
        if self.take(b"}") {
            return Ok(Value::Table(found));
        }
        loop {
            self.space();
            let key = self.string()?;
            if found.iter().any(|(name, _)| *name == key) {
                return Err(format!("the key {key:?} occurs twice"));
            }
            self.space();
            if !self.take(b":") {
                return self.wrong();
            }
            found.push((key, self.value(depth + 1)?));
            self.space();
            if self.take(b"}") {
                return Ok(Value::Table(found));
            }
            if !self.take(b",") {
                return self.wrong();
            }
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.place;
        self.take(b"-");
        if !self.take(b"0") {
            self.digits()?;
        }
        if self.take(b".") {
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.place += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.place += 1;
            }
            self.digits()?;
        }
        let written = std::str::from_utf8(&self.bytes[start..self.place]).expect("ASCII");
        Ok(Value::Number(written.to_owned()))
    }

    fn digits(&mut self) -> Result<(), String> {
        let start = self.place;
        while self.peek().is_ascii_digit() {
            self.place += 1;
        }
        if self.place == start {
            return self.wrong();
        }
        Ok(())
    }

    fn string(&mut self) -> Result<String, String> {
        if !self.take(b"\"") {
            return self.wrong();
        }
        let mut found = Vec::new();
        loop {
            let Some(&byte) = self.bytes.get(self.place) else {
                return self.wrong();
            };
            match byte {
                0..=0x1f => return self.wrong(),
                b'"' => {
                    self.place += 1;
                    return Ok(String::from_utf8(found).expect("parts of UTF-8 between characters of ASCII"));
                }
                b'\\' => {
                    self.place += 1;
                    let sign = self.escaped()?;
                    found.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => {
                    found.push(byte);
                    self.place += 1;
                }
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        let sign = self.peek();
        self.place += 1;
        Ok(match sign {
            b'"' | b'\\' | b'/' => sign as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.unit()?;
                let point = match first {
                    0xd800..=0xdbff if self.take(b"\\u") => {
                        let second = self.unit()?;
                        if !(0xdc00..=0xdfff).contains(&second) {
                            return Err("a text holds half of a surrogate pair".into());
                        }
                        0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
                    }
                    _ => first,
                };
                return char::from_u32(point).ok_or_else(|| "a text holds half of a surrogate pair".into());
            }
            _ => return self.wrong(),
        })
    }

    fn unit(&mut self) -> Result<u32, String> {
        let mut value = 0;
        for _ in 0..4 {
            let Some(digit) = (self.peek() as char).to_digit(16) else {
                return self.wrong();
            };
            value = 16 * value + digit;
            self.place += 1;
        }
        Ok(value)
    }
}
