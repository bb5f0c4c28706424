//! The conversation: the reply as it grows, the reply as it stands, and what other clients wrote.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::server::Stamp;

/// A piece of the running reply. Passing: the final message has the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "assistant.token")]
pub struct Token {
    /// The new piece. Pieces are merged for a client that reads slowly.
    pub token: String,
    /// The reply so far, the new piece included; left out for a client that named `delta_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cumulative_text: Option<String>,
}

impl Message for Token {
    const TYPE: &'static str = "assistant.token";
}

/// The reply that ends a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "assistant.message_final")]
pub struct MessageFinal {
    /// The whole reply.
    pub message: String,
    /// What the turn took and did.
    pub metadata: ReplyMetadata,
    /// Its place in the journal.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for MessageFinal {
    const TYPE: &'static str = "assistant.message_final";
}

/// What a turn took and did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplyMetadata {
    /// Tokens, in and out.
    pub tokens_used: u64,
    /// How many files it changed.
    pub files_modified: u64,
    /// The tools it called, each once.
    #[serde(default)]
    pub tools_used: Vec<String>,
    /// False when the turn failed or was cancelled.
    pub success: bool,
    /// What the turn cost in US dollars; absent where a price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// What another client of the session wrote, so that every screen shows the same conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "client.echo")]
pub struct ClientEcho {
    /// The name that client gave in its hello.
    pub from: String,
    /// What its user wrote.
    pub message: String,
    /// Its place in the journal.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for ClientEcho {
    const TYPE: &'static str = "client.echo";
}
