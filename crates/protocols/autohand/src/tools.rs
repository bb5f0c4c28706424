//! What the agent tells while a tool runs.

use loggia_jsonrpc::{Json, Notification};
use serde::{Deserialize, Serialize};

use crate::{Timestamp, ToolId};

/// A tool begins to run. Sent only once it may run.
#[derive(Debug)]
pub struct ToolStart;

impl Notification for ToolStart {
    const NAME: &'static str = "autohand.toolStart";
    type Params = ToolStartParams;
}

/// The call that begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolStartParams {
    /// The call.
    pub tool_id: ToolId,
    /// The tool.
    pub tool_name: String,
    /// Its arguments, an object the tool understands.
    pub args: Json,
    /// When.
    pub timestamp: Timestamp,
}

/// A tool said something.
#[derive(Debug)]
pub struct ToolUpdate;

impl Notification for ToolUpdate {
    const NAME: &'static str = "autohand.toolUpdate";
    type Params = ToolUpdateParams;
}

/// What a tool said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolUpdateParams {
    /// The call.
    pub tool_id: ToolId,
    /// The tool, for a desktop client that looks for it here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The words.
    pub output: String,
    /// Where it said them.
    pub stream: OutputStream,
    /// When.
    pub timestamp: Timestamp,
}

/// Where output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A tool is done. Every start has exactly one end.
#[derive(Debug)]
pub struct ToolEnd;

impl Notification for ToolEnd {
    const NAME: &'static str = "autohand.toolEnd";
    type Params = ToolEndParams;
}

/// The call that is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolEndParams {
    /// The call.
    pub tool_id: ToolId,
    /// The tool.
    pub tool_name: String,
    /// Whether it did what it was asked.
    pub success: bool,
    /// What came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When.
    pub timestamp: Timestamp,
}
