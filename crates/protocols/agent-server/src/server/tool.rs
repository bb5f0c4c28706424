//! Tools and commands: what runs, what it prints, and questions whether it may.

use std::collections::BTreeMap;

use loggia_jsonrpc::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client::Remember;
use crate::http::RiskLevel;
use crate::ids::{ApprovalId, CommandId};
use crate::message::Message;
use crate::server::Stamp;
use crate::words::open_words;

/// A tool call begins or ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "tool.execute")]
pub struct ToolExecute {
    /// Which tool. Open: plugins and extensions bring their own.
    pub tool_name: String,
    /// The tool's own arguments.
    #[schemars(with = "serde_json::Value")]
    pub args: Json,
    /// Whether it begins or how it ended.
    pub status: ToolStatus,
    /// The tool's own result, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub result: Option<Json>,
    /// The name of the client that carries it out, when the server does not; all others only watch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor: Option<String>,
    /// Its place in the journal.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for ToolExecute {
    const TYPE: &'static str = "tool.execute";
}

open_words! {
    /// How far a tool call is.
    pub enum ToolStatus {
        /// It begins.
        Started = "started",
        /// It ended well.
        Completed = "completed",
        /// It did not.
        Failed = "failed",
    }
}

/// What a command run by the server prints, as it prints it. Passing: the end of the call has the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "tool.output")]
pub struct ToolOutput {
    /// The command.
    pub command_id: CommandId,
    /// Where it printed.
    pub stream: OutputStream,
    /// What it printed since the last time.
    pub chunk: String,
}

impl Message for ToolOutput {
    const TYPE: &'static str = "tool.output";
}

open_words! {
    /// Where a command prints.
    pub enum OutputStream {
        /// Its standard output.
        Stdout = "stdout",
        /// Its standard error.
        Stderr = "stderr",
    }
}

/// May this tool run? Answered with `client.approval_response`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "tool.request_approval")]
pub struct ToolRequestApproval {
    /// The question's name.
    pub request_id: ApprovalId,
    /// Which tool.
    pub tool_name: String,
    /// The tool's own arguments; a write also names its patch as `patch_id`.
    #[schemars(with = "serde_json::Value")]
    pub args: Json,
    /// How much harm it could do.
    pub risk_level: RiskLevel,
    /// For how long a yes can stand, besides this once: what else the answer's `remember` may say to some effect. Empty
    /// or absent when no rule can say what is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remember: Vec<Remember>,
    /// Its place in the journal.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for ToolRequestApproval {
    const TYPE: &'static str = "tool.request_approval";
}

/// May this command run? The answer's `request_id` is the `command_id`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename = "command.request_approval")]
pub struct CommandRequestApproval {
    /// The command's name.
    pub command_id: CommandId,
    /// The command line.
    pub command: String,
    /// Where it would run.
    pub working_directory: String,
    /// What it would add to the environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Whether the command waits for an answer, or the policy has given it already.
    pub requires_approval: bool,
    /// What it is for.
    pub reason: String,
    /// How much harm it could do; absent when the policy has allowed the command and nobody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
    /// For how long a yes can stand, besides this once: what else the answer's `remember` may say to some effect. Empty
    /// or absent when no rule can say what is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remember: Vec<Remember>,
    /// Its place in the journal.
    #[serde(flatten)]
    pub stamp: Stamp,
}

impl Message for CommandRequestApproval {
    const TYPE: &'static str = "command.request_approval";
}
