//! `server.error`: what went wrong on a stream, with a code to switch on.

use loggia_jsonrpc::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::server::Stamp;
use crate::words::open_words;

/// Something failed: the client's last message, or the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "server.error")]
pub struct ServerError {
    /// What failed.
    pub error: ErrorBody,
    /// Its place in the journal, if the session failed and not just a message.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for ServerError {
    const TYPE: &'static str = "server.error";
}

/// An error in words and as a code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// What kind of failure; switch on this.
    pub code: ErrorCode,
    /// One sentence for people.
    pub message: String,
    /// More, in a shape that depends on the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub details: Option<Json>,
    /// Whether it makes sense to go on or to try again.
    pub recoverable: bool,
}

open_words! {
    /// The kind of a failure.
    pub enum ErrorCode {
        /// Looking for relevant code failed.
        RetrievalFailed = "RETRIEVAL_FAILED",
        /// The model failed or could not be reached.
        ModelError = "MODEL_ERROR",
        /// The policy forbids it.
        PolicyViolation = "POLICY_VIOLATION",
        /// The last message was not one; the details are [`InvalidMessageDetails`].
        InvalidMessage = "INVALID_MESSAGE",
        /// A turn is running and the client did not ask for queueing.
        SessionBusy = "SESSION_BUSY",
        /// An answer names a question nobody asked.
        UnknownRequest = "UNKNOWN_REQUEST",
        /// Somebody else was quicker; the details are [`AlreadyDecidedDetails`].
        AlreadyDecided = "ALREADY_DECIDED",
        /// The token's scope does not allow it.
        Forbidden = "FORBIDDEN",
        /// The turn was cancelled.
        Cancelled = "CANCELLED",
        /// Our own fault.
        Internal = "INTERNAL",
    }
}

/// The details of [`ErrorCode::InvalidMessage`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvalidMessageDetails {
    /// Where, as an RFC 6901 JSON pointer; empty for the message as a whole.
    pub pointer: String,
    /// What should have been there.
    pub expected: String,
}

impl From<InvalidMessageDetails> for Json {
    fn from(details: InvalidMessageDetails) -> Self {
        Self(serde_json::json!({"pointer": details.pointer, "expected": details.expected}))
    }
}

/// The details of [`ErrorCode::AlreadyDecided`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlreadyDecidedDetails {
    /// The name of the client whose decision counts.
    pub decided_by: String,
    /// What it decided.
    pub approved: bool,
}

impl From<AlreadyDecidedDetails> for Json {
    fn from(details: AlreadyDecidedDetails) -> Self {
        Self(serde_json::json!({"decided_by": details.decided_by, "approved": details.approved}))
    }
}
