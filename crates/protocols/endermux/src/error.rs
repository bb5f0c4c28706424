//! Why the body of a frame is not a message.

use loggia_jsonrpc::FieldError;

use crate::limits::MAX_DEPTH;
use crate::{MessageType, RequestId};

/// Why the body of a frame is not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// The JSON nests deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// The JSON is not an object.
    #[error("a message must be a JSON object")]
    NotAnObject,
    /// `type` is absent or not text.
    #[error("`type` must be the name of a message type")]
    NoType,
    /// `type` names nothing.
    #[error("Unknown message type: {0}")]
    UnknownType(String),
    /// `type` names another message than the one expected.
    #[error("expected {expected}, got {found}")]
    OtherType {
        /// What the reader wanted.
        expected: MessageType,
        /// What the message is.
        found: MessageType,
    },
    /// `requestId` is something that cannot be an id.
    #[error("`requestId` must be text")]
    RequestId,
    /// The payload does not fit its type.
    #[error("{message_type}: {error}")]
    Payload {
        /// The message's type.
        message_type: MessageType,
        /// The message's id, for an answer.
        request_id: Option<RequestId>,
        /// What is wrong, with its path from `data`.
        error: FieldError,
    },
}
