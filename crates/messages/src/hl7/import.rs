//! A tree as an HL7 message, segment by segment.
//!
//! Whatever stands at a leaf becomes text, escaped where it would separate something. Invariant: a tree that asks for a
//! longer message than there may be is refused before that much is written.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::hl7::HEADER;
use crate::hl7::delimiters::{Delimiters, DelimitersError};
use crate::hl7::escape::escape;
use crate::hl7::field::TooManyParts;
use crate::hl7::lines::{Name, name_from, shown};
use crate::hl7::path::cut;
use crate::limits::{MAX_LINES, MAX_MESSAGE};
use crate::tree::node::{Entry, Node, Value};

/// The highest number of a part: a message with more of them would be too long. Paths end sooner, but a message that is
/// there can be shown and read again.
const MAX_NUMBER: usize = MAX_MESSAGE;

/// A message made of a tree.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) delimiters: Delimiters,
    pub(crate) segments: Vec<Built>,
}

/// One segment.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) name: Name,
    pub(crate) line: String,
}

/// Why a tree is no message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ImportError {
    #[error("it has no list `segments`")]
    NoSegments,
    #[error("its first segment is not `MSH`")]
    NoHeader,
    #[error("segment {place} is {kind}, not an object with `segment` and `fields`")]
    NoSegment { place: usize, kind: &'static str },
    #[error("segment {place} has no name of three letters as `segment`")]
    NoName { place: usize },
    #[error("{segment} has {kind} as `fields`: they are an object with numbers as keys")]
    Fields { segment: String, kind: &'static str },
    #[error("{place} has {kind}: lists are for the repetitions of a field only")]
    Shape { place: String, kind: &'static str },
    #[error("{place} has the key `{key}`: they are numbers from 1 to {MAX_NUMBER}")]
    Key { place: String, key: String },
    #[error("{place} is there twice")]
    Twice { place: String },
    #[error(transparent)]
    Delimiters(#[from] DelimitersError),
    #[error("the message has a field with too many parts")]
    Parts(#[from] TooManyParts),
    #[error("the message would have more than {MAX_MESSAGE} bytes")]
    TooLong,
    #[error("it has more than {MAX_LINES} segments")]
    TooManySegments,
}

/// The message that a tree is.
pub(crate) fn message(tree: &Node) -> Result<Imported, ImportError> {
    let Some(Value::List(nodes)) = tree.entry("segments").map(|node| &node.value) else {
        return Err(ImportError::NoSegments);
    };
    if nodes.len() > MAX_LINES {
        return Err(ImportError::TooManySegments);
    }
    let header = nodes.first().ok_or(ImportError::NoHeader)?;
    let delimiters = delimiters_of(header)?;
    let mut segments = Vec::with_capacity(nodes.len());
    let mut bytes = 0;
    for (index, node) in nodes.iter().enumerate() {
        let built = build(node, index + 1, &delimiters, MAX_MESSAGE - bytes)?;
        bytes += built.line.len() + 1;
        if bytes > MAX_MESSAGE {
            return Err(ImportError::TooLong);
        }
        segments.push(built);
    }
    match segments.first() {
        Some(first) if first.name == HEADER.as_bytes() => Ok(Imported { delimiters, segments }),
        _ => Err(ImportError::NoHeader),
    }
}

/// One segment of a message with these delimiters.
pub(crate) fn segment(tree: &Node, delimiters: &Delimiters) -> Result<Built, ImportError> {
    build(tree, 1, delimiters, MAX_MESSAGE)
}

/// The delimiters that the header names; the usual ones where it names none.
fn delimiters_of(header: &Node) -> Result<Delimiters, ImportError> {
    let fields = header.entry("fields");
    let named = |key: &str| fields.and_then(|fields| fields.entry(key)).and_then(Node::scalar);
    let field = named("1").and_then(|text| text.chars().next()).unwrap_or('|');
    let encoding = named("2").filter(|text| !text.is_empty());
    Ok(Delimiters::new(field, encoding.as_deref().unwrap_or("^~\\&"))?)
}

fn build(node: &Node, place: usize, delimiters: &Delimiters, room: usize) -> Result<Built, ImportError> {
    if !matches!(node.value, Value::Map(_)) {
        return Err(ImportError::NoSegment { place, kind: node.kind() });
    }
    let name = match node.entry("segment").map(|node| &node.value) {
        Some(Value::Text(name)) => name_from(name.as_bytes()),
        _ => None,
    };
    let name = name.ok_or(ImportError::NoName { place })?;
    let mut builder = Builder { line: shown(name), name, delimiters, room };
    builder.fields(node.entry("fields"))?;
    Ok(Built { name, line: builder.line })
}

/// A segment on its way.
struct Builder<'d> {
    line: String,
    name: Name,
    delimiters: &'d Delimiters,
    /// How long the line may become.
    room: usize,
}

impl Builder<'_> {
    fn fields(&mut self, fields: Option<&Node>) -> Result<(), ImportError> {
        let entries = match fields.map(|node| &node.value) {
            None | Some(Value::Null) => &[][..],
            Some(Value::Map(entries)) => entries,
            Some(_) => {
                let kind = fields.map_or("nothing", Node::kind);
                return Err(ImportError::Fields { segment: shown(self.name), kind });
            }
        };
        let mut fields = BTreeMap::new();
        for entry in entries {
            // Other keys are notes of whoever wrote them.
            if is_zero(&entry.key) || !is_decimal(&entry.key) {
                continue;
            }
            let place = self.place(&[&entry.key]);
            let number = number_of(&entry.key);
            let number =
                number.ok_or_else(|| ImportError::Key { place: shown(self.name), key: cut(&entry.key) })?;
            if fields.insert(number, &entry.node).is_some() {
                return Err(ImportError::Twice { place });
            }
        }
        let mut at = 0;
        if self.name == HEADER.as_bytes() {
            self.header(fields.remove(&2))?;
            fields.remove(&1);
            at = 2;
        } else {
            self.pad(self.delimiters.field, 1)?;
            at += 1;
        }
        for (number, node) in fields {
            let before = self.line.len();
            self.pad(self.delimiters.field, number - at)?;
            let padded = self.line.len();
            self.field(node, number)?;
            if self.line.len() == padded {
                // Nothing stands there, so the line need not reach as far.
                self.line.truncate(before);
            } else {
                at = number;
            }
        }
        Ok(())
    }

    /// The two fields that name the delimiters, as they are written.
    fn header(&mut self, encoding: Option<&Node>) -> Result<(), ImportError> {
        self.pad(self.delimiters.field, 1)?;
        let encoding = encoding.and_then(Node::scalar).filter(|text| !text.is_empty());
        let separates =
            |character: char| character == char::from(self.delimiters.field) || character.is_control();
        match encoding {
            // Newer versions have more than four; what follows them must not end the field.
            Some(encoding) if !encoding.contains(separates) => self.push(&encoding),
            _ => {
                let Delimiters { component, repetition, escape, subcomponent, .. } = *self.delimiters;
                let named = [component, repetition, escape, subcomponent].map(char::from);
                self.push(&String::from_iter(named))
            }
        }
    }

    fn field(&mut self, node: &Node, number: usize) -> Result<(), ImportError> {
        let number = number.to_string();
        match &node.value {
            Value::List(nodes) => {
                for (index, node) in nodes.iter().enumerate() {
                    if index > 0 {
                        self.pad(self.delimiters.repetition, 1)?;
                    }
                    self.repetition(node, &[&number, &format!("[{}]", index + 1)])?;
                }
                Ok(())
            }
            _ => self.repetition(node, &[&number]),
        }
    }

    fn repetition(&mut self, node: &Node, place: &[&str]) -> Result<(), ImportError> {
        match &node.value {
            Value::Map(entries) => {
                self.numbered(entries, place, self.delimiters.component, |builder, node, place| {
                    match &node.value {
                        Value::Map(entries) => {
                            let delimiter = builder.delimiters.subcomponent;
                            builder.numbered(entries, place, delimiter, |builder, node, place| {
                                builder.leaf(node, place)
                            })
                        }
                        _ => builder.leaf(node, place),
                    }
                })
            }
            _ => self.leaf(node, place),
        }
    }

    /// Parts by their numbers.
    fn numbered(
        &mut self,
        entries: &[Entry],
        place: &[&str],
        delimiter: u8,
        write: impl Fn(&mut Self, &Node, &[&str]) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut parts = BTreeMap::new();
        for entry in entries {
            let number = number_of(&entry.key);
            let number =
                number.ok_or_else(|| ImportError::Key { place: self.place(place), key: cut(&entry.key) })?;
            if parts.insert(number, &entry.node).is_some() {
                return Err(ImportError::Twice { place: self.place(&[place, &[&entry.key]].concat()) });
            }
        }
        let mut at = 1;
        for (number, node) in parts {
            let before = self.line.len();
            self.pad(delimiter, number - at)?;
            let padded = self.line.len();
            write(self, node, &[place, &[&number.to_string()]].concat())?;
            if self.line.len() == padded {
                self.line.truncate(before);
            } else {
                at = number;
            }
        }
        Ok(())
    }

    fn leaf(&mut self, node: &Node, place: &[&str]) -> Result<(), ImportError> {
        match node.scalar() {
            Some(text) => self.push(&escape(&text, self.delimiters)),
            None => Err(ImportError::Shape { place: self.place(place), kind: node.kind() }),
        }
    }

    fn pad(&mut self, delimiter: u8, times: usize) -> Result<(), ImportError> {
        self.check_room(times)?;
        self.line.extend(std::iter::repeat_n(char::from(delimiter), times));
        Ok(())
    }

    fn push(&mut self, text: &str) -> Result<(), ImportError> {
        self.check_room(text.len())?;
        self.line.push_str(text);
        Ok(())
    }

    fn check_room(&self, bytes: usize) -> Result<(), ImportError> {
        if self.line.len() + bytes > self.room { Err(ImportError::TooLong) } else { Ok(()) }
    }

    /// A place, as people name it.
    fn place(&self, parts: &[&str]) -> String {
        let mut place = shown(self.name);
        for part in parts {
            if !part.starts_with('[') {
                place.push('.');
            }
            place.push_str(part);
        }
        cut(&place)
    }
}

fn is_decimal(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_zero(key: &str) -> bool {
    key.bytes().all(|byte| byte == b'0')
}

/// A key as a number that a part can have.
fn number_of(key: &str) -> Option<usize> {
    let number = key.parse().ok().filter(|number| (1..=MAX_NUMBER).contains(number));
    number.filter(|_| is_decimal(key))
}
