//! The messages of a session, as the payloads under `data`.

use serde::{Deserialize, Serialize};

use crate::lenient;

/// Asks how a word could go on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompletionRequest {
    /// The line.
    #[serde(deserialize_with = "lenient::text")]
    pub command: String,
    /// The place in it; see [`crate::cursor`].
    #[serde(deserialize_with = "lenient::int")]
    pub cursor: i32,
}

/// Asks for a coloured line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SyntaxHighlightRequest {
    /// The line.
    #[serde(deserialize_with = "lenient::text")]
    pub command: String,
}

/// Asks for the words of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ParseRequest {
    /// The line.
    #[serde(deserialize_with = "lenient::text")]
    pub command: String,
    /// The place in it; see [`crate::cursor`].
    #[serde(deserialize_with = "lenient::int")]
    pub cursor: i32,
}

/// Runs a command. There is no answer: output comes as log lines.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CommandExecute {
    /// The command.
    #[serde(deserialize_with = "lenient::text")]
    pub command: String,
}

/// Asks for a sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ping {}

/// Asks for log lines from now on; there is no answer and no way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LogSubscribe {}

/// How a word could go on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompletionResponse {
    /// The ways; always a list, because existing clients fail without one.
    #[serde(deserialize_with = "lenient::objects")]
    pub candidates: Vec<CandidateInfo>,
}

/// One way a word could go on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CandidateInfo {
    /// What takes the place of the whole word.
    #[serde(deserialize_with = "lenient::text")]
    pub value: String,
    /// What the list shows.
    #[serde(deserialize_with = "lenient::text")]
    pub display: String,
    /// A word about it; written as `null` when there is none, as existing servers do.
    #[serde(deserialize_with = "lenient::nullable_text")]
    pub description: Option<String>,
}

/// A coloured line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SyntaxHighlightResponse {
    /// The line as it was asked.
    #[serde(deserialize_with = "lenient::text")]
    pub command: String,
    /// The same visible characters with escape sequences between them.
    #[serde(deserialize_with = "lenient::text")]
    pub highlighted: String,
}

/// The words of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ParseResponse {
    /// The word the cursor is in.
    #[serde(deserialize_with = "lenient::text")]
    pub word: String,
    /// The place in that word: from 0 to its length, or existing clients fail.
    #[serde(deserialize_with = "lenient::int")]
    pub word_cursor: i32,
    /// Which word it is, from 0.
    #[serde(deserialize_with = "lenient::int")]
    pub word_index: i32,
    /// All words.
    #[serde(deserialize_with = "lenient::texts")]
    pub words: Vec<String>,
    /// The line; a client sends it on when it asks for completions.
    #[serde(deserialize_with = "lenient::text")]
    pub line: String,
    /// The place in the line; sent on likewise.
    #[serde(deserialize_with = "lenient::int")]
    pub cursor: i32,
}

/// A log event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LogForward {
    /// Its text for this client's colours, line end included: epoch-15 clients add none.
    #[serde(deserialize_with = "lenient::text")]
    pub rendered: String,
    /// The last of a command's own output: how the command ended, 0 for well. Not in the specification: it is only
    /// sent, and only under the command's id, to a client that negotiated for it.
    #[serde(deserialize_with = "lenient::nullable_int", skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
}

impl LogForward {
    /// A log event.
    pub fn new(rendered: impl Into<String>) -> Self {
        Self { rendered: rendered.into(), status: None }
    }
}

/// A sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pong {}

/// The message `ERROR`: something failed; the connection goes on. (Not named after it, to keep `Error` free.)
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Failure {
    /// What.
    #[serde(deserialize_with = "lenient::text")]
    pub message: String,
    /// More about it; written as `null` when there is none, as existing servers do.
    #[serde(deserialize_with = "lenient::nullable_text")]
    pub details: Option<String>,
}

impl Failure {
    /// A failure without details.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), details: None }
    }

    /// Message and details in one line.
    pub fn text(&self) -> String {
        match &self.details {
            Some(details) => format!("{}: {details}", self.message),
            None => self.message.clone(),
        }
    }
}

/// Whether commands can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InteractivityStatus {
    /// They can.
    #[serde(deserialize_with = "lenient::flag")]
    pub available: bool,
}
