//! What starts, feeds and stops a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::EditorContext;
use crate::message::Message;

/// An instruction, with what the editor knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "client.user_message")]
pub struct UserMessage {
    /// What the user wrote.
    pub message: String,
    /// The editor's state, sent without being asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<EditorContext>,
    /// Whether nothing may be changed and nothing run in this turn, whatever the policy allows. Beyond the
    /// specification; a client that does not know it leaves it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

impl Message for UserMessage {
    const TYPE: &'static str = "client.user_message";
}

/// News for a running conversation; the model hears it with its next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "client.context_update")]
pub struct ContextUpdate {
    /// The parts that changed. An absent part is as before.
    pub updates: EditorContext,
}

impl Message for ContextUpdate {
    const TYPE: &'static str = "client.context_update";
}

/// Stops the running turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "client.cancel")]
pub struct Cancel {
    /// Why, in the client's words, such as `user_cancelled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Message for Cancel {
    const TYPE: &'static str = "client.cancel";
}
