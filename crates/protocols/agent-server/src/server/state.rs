//! `session.state`: what is open and what is done, sent whenever it changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{ApprovalId, PatchId};
use crate::message::Message;
use crate::server::Stamp;
use crate::words::open_words;

/// The session's state has changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "session.state")]
pub struct SessionStateUpdate {
    /// The state as it is now, whole.
    pub state: SessionState,
    /// The answer that changed it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
    /// Its place in the journal.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for SessionStateUpdate {
    const TYPE: &'static str = "session.state";
}

/// An answer to a question: the first one, which counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decided {
    /// The question, by the name it was asked with.
    pub request_id: ApprovalId,
    /// Whose answer it was: the name that client gave in its hello, else `policy` or `server`.
    pub decided_by: String,
    /// Where that client came in; absent when the policy or the server itself decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<DoorName>,
    /// Yes or no.
    pub approved: bool,
    /// Whether the yes is for a part of what was asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_part: bool,
}

open_words! {
    /// Where a client comes in.
    pub enum DoorName {
        /// HTTP and WebSocket: browsers, editors, the command line.
        Http = "http",
        /// JSON-RPC over a byte stream.
        Rpc = "rpc",
        /// The console socket.
        Console = "console",
        /// Code inside the server.
        Inside = "inside",
    }
}

/// What is open and what is done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionState {
    /// Patches that wait for a decision.
    #[serde(default)]
    pub pending_patches: Vec<PatchId>,
    /// Patches in the files.
    #[serde(default)]
    pub applied_patches: Vec<PatchId>,
    /// Questions that wait for an answer, about tools and commands.
    #[serde(default)]
    pub pending_approvals: Vec<ApprovalId>,
    /// The plan's running step, from 1; 0 when there is no plan.
    #[serde(default)]
    pub current_step: u32,
    /// How many steps the plan has; 0 when there is none.
    #[serde(default)]
    pub total_steps: u32,
    /// What the session has used in all, told with the end of each turn; absent while it has used nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
}

/// What a session has used in all.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TokenUsage {
    /// Tokens in.
    pub input_tokens: u64,
    /// Tokens out.
    pub output_tokens: u64,
    /// Of the tokens in, those that the provider had cached.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Cost in US dollars; absent where a price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}
