//! A document, whatever it is written in: reading, getting, patching and replacing it, as text in and text out.
//!
//! Knows no files, no undo and nobody who works on it. Invariant: a document is read from its text, and its text is what
//! it was read from.

use loggia_domain::{MessageError, MessageFormat, MessageKind, MessagePatch, RefusedPatch};

use crate::hl7::patch::Patching;
use crate::hl7::path::SegmentPath;
use crate::hl7::{Hl7, export, replace};
use crate::limits::MAX_PATCHES;
use crate::tree::TreeFormat;
use crate::tree::document::TreeDocument;
use crate::tree::node::{Node, Value};

/// A document.
#[derive(Debug, Clone)]
pub struct Document(Inner);

#[derive(Debug, Clone)]
enum Inner {
    Hl7(Hl7),
    Tree(TreeDocument),
}

/// What patches make of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patched {
    /// The text after them.
    pub text: String,
    /// How many applied.
    pub applied: usize,
    /// Those that did not.
    pub refused: Vec<RefusedPatch>,
}

impl Document {
    /// Reads a text as what it is.
    ///
    /// # Errors
    /// When it is no such document, or too large.
    pub fn read(text: String, kind: MessageKind) -> Result<Self, MessageError> {
        let format = match kind {
            MessageKind::Hl7 if text.is_empty() => return Ok(Self(Inner::Hl7(Hl7::empty()))),
            MessageKind::Hl7 => return Hl7::read(text).map(|hl7| Self(Inner::Hl7(hl7))).map_err(bad_text),
            MessageKind::Json => TreeFormat::Json,
            MessageKind::Yaml => TreeFormat::Yaml,
            MessageKind::Toml => TreeFormat::Toml,
        };
        TreeDocument::read(text, format).map(|tree| Self(Inner::Tree(tree))).map_err(bad_text)
    }

    /// Reads a text in a format: a message that is written in another format than its own is a message.
    ///
    /// # Errors
    /// When it is no such document, or too large.
    pub fn read_format(text: String, format: MessageFormat) -> Result<Self, MessageError> {
        let tree_format = TreeFormat::of(format).filter(|_| !text.is_empty());
        let Some(tree_format) = tree_format else { return Self::read(text, MessageKind::Hl7) };
        let tree = TreeDocument::read(text, tree_format).map_err(bad_text)?;
        if tree.root().entry("segments").is_none() {
            return Ok(Self(Inner::Tree(tree)));
        }
        match replace::with_tree(&Hl7::empty(), tree.root()) {
            Ok(text) => Self::read(text, MessageKind::Hl7),
            // Something else has segments, too.
            Err(_) => Ok(Self(Inner::Tree(tree))),
        }
    }

    /// What it is.
    pub fn kind(&self) -> MessageKind {
        match &self.0 {
            Inner::Hl7(_) => MessageKind::Hl7,
            Inner::Tree(tree) => match tree.format() {
                TreeFormat::Json => MessageKind::Json,
                TreeFormat::Yaml => MessageKind::Yaml,
                TreeFormat::Toml => MessageKind::Toml,
            },
        }
    }

    /// Its text, as its file has it.
    pub fn text(&self) -> &str {
        match &self.0 {
            Inner::Hl7(message) => message.text(),
            Inner::Tree(tree) => tree.text(),
        }
    }

    /// The same kind of document with another text.
    ///
    /// # Errors
    /// When the text is no such document.
    pub fn with_text(&self, text: String) -> Result<Self, MessageError> {
        Self::read(text, self.kind())
    }

    pub(crate) fn as_hl7(&self) -> Option<&Hl7> {
        match &self.0 {
            Inner::Hl7(message) => Some(message),
            Inner::Tree(_) => None,
        }
    }

    /// The whole of it in a format.
    ///
    /// # Errors
    /// When that format cannot hold it, and [`MessageError::Empty`] when there is no text that could be shown in it.
    pub fn write(&self, format: MessageFormat) -> Result<String, MessageError> {
        let message = match &self.0 {
            Inner::Tree(tree) => return write_tree(tree, format),
            Inner::Hl7(message) => message,
        };
        let Some(format) = TreeFormat::of(format) else { return Ok(message.with_carriage_returns()) };
        if message.is_empty() {
            return Err(MessageError::Empty);
        }
        let mut shown = export::message(message).map_err(bad_format)?;
        if format == TreeFormat::Toml {
            empty_instead_of_null(&mut shown);
        }
        format.write(&shown).map_err(bad_format)
    }

