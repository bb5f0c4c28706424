//! Rows about tool calls.
//!
//! Knows what is stored of a call, who runs it and how it ended. Refuses to read a call's arguments.
//! Invariant: conversions name every field on both sides, so that none is dropped in silence.

use loggia_domain::{
    CallId, ClientId, CommandExit, CommandSummary, EventBody, Executor, JsonText, SandboxLevel, ToolCall,
    ToolOutcome,
};
use serde::{Deserialize, Serialize};

use crate::rows::file::StoredFileChange;
use crate::rows::parts::{StoredActor, Str, Text, unlist};

#[derive(Serialize, Deserialize)]
pub(super) struct ToolRequested<'a> {
    pub(super) call: StoredCall<'a>,
}

impl From<ToolRequested<'_>> for EventBody {
    fn from(row: ToolRequested<'_>) -> Self {
        let ToolRequested { call } = row;
        Self::ToolRequested { call: call.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct CallChanged<'a> {
    pub(super) call: Text<CallId>,
    pub(super) arguments: Str<'a>,
    pub(super) by: StoredActor<'a>,
}

impl From<CallChanged<'_>> for EventBody {
    fn from(row: CallChanged<'_>) -> Self {
        let CallChanged { call, arguments, by } = row;
        Self::CallChanged { call: call.0, arguments: JsonText(arguments.into()), by: by.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ToolStarted {
    pub(super) call: Text<CallId>,
    pub(super) executor: StoredExecutor,
}

impl From<ToolStarted> for EventBody {
    fn from(row: ToolStarted) -> Self {
        let ToolStarted { call, executor } = row;
        Self::ToolStarted { call: call.0, executor: executor.into() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct ToolEnded<'a> {
    pub(super) call: Text<CallId>,
    pub(super) outcome: StoredOutcome<'a>,
    pub(super) files: Vec<StoredFileChange<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<StoredCommand>,
    pub(super) milliseconds: u64,
}

impl From<ToolEnded<'_>> for EventBody {
    fn from(row: ToolEnded<'_>) -> Self {
        let ToolEnded { call, outcome, files, command, milliseconds } = row;
        Self::ToolEnded {
            call: call.0,
            outcome: outcome.into(),
            files: unlist(files),
            command: command.map(Into::into),
            milliseconds,
        }
    }
}

/// One call of a tool.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredCall<'a> {
    id: Text<CallId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider_id: Option<Str<'a>>,
    tool: Str<'a>,
    arguments: Str<'a>,
}

impl<'a> From<&'a ToolCall> for StoredCall<'a> {
    fn from(call: &'a ToolCall) -> Self {
        let ToolCall { id, provider_id, tool, arguments } = call;
        Self {
            id: Text(*id),
            provider_id: provider_id.as_ref().map(Into::into),
            tool: tool.into(),
            arguments: (&arguments.0).into(),
        }
    }
}

impl From<StoredCall<'_>> for ToolCall {
    fn from(row: StoredCall<'_>) -> Self {
        let StoredCall { id, provider_id, tool, arguments } = row;
        Self {
            id: id.0,
            provider_id: provider_id.map(Into::into),
            tool: tool.into(),
            arguments: JsonText(arguments.into()),
        }
    }
}

/// Who does the work of a call.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredExecutor {
    Server {},
    Client { id: Text<ClientId> },
}

impl From<&Executor> for StoredExecutor {
    fn from(executor: &Executor) -> Self {
        match executor {
            Executor::Server => Self::Server {},
            Executor::Client(id) => Self::Client { id: Text(*id) },
        }
    }
}

impl From<StoredExecutor> for Executor {
    fn from(row: StoredExecutor) -> Self {
        match row {
            StoredExecutor::Server {} => Self::Server,
            StoredExecutor::Client { id } => Self::Client(id.0),
        }
    }
}

/// How a call ended.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredOutcome<'a> {
    Succeeded { output: Str<'a> },
    Failed { message: Str<'a> },
    Denied { reason: Str<'a> },
    Cancelled {},
}

impl<'a> From<&'a ToolOutcome> for StoredOutcome<'a> {
    fn from(outcome: &'a ToolOutcome) -> Self {
        match outcome {
            ToolOutcome::Succeeded { output } => Self::Succeeded { output: output.into() },
            ToolOutcome::Failed { message } => Self::Failed { message: message.into() },
            ToolOutcome::Denied { reason } => Self::Denied { reason: reason.into() },
            ToolOutcome::Cancelled => Self::Cancelled {},
        }
    }
}

impl From<StoredOutcome<'_>> for ToolOutcome {
    fn from(row: StoredOutcome<'_>) -> Self {
        match row {
            StoredOutcome::Succeeded { output } => Self::Succeeded { output: output.into() },
            StoredOutcome::Failed { message } => Self::Failed { message: message.into() },
            StoredOutcome::Denied { reason } => Self::Denied { reason: reason.into() },
            StoredOutcome::Cancelled {} => Self::Cancelled,
        }
    }
}

/// What is worth knowing of a command that ran.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredCommand {
    exit: StoredExit,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sandbox: Option<Text<SandboxLevel>>,
    left_out: u64,
}

impl From<CommandSummary> for StoredCommand {
    fn from(command: CommandSummary) -> Self {
        let CommandSummary { exit, sandbox, left_out } = command;
        Self { exit: exit.into(), sandbox: sandbox.map(Text), left_out }
    }
}

impl From<StoredCommand> for CommandSummary {
    fn from(row: StoredCommand) -> Self {
        let StoredCommand { exit, sandbox, left_out } = row;
        Self { exit: exit.into(), sandbox: sandbox.map(|sandbox| sandbox.0), left_out }
    }
}

/// How a command ended.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredExit {
    Code { code: i32 },
    Signal { signal: i32 },
    TimedOut {},
}

impl From<CommandExit> for StoredExit {
    fn from(exit: CommandExit) -> Self {
        match exit {
            CommandExit::Code(code) => Self::Code { code },
            CommandExit::Signal(signal) => Self::Signal { signal },
            CommandExit::TimedOut => Self::TimedOut {},
        }
    }
}

impl From<StoredExit> for CommandExit {
    fn from(row: StoredExit) -> Self {
        match row {
            StoredExit::Code { code } => Self::Code(code),
            StoredExit::Signal { signal } => Self::Signal(signal),
            StoredExit::TimedOut {} => Self::TimedOut,
        }
    }
}
