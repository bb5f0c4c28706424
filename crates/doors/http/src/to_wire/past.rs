//! What the events so far amount to, as far as later messages need it.
//!
//! Small: open calls, open questions, open patches, and of the running turn what its last message will say. A stream
//! keeps one for as long as it lasts.
//!
//! What always holds: made of a session's state or folded from its journal, it is the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use loggia_domain::{
    Actor, ApprovalId, ApprovalScope, CallId, CheckpointId, ClientId, Event, EventBody, Executor, FileChange,
    Patch, PatchId, Plan, Question, ToolCall, TurnEnd, TurnId, Usage,
};
use loggia_engine::{CallStage, MAX_APPLIED, OpenCall, Said, State};

/// What the events so far amount to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Past {
    /// Where commands run.
    pub(super) root: PathBuf,
    /// The turn under way, or the last one as long as it can go on.
    pub(super) turn: Option<PastTurn>,
    pub(super) calls: BTreeMap<CallId, PastCall>,
    /// Open questions, each with the call whose command it is about.
    pub(super) pending: BTreeMap<ApprovalId, Asked>,
    pub(super) proposed: BTreeMap<PatchId, Arc<Patch>>,
    pub(super) applied: Vec<PatchId>,
    /// The turns that can be undone or redone, by their checkpoints, with the changes they applied.
    checkpoints: BTreeMap<CheckpointId, (TurnId, Vec<PatchId>)>,
    /// The plan's current step, and how many it has.
    pub(super) plan: (usize, usize),
    /// What the session has used in all.
    pub(super) usage: Usage,
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PastTurn {
    pub(super) id: TurnId,
    pub(super) by: Actor,
    /// Whether it is held to reading.
    pub(super) reads: bool,
    /// Whether it is under way.
    pub(super) open: bool,
    /// The text of its last reply.
    pub(super) text: String,
    pub(super) tools: BTreeSet<String>,
    pub(super) files: BTreeSet<String>,
}

/// A call without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PastCall {
    pub(super) call: ToolCall,
    pub(super) stage: Stage,
    /// What was answered when people were asked, and by whom.
    pub(super) decided: Option<(ApprovalScope, Actor)>,
    /// Whether somebody changed it, so that it is another than was asked about.
    pub(super) is_changed: bool,
    pub(super) patches: Vec<PatchId>,
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Requested,
    Asked,
    Decided,
    /// By this one.
    Started(Executor),
}

/// An open question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) call: Option<CallId>,
    pub(super) about_command: bool,
}

impl Asked {
    pub(super) fn new(call: Option<CallId>, question: &Question) -> Self {
        Self { call, about_command: matches!(question, Question::Command { .. }) }
    }

    /// The command it is about.
    pub(super) fn command(self) -> Option<CallId> {
        self.call.filter(|_| self.about_command)
    }
}

