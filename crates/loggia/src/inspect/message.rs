//! What the inspector found out about one message.

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
    #[serde(serialize_with = "with_paths")]
    pub(crate) faults: Vec<FieldError>,
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

/// Faults as objects with the field's path, empty for the message as a whole, and what is wrong with it.
fn with_paths<S: serde::Serializer>(faults: &[FieldError], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fault<'a> {
        path: String,
        message: &'a str,
    }
    serializer.collect_seq(faults.iter().map(|fault| Fault { path: fault.path(), message: fault.message() }))
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
    pub(crate) fn with_fault(mut self, fault: FieldError) -> Self {
        self.faults.push(fault);
        self
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
