//! A session's state: a pure fold over its events.
//!
//! Knows what each event means for the session. Refuses to know where events come from: the same code runs when
//! they happen, when a journal is read again after a crash, and when somebody looks at the past.
//!
//! What always holds:
//! - `apply` is the only way to change a state, and depends on nothing but the state and the event;
//! - an event that makes no sense here (an answer to no question) changes nothing but the position, so that a
//!   journal of a newer version can still be read;
//! - without a turn there is no question, no proposed change and no collection;
//! - what happened elsewhere is past: nothing of it waits here, and nothing of it can be undone here.

mod history;
mod open_turn;
mod remembering;
mod undo;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalId, BatchId, Budget, CallId, Event, EventBody, FileChange, Instruction,
    JsonText, ModelName, OwnInstructions, Patch, PatchFailure, PatchId, Plan, Preset, Question, Risk, Rule,
    Seq, SessionId, Thinking, Timestamp, ToolCall, TurnEnd, TurnId, Usage, WorkspaceId,
};

use crate::tasks::{Moment, Task};

pub use history::{History, HistoryItem, Said};
pub(crate) use history::{partly, says};
pub use open_turn::{CallStage, OpenCall, OpenTurn};
pub use remembering::can_remember;
pub(crate) use remembering::rules as remembered;
pub use undo::{UndoStack, Undoable};

/// Answers that are remembered for those who come late. Whoever is that late has other news to catch up with; a turn
/// waits for one answer at a time.
const MAX_DECIDED: usize = 128;

/// Applied changes that are known by their ids: more than one turn makes, so that clients see what became of theirs.
pub const MAX_APPLIED: usize = 1024;

/// Changed files that are known by their paths: those that a question is likely to be about.
const MAX_LATELY: usize = 16;

/// How much of the first instruction is kept, in characters: more than a title shows.
const MAX_BEGINNING_CHARS: usize = 256;

/// Everything a session is between two events.
///
/// Whoever looks at it has a copy, and each event is taken in beside the copies that are held. So what is large is
/// shared: a copy costs a pointer for each thing that was said, proposed, queued or can be undone.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// What it was opened with.
    pub opened: Opened,
    /// What people call it.
    pub title: Option<String>,
    /// What it was first asked, in short: the first line with words. It stays what the session is about when that turn is
    /// undone or summed up.
    pub beginning: Option<Arc<str>>,
    /// Its model, if one was chosen.
    pub model: Option<ModelName>,
    /// What that is told, of the session's own.
    pub instructions: OwnInstructions,
    /// How much that is to think, if somebody said.
    pub thinking: Option<Thinking>,
    /// The model that replies in the place of another, if one did the last time.
    pub stand_in: Option<StandIn>,
    /// Whether it has ended for good.
    pub closed: bool,
    /// The last event.
    pub last_seq: Seq,
    /// When that happened.
    pub updated: Timestamp,
    /// The turn under way, or waiting for an answer.
    pub turn: Option<OpenTurn>,
    /// The last turn that was cut and how, as long as it can be continued.
    pub cut: Option<(OpenTurn, TurnEnd)>,
    /// Instructions that wait, oldest first.
    pub queue: VecDeque<Arc<Queued>>,
    /// What the model is to see.
    pub history: History,
    /// What the session has used in all.
    pub usage: Usage,
    /// What is known to have been spent, in millionths of a US dollar: at least so much.
    pub spent: u64,
    /// The plan as it is.
    pub plan: Option<Plan>,
    /// Questions nobody has answered yet.
    pub pending: BTreeMap<ApprovalId, Pending>,
    /// Who answered which question how, of the newest ones: whoever comes late is told.
    pub decided: BTreeMap<ApprovalId, (ApprovalAnswer, Actor)>,
    /// The same in the order of the answers: ids sort by age only as far as clocks do.
    answered: VecDeque<ApprovalId>,
    /// What answers remembered for the session amount to.
    pub rules: Vec<Rule>,
    /// Changes that are proposed and neither applied nor dropped.
    pub proposed: BTreeMap<PatchId, Arc<Patch>>,
    /// Changes that were put into their files and are there, the newest last; only so many are known.
    pub applied: Vec<PatchId>,
    /// Files that were changed in it, the latest first; only so many are known.
    pub lately: Vec<Arc<str>>,
    /// Changes that are collected for one decision.
    pub batch: Option<Batch>,
    /// What can be undone and redone.
    pub undo: UndoStack,
    /// The task it is there for, if it is.
    pub task: Option<Arc<Task>>,
}

