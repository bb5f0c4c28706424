//! An HL7 message as a tree: `segments`, each with its `segment` and its `fields` by number.
//!
//! What is empty is left out; text stays escaped as it stands. Lines that are no segments are not shown.

use hl7_parser::message::{Component, Repeat};

use crate::hl7::Hl7;
use crate::hl7::delimiters::Delimiters;
use crate::hl7::field::{self, TooManyParts};
use crate::hl7::lines::{Line, shown};
use crate::tree::node::{Entry, Node, Value};

/// The whole message.
pub(crate) fn message(message: &Hl7) -> Result<Node, TooManyParts> {
    let segments = message.lines().iter().filter(|line| line.name.is_some());
    let segments = segments.map(|line| segment(message, line)).collect::<Result<Vec<_>, _>>()?;
    Ok(Node::map(vec![Entry::new("segments", Node::new(Value::List(segments)))]))
}

/// One segment.
pub(crate) fn segment(message: &Hl7, line: &Line) -> Result<Node, TooManyParts> {
    let name = line.name.map(shown).unwrap_or_default();
    let fields = fields(message.line(line), message.delimiters())?;
    Ok(Node::map(vec![Entry::new("segment", Node::text(name)), Entry::new("fields", Node::map(fields))]))
}

fn fields(line: &str, delimiters: &Delimiters) -> Result<Vec<Entry>, TooManyParts> {
    let mut shown = Vec::new();
    let mut texts = line.split(char::from(delimiters.field));
    let is_header = texts.next() == Some(super::HEADER);
    let mut first = 1;
    if is_header {
        // Both say what the delimiters are, and have no parts.
        shown.push(Entry::new("1", Node::text(char::from(delimiters.field))));
        shown.push(Entry::new("2", Node::text(texts.next().unwrap_or_default())));
        first = 3;
    }
    for (number, text) in (first..).zip(texts) {
        if let Some(node) = field(text, delimiters)? {
            shown.push(Entry::new(number.to_string(), node));
        }
    }
    Ok(shown)
}

/// A field; nothing if it is empty.
fn field(text: &str, delimiters: &Delimiters) -> Result<Option<Node>, TooManyParts> {
    if text.is_empty() {
        return Ok(None);
    }
    let parsed = field::parse(text, delimiters)?;
    match parsed.repeats.as_slice() {
        [only] => Ok(repetition(only)),
        several => {
            let nodes = several.iter().map(|repeat| repetition(repeat).unwrap_or_else(Node::null));
            Ok(Some(Node::new(Value::List(nodes.collect()))))
        }
    }
}

/// A repetition; nothing if it is empty.
fn repetition(repeat: &Repeat<'_>) -> Option<Node> {
    match repeat.components.as_slice() {
        // With sub-components it is written as a first component, or they would be read as components.
        [only] if only.subcomponents.len() > 1 => Some(Node::map(vec![Entry::new("1", component(only)?)])),
        [only] => component(only),
        several => numbered(several.iter().map(component)),
    }
}

/// A component; nothing if it is empty.
fn component(component: &Component<'_>) -> Option<Node> {
    let text = |text: &str| (!text.is_empty()).then(|| Node::text(text));
    match component.subcomponents.as_slice() {
        [only] => text(only.value),
        several => numbered(several.iter().map(|part| text(part.value))),
    }
}

/// What is not empty, by its number.
fn numbered(parts: impl Iterator<Item = Option<Node>>) -> Option<Node> {
    let entries: Vec<Entry> =
        (1..).zip(parts).filter_map(|(number, node)| Some(Entry::new(number.to_string(), node?))).collect();
    (!entries.is_empty()).then(|| Node::map(entries))
}
