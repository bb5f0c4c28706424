//! The calls around the conversation itself: say something, stop it, start anew, look at it.

use loggia_jsonrpc::{FieldError, Json, Method, NoParams, Order};
use serde::{Deserialize, Serialize};

use crate::{ImageAttachment, MessageId, Quantity, SessionId, Timestamp, ToolId, whole};

/// Sends the user's instruction. Answered as soon as it is accepted; the turn is told in notifications.
#[derive(Debug)]
pub struct Prompt;

impl Method for Prompt {
    const NAME: &'static str = "autohand.prompt";
    const ORDER: Order = Order::Ordered;
    type Params = PromptParams;
    type Result = SuccessResult;
}

/// What the user wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptParams {
    /// The instruction; must not be empty.
    pub message: String,
    /// What the user was looking at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<PromptContext>,
    /// Pictures that go with the instruction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<ImageAttachment>>,
    /// How hard the model should think. Sent by client libraries only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<ThinkingLevel>,
    /// Who decides after each step whether the turn goes on. Sent by client libraries only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_when: Option<StopWhen>,
}

impl PromptParams {
    /// Refuses an instruction without a word in it.
    ///
    /// # Errors
    /// [`FieldError`] that names `message`.
    pub fn check(&self) -> Result<(), FieldError> {
        if self.message.is_empty() {
            return Err(FieldError::at("message", "must not be empty"));
        }
        Ok(())
    }
}

/// What the user was looking at.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptContext {
    /// Files the user named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// The text the user had selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// Standing instructions of the workspace. Sent by client libraries only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents_md: Option<AgentsMd>,
}

/// Selected text and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Selection {
    /// The file it is in.
    pub file: String,
    /// Its first line.
    #[serde(deserialize_with = "whole::unsigned")]
    pub start_line: u64,
    /// Its last line.
    #[serde(deserialize_with = "whole::unsigned")]
    pub end_line: u64,
    /// The text itself.
    pub text: String,
}

/// Standing instructions: given in words, by path, or to be looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentsMd {
    /// The instructions themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The file that holds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether the agent looks for them itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto: Option<bool>,
}

/// How hard the model should think.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "must be the name of a level")]
pub enum ThinkingLevel {
    /// Not at all.
    None,
    /// As it does by itself.
    Normal,
    /// As long as it likes.
    Extended,
    /// A level we do not know; the turn runs all the same.
    #[serde(untagged)]
    Other(String),
}

/// When a turn stops before the model is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopWhen {
    /// Who decides.
    pub mode: StopMode,
}

/// Who decides whether a turn goes on after a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "must be the name of whoever decides")]
pub enum StopMode {
    /// The client, with `autohand.stepDecision`.
    Host,
    /// Somebody we do not know: the model decides as usual.
    #[serde(untagged)]
    Other(String),
}

/// The answer of calls that only report whether they took effect.
///
/// `false` is an answer, not an error: nothing was running, the question was already settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuccessResult {
    /// Whether the call took effect.
    pub success: bool,
}

/// Stops the running turn.
#[derive(Debug)]
pub struct Abort;

impl Method for Abort {
    const NAME: &'static str = "autohand.abort";
    const ORDER: Order = Order::Urgent;
    type Params = NoParams;
    type Result = SuccessResult;
}

/// Forgets the conversation and begins a new session.
#[derive(Debug)]
pub struct Reset;

impl Method for Reset {
    const NAME: &'static str = "autohand.reset";
    const ORDER: Order = Order::Ordered;
    type Params = NoParams;
    type Result = ResetResult;
}

/// The session that replaced the old one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResetResult {
    /// Its id.
    pub session_id: SessionId,
}

/// Asks how the agent is. Some clients take the first good answer as the sign that it has started.
#[derive(Debug)]
pub struct GetState;

impl Method for GetState {
    const NAME: &'static str = "autohand.getState";
    const ORDER: Order = Order::Urgent;
    type Params = NoParams;
    type Result = GetStateResult;
}

/// How the agent is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetStateResult {
    /// What it is doing.
    pub status: AgentStatus,
    /// The current session. The one optional field of the protocol that is written as `null`: its
    /// specification says so.
    pub session_id: Option<SessionId>,
    /// The model in use.
    pub model: String,
    /// The workspace's path.
    pub workspace: String,
    /// The share of the model's context window that is left: 100 on a fresh session.
    pub context_percent: Quantity,
    /// Messages in the history, system messages included.
    pub message_count: u64,
    /// How hard the model is told to think; absent if that is left to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<ThinkingLevel>,
    /// How many tokens it may think with, if it was told a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_thinking_tokens: Option<u64>,
    /// Who is logged in, where a provider has logins. Never holds a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authenticated_user: Option<AuthenticatedUser>,
}

/// What the agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// Nothing; a prompt is welcome.
    Idle,
    /// A turn runs.
    Processing,
    /// A turn waits for an answer of the user.
    WaitingPermission,
}

/// Who is logged in at the model provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatedUser {
    /// The provider's id of the user.
    pub id: String,
    /// Mail address.
    pub email: String,
    /// Name to show.
    pub name: String,
    /// Address of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
}

/// Reads the conversation.
#[derive(Debug)]
pub struct GetMessages;

impl Method for GetMessages {
    const NAME: &'static str = "autohand.getMessages";
    type Params = GetMessagesParams;
    type Result = GetMessagesResult;
}

/// How much of the conversation to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetMessagesParams {
    /// At most this many, counted from the end.
    #[serde(default, deserialize_with = "whole::optional_signed", skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

impl GetMessagesParams {
    /// How many of the last messages are wanted; nothing means all of them. Zero and less mean all as well.
    pub fn last(&self) -> Option<usize> {
        self.limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0)
    }
}

/// The conversation, oldest message first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetMessagesResult {
    /// Its messages.
    pub messages: Vec<HistoryMessage>,
}

/// One message of the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryMessage {
    /// Its id; the same on every reading.
    pub id: MessageId,
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub content: String,
    /// When.
    pub timestamp: Timestamp,
    /// Which tools the assistant called with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The rules of the house.
    System,
    /// A tool, answering the model.
    Tool,
}

/// One tool call of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The call's id.
    pub id: ToolId,
    /// The tool.
    pub name: String,
    /// Its arguments, an object the tool understands.
    pub args: Json,
}