    /// What stands at a path; nothing if the path leads nowhere.
    ///
    /// # Errors
    /// When the path means nothing.
    pub fn get(&self, path: &str) -> Result<Option<String>, MessageError> {
        match &self.0 {
            Inner::Hl7(message) => {
                let path = SegmentPath::parse(path).map_err(bad_path)?;
                Ok(message.get(&path).map_err(bad_format)?.map(str::to_owned))
            }
            Inner::Tree(tree) => tree.get(path).map_err(bad_path),
        }
    }

    /// Its text after these changes, in order; what is refused keeps nothing else out.
    ///
    /// # Errors
    /// [`MessageError::Empty`] when there is no text to change, and when there are too many at once.
    pub fn patched(&self, patches: &[MessagePatch]) -> Result<Patched, MessageError> {
        if patches.len() > MAX_PATCHES {
            let count = patches.len();
            return Err(MessageError::BadFormat(format!(
                "{count} patches at once are more than {MAX_PATCHES}"
            )));
        }
        let mut refused = Vec::new();
        let mut refuse = |index: usize, patch: &MessagePatch, why: String| {
            refused.push(RefusedPatch { index, path: patch.path.clone(), why });
        };
        let text = match &self.0 {
            Inner::Hl7(message) if message.is_empty() => return Err(MessageError::Empty),
            Inner::Hl7(message) => {
                let mut patching = Patching::new(message);
                for (index, patch) in patches.iter().enumerate() {
                    if let Err(why) = patching.apply(patch) {
                        refuse(index, patch, why.to_string());
                    }
                }
                patching.text()
            }
            Inner::Tree(tree) => {
                let mut tree = tree.clone();
                for (index, patch) in patches.iter().enumerate() {
                    if let Err(why) = tree.apply(patch) {
                        refuse(index, patch, why.to_string());
                    }
                }
                tree.into_text()
            }
        };
        Ok(Patched { text, applied: patches.len() - refused.len(), refused })
    }

    /// Its text with another one in its place, of which only what it says differently is taken.
    ///
    /// # Errors
    /// When the text is no such document.
    pub fn replaced(&self, text: &str, format: MessageFormat) -> Result<String, MessageError> {
        let tree_format = TreeFormat::of(format);
        match (&self.0, tree_format) {
            (Inner::Hl7(message), None) => {
                if text.is_empty() {
                    return Err(MessageError::BadText("it is empty".to_owned()));
                }
                let replaced = replace::with_text(message, text);
                Hl7::read(replaced.clone()).map_err(bad_text)?;
                Ok(replaced)
            }
            (Inner::Hl7(message), Some(format)) => {
                let tree = format.read(text).map_err(bad_text)?;
                replace::with_tree(message, &tree).map_err(bad_text)
            }
            (Inner::Tree(_), None) => {
                Err(MessageError::BadFormat("the document is a tree and cannot become HL7".to_owned()))
            }
            (Inner::Tree(tree), Some(format)) => {
                let node = format.read(text).map_err(bad_text)?;
                if format == tree.format() {
                    return Ok(text.to_owned());
                }
                tree.format().write(&node).map_err(bad_format)
            }
        }
    }
}

fn write_tree(tree: &TreeDocument, format: MessageFormat) -> Result<String, MessageError> {
    match TreeFormat::of(format) {
        None => Err(MessageError::BadFormat(format!("{} cannot be shown as HL7", tree.format().name()))),
        Some(format) if format == tree.format() => Ok(tree.text().to_owned()),
        Some(format) => format.write(tree.root()).map_err(bad_format),
    }
}

/// TOML has no null: an empty repetition is an empty text there.
fn empty_instead_of_null(node: &mut Node) {
    match &mut node.value {
        Value::Null => node.value = Value::Text(String::new()),
        Value::List(nodes) => nodes.iter_mut().for_each(empty_instead_of_null),
        Value::Map(entries) => entries.iter_mut().for_each(|entry| empty_instead_of_null(&mut entry.node)),
        Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
    }
}

fn bad_text(error: impl std::fmt::Display) -> MessageError {
    MessageError::BadText(error.to_string())
}

fn bad_path(error: impl std::fmt::Display) -> MessageError {
    MessageError::BadPath(error.to_string())
}

fn bad_format(error: impl std::fmt::Display) -> MessageError {
    MessageError::BadFormat(error.to_string())
}
