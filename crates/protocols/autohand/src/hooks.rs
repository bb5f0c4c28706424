//! Lifecycle notifications, for clients that automate. Sent whether or not any hook is configured.

use loggia_jsonrpc::{Json, Notification};
use serde::{Deserialize, Serialize};

use crate::{ChangeType, Quantity, Timestamp, TokensUsageStatus, ToolId};

/// A tool is about to run; it may still be refused.
#[derive(Debug)]
pub struct HookPreTool;

impl Notification for HookPreTool {
    const NAME: &'static str = "autohand.hook.preTool";
    type Params = HookPreToolParams;
}

/// The call to come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookPreToolParams {
    /// The call.
    pub tool_id: ToolId,
    /// The tool.
    pub tool_name: String,
    /// Its arguments, an object the tool understands.
    pub args: Json,
    /// When.
    pub timestamp: Timestamp,
}

/// A tool has run.
#[derive(Debug)]
pub struct HookPostTool;

impl Notification for HookPostTool {
    const NAME: &'static str = "autohand.hook.postTool";
    type Params = HookPostToolParams;
}

/// The call that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookPostToolParams {
    /// The call.
    pub tool_id: ToolId,
    /// The tool.
    pub tool_name: String,
    /// Whether it did what it was asked.
    pub success: bool,
    /// How long it took, in milliseconds.
    pub duration: Quantity,
    /// What came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// When.
    pub timestamp: Timestamp,
}

/// A file was created, changed or deleted.
#[derive(Debug)]
pub struct HookFileModified;

impl Notification for HookFileModified {
    const NAME: &'static str = "autohand.hook.fileModified";
    type Params = HookFileModifiedParams;
}

/// The file and what happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookFileModifiedParams {
    /// The file.
    pub file_path: String,
    /// What happened.
    pub change_type: ChangeType,
    /// The call that did it.
    pub tool_id: ToolId,
    /// When.
    pub timestamp: Timestamp,
}

/// An instruction is about to go to the model.
#[derive(Debug)]
pub struct HookPrePrompt;

impl Notification for HookPrePrompt {
    const NAME: &'static str = "autohand.hook.prePrompt";
    type Params = HookPrePromptParams;
}

/// The instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookPrePromptParams {
    /// Its words.
    pub instruction: String,
    /// The files the user named.
    pub mentioned_files: Vec<String>,
    /// When.
    pub timestamp: Timestamp,
}

/// The model has answered.
#[derive(Debug)]
pub struct HookPostResponse;

impl Notification for HookPostResponse {
    const NAME: &'static str = "autohand.hook.postResponse";
    type Params = HookPostResponseParams;
}

/// What the answer cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookPostResponseParams {
    /// Tokens the model read and wrote.
    pub tokens_used: u64,
    /// Whether that number is known. Read by client libraries only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_usage_status: Option<TokensUsageStatus>,
    /// Tool calls of this turn.
    pub tool_calls_count: u64,
    /// How long it took, in milliseconds.
    pub duration: Quantity,
    /// When.
    pub timestamp: Timestamp,
}

/// Something failed while the agent worked.
#[derive(Debug)]
pub struct HookSessionError;

impl Notification for HookSessionError {
    const NAME: &'static str = "autohand.hook.sessionError";
    type Params = HookSessionErrorParams;
}

/// What failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookSessionErrorParams {
    /// The failure in words.
    pub error: String,
    /// Its code, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Whatever helps to understand it, an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Json>,
    /// When.
    pub timestamp: Timestamp,
}

/// The agent stops working; the same numbers follow as [`HookPostResponse`]. Beyond the specification.
#[derive(Debug)]
pub struct HookStop;

impl Notification for HookStop {
    const NAME: &'static str = "autohand.hook.stop";
    type Params = HookPostResponseParams;
}

/// A session begins. Beyond the specification.
#[derive(Debug)]
pub struct HookSessionStart;

impl Notification for HookSessionStart {
    const NAME: &'static str = "autohand.hook.sessionStart";
    type Params = HookSessionStartParams;
}

/// How the session begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookSessionStartParams {
    /// From what.
    pub session_type: SessionType,
    /// When.
    pub timestamp: Timestamp,
}

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionType {
    /// The agent has just started.
    Startup,
    /// A saved session goes on.
    Resume,
    /// The conversation was reset.
    Clear,
}

/// A session ends. Beyond the specification.
#[derive(Debug)]
pub struct HookSessionEnd;

impl Notification for HookSessionEnd {
    const NAME: &'static str = "autohand.hook.sessionEnd";
    type Params = HookSessionEndParams;
}

/// How the session ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookSessionEndParams {
    /// Why.
    pub reason: SessionEndReason,
    /// How long it lasted, in milliseconds.
    pub duration: Quantity,
    /// When.
    pub timestamp: Timestamp,
}

/// Why a session ends, for hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionEndReason {
    /// The user left.
    Quit,
    /// The conversation was reset.
    Clear,
    /// The agent exits.
    Exit,
    /// The agent failed.
    Error,
}

/// The user is about to be asked. Beyond the specification.
#[derive(Debug)]
pub struct HookPermissionRequest;

impl Notification for HookPermissionRequest {
    const NAME: &'static str = "autohand.hook.permissionRequest";
    type Params = HookPermissionRequestParams;
}

/// What the user is about to be asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookPermissionRequestParams {
    /// The tool.
    pub tool: String,
    /// The path to be touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The command to be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The tool's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// When.
    pub timestamp: Timestamp,
}