impl Past {
    /// Nothing has happened yet, in a workspace at this place.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self {
            root,
            turn: None,
            calls: BTreeMap::new(),
            pending: BTreeMap::new(),
            proposed: BTreeMap::new(),
            applied: Vec::new(),
            checkpoints: BTreeMap::new(),
            plan: (0, 0),
            usage: Usage::NONE,
        }
    }

    /// What has led to a state.
    pub(crate) fn of(state: &State, root: PathBuf) -> Self {
        let open = |open: &OpenCall| (open.call.id, PastCall::of(open, state));
        let asked = |(id, pending): (&ApprovalId, &loggia_engine::Pending)| {
            (*id, Asked::new(pending.call, &pending.question))
        };
        Self {
            root,
            turn: PastTurn::of(state),
            calls: state.turn.iter().flat_map(|turn| &turn.calls).map(open).collect(),
            pending: state.pending.iter().map(asked).collect(),
            proposed: state.proposed.clone(),
            applied: state.applied.clone(),
            checkpoints: state
                .undo
                .done()
                .iter()
                .chain(state.undo.begun())
                .chain(state.undo.undone())
                .map(|entry| (entry.checkpoint, (entry.turn, entry.patches.clone())))
                .collect(),
            plan: state.plan.as_ref().map_or((0, 0), place),
            usage: state.usage,
        }
    }

    /// Takes one event in.
    pub(crate) fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::TurnStarted { by, instruction, .. } => {
                let reads = instruction.restraint.reading_only;
                self.turn = event.turn.map(|id| PastTurn::new(id, by.clone(), reads));
            }
            EventBody::TurnContinued { by } => {
                if let Some(turn) = self.turn.as_mut().filter(|turn| !turn.open) {
                    turn.open = true;
                    turn.by = by.clone();
                }
            }
            EventBody::MessageEnded { message, usage, .. } => {
                self.usage = self.usage.plus(*usage);
                self.in_turn(|turn| turn.text = message.text.clone());
            }
            EventBody::HistoryCompacted { usage, .. } => self.usage = self.usage.plus(*usage),
            EventBody::ToolRequested { call } => self.request(call),
            EventBody::PatchProposed { patch } => {
                self.at(patch.call, |call| call.patches.push(patch.id));
                self.proposed.insert(patch.id, Arc::new(patch.clone()));
            }
            EventBody::ApprovalAsked { approval, call, question, .. } => {
                if let Some(call) = call {
                    self.at(*call, |call| call.stage = Stage::Asked);
                }
                self.pending.insert(*approval, Asked::new(*call, question));
            }
            EventBody::ApprovalDecided { approval, answer, by } => {
                if let Some(call) = self.pending.remove(approval).and_then(|asked| asked.call) {
                    self.at(call, |call| {
                        call.stage = Stage::Decided;
                        call.decided = Some((answer.scope.clone(), by.clone()));
                    });
                }
            }
            EventBody::CallChanged { call, arguments, .. } => self.at(*call, |call| {
                call.call.arguments = arguments.clone();
                call.is_changed = true;
            }),
            EventBody::ToolStarted { call, executor } => {
                self.at(*call, |call| call.stage = Stage::Started(*executor));
            }
            EventBody::ToolEnded { call, .. } => {
                if let Some(ended) = self.calls.remove(call) {
                    self.in_turn(|turn| {
                        turn.tools.insert(ended.call.tool);
                    });
                }
            }
            EventBody::FilesChanged { changes, .. } => {
                self.changed(event.turn, changes.iter().map(|observed| &observed.change));
            }
            EventBody::PatchApplied { patch, change, .. } => {
                self.changed(event.turn, change.iter());
                if self.proposed.remove(patch).is_some() {
                    if self.applied.len() == MAX_APPLIED {
                        self.applied.remove(0);
                    }
                    self.applied.push(*patch);
                    let known = self.checkpoints.values_mut();
                    known.filter(|(turn, _)| Some(*turn) == event.turn).for_each(|(_, of)| of.push(*patch));
                }
            }
            EventBody::PatchDropped { patch, .. } => drop(self.proposed.remove(patch)),
            EventBody::PlanChanged { plan } => self.plan = place(plan),
            EventBody::CheckpointTaken { checkpoint } => {
                self.checkpoints.extend(event.turn.map(|turn| (*checkpoint, (turn, Vec::new()))));
            }
            EventBody::Undone { checkpoint, .. } => {
                self.turn = self.turn.take().filter(|turn| turn.open);
                if let Some((_, patches)) = self.checkpoints.get(checkpoint) {
                    self.applied.retain(|applied| !patches.contains(applied));
                }
            }
            EventBody::Redone { checkpoint, .. } => {
                let again = self.checkpoints.get(checkpoint).map(|(_, patches)| patches.clone());
                self.applied.extend(again.unwrap_or_default());
            }
            EventBody::TurnEnded { end, .. } => self.end_turn(end),
            EventBody::SessionOpened { .. }
            | EventBody::SessionRenamed { .. }
            | EventBody::ModelChanged { .. }
            | EventBody::ModelSwitched { .. }
            | EventBody::InstructionsChanged { .. }
            | EventBody::ThinkingChanged { .. }
            | EventBody::SessionClosed { .. }
            | EventBody::InstructionQueued { .. }
            | EventBody::ContextUpdated { .. }
            | EventBody::Retrieved { .. }
            | EventBody::BatchStarted { .. }
            | EventBody::ChangeCollected { .. }
            | EventBody::BatchEnded { .. }
            | EventBody::Task(_) => {}
        }
    }

    /// What clients were given to do and have not reported on yet.
    pub(super) fn handed_out(&self) -> impl Iterator<Item = (&PastCall, ClientId)> {
        self.calls.values().filter_map(|call| match call.stage {
            Stage::Started(Executor::Client(client)) => Some((call, client)),
            _ => None,
        })
    }

    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        let patch = |patch: &Arc<Patch>| {
            let hunks: usize = patch.hunks.iter().map(|hunk| hunk.content.len()).sum();
            size_of::<Patch>() + patch.diff.len() + hunks + patch.rationale.len()
        };
        let call = |call: &PastCall| size_of::<PastCall>() + call.call.arguments.0.len();
        let step = |(_, patches): &(TurnId, Vec<PatchId>)| 64 + size_of_val(patches.as_slice());
        let text = self.turn.as_ref().map_or(0, |turn| turn.text.len() + 64 * turn.files.len());
        size_of::<Self>()
            + text
            + size_of_val(self.applied.as_slice())
            + self.proposed.values().map(patch).sum::<usize>()
            + self.calls.values().map(call).sum::<usize>()
            + self.checkpoints.values().map(step).sum::<usize>()
    }

    fn request(&mut self, call: &ToolCall) {
        if self.turn.as_ref().is_some_and(|turn| turn.open) {
            let open = PastCall {
                call: call.clone(),
                stage: Stage::Requested,
                decided: None,
                is_changed: false,
                patches: Vec::new(),
            };
            self.calls.insert(call.id, open);
        }
    }

    fn end_turn(&mut self, end: &TurnEnd) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.open) else { return };
        turn.open = false;
        if *end == TurnEnd::Done {
            self.turn = None;
        }
        self.calls.clear();
        self.pending.clear();
        self.proposed.clear();
    }

    fn changed<'a>(&mut self, turn: Option<TurnId>, changes: impl Iterator<Item = &'a FileChange>) {
        if let Some(known) = self.turn.as_mut().filter(|known| Some(known.id) == turn) {
            known.files.extend(changes.map(|change| change.path.clone()));
        }
    }

    fn in_turn(&mut self, change: impl FnOnce(&mut PastTurn)) {
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.open) {
            change(turn);
        }
    }

    fn at(&mut self, call: CallId, change: impl FnOnce(&mut PastCall)) {
        if let Some(call) = self.calls.get_mut(&call) {
            change(call);
        }
    }
}

