//! A turn under way, and its calls that have no result yet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use loggia_domain::{
    Actor, ApprovalId, CheckpointId, CommandRequest, Demand, Executor, FileChangeKind, Instruction, JsonText,
    Patch, PatchId, Question, Seq, ToolCall, TurnId, Usage,
};

/// A turn under way.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenTurn {
    /// Its id.
    pub id: TurnId,
    /// Who began it, or continued it last.
    pub by: Actor,
    /// Who ended it, if it was cut and somebody did that.
    pub ended_by: Option<Actor>,
    /// What was asked.
    pub instruction: Arc<Instruction>,
    /// The event that began it.
    pub began_at: Seq,
    /// How many replies it has had.
    pub steps: u32,
    /// What it has used.
    pub usage: Usage,
    /// How many tokens the last exchange took: a measure of how full the model's window is.
    pub context_tokens: u64,
    /// Its checkpoint, once it has written something.
    pub checkpoint: Option<CheckpointId>,
    /// Calls without a result, in the model's order.
    pub calls: Vec<OpenCall>,
    /// The tools that have been called.
    pub tools_used: BTreeSet<String>,
}

impl OpenTurn {
    pub(super) fn new(id: TurnId, by: Actor, instruction: Instruction, began_at: Seq) -> Self {
        Self {
            id,
            by,
            ended_by: None,
            instruction: Arc::new(instruction),
            began_at,
            steps: 0,
            usage: Usage::NONE,
            context_tokens: 0,
            checkpoint: None,
            calls: Vec::new(),
            tools_used: BTreeSet::new(),
        }
    }
}

/// A call without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The call, as it is to be made.
    pub call: ToolCall,
    /// The arguments the model gave, if somebody changed them.
    pub given: Option<JsonText>,
    /// The event that requested it.
    pub seq: Seq,
    /// How far it has come.
    pub stage: CallStage,
    /// The question about it, if one was asked; also when it has been answered.
    pub approval: Option<ApprovalId>,
    /// The changes it proposes.
    pub patches: Vec<PatchId>,
}

impl OpenCall {
    pub(super) fn new(call: ToolCall, seq: Seq) -> Self {
        Self { call, given: None, seq, stage: CallStage::Requested, approval: None, patches: Vec::new() }
    }
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStage {
    /// The model wants it.
    Requested,
    /// People are asked.
    Asked(ApprovalId),
    /// They have answered.
    Decided(ApprovalId),
    /// It runs.
    Started(Executor),
}

/// The tool a question is about, and what it would touch.
pub(crate) fn demand_of(question: &Question, patches: &BTreeMap<PatchId, Arc<Patch>>) -> (String, Demand) {
    match question {
        Question::Patches { tool, patches: ids } => {
            let mut demand = Demand::default();
            for patch in ids.iter().filter_map(|id| patches.get(id)) {
                match patch.kind {
                    FileChangeKind::Deleted => demand.deletes.push(patch.path.clone()),
                    FileChangeKind::Created | FileChangeKind::Modified => {
                        demand.writes.push(patch.path.clone());
                    }
                }
            }
            (tool.clone(), demand)
        }
        Question::Command { command, directory, environment, reason } => {
            let request = CommandRequest {
                line: command.clone(),
                directory: directory.clone(),
                environment: environment.clone(),
                reason: reason.clone(),
                timeout_s: None,
            };
            ("run_command".to_owned(), Demand { command: Some(request), ..Demand::default() })
        }
        Question::Tool { tool, .. } => (tool.clone(), Demand::default()),
    }
}
