//! Calls of tools: when they begin, who carries them out, how they end.

use loggia_domain::{
    Actor, ApprovalScope, ClientId, CommandExit, CommandSummary, Executor, FileChange, FileChangeKind,
    PatchId, ToolCall, ToolOutcome,
};
use loggia_protocol_agent_server as wire;
use serde_json::{Map, Value};
use wire::{ServerMessage, ToolExecute, ToolStatus};

use crate::to_wire::names::{RUN_COMMAND, actor_name, arguments, tool_name};
use crate::to_wire::past::{Past, PastCall, Stage};
use crate::to_wire::question::{allowed_command, proposed};

/// A tool is to be called.
pub(super) fn requested(call: &ToolCall, stamp: wire::Stamp) -> ServerMessage {
    execute(call, ToolStatus::Started, None, None, stamp)
}

/// A call begins: what nobody was asked about is shown now, as is what it was changed to by whoever was asked; and a
/// client that is to do it is named.
pub(super) fn started(
    open: &PastCall,
    executor: Executor,
    past: &Past,
    stamp: &wire::Stamp,
) -> Vec<ServerMessage> {
    let mut messages = Vec::new();
    let is_news = open.stage == Stage::Requested || open.is_changed;
    if is_news {
        let patches = open.patches.iter().filter_map(|id| past.proposed.get(id));
        messages.extend(patches.map(|patch| proposed(patch, false, stamp.clone())));
    }
    let Executor::Client(client) = executor else { return messages };
    if is_news && open.call.tool == RUN_COMMAND {
        messages.push(allowed_command(&open.call, &past.root, stamp.clone()));
    }
    let name = executor_name(open, client, past);
    messages.push(to_do(open, name, |_| true, past, stamp.clone()));
    messages
}

/// What a client that has gone was given to do, for the one that is to do it instead: everything it needs, since it
/// may have heard nothing of it. It has no place in the journal.
pub(super) fn handed_over(
    open: &PastCall,
    name: &str,
    is_left: impl Fn(PatchId) -> bool,
    past: &Past,
) -> Vec<ServerMessage> {
    let turn_id = past.turn.as_ref().map(|turn| wire::TurnId(turn.id.to_string()));
    let stamp = wire::Stamp { turn_id, ..wire::Stamp::default() };
    let left = open.patches.iter().filter(|id| is_left(**id)).filter_map(|id| past.proposed.get(id));
    let mut messages: Vec<_> = left.map(|patch| proposed(patch, false, stamp.clone())).collect();
    if open.call.tool == RUN_COMMAND {
        messages.push(allowed_command(&open.call, &past.root, stamp.clone()));
    }
    messages.push(to_do(open, name.to_owned(), is_left, past, stamp));
    messages
}

/// The name of the client that was given something to do.
pub(super) fn executor_name(open: &PastCall, client: ClientId, past: &Past) -> String {
    let author = past.turn.as_ref().map(|turn| &turn.by);
    let decider = open.decided.as_ref().map(|(_, by)| by);
    // Whose decision won, or who began the turn: nobody else is asked to do it, so one of them has the name.
    let is_it = |actor: &&Actor| matches!(actor, Actor::Client { id, .. } if *id == client);
    let name = decider.into_iter().chain(author).find(is_it).map(|actor| actor_name(actor).to_owned());
    name.unwrap_or_else(|| client.to_string())
}

/// What a client is to do.
fn to_do(
    open: &PastCall,
    name: String,
    is_left: impl Fn(PatchId) -> bool,
    past: &Past,
    stamp: wire::Stamp,
) -> ServerMessage {
    let scope = open.decided.as_ref().map_or(&ApprovalScope::All, |(scope, _)| scope);
    let mut message = execute(&open.call, ToolStatus::Started, None, Some(name), stamp);
    let left = open.patches.iter().filter(|id| is_left(**id));
    let accepted: Vec<Value> = left.filter_map(|id| accepted(*id, scope, past)).collect();
    if let ServerMessage::ToolExecute(ToolExecute { args, .. }) = &mut message
        && let (Value::Object(args), false) = (&mut args.0, accepted.is_empty())
    {
        args.insert("patches".to_owned(), accepted.into());
    }
    message
}

/// What of a change was accepted, for whoever makes it: all of it, or some of its hunks.
fn accepted(id: PatchId, scope: &ApprovalScope, past: &Past) -> Option<Value> {
    let patch = past.proposed.get(&id)?;
    let hunks = match scope {
        ApprovalScope::None => return None,
        ApprovalScope::All => None,
        ApprovalScope::Patches(ids) => {
            ids.contains(&id).then_some(())?;
            None
        }
        ApprovalScope::Hunks(chosen) => {
            let (_, hunks) = chosen.iter().find(|(patch, hunks)| *patch == id && !hunks.is_empty())?;
            Some(hunks)
        }
    };
    let mut accepted = serde_json::json!({"patch_id": id.to_string(), "file_path": patch.path});
    if let (Some(hunks), Value::Object(fields)) = (hunks, &mut accepted) {
        fields.insert("hunks".to_owned(), hunks.clone().into());
    }
    Some(accepted)
}

/// A call has ended, or will not happen.
pub(super) fn ended(
    call: &ToolCall,
    outcome: &ToolOutcome,
    files: &[FileChange],
    command: Option<&CommandSummary>,
    milliseconds: u64,
    past: &Past,
    stamp: wire::Stamp,
) -> ServerMessage {
    let mut result = Map::new();
    let mut put = |name: &str, value: Value| drop(result.insert(name.to_owned(), value));
    let status = match outcome {
        ToolOutcome::Succeeded { output } => {
            put("output", output.clone().into());
            ToolStatus::Completed
        }
        ToolOutcome::Failed { message } => {
            put("error", message.clone().into());
            ToolStatus::Failed
        }
        ToolOutcome::Denied { reason } => {
            put("error", reason.clone().into());
            put("denied", true.into());
            if past.turn.as_ref().is_some_and(|turn| turn.reads) {
                put("read_only", true.into());
            }
            ToolStatus::Failed
        }
        ToolOutcome::Cancelled => {
            put("error", "cancelled before it was done".into());
            put("cancelled", true.into());
            ToolStatus::Failed
        }
    };
    match command.map(|command| command.exit) {
        Some(CommandExit::Code(code)) => put("exit_code", code.into()),
        Some(CommandExit::Signal(signal)) => put("signal", signal.into()),
        Some(CommandExit::TimedOut) => put("timed_out", true.into()),
        None => {}
    }
    if let Some(command) = command.filter(|command| command.left_out > 0) {
        put("left_out_bytes", command.left_out.into());
    }
    if !files.is_empty() {
        put("files", files.iter().map(changed).collect());
    }
    put("duration_ms", milliseconds.into());
    execute(call, status, Some(Value::Object(result)), None, stamp)
}

fn execute(
    call: &ToolCall,
    status: ToolStatus,
    result: Option<Value>,
    executor: Option<String>,
    stamp: wire::Stamp,
) -> ServerMessage {
    ServerMessage::ToolExecute(ToolExecute {
        tool_name: tool_name(&call.tool).to_owned(),
        args: arguments(call).into(),
        status,
        result: result.map(Into::into),
        executor,
        stamp,
    })
}

fn changed(change: &FileChange) -> Value {
    let kind = match change.kind() {
        FileChangeKind::Created => "created",
        FileChangeKind::Modified => "modified",
        FileChangeKind::Deleted => "deleted",
    };
    serde_json::json!({"file_path": change.path, "type": kind})
}
