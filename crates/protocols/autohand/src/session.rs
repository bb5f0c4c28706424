//! What the agent tells about its session as a whole: beginning, end, errors and signs of life.

use loggia_jsonrpc::Notification;
use serde::{Deserialize, Serialize};

use crate::{Quantity, SessionId, Timestamp, TurnId};

/// A session has begun.
#[derive(Debug)]
pub struct AgentStart;

impl Notification for AgentStart {
    const NAME: &'static str = "autohand.agentStart";
    type Params = AgentStartParams;
}

/// The session that began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentStartParams {
    /// Its id.
    pub session_id: SessionId,
    /// The model in use.
    pub model: String,
    /// The workspace's path.
    pub workspace: String,
    /// When it began.
    pub timestamp: Timestamp,
    /// The share of the model's context window that is left.
    pub context_percent: Quantity,
}

/// A session has ended. The last line an agent ever writes; never sent between turns.
#[derive(Debug)]
pub struct AgentEnd;

impl Notification for AgentEnd {
    const NAME: &'static str = "autohand.agentEnd";
    type Params = AgentEndParams;
}

/// The session that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentEndParams {
    /// Its id.
    pub session_id: SessionId,
    /// Why it ended.
    pub reason: AgentEndReason,
    /// When.
    pub timestamp: Timestamp,
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentEndReason {
    /// Its work was done.
    Completed,
    /// It was told to stop, or the client went away.
    Aborted,
    /// It failed.
    Error,
}

/// Something went wrong that the user should know of.
#[derive(Debug)]
pub struct Error;

impl Notification for Error {
    const NAME: &'static str = "autohand.error";
    type Params = ErrorParams;
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorParams {
    /// One of [`crate::codes`]; agents also put a provider's HTTP status here.
    pub code: i64,
    /// What to tell the user.
    pub message: String,
    /// Whether the session can go on.
    pub recoverable: bool,
    /// The kind of provider failure, in one word. Read by client libraries only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// When.
    pub timestamp: Timestamp,
}

/// A sign of life during a turn, and the bearer of the end-of-turn marker. Beyond the specification.
#[derive(Debug)]
pub struct Ping;

impl Notification for Ping {
    const NAME: &'static str = "autohand.ping";
    type Params = PingParams;
}

/// The two things a ping may say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PingParams {
    /// The turn is over.
    EndOfTurn(EndOfTurnMarker),
    /// The turn still runs.
    KeepAlive(KeepAlive),
}

/// Tells clients that wait for a session's end after every prompt that this turn is over.
///
/// `autohand.agentEnd` ends a session, not a turn, yet some client libraries end a run only on that word, or
/// on any notification whose `type` says so. This marker serves them; the others ignore a ping. It is written
/// together with `autohand.turnEnd`, in one write, or it would end the next turn instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndOfTurnMarker {
    /// Always `agent_end`. (Renamed: `type` is a word of the language.)
    #[serde(rename = "type")]
    pub kind: EndMarkerType,
    /// The session, which goes on.
    pub session_id: SessionId,
    /// How the turn ended.
    pub reason: AgentEndReason,
    /// When.
    pub timestamp: Timestamp,
}

impl EndOfTurnMarker {
    /// The marker for a turn that ended now.
    pub fn new(session_id: SessionId, reason: AgentEndReason, timestamp: Timestamp) -> Self {
        Self { kind: EndMarkerType::AgentEnd, session_id, reason, timestamp }
    }
}

/// The word that makes a ping an end-of-turn marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndMarkerType {
    /// The one value.
    AgentEnd,
}

/// The turn still runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeepAlive {
    /// What the agent is doing, in one word.
    pub status: String,
    /// The turn.
    pub turn_id: TurnId,
    /// When.
    pub timestamp: Timestamp,
}
