//! What tools, commands and people are called on the wire.

use loggia_domain::{Actor, ApprovalId, CallId, PatchId, ToolCall};
use loggia_protocol_agent_server as wire;
use serde_json::Value;

/// What every command id begins with; the rest is its call's.
pub(crate) const COMMAND_PREFIX: &str = "cmd_";

/// The tool that runs commands.
pub(super) const RUN_COMMAND: &str = "run_command";

/// How deep a model's arguments may nest to be sent as JSON; readers take twice as much for a whole message.
const MAX_DEPTH: usize = 32;

/// A tool's name on the wire. One nobody knows here keeps its own.
pub(super) fn tool_name(tool: &str) -> &str {
    match tool {
        RUN_COMMAND => "execute_command",
        "edit_file" | "apply_patch" => "propose_diff",
        other => other,
    }
}

/// A command's id: that of its call behind another prefix.
pub(super) fn command_id(call: CallId) -> String {
    let text = call.to_string();
    format!("{COMMAND_PREFIX}{}", text.trim_start_matches(CallId::PREFIX))
}

/// What a question is called: a command's by its command, any other by itself.
pub(super) fn question_id(approval: ApprovalId, command: Option<CallId>) -> wire::ApprovalId {
    wire::ApprovalId(command.map_or_else(|| approval.to_string(), command_id))
}

pub(super) fn patch_id(patch: PatchId) -> wire::PatchId {
    wire::PatchId(patch.to_string())
}

/// Who did something, by name.
pub(super) fn actor_name(actor: &Actor) -> &str {
    match actor {
        Actor::Client { name, .. } => name,
        Actor::Policy => "policy",
        Actor::Engine => "server",
    }
}

/// A call's arguments with the names they have on the wire. What is no JSON is told as the text it is.
pub(super) fn arguments(call: &ToolCall) -> Value {
    let text = &call.arguments.0;
    let parsed = serde_json::from_str(text).ok().filter(|value| depth(value) <= MAX_DEPTH);
    let mut value = parsed.unwrap_or_else(|| Value::String(text.clone()));
    let Value::Object(fields) = &mut value else { return value };
    match call.tool.as_str() {
        "read_file" | "write_file" | "edit_file" | "delete_file" => {
            if let Some(path) = fields.remove("path") {
                fields.insert("file_path".to_owned(), path);
            }
        }
        // What it prints is told under this id.
        RUN_COMMAND => drop(fields.insert("command_id".to_owned(), command_id(call.id).into())),
        _ => {}
    }
    value
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
