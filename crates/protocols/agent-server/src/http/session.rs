//! Sessions: conversations that last, and their journals.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::decode::DecodeError;
use crate::http::PolicyPreset;
use crate::ids::{SessionId, Timestamp, WorkspaceId};
use crate::server::{ServerMessage, SessionState};
use crate::words::open_words;

/// `POST /v1/sessions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateSessionParams {
    /// Where it works.
    pub workspace_id: WorkspaceId,
    /// What to call it; made from the first message otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its model; the default one otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SessionModel>,
    /// A preset for this session instead of the workspace's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_preset: Option<PolicyPreset>,
    /// How much it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// How much a session may use; an absent limit is none.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Tokens, in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Money, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// Model calls in one turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u32>,
}

/// A session's model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionModel {
    /// Who serves it.
    pub provider: String,
    /// Its name there.
    pub model_name: String,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Its id.
    pub session_id: SessionId,
    /// Where it works.
    pub workspace_id: WorkspaceId,
    /// What people call it.
    pub title: String,
    /// What it is doing.
    pub status: SessionStatus,
    /// Whether its last turn was cut, by a crash for one, and can go on with `continue`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub can_continue: bool,
    /// How many of its turns' changes can be undone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub can_undo: u32,
    /// How many of its undone turns' changes can be redone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub can_redo: u32,
    /// Its model; absent when none is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SessionModel>,
    /// The model that replied in its place the last time, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<SessionModel>,
    /// When it began.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// The number of its last event.
    pub last_seq: u64,
    /// As in `session.state`.
    pub state: SessionState,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

open_words! {
    /// What a session is doing.
    pub enum SessionStatus {
        /// Waiting for an instruction.
        Idle = "idle",
        /// Working.
        Running = "running",
        /// Waiting for an answer.
        WaitingApproval = "waiting_approval",
        /// Nothing more.
        Ended = "ended",
    }
}

/// `GET /v1/sessions`, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionPage {
    /// This page's sessions.
    pub sessions: Vec<Session>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// `GET /v1/sessions/{session_id}/events`: the journal, as the stream would have sent it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventPage {
    /// This page's messages, oldest first.
    pub events: Vec<Event>,
    /// The `after` of the next page, if there is one. Messages of one event are never on two pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_after: Option<u64>,
}

/// One server message on a page, not yet read: one that is too new spoils only itself.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Event(#[schemars(schema_with = "event_schema")] Box<RawValue>);

/// Open: a page may hold messages that its reader does not know.
fn event_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": { "type": { "type": "string", "description": "Which message; it names a schema." } },
        "required": ["type"],
    })
}

impl Event {
    /// Reads it.
    ///
    /// # Errors
    /// As [`ServerMessage::decode`].
    pub fn decode(&self) -> Result<ServerMessage, DecodeError> {
        ServerMessage::decode(self.0.get())
    }

    /// The text on the wire.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl From<&ServerMessage> for Event {
    fn from(message: &ServerMessage) -> Self {
        Self(serde_json::value::to_raw_value(message).expect("the types hold nothing that JSON cannot"))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// `POST /v1/sessions/{session_id}/rename`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RenameSessionParams {
    /// The new title.
    pub title: String,
}

/// `POST /v1/sessions/{session_id}/fork`: a new session with the past of this one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ForkSessionParams {
    /// The last event both share; absent means all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What to call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// `POST /v1/sessions/{session_id}/undo` and `redo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct UndoParams {
    /// How many steps; one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
}

/// What an undo or a redo did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoResult {
    /// How many steps were taken.
    pub steps: u32,
    /// The files that were changed, relative to the workspace root.
    #[serde(default)]
    pub files: Vec<String>,
    /// Commands that ran in a client's terminal in those steps: what they did is out of reach.
    #[serde(default)]
    pub out_of_reach: Vec<String>,
}
