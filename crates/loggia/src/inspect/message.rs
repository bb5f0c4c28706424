//! What the inspector found out about one message.

use std::fmt;

use loggia_jsonrpc::FieldError;
use serde::Serialize;
use serde_json::value::RawValue;

/// One message, checked.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Checked {
    /// Its place in the stream, counted from 1.
    pub(crate) number: u64,
    /// Which side sends such a message, where the table tells.
    pub(crate) sender: Option<&'static str>,
    /// What it is.
    pub(crate) kind: MessageKind,
    /// Its method or type; for an answer, the method it answers.
    pub(crate) name: Option<String>,
    /// Its id, as the JSON it came as.
    #[serde(serialize_with = "raw")]
    pub(crate) id: Option<String>,
    /// The size of its text.
    pub(crate) bytes: usize,
    /// What a reader may want to know and is not a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// What does not follow the protocol.
    pub(crate) faults: Vec<Fault>,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MessageKind {
    /// A call that is answered.
    Request,
    /// A call that is not.
    Notification,
    /// A good answer.
    Result,
    /// A bad answer.
    Error,
    /// A message of a protocol that is not JSON-RPC.
    Message,
    /// Sound JSON that is no message.
    Invalid,
    /// Bytes that are not even that.
    Broken,
}

/// One thing that does not follow the protocol.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    /// The field, from the message's root; empty for the message as a whole.
    pub(crate) path: String,
    /// What is wrong with it.
    pub(crate) message: String,
}

/// JSON text as JSON, so that `7` and `"7"` stay different.
fn raw<S: serde::Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    let raw: Option<&RawValue> = text.as_deref().and_then(|text| serde_json::from_str(text).ok());
    raw.serialize(serializer)
}

impl Checked {
    /// A message about which nothing else is known yet. Its number is given by the inspector.
    pub(crate) fn new(kind: MessageKind, bytes: usize) -> Self {
        Self { number: 0, sender: None, kind, name: None, id: None, bytes, note: None, faults: Vec::new() }
    }

    /// Adds a fault.
    pub(crate) fn with_fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }
}

impl Fault {
    /// A fault of the message as a whole.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into() }
    }

    /// A fault of one field.
    pub(crate) fn at(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), message: message.into() }
    }

    /// A fault inside a part of the message.
    pub(crate) fn inside(part: &str, error: FieldError) -> Self {
        let path = match (part, error.path.as_str()) {
            ("", path) => path.to_owned(),
            (part, "") => part.to_owned(),
            (part, path) if path.starts_with('[') => format!("{part}{path}"),
            (part, path) => format!("{part}.{path}"),
        };
        Self { path, message: error.message }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl MessageKind {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Result => "result",
            Self::Error => "error",
            Self::Message => "message",
            Self::Invalid => "invalid",
            Self::Broken => "broken",
        }
    }
}
