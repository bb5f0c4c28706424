//! JSON: reading it with the place of every value, and writing it.
//!
//! `serde_json` judges whether a text is JSON; here it is only looked up where things are.

use std::collections::HashSet;
use std::ops::Range;

use serde::de::IgnoredAny;

use crate::hl7::path::cut;
use crate::limits::{MAX_DEPTH, MAX_NODES};
use crate::tree::TreeError;
use crate::tree::node::{Entry, Node, Value};

/// Reads a text.
pub(crate) fn read(text: &str) -> Result<Node, TreeError> {
    let broken = |error: serde_json::Error| TreeError::Broken { format: "JSON", why: error.to_string() };
    serde_json::from_str::<IgnoredAny>(text).map_err(broken)?;
    Scanner { text, at: 0, nodes: 0 }.value(0)
}

/// Goes through a text that is JSON.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    nodes: usize,
}

impl Scanner<'_> {
    fn value(&mut self, depth: usize) -> Result<Node, TreeError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(TreeError::TooManyNodes);
        }
        self.space();
        let start = self.at;
        let value = match self.peek() {
            b'{' | b'[' if depth == MAX_DEPTH => return Err(TreeError::TooDeep),
            b'{' => self.map(depth)?,
            b'[' => self.list(depth)?,
            b'"' => Value::Text(self.string()?.0),
            _ => self.word(),
        };
        Ok(Node { value, range: start..self.at, is_alias: false })
    }

    fn map(&mut self, depth: usize) -> Result<Value, TreeError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut keys = HashSet::new();
        self.at += 1;
        while self.more(b'}') {
            let (key, key_range) = self.string()?;
            if !keys.insert(key.clone()) {
                return Err(TreeError::Twice(cut(&key)));
            }
            self.space();
            // The colon.
            self.at += 1;
            entries.push(Entry { key, key_range, node: self.value(depth + 1)? });
        }
        Ok(Value::Map(entries))
    }

    fn list(&mut self, depth: usize) -> Result<Value, TreeError> {
        let mut nodes = Vec::new();
        self.at += 1;
        while self.more(b']') {
            nodes.push(self.value(depth + 1)?);
        }
        Ok(Value::List(nodes))
    }

    /// Goes to what comes next in a list or a map; says whether something does.
    fn more(&mut self, end: u8) -> bool {
        self.space();
        if self.peek() == b',' {
            self.at += 1;
            self.space();
        }
        let ends = self.at >= self.text.len() || self.peek() == end;
        self.at += usize::from(ends);
        !ends
    }

    fn string(&mut self) -> Result<(String, Range<usize>), TreeError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                b'\\' => self.at += 2,
                b'"' | 0 => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let range = start..self.at.min(self.text.len());
        // Half a character is the one thing that only shows now.
        let broken = |error: serde_json::Error| TreeError::Broken { format: "JSON", why: error.to_string() };
        Ok((serde_json::from_str(&self.text[range.clone()]).map_err(broken)?, range))
    }

    fn word(&mut self) -> Value {
        let rest = &self.text.as_bytes()[self.at..];
        let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let word = &self.text[self.at..self.at + length];
        self.at += length;
        match word {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            number => Value::Number(number.to_owned()),
        }
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// The next byte; NUL at the end, which stands nowhere in JSON.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }
}

/// Writes a document, with two spaces for every level.
pub(crate) fn write(node: &Node) -> String {
    let mut text = String::new();
    push(&mut text, node, &Layout { indent: Some("  "), newline: "\n", colon: ": " }, 0);
    text
}

/// Writes a value on one line.
pub(crate) fn write_compact(node: &Node) -> String {
    let mut text = String::new();
    push(&mut text, node, &Layout { indent: None, newline: "", colon: ":" }, 0);
    text
}

/// How values are laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout<'l> {
    /// What every level begins with; all on one line if there is none.
    pub(crate) indent: Option<&'l str>,
    pub(crate) newline: &'l str,
    pub(crate) colon: &'l str,
}

/// Writes a value that stands at this level.
pub(crate) fn push(out: &mut String, node: &Node, layout: &Layout<'_>, level: usize) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(text) => match number(text) {
            Some(number) => out.push_str(&number),
            // JSON has no infinity.
            None => out.push_str(&quoted(text)),
        },
        Value::Text(text) => out.push_str(&quoted(text)),
        Value::List(nodes) => {
            let write = |out: &mut String, node: &Node| push(out, node, layout, level + 1);
            push_all(out, ['[', ']'], nodes, layout, level, write);
        }
        Value::Map(entries) => push_all(out, ['{', '}'], entries, layout, level, |out, entry| {
            out.push_str(&quoted(&entry.key));
            out.push_str(layout.colon);
            push(out, &entry.node, layout, level + 1);
        }),
    }
}

