//! What the agent tells while it works on an instruction: the turn and the model's messages in it.

use loggia_jsonrpc::Notification;
use serde::{Deserialize, Serialize};

use crate::{MessageId, Quantity, Role, SessionId, Timestamp, ToolCall, TurnId};

/// Work on an instruction begins.
#[derive(Debug)]
pub struct TurnStart;

impl Notification for TurnStart {
    const NAME: &'static str = "autohand.turnStart";
    type Params = TurnStartParams;
}

/// The turn that begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnStartParams {
    /// Its id.
    pub turn_id: TurnId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// The instruction.
    pub instruction: String,
    /// When.
    pub timestamp: Timestamp,
}

/// Work on an instruction is over. Never left out, whatever happened in between.
#[derive(Debug)]
pub struct TurnEnd;

impl Notification for TurnEnd {
    const NAME: &'static str = "autohand.turnEnd";
    type Params = TurnEndParams;
}

/// The turn that is over.
///
/// The specification nests the numbers in `stats`; client libraries read them flat. We write both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnEndParams {
    /// Its id.
    pub turn_id: TurnId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// What it cost.
    pub stats: TurnStats,
    /// `stats.tokensUsed`, flat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_used: Option<u64>,
    /// Whether the number of tokens is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_usage_status: Option<TokensUsageStatus>,
    /// `stats.duration`, flat, in whole milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// `stats.contextPercent`, flat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_percent: Option<Quantity>,
    /// Why the turn ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<TurnEndReason>,
    /// When.
    pub timestamp: Timestamp,
}

impl TurnEndParams {
    /// The end of a turn, with its numbers in both places. Unknown token use is told as 0 and marked.
    pub fn new(
        turn_id: TurnId,
        session_id: SessionId,
        tokens_used: Option<u64>,
        duration_ms: u64,
        context_percent: Quantity,
        reason: TurnEndReason,
        timestamp: Timestamp,
    ) -> Self {
        let tokens = tokens_used.unwrap_or(0);
        Self {
            turn_id,
            session_id,
            stats: TurnStats {
                tokens_used: tokens,
                duration: duration_ms.into(),
                context_percent: context_percent.clone(),
            },
            tokens_used: Some(tokens),
            tokens_usage_status: Some(TokensUsageStatus::of(tokens_used)),
            duration_ms: Some(duration_ms),
            context_percent: Some(context_percent),
            reason: Some(reason),
            timestamp,
        }
    }
}

/// What a turn cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnStats {
    /// Tokens the model read and wrote.
    pub tokens_used: u64,
    /// How long it took, in milliseconds.
    pub duration: Quantity,
    /// The share of the model's context window that is left.
    pub context_percent: Quantity,
}

/// Whether a number of tokens was counted or could not be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TokensUsageStatus {
    /// The provider told it.
    Actual,
    /// The provider did not; the number is 0.
    Unavailable,
}

impl TokensUsageStatus {
    /// The status that goes with a count.
    pub fn of(tokens: Option<u64>) -> Self {
        if tokens.is_some() { Self::Actual } else { Self::Unavailable }
    }
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEndReason {
    /// The model was done, or failed.
    Completed,
    /// The user stopped it.
    Aborted,
    /// The client stopped it after a step.
    StopCondition,
}

/// A response of the model begins.
#[derive(Debug)]
pub struct MessageStart;

impl Notification for MessageStart {
    const NAME: &'static str = "autohand.messageStart";
    type Params = MessageStartParams;
}

/// The message that begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageStartParams {
    /// Its id.
    pub message_id: MessageId,
    /// The turn it belongs to.
    pub turn_id: TurnId,
    /// Always the assistant. Read by client libraries only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// When.
    pub timestamp: Timestamp,
}

/// More of a response.
#[derive(Debug)]
pub struct MessageUpdate;

impl Notification for MessageUpdate {
    const NAME: &'static str = "autohand.messageUpdate";
    type Params = MessageUpdateParams;
}

/// More of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageUpdateParams {
    /// The message.
    pub message_id: MessageId,
    /// What comes next; empty when there is only a thought.
    pub delta: String,
    /// What the model thought meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// When.
    pub timestamp: Timestamp,
}

/// A response of the model is complete.
#[derive(Debug)]
pub struct MessageEnd;

impl Notification for MessageEnd {
    const NAME: &'static str = "autohand.messageEnd";
    type Params = MessageEndParams;
}

/// The message that is complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageEndParams {
    /// The message.
    pub message_id: MessageId,
    /// All its text: the deltas, joined.
    pub content: String,
    /// Which tools the model calls with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
    /// Whether it was cut off. Read by client libraries only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<bool>,
    /// When.
    pub timestamp: Timestamp,
}