/// A model that replies in the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandIn {
    /// The one that does not reply.
    pub instead_of: ModelName,
    /// The one that does.
    pub model: ModelName,
}

/// What a session was opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Where it works.
    pub workspace: WorkspaceId,
    /// Its preset, if not the workspace's.
    pub preset: Option<Preset>,
    /// What it may use up.
    pub budget: Budget,
    /// What it was split from; of an imported session a session that nobody has.
    pub forked_from: Option<(SessionId, Seq)>,
    /// Who opened it.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
}

/// An instruction that waits for the running turn to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// The event that says so.
    pub seq: Seq,
    /// The instruction.
    pub instruction: Instruction,
    /// Who gave it.
    pub by: Actor,
}

/// A question nobody has answered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The event that asked it.
    pub seq: Seq,
    /// When that was.
    pub at: Timestamp,
    /// The call that waits.
    pub call: Option<CallId>,
    /// What is asked.
    pub question: Question,
    /// How much can go wrong.
    pub risk: Risk,
    /// When the policy stops waiting.
    pub expires: Option<Timestamp>,
}

/// Changes that are collected for one decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Its id.
    pub id: BatchId,
    /// The changes, one per file.
    pub patches: Vec<PatchId>,
    /// Whether the collection is complete.
    pub complete: bool,
    /// The question about it, once it is asked; also when it has been answered.
    pub asked: Option<ApprovalId>,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nothing.
    Idle,
    /// A turn runs.
    Running,
    /// A turn waits for an answer.
    Waiting,
    /// It has ended for good.
    Closed,
}

impl State {
    /// The state after the first event of a journal; nothing if that is no opening.
    pub fn begin(event: &Event) -> Option<Self> {
        let EventBody::SessionOpened { workspace, title, model, preset, budget, forked_from, by } =
            &event.body
        else {
            return None;
        };
        Some(Self {
            opened: Opened {
                workspace: *workspace,
                preset: *preset,
                budget: *budget,
                forked_from: *forked_from,
                by: by.clone(),
                at: event.at,
            },
            title: title.clone(),
            beginning: None,
            model: model.clone(),
            instructions: OwnInstructions::default(),
            thinking: None,
            stand_in: None,
            closed: false,
            last_seq: event.seq,
            updated: event.at,
            turn: None,
            cut: None,
            queue: VecDeque::new(),
            history: History::default(),
            usage: Usage::NONE,
            spent: 0,
            plan: None,
            pending: BTreeMap::new(),
            decided: BTreeMap::new(),
            answered: VecDeque::new(),
            rules: Vec::new(),
            proposed: BTreeMap::new(),
            applied: Vec::new(),
            lately: Vec::new(),
            batch: None,
            undo: UndoStack::default(),
            task: None,
        })
    }

