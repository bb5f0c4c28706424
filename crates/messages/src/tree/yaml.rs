//! YAML: reading one document with the place of every value, and writing it.
//!
//! Values are read as YAML 1.2 says; written, every text is in quotes, so that older readers find no dates, octal numbers
//! or truth values in it either. Invariant: aliases multiply values only up to the limit for trees.

use std::collections::{HashMap, HashSet};

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Span, Tag};

use crate::hl7::path::cut;
use crate::limits::{MAX_DEPTH, MAX_NODES};
use crate::tree::TreeError;
use crate::tree::json::{number, quoted};
use crate::tree::node::{Entry, Node, Value};

/// How long a key may be that stands alone on its line: readers look only so far for its colon.
const LONGEST_KEY: usize = 1_000;

/// Reads a text with one document in it.
pub(crate) fn read(text: &str) -> Result<Node, TreeError> {
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| broken(&error.to_string()))?;
        reader.take(event, &span)?;
    }
    Ok(reader.root.unwrap_or_else(Node::null))
}

/// What is read so far.
#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    root: Option<Node>,
    /// Values with a name, and how many values each of them is.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    documents: usize,
}

/// A list or a map that is not at its end.
struct Open {
    what: OpenValue,
    start: usize,
    anchor: usize,
    /// How many values there were before it.
    before: usize,
}

enum OpenValue {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, keys: HashSet<String>, key: Option<Node> },
}

impl Reader {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), TreeError> {
        let (start, end) = (place(span.start), place(span.end));
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(broken("it has more than one document"));
                }
            }
            Event::Alias(anchor) => {
                let (node, count) = self
                    .anchors
                    .get(&anchor)
                    .cloned()
                    .ok_or_else(|| broken("an alias stands inside of what it names"))?;
                self.count(count)?;
                self.put(Node { range: start..end, is_alias: true, ..node }, 0, count)?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1)?;
                let value = scalar(&text, style, tag.as_deref());
                self.put(Node { value, range: start..end, is_alias: false }, anchor, 1)?;
            }
            Event::SequenceStart(_, anchor, _) => self.open(OpenValue::List(Vec::new()), start, anchor)?,
            Event::MappingStart(_, anchor, _) => {
                let what = OpenValue::Map { entries: Vec::new(), keys: HashSet::new(), key: None };
                self.open(what, start, anchor)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(end)?,
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, what: OpenValue, start: usize, anchor: usize) -> Result<(), TreeError> {
        let before = self.nodes;
        self.count(1)?;
        if self.open.len() == MAX_DEPTH {
            return Err(TreeError::TooDeep);
        }
        self.open.push(Open { what, start, anchor, before });
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), TreeError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.what {
            OpenValue::List(nodes) => Value::List(nodes),
            OpenValue::Map { entries, .. } => Value::Map(entries),
        };
        let node = Node { value, range: open.start..end.max(open.start), is_alias: false };
        self.put(node, open.anchor, self.nodes - open.before)
    }

    /// Puts a value where it belongs.
    fn put(&mut self, node: Node, anchor: usize, count: usize) -> Result<(), TreeError> {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), count));
        }
        match self.open.last_mut().map(|open| &mut open.what) {
            None => self.root = Some(node),
            Some(OpenValue::List(nodes)) => nodes.push(node),
            Some(OpenValue::Map { entries, keys, key }) => match key.take() {
                None => *key = Some(node),
                Some(found) => {
                    let text = found.scalar().ok_or(TreeError::NoKey("a key is a list or an object"))?;
                    if !keys.insert(text.clone()) {
                        return Err(TreeError::Twice(cut(&text)));
                    }
                    entries.push(Entry { key: text, key_range: found.range, node });
                }
            },
        }
        Ok(())
    }

    fn count(&mut self, more: usize) -> Result<(), TreeError> {
        self.nodes += more;
        if self.nodes > MAX_NODES { Err(TreeError::TooManyNodes) } else { Ok(()) }
    }
}

/// The byte a mark is at; the parser counts bytes in whatever it was given as text.
fn place(mark: serde_saphyr::granit_parser::Marker) -> usize {
    mark.byte_offset().unwrap_or_default()
}

fn broken(why: &str) -> TreeError {
    TreeError::Broken { format: "YAML", why: why.to_owned() }
}

/// What a scalar means.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_plain = style == ScalarStyle::Plain;
    let meant = match tag.map(Tag::core_suffix) {
        None => is_plain,
        // Whoever names the type means it.
        Some(suffix) => matches!(suffix, Some("int" | "float" | "bool" | "null")),
    };
    if meant { plain(text) } else { Value::Text(text.to_owned()) }
}

/// What a word without quotes means.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        text if is_number(text) => Value::Number(text.to_owned()),
        text => Value::Text(text.to_owned()),
    }
}

/// Whether a word is a number: whole in three notations, with a fraction, infinite or none at all.
fn is_number(text: &str) -> bool {
    let all = |digits: &str, test: fn(&u8) -> bool| !digits.is_empty() && digits.as_bytes().iter().all(test);
    if let Some(digits) = text.strip_prefix("0o") {
        return all(digits, |byte| (b'0'..=b'7').contains(byte));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return all(digits, u8::is_ascii_hexdigit);
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let (mantissa, exponent) = unsigned.split_at(unsigned.find(['e', 'E']).unwrap_or(unsigned.len()));
    let exponent_holds = exponent.is_empty() || {
        let digits = &exponent[1..];
        all(digits.strip_prefix(['-', '+']).unwrap_or(digits), u8::is_ascii_digit)
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    has_digits && digits(whole) && digits(fraction) && exponent_holds
}

/// Writes a document.
pub(crate) fn write(node: &Node) -> String {
    let mut text = String::new();
    match &node.value {
        Value::List(nodes) if !nodes.is_empty() => push_list(&mut text, nodes, 0),
        Value::Map(entries) if !entries.is_empty() => push_map(&mut text, entries, 0),
        _ => {
            push_scalar(&mut text, node);
            text.push('\n');
        }
    }
    text
}

fn push_map(out: &mut String, entries: &[Entry], level: usize) {
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            indent(out, level);
        }
        let key = key(&entry.key);
        if key.len() > LONGEST_KEY {
            out.push_str("? ");
            out.push_str(&key);
            out.push('\n');
            indent(out, level);
        } else {
            out.push_str(&key);
        }
        out.push(':');
        push_below(out, &entry.node, level);
    }
}

