//! Questions put to people: with the changes they are about, in full.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use loggia_domain::{ApprovalId, CallId, Decision, FileChangeKind, Patch, PatchId, Question, Risk, ToolCall};
use loggia_engine::{State, can_remember};
use loggia_protocol_agent_server as wire;
use serde_json::{Map, Value};
use wire::ServerMessage;

use crate::to_wire::moment::stamped;
use crate::to_wire::names::{arguments, command_id, patch_id, tool_name};

/// A question and where it stands in the journal.
pub(super) struct Put<'a> {
    pub(super) approval: ApprovalId,
    pub(super) call: Option<CallId>,
    pub(super) question: &'a Question,
    pub(super) risk: Risk,
    pub(super) stamp: wire::Stamp,
}

/// Everything that still waits for an answer, as it was asked, for one who was not there.
pub(crate) fn pending(state: &State, root: &Path) -> Vec<ServerMessage> {
    let turn = state.turn.as_ref().map(|turn| turn.id);
    let mut open: Vec<_> = state.pending.iter().collect();
    open.sort_by_key(|(_, pending)| pending.seq);
    let messages = open.into_iter().map(|(approval, pending)| {
        let put = Put {
            approval: *approval,
            call: pending.call,
            question: &pending.question,
            risk: pending.risk,
            stamp: stamped(pending.seq, pending.at, turn),
        };
        question(&put, &state.proposed, root)
    });
    messages.flatten().collect()
}

/// A question: its changes first, then what is asked.
pub(super) fn question(
    put: &Put<'_>,
    changes: &BTreeMap<PatchId, Arc<Patch>>,
    root: &Path,
) -> Vec<ServerMessage> {
    let remember = match can_remember(put.question, put.call, changes, Decision::Allow) {
        true => vec![wire::Remember::Session, wire::Remember::Workspace],
        false => Vec::new(),
    };
    match put.question {
        Question::Patches { patches, .. } => {
            let patches: Vec<&Patch> =
                patches.iter().filter_map(|id| changes.get(id)).map(AsRef::as_ref).collect();
            let proposed = patches.iter().map(|patch| proposed(patch, true, put.stamp.clone()));
            proposed.chain([may_write(put, &patches, remember)]).collect()
        }
        Question::Command { command, directory, environment, reason } => {
            let id = put.call.map_or_else(|| put.approval.to_string(), command_id);
            vec![ServerMessage::CommandRequestApproval(wire::CommandRequestApproval {
                command_id: wire::CommandId(id),
                command: command.clone(),
                working_directory: place(root, directory),
                environment: environment.iter().cloned().collect(),
                requires_approval: true,
                reason: reason_or(reason.as_deref(), "The agent wants to run this command."),
                risk_level: Some(risk_level(put.risk)),
                remember,
                stamp: put.stamp.clone(),
            })]
        }
        Question::Tool { tool, arguments: given } => {
            let call = ToolCall {
                id: put.call.unwrap_or_else(|| CallId::from_bytes(*put.approval.bytes())),
                provider_id: None,
                tool: tool.clone(),
                arguments: given.clone(),
            };
            vec![request(put, tool_name(tool).to_owned(), arguments(&call), remember)]
        }
    }
}

/// A change to one file.
pub(super) fn proposed(patch: &Patch, requires_approval: bool, stamp: wire::Stamp) -> ServerMessage {
    let hunk = |hunk: &loggia_domain::Hunk| wire::Hunk {
        old_start: hunk.old_start,
        old_lines: hunk.old_lines,
        new_start: hunk.new_start,
        new_lines: hunk.new_lines,
        content: hunk.content.clone(),
    };
    ServerMessage::PatchProposed(wire::PatchProposed {
        patch_id: patch_id(patch.id),
        file_path: patch.path.clone(),
        diff: patch.diff.clone(),
        rationale: patch.rationale.clone(),
        acceptance_criteria: patch.acceptance_criteria.clone(),
        requires_approval,
        hunks: patch.hunks.iter().map(hunk).collect(),
        stamp,
    })
}

/// A command that may run without a question: its client is told what to run.
pub(super) fn allowed_command(call: &ToolCall, root: &Path, stamp: wire::Stamp) -> ServerMessage {
    let given: Value = serde_json::from_str(&call.arguments.0).unwrap_or_default();
    let text = |name: &str| given.get(name).and_then(Value::as_str);
    let variables = given.get("env").and_then(Value::as_object).into_iter().flatten();
    let environment =
        variables.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
    ServerMessage::CommandRequestApproval(wire::CommandRequestApproval {
        command_id: wire::CommandId(command_id(call.id)),
        command: text("command").unwrap_or_default().to_owned(),
        working_directory: place(root, text("cwd").unwrap_or_default()),
        environment,
        requires_approval: false,
        reason: reason_or(text("reason"), "The policy lets the agent run this command."),
        risk_level: None,
        remember: Vec::new(),
        stamp,
    })
}

fn may_write(put: &Put<'_>, patches: &[&Patch], remember: Vec<wire::Remember>) -> ServerMessage {
    let deletes = patches.iter().all(|patch| patch.kind == FileChangeKind::Deleted) && !patches.is_empty();
    let tool = if deletes { "delete_file" } else { "write_file" };
    let mut args = Map::new();
    if let Some(first) = patches.first() {
        args.insert("file_path".to_owned(), first.path.clone().into());
        args.insert("reason".to_owned(), first.rationale.clone().into());
        args.insert("patch_id".to_owned(), first.id.to_string().into());
    }
    if patches.len() > 1 {
        let all =
            |value: fn(&Patch) -> String| -> Value { patches.iter().map(|patch| value(patch)).collect() };
        args.insert("file_paths".to_owned(), all(|patch| patch.path.clone()));
        args.insert("patch_ids".to_owned(), all(|patch| patch.id.to_string()));
    }
    request(put, tool.to_owned(), Value::Object(args), remember)
}

fn request(put: &Put<'_>, tool_name: String, args: Value, remember: Vec<wire::Remember>) -> ServerMessage {
    ServerMessage::ToolRequestApproval(wire::ToolRequestApproval {
        request_id: wire::ApprovalId(put.approval.to_string()),
        tool_name,
        args: args.into(),
        risk_level: risk_level(put.risk),
        remember,
        stamp: put.stamp.clone(),
    })
}

fn risk_level(risk: Risk) -> wire::RiskLevel {
    match risk {
        Risk::Low => wire::RiskLevel::Low,
        Risk::Medium => wire::RiskLevel::Medium,
        Risk::High => wire::RiskLevel::High,
    }
}

fn place(root: &Path, directory: &str) -> String {
    let place = if directory.is_empty() { root.to_owned() } else { root.join(directory) };
    place.to_string_lossy().into_owned()
}

fn reason_or(reason: Option<&str>, plain: &str) -> String {
    reason.filter(|reason| !reason.trim().is_empty()).unwrap_or(plain).to_owned()
}