fn push_all<T>(
    out: &mut String,
    [open, close]: [char; 2],
    parts: &[T],
    layout: &Layout<'_>,
    level: usize,
    write: impl Fn(&mut String, &T),
) {
    let line = |out: &mut String, level: usize| {
        let Some(indent) = layout.indent else { return };
        out.push_str(layout.newline);
        (0..level).for_each(|_| out.push_str(indent));
    };
    out.push(open);
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        line(out, level + 1);
        write(out, part);
    }
    if !parts.is_empty() {
        line(out, level);
    }
    out.push(close);
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A number as JSON has it, from any of the formats; nothing if JSON has no such number.
pub(crate) fn number(text: &str) -> Option<String> {
    let is_json = |text: &str| {
        let starts = text.strip_prefix('-').unwrap_or(text).starts_with(|first: char| first.is_ascii_digit());
        starts && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
    };
    if is_json(text) {
        return Some(text.to_owned());
    }
    let plain = text.replace('_', "");
    let plain = plain.strip_prefix('+').unwrap_or(&plain);
    let radix = |radix, prefix| {
        plain.strip_prefix(prefix).and_then(|digits| i128::from_str_radix(digits, radix).ok())
    };
    let whole = radix(16, "0x").or_else(|| radix(8, "0o")).or_else(|| radix(2, "0b"));
    if let Some(whole) = whole.or_else(|| plain.parse().ok()) {
        return Some(whole.to_string());
    }
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain), |digits| ("-", digits));
    // Other formats leave out zeros that JSON wants.
    let (whole, rest) = digits.split_at(digits.find(['.', 'e', 'E']).unwrap_or(digits.len()));
    let rest = rest
        .strip_prefix('.')
        .filter(|rest| !rest.starts_with(|first: char| first.is_ascii_digit()))
        .unwrap_or(rest);
    let whole = whole.trim_start_matches('0');
    let written = format!("{sign}{}{rest}", if whole.is_empty() { "0" } else { whole });
    is_json(&written).then_some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_where_they_stand() {
        let text = " {\"a\" : [1.50, \"é\\n\", null ,true,{}], \"b\":{\"c\":[]} } ";
        let node = read(text).unwrap();
        let Value::List(list) = &node.entry("a").unwrap().value else { panic!("a list") };
        let shown: Vec<&str> = list.iter().map(|node| &text[node.range.clone()]).collect();
        assert_eq!(shown, ["1.50", "\"é\\n\"", "null", "true", "{}"]);
        assert_eq!(list[0].value, Value::Number("1.50".to_owned()));
        assert_eq!(list[1].value, Value::Text("é\n".to_owned()));
        assert_eq!(&text[node.range.clone()], text.trim());
        assert_eq!(write_compact(&node), r#"{"a":[1.50,"é\n",null,true,{}],"b":{"c":[]}}"#);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "{", "{\"a\":}", "[1,]", "01", "nul", "\"\\ud800\"", "{} {}", "'a'"] {
            assert!(matches!(read(text), Err(TreeError::Broken { .. })), "{text}");
        }
        assert_eq!(read(r#"{"a":1,"\u0061":2}"#), Err(TreeError::Twice("a".to_owned())));
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read(&deep(MAX_DEPTH)).is_ok());
        assert_eq!(read(&deep(MAX_DEPTH + 1)), Err(TreeError::TooDeep));
        assert_eq!(read(&deep(100_000)), Err(TreeError::TooDeep));
    }

    #[test]
    fn numbers_of_other_formats_become_numbers_of_json() {
        for (text, expected) in [
            ("1.50", Some("1.50")),
            ("-0", Some("-0")),
            ("12345678901234567890123", Some("12345678901234567890123")),
            ("1_000", Some("1000")),
            ("+5", Some("5")),
            ("007", Some("7")),
            ("0x1F", Some("31")),
            ("0o17", Some("15")),
            (".5", Some("0.5")),
            ("5.", Some("5")),
            ("1e5", Some("1e5")),
            (".inf", None),
            ("nan", None),
        ] {
            assert_eq!(number(text).as_deref(), expected, "{text}");
        }
    }
}