impl PastTurn {
    fn new(id: TurnId, by: Actor, reads: bool) -> Self {
        let (tools, files) = (BTreeSet::new(), BTreeSet::new());
        Self { id, by, reads, open: true, text: String::new(), tools, files }
    }

    fn of(state: &State) -> Option<Self> {
        let (turn, open) = match (&state.turn, &state.cut) {
            (Some(turn), _) => (turn, true),
            (None, Some((turn, _))) => (turn, false),
            (None, None) => return None,
        };
        let said = state.history.items().iter().rev().take_while(|item| item.seq >= turn.began_at);
        let text = said.into_iter().find_map(|item| match &item.said {
            Said::Assistant { message, .. } => Some(message.text.clone()),
            _ => None,
        });
        let changed = state.undo.done().iter().filter(|entry| entry.turn == turn.id);
        let files = changed.flat_map(|entry| entry.changes.iter().map(|change| change.path.clone()));
        Some(Self {
            id: turn.id,
            by: turn.by.clone(),
            reads: turn.instruction.restraint.reading_only,
            open,
            text: text.unwrap_or_default(),
            tools: turn.tools_used.clone(),
            files: files.collect(),
        })
    }
}

impl PastCall {
    fn of(open: &OpenCall, state: &State) -> Self {
        let stage = match open.stage {
            CallStage::Requested => Stage::Requested,
            CallStage::Asked(_) => Stage::Asked,
            CallStage::Decided(_) => Stage::Decided,
            CallStage::Started(executor) => Stage::Started(executor),
        };
        let decided = open.approval.and_then(|approval| state.decided.get(&approval));
        let decided = decided.map(|(answer, by)| (answer.scope.clone(), by.clone()));
        let is_changed = open.given.is_some();
        Self { call: open.call.clone(), stage, decided, is_changed, patches: open.patches.clone() }
    }
}

fn place(plan: &Plan) -> (usize, usize) {
    (plan.current, plan.steps.len())
}