fn push_list(out: &mut String, nodes: &[Node], level: usize) {
    for (index, node) in nodes.iter().enumerate() {
        if index > 0 {
            indent(out, level);
        }
        out.push('-');
        match &node.value {
            Value::Map(entries) if !entries.is_empty() => {
                out.push(' ');
                push_map(out, entries, level + 1);
            }
            Value::List(nodes) if !nodes.is_empty() => {
                out.push(' ');
                push_list(out, nodes, level + 1);
            }
            _ => push_below(out, node, level),
        }
    }
}

/// Writes what follows a key or a dash, to the end of its line or below it.
fn push_below(out: &mut String, node: &Node, level: usize) {
    match &node.value {
        Value::List(nodes) if !nodes.is_empty() => {
            out.push('\n');
            indent(out, level + 1);
            push_list(out, nodes, level + 1);
        }
        Value::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            indent(out, level + 1);
            push_map(out, entries, level + 1);
        }
        _ => {
            out.push(' ');
            push_scalar(out, node);
            out.push('\n');
        }
    }
}

/// Writes a value that has nothing below it.
fn push_scalar(out: &mut String, node: &Node) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(text) => out.push_str(&number(text).unwrap_or_else(|| text.clone())),
        Value::Text(text) => out.push_str(&in_quotes(text)),
        Value::List(_) => out.push_str("[]"),
        Value::Map(_) => out.push_str("{}"),
    }
}

fn indent(out: &mut String, level: usize) {
    (0..level).for_each(|_| out.push_str("  "));
}

/// A text in quotes as JSON has it, without the characters that YAML does not let stand.
pub(crate) fn in_quotes(text: &str) -> String {
    let quoted = quoted(text);
    let stands = |character: char| {
        !matches!(
            character,
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    if quoted.chars().all(stands) {
        return quoted;
    }
    let mut escaped = String::with_capacity(quoted.len() + 8);
    for character in quoted.chars() {
        match character {
            character if stands(character) => escaped.push(character),
            character => escaped.push_str(&format!("\\u{:04x}", u32::from(character))),
        }
    }
    escaped
}

/// A key: a word where no reader takes it for something else.
pub(crate) fn key(text: &str) -> String {
    let mut characters = text.chars();
    let is_word = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-'));
    let is_special = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    if is_word && !is_special { text.to_owned() } else { in_quotes(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::json::write_compact;

    fn check(text: &str, expected: &str) {
        let node = read(text).unwrap();
        assert_eq!(write_compact(&node), expected, "{text}");
        assert_eq!(write_compact(&read(&write(&node)).unwrap()), expected, "written: {}", write(&node));
    }

    #[test]
    fn values_mean_what_yaml_says() {
        check(
            "a: 1\nb: 1.50\nc: '1'\nd: yes\ne: true\nf: ~\ng:\nh: !!str 5\n",
            r#"{"a":1,"b":1.50,"c":"1","d":"yes","e":true,"f":null,"g":null,"h":"5"}"#,
        );
        check("- a\n- [b, {c: d}]\n- - e\n  - f\n- {}\n- []\n", r#"["a",["b",{"c":"d"}],["e","f"],{},[]]"#);
        check("a: |\n  x\n  y\nb: >-\n  x\n  y\n", r#"{"a":"x\ny\n","b":"x y"}"#);
        check("1: a\nnull: b\n", r#"{"1":"a","":"b"}"#);
        check("x: &n {a: 1}\ny: *n\n", r#"{"x":{"a":1},"y":{"a":1}}"#);
        check("", "null");
        check("a: !point 5\nb: !!int '5'\n", r#"{"a":"5","b":5}"#);
        check("a: \"\\u0085 \\u2028 é\"", "{\"a\":\"\u{85} \u{2028} é\"}");
    }

    #[test]
    fn long_keys_are_announced() {
        let long = "x".repeat(5_000);
        check(&format!("? {long}\n: {{a: 1}}\n"), &format!("{{\"{long}\":{{\"a\":1}}}}"));
    }

    #[test]
    fn scalars_are_found_where_they_stand() {
        let text = "a: é\nb: \"x\" # note\nc: [1, 2]\n";
        let node = read(text).unwrap();
        let shown = |key: &str| &text[node.entry(key).unwrap().range.clone()];
        assert_eq!([shown("a"), shown("b"), shown("c")], ["é", "\"x\"", "[1, 2]"]);
    }

    #[test]
    fn what_is_no_single_document_is_refused() {
        for text in ["a: [", "a: 1\n---\nb: 2\n", "a: *x", "? [a]\n: b", "a: 1\na: 2", "\t- x: y\n\tz"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn aliases_multiply_only_up_to_the_limit() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let names = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{names}]\n"));
        }
        assert_eq!(read(&text), Err(TreeError::TooManyNodes));
        assert!(read(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000))).is_err());
    }
}
