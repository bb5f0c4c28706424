//! Reading a message in two steps: which message is this, and does it have that message's shape?
//!
//! Knows how to say what was wrong and where; refuses to know what any message means.

use loggia_jsonrpc::{FieldError, decode, exceeds_depth};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::error::{ErrorBody, ErrorCode, InvalidMessageDetails, ServerError};
use crate::limits::MAX_JSON_DEPTH;
use crate::message::Message;
use crate::server::Stamp;

/// Something that reads the fields of a message whose `type` is known.
pub trait ReadFields {
    /// Reads them out of the message's text, which is JSON.
    ///
    /// # Errors
    /// [`FieldError`] when a field is missing or does not fit.
    fn read_fields<M: Message>(&self, text: &str) -> Result<M, FieldError>;
}

/// Reads as serde does, and tells faults in its words.
pub(crate) struct Plainly;

impl ReadFields for Plainly {
    fn read_fields<M: Message>(&self, text: &str) -> Result<M, FieldError> {
        decode(text)
    }
}

/// Why a text is not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text is not JSON.
    #[error("not JSON: {reason}")]
    NotJson {
        /// What the reader stumbled over, and where.
        reason: String,
    },
    /// Objects and arrays nest deeper than [`MAX_JSON_DEPTH`].
    #[error("nested deeper than {MAX_JSON_DEPTH} levels")]
    TooDeep,
    /// JSON, but an array, a string, a number…
    #[error("a message must be a JSON object")]
    NotAnObject,
    /// An object that does not say what it is.
    #[error("`type` is missing")]
    MissingType,
    /// A message nobody here knows. A client meets these when the server is newer, and passes them over.
    #[error("unknown message type `{name}`")]
    UnknownType {
        /// The `type` it has.
        name: String,
    },
    /// A known message with a field that is missing or does not fit.
    #[error("`{name}`: {field}")]
    WrongShape {
        /// The `type` it has.
        name: String,
        /// Which field, and what was expected there.
        field: FieldError,
    },
}

impl DecodeError {
    /// Where the fault is, as an RFC 6901 JSON pointer; empty for the message as a whole.
    pub fn pointer(&self) -> String {
        match self {
            Self::NotJson { .. } | Self::TooDeep | Self::NotAnObject => String::new(),
            Self::MissingType | Self::UnknownType { .. } => "/type".to_owned(),
            Self::WrongShape { field, .. } => field.pointer(),
        }
    }

    /// What should have been there.
    pub fn expected(&self) -> String {
        match self {
            Self::NotJson { reason } => format!("one JSON object ({reason})"),
            Self::TooDeep => format!("at most {MAX_JSON_DEPTH} levels of nesting"),
            Self::NotAnObject => "a JSON object".to_owned(),
            Self::MissingType => "a string that names the message".to_owned(),
            Self::UnknownType { name } => format!("a known message type, not `{name}`"),
            Self::WrongShape { field, .. } => field.message().to_owned(),
        }
    }

    /// The `server.error` that tells the client. The connection stays.
    pub fn to_server_error(&self) -> ServerError {
        let details = InvalidMessageDetails { pointer: self.pointer(), expected: self.expected() };
        ServerError {
            error: ErrorBody {
                code: ErrorCode::InvalidMessage,
                message: self.to_string(),
                details: Some(details.into()),
                recoverable: true,
            },
            stamp: Stamp::default(),
        }
    }
}

/// The first step: the value of `type`.
pub(crate) fn read_type(text: &str) -> Result<String, DecodeError> {
    #[derive(Deserialize)]
    struct Head<'a> {
        // `type` is a Rust keyword.
        #[serde(borrow, default, rename = "type")]
        kind: Option<&'a RawValue>,
    }
    // Before the reader, which does not count levels while it skips fields.
    if exceeds_depth(text, MAX_JSON_DEPTH) {
        return Err(DecodeError::TooDeep);
    }
    if !text.trim_ascii_start().starts_with('{') {
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| not_json(&error))?;
        return Err(DecodeError::NotAnObject);
    }
    let head: Head<'_> = serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Data => wrong_type(String::new(), "must be there once"),
        _ => not_json(&error),
    })?;
    let raw = head.kind.ok_or(DecodeError::MissingType)?.get();
    serde_json::from_str(raw).map_err(|_| wrong_type(raw.to_owned(), "must be text"))
}

/// The second step: the fields of a message whose `type` is known.
pub(crate) fn read_fields<M: Message>(text: &str) -> Result<M, DecodeError> {
    Plainly.read_fields(text).map_err(wrong_shape::<M>)
}

pub(crate) fn wrong_shape<M: Message>(field: FieldError) -> DecodeError {
    DecodeError::WrongShape { name: M::TYPE.to_owned(), field }
}

fn wrong_type(name: String, message: &'static str) -> DecodeError {
    let field = FieldError::at("type", message);
    DecodeError::WrongShape { name, field }
}

fn not_json(error: &serde_json::Error) -> DecodeError {
    DecodeError::NotJson { reason: error.to_string() }
}