    /// The state of a whole journal; nothing if it does not begin with an opening.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let mut events = events.into_iter();
        let mut state = Self::begin(events.next()?)?;
        events.for_each(|event| state.apply(event));
        Some(state)
    }

    /// What the session is doing.
    pub fn status(&self) -> Status {
        match (&self.turn, self.closed, self.pending.is_empty()) {
            (_, true, _) => Status::Closed,
            (None, ..) => Status::Idle,
            (Some(_), _, true) => Status::Running,
            (Some(_), _, false) => Status::Waiting,
        }
    }

    /// Whether everybody was told that a model replies in the place of this one.
    pub fn has_heard_of(&self, instead_of: &ModelName, model: &ModelName) -> bool {
        let told = |stand_in: &StandIn| stand_in.instead_of == *instead_of && stand_in.model == *model;
        self.stand_in.as_ref().is_some_and(told)
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: &Event) {
        self.last_seq = event.seq;
        self.updated = self.updated.max(event.at);
        match &event.body {
            // A second opening is refused by every store.
            EventBody::SessionOpened { .. } => {}
            EventBody::SessionRenamed { title, .. } => self.title = Some(title.clone()),
            EventBody::ModelChanged { model, .. } => {
                self.model = Some(model.clone());
                self.stand_in = None;
            }
            EventBody::ModelSwitched { from, to, .. } => self.switch(from, to),
            EventBody::InstructionsChanged { instructions, .. } => self.instructions = instructions.clone(),
            EventBody::ThinkingChanged { thinking, .. } => self.thinking = *thinking,
            // A fork is there to be used, whatever became of the session it was split from.
            EventBody::SessionClosed { .. } if self.is_copied(event.seq) && !self.is_imported() => {}
            EventBody::SessionClosed { .. } => self.closed = true,
            // What waited in the session this one was split from waits there.
            EventBody::InstructionQueued { .. } if self.is_copied(event.seq) => {}
            EventBody::InstructionQueued { instruction, by } => self.queue.push_back(Arc::new(Queued {
                seq: event.seq,
                instruction: instruction.clone(),
                by: by.clone(),
            })),
            EventBody::TurnStarted { instruction, by, queued } => {
                self.start_turn(event, instruction, by, *queued);
            }
            EventBody::TurnContinued { by } => {
                self.at_task(|task| task.turn_goes_on(event.turn));
                self.continue_turn(event, by);
            }
            EventBody::ContextUpdated { context, .. } => {
                self.history.push(event.seq, Said::Context(context.clone()));
            }
            EventBody::Retrieved { .. } => {}
            EventBody::PlanChanged { plan } => self.plan = Some(plan.clone()),
            EventBody::MessageEnded { message, cut, usage } => {
                self.use_up(*usage);
                self.at_task(|task| task.use_up(event.turn, *usage));
                if let Some(turn) = &mut self.turn {
                    turn.steps += 1;
                    turn.context_tokens = usage.input.saturating_add(usage.output);
                }
                self.history.push(event.seq, Said::Assistant { message: message.clone(), cut: *cut });
            }
            EventBody::ToolRequested { call } => self.request_call(event.seq, call),
            // Nobody is there to go on with it; and whoever continues a turn finds nothing but the turn.
            EventBody::PatchProposed { .. }
            | EventBody::ApprovalAsked { .. }
            | EventBody::BatchStarted { .. }
                if self.turn.is_none() => {}
            EventBody::PatchProposed { patch } => self.propose(patch),
            EventBody::ApprovalAsked { approval, call, question, risk, expires } => {
                let asked = Pending {
                    seq: event.seq,
                    at: event.at,
                    call: *call,
                    question: question.clone(),
                    risk: *risk,
                    expires: *expires,
                };
                self.ask(*approval, asked);
            }
            EventBody::ApprovalDecided { approval, answer, by } => self.decide(*approval, answer, by),
            EventBody::CallChanged { call, arguments, .. } => self.change_call(*call, arguments),
            EventBody::ToolStarted { call, executor } => self.at_call(*call, |open| {
                open.stage = CallStage::Started(*executor);
            }),
            EventBody::ToolEnded { call, outcome, .. } => self.end_call(event.seq, *call, outcome),
            EventBody::FilesChanged { changes, .. } => {
                let files: Vec<FileChange> = changes.iter().map(|observed| observed.change.clone()).collect();
                self.changed(event.turn, &files);
            }
            EventBody::PatchApplied { patch, hunks, change, .. } => {
                self.changed(event.turn, change.as_slice());
                self.apply_patch(event, *patch, hunks.as_deref());
            }
            EventBody::PatchDropped { patch, failure } => self.drop_patch(event.seq, *patch, failure),
            EventBody::BatchStarted { batch } => {
                self.batch = Some(Batch { id: *batch, patches: Vec::new(), complete: false, asked: None });
            }
            EventBody::ChangeCollected { patch, .. } => {
                if let Some(batch) = &mut self.batch {
                    batch.patches.push(*patch);
                }
            }
            EventBody::BatchEnded { .. } => {
                if let Some(batch) = &mut self.batch {
                    batch.complete = true;
                }
            }
            EventBody::CheckpointTaken { checkpoint } => {
                let elsewhere = self.is_imported() && self.is_copied(event.seq);
                // What a cut command did is found after its turn has been closed.
                let cut = self.cut.as_mut().map(|(turn, _)| turn);
                let mut turns = self.turn.as_mut().into_iter().chain(cut);
                if let Some(turn) = turns.find(|turn| Some(turn.id) == event.turn) {
                    // A turn that goes on here takes one of its own before it writes.
                    turn.checkpoint = (!elsewhere).then_some(*checkpoint);
                    self.undo.begin(*checkpoint, turn.id, turn.began_at, elsewhere);
                }
            }
            EventBody::Undone { checkpoint, .. } => {
                // What was cut is no longer what the files are about.
                self.cut = None;
                let patches = self.undo.undo(*checkpoint, &mut self.history);
                self.applied.retain(|applied| !patches.contains(applied));
            }
            EventBody::Redone { checkpoint, .. } => {
                self.applied.extend(self.undo.redo(*checkpoint, &mut self.history));
            }
            EventBody::HistoryCompacted { through, summary, usage } => {
                self.use_up(*usage);
                self.history.compact(*through, summary);
            }
            EventBody::TurnEnded { end, by, .. } => {
                self.at_task(|task| task.turn_ended(event.turn, end));
                self.end_turn(event.seq, end, by.as_ref());
            }
            // A task is driven by one session, and this is another one.
            EventBody::Task(_) if self.is_copied(event.seq) => {}
            EventBody::Task(happened) => {
                let moment =
                    Moment { seq: event.seq, at: event.at, turn: event.turn, depth: self.undo.done().len() };
                match &mut self.task {
                    Some(task) => Arc::make_mut(task).apply(happened, moment),
                    None => self.task = Task::begin(happened, moment).map(Arc::new),
                }
            }
        }
    }

    fn at_task(&mut self, change: impl FnOnce(&mut Task)) {
        if let Some(task) = &mut self.task {
            change(Arc::make_mut(task));
        }
    }

    /// Whether an event was copied from the session this one was split from, or came with an import.
    pub(crate) fn is_copied(&self, seq: Seq) -> bool {
        self.opened.forked_from.is_some_and(|(_, at)| seq <= at)
    }

    /// Whether what was copied is, or may be, from elsewhere: the session was imported, or split from such a one.
    pub(crate) fn is_imported(&self) -> bool {
        self.opened.forked_from.is_some_and(|(from, _)| from == SessionId::ELSEWHERE)
    }

    fn start_turn(&mut self, event: &Event, instruction: &Instruction, by: &Actor, queued: Option<Seq>) {
        if let Some(seq) = queued {
            self.queue.retain(|waiting| waiting.seq != seq);
        }
        let Some(id) = event.turn else { return };
        if self.beginning.is_none() {
            self.beginning = beginning(&instruction.text);
        }
        self.undo.forget_undone();
        self.cut = None;
        self.batch = None;
        self.turn = Some(OpenTurn::new(id, by.clone(), instruction.clone(), event.seq));
        self.history.push(event.seq, Said::User { instruction: instruction.clone(), by: by.clone() });
    }

    fn switch(&mut self, from: &ModelName, to: &ModelName) {
        let returned = self.stand_in.as_ref().is_some_and(|stand_in| stand_in.instead_of == *to);
        let stands = || StandIn { instead_of: from.clone(), model: to.clone() };
        self.stand_in = (!returned).then(stands);
    }

    fn continue_turn(&mut self, event: &Event, by: &Actor) {
        let Some((turn, end)) = self.cut.take() else { return };
        self.history.push(event.seq, Said::Notice(continuing(&end)));
        self.turn = Some(OpenTurn { by: by.clone(), ended_by: None, steps: 0, calls: Vec::new(), ..turn });
    }

    fn end_turn(&mut self, seq: Seq, end: &TurnEnd, by: Option<&Actor>) {
        let Some(mut turn) = self.turn.take() else { return };
        self.tell_comment(seq);
        self.pending.clear();
        self.proposed.clear();
        self.batch = None;
        if *end != TurnEnd::Done {
            turn.ended_by = by.cloned();
            self.cut = Some((turn, end.clone()));
        }
    }

    /// The step after which a turn that is taken step by step waits for a word; nothing if it does not.
    pub fn step_done(&self) -> Option<u32> {
        let turn = self.turn.as_ref().filter(|turn| turn.instruction.step_by_step)?;
        if self.batch.as_ref().is_some_and(|batch| batch.complete) {
            return None;
        }
        let mut answered = BTreeSet::new();
        for item in self.history.items().iter().rev().take_while(|item| item.seq > turn.began_at) {
            match &item.said {
                Said::Tool { call, .. } => drop(answered.insert(call.id)),
                Said::Assistant { message, .. } => {
                    let done = message.calls.iter().all(|call| answered.contains(&call.id));
                    return (done && !message.calls.is_empty()).then_some(turn.steps);
                }
                _ => {}
            }
        }
        None
    }

    /// Counts what a model used, for the session and its turn.
    fn use_up(&mut self, usage: Usage) {
        self.usage = self.usage.plus(usage);
        self.spent = self.spent.saturating_add(usage.micro_dollars.unwrap_or(0));
        if let Some(turn) = &mut self.turn {
            turn.usage = turn.usage.plus(usage);
        }
    }

    fn request_call(&mut self, seq: Seq, call: &ToolCall) {
        if let Some(turn) = &mut self.turn {
            turn.calls.push(OpenCall::new(call.clone(), seq));
        }
    }

    fn change_call(&mut self, call: CallId, arguments: &JsonText) {
        self.at_call(call, |open| {
            let before = std::mem::replace(&mut open.call.arguments, arguments.clone());
            open.given.get_or_insert(before);
        });
    }

    fn propose(&mut self, patch: &Patch) {
        self.at_call(patch.call, |open| open.patches.push(patch.id));
        self.proposed.insert(patch.id, Arc::new(patch.clone()));
    }

    fn ask(&mut self, approval: ApprovalId, asked: Pending) {
        match (asked.call, &mut self.batch) {
            (Some(call), _) => self.at_call(call, |open| {
                open.stage = CallStage::Asked(approval);
                open.approval = Some(approval);
            }),
            (None, Some(batch)) => batch.asked = Some(approval),
            (None, None) => {}
        }
        self.pending.insert(approval, asked);
    }

    fn decide(&mut self, approval: ApprovalId, answer: &ApprovalAnswer, by: &Actor) {
        let Some(asked) = self.pending.remove(&approval) else { return };
        if let Some(rules) = remembered(&asked.question, asked.call, &self.proposed, answer) {
            self.rules.extend(rules);
        }
        if let Some(call) = asked.call {
            self.at_call(call, |open| open.stage = CallStage::Decided(approval));
        }
        self.decided.insert(approval, (answer.clone(), by.clone()));
        self.answered.push_back(approval);
        if self.answered.len() > MAX_DECIDED
            && let Some(oldest) = self.answered.pop_front()
        {
            self.decided.remove(&oldest);
        }
    }

    fn end_call(&mut self, seq: Seq, call: CallId, outcome: &loggia_domain::ToolOutcome) {
        let Some(turn) = &mut self.turn else { return };
        let Some(place) = turn.calls.iter().position(|open| open.call.id == call) else { return };
        let open = turn.calls.remove(place);
        turn.tools_used.insert(open.call.tool.clone());
        let changed = open.given.as_ref().map(|given| history::changed(&open.call, given));
        // The model hears an answer to what it called; what became of that is told beside it, where secrets are masked.
        let arguments = open.given.unwrap_or(open.call.arguments);
        let call = ToolCall { arguments, ..open.call };
        self.history.push(seq, Said::Tool { call, outcome: outcome.clone() });
        if let Some(text) = changed {
            self.history.push(seq, Said::Notice(text));
        }
    }

    /// What whoever decided about the collection wants the model to know. The calls have long been answered; only
    /// so does it hear of it, after what became of the changes.
    fn tell_comment(&mut self, seq: Seq) {
        let asked = self.batch.as_ref().and_then(|batch| batch.asked);
        let Some((answer, by)) = asked.and_then(|approval| self.decided.get(&approval)) else { return };
        // What the engine answers when it closes a question is no word of anybody's.
        if let (Some(comment), true) = (&answer.comment, *by != Actor::Engine) {
            self.history.push(seq, Said::Notice(history::says(comment)));
        }
    }

    fn apply_patch(&mut self, event: &Event, id: PatchId, hunks: Option<&[usize]>) {
        let Some(patch) = self.proposed.remove(&id) else { return };
        if self.applied.len() == MAX_APPLIED {
            self.applied.remove(0);
        }
        self.applied.push(id);
        self.remember_change(&patch.path);
        self.undo.applied(event.turn, id);
        let collected = self.batch.as_ref().is_some_and(|batch| batch.patches.contains(&id));
        if let (true, Some(hunks)) = (collected, hunks) {
            self.history.push(event.seq, Said::Notice(history::partly(&patch, hunks)));
        }
    }

    fn drop_patch(&mut self, seq: Seq, patch: PatchId, failure: &PatchFailure) {
        let Some(dropped) = self.proposed.remove(&patch) else { return };
        let Some(batch) = &mut self.batch else { return };
        batch.patches.retain(|collected| *collected != patch);
        // The call has long been answered; only so does the model hear of it.
        if let Some(text) = history::dropped(&dropped, failure) {
            self.history.push(seq, Said::Notice(text));
        }
    }

    fn changed(&mut self, turn: Option<TurnId>, files: &[FileChange]) {
        files.iter().for_each(|file| self.remember_change(&file.path));
        if let (Some(turn), false) = (turn, files.is_empty()) {
            self.undo.changed(turn, files);
        }
    }

    /// Puts a file before the others that changed.
    fn remember_change(&mut self, path: &str) {
        self.lately.retain(|known| **known != *path);
        self.lately.insert(0, path.into());
        self.lately.truncate(MAX_LATELY);
    }

    fn at_call(&mut self, call: CallId, change: impl FnOnce(&mut OpenCall)) {
        let calls = self.turn.iter_mut().flat_map(|turn| turn.calls.iter_mut());
        if let Some(open) = calls.into_iter().find(|open| open.call.id == call) {
            change(open);
        }
    }
}

/// What a model is told when a turn goes on.
fn continuing(end: &TurnEnd) -> String {
    let why = match end {
        TurnEnd::Done => "",
        TurnEnd::Cancelled => "It had been cancelled. ",
        TurnEnd::Interrupted => "It had been interrupted; calls without a result were not finished. ",
        TurnEnd::StepLimit => "It had reached its step limit. ",
        TurnEnd::BudgetLimit => "It had reached its budget. ",
        TurnEnd::Failed(_) => "It had failed. ",
    };
    format!("The previous turn goes on. {why}Continue from where it stopped.")
}

/// The first line of an instruction that has words.
fn beginning(text: &str) -> Option<Arc<str>> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(MAX_BEGINNING_CHARS).collect::<String>().into())
}
