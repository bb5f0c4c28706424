//! A task's state: a pure fold over what happened to it.
//!
//! Knows what each event means for the task; where that leads is the table's affair. Refuses to know where events come
//! from. What was copied from another session is no task here: two sessions must not drive one branch.

mod pieces;

use std::collections::BTreeMap;
use std::sync::Arc;

use loggia_domain::{
    Actor, Delivery, EffectResult, GuardWord, JsonText, Occasion, Seq, StepEnd, TaskEvent, TaskQuestion,
    TaskStart, Timestamp, TurnEnd, TurnId, Usage,
};

pub use pieces::{GuardName, Held, OpenStep, StepCost, StepTurn, TaskCheckpoint, TaskNote};

use super::line::{DONE, IDLE, IMPLEMENTING, PLANNING, REVIEWING, START};
use super::machine::{Facts, PhaseKind, TaskPhase, Trigger, follow};

/// Words of guards and effects that are shown; older ones are in the journal.
const MAX_NOTICES: usize = 20;

/// Everything a task is between two events.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// What it began with.
    pub start: Arc<TaskStart>,
    /// When.
    pub began: Timestamp,
    /// Where it is.
    pub phase: TaskPhase,
    /// The step it is in, and how far that has come.
    pub open: Option<OpenStep>,
    /// The last step it left with its work done; `idle` before the first.
    pub position: String,
    /// The last one of ours among those.
    pub own_position: String,
    /// What holds it back.
    pub held: Option<Held>,
    /// What went wrong last, if it has not gone on since.
    pub trouble: Option<String>,
    /// What guards and effects had to say, the newest last.
    pub notices: Vec<Arc<str>>,
    /// Specifications, the oldest first.
    pub specifications: Vec<Arc<str>>,
    /// Reviews, the oldest first.
    pub reviews: Vec<Arc<str>>,
    /// Notes, the oldest first.
    pub notes: Vec<Arc<TaskNote>>,
    /// The question that waits for an answer.
    pub question: Option<Arc<TaskQuestion>>,
    /// A question that the next plan is to know of, and its answer if there was one.
    pub asked: Option<(Arc<TaskQuestion>, Option<String>)>,
    /// Checkpoints, the oldest first; also those that were undone.
    pub checkpoints: Vec<TaskCheckpoint>,
    /// Which of them it stands on, counted from 0; nothing before the first.
    pub at: Option<usize>,
    /// Facts that people stated.
    pub metadata: BTreeMap<String, JsonText>,
    /// What each step has cost.
    pub costs: BTreeMap<String, StepCost>,
    /// Guards that somebody goes past, of the step ahead.
    pub overridden: Vec<GuardName>,
    /// Where the work went.
    pub delivery: Option<Delivery>,
    /// When something happened to it last.
    pub updated: Timestamp,
}

/// When something happened, and beside what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) seq: Seq,
    pub(crate) at: Timestamp,
    pub(crate) turn: Option<TurnId>,
    /// How many undo steps the session has.
    pub(crate) depth: usize,
}

impl Task {
    /// The task after its beginning; nothing if that is not how it begins.
    pub(crate) fn begin(event: &TaskEvent, moment: Moment) -> Option<Self> {
        let TaskEvent::Started(start) = event else { return None };
        let by = start.by.clone();
        Some(Self {
            start: Arc::new(start.as_ref().clone()),
            began: moment.at,
            phase: TaskPhase::Starting,
            open: Some(OpenStep::new(START, by, moment.at)),
            position: IDLE.to_owned(),
            own_position: IDLE.to_owned(),
            held: None,
            trouble: None,
            notices: Vec::new(),
            specifications: Vec::new(),
            reviews: Vec::new(),
            notes: Vec::new(),
            question: None,
            asked: None,
            checkpoints: Vec::new(),
            at: None,
            metadata: BTreeMap::new(),
            costs: BTreeMap::new(),
            overridden: Vec::new(),
            delivery: None,
            updated: moment.at,
        })
    }

    /// Takes one event in.
    pub(crate) fn apply(&mut self, event: &TaskEvent, moment: Moment) {
        self.updated = self.updated.max(moment.at);
        match event {
            TaskEvent::Started(_) => {}
            TaskEvent::Entered { step, by } => self.enter(step, by, moment.at),
            TaskEvent::Working { .. } => {
                if let (Some(open), Some(id)) = (&mut self.open, moment.turn) {
                    open.turn = Some(StepTurn { id, began: moment.seq, end: None });
                }
            }
            TaskEvent::Guarded { step, hook, guard, word } => {
                let name = GuardName { hook: hook.clone(), name: guard.clone(), step: step.clone() };
                self.guarded(name, word);
            }
            TaskEvent::EffectRun { step, hook, effect, occasion, result } => {
                let name = GuardName { hook: hook.clone(), name: effect.clone(), step: step.clone() };
                self.effect(name, *occasion, result);
            }
            TaskEvent::Specified { text, .. } => {
                self.specifications.push(text.as_str().into());
                self.asked = None;
                self.open.iter_mut().for_each(|open| open.said = true);
            }
            TaskEvent::Reviewed { text, .. } => {
                self.reviews.push(text.as_str().into());
                self.open.iter_mut().for_each(|open| open.said = true);
            }
            TaskEvent::Noted { text, by } => self.note(text.clone(), by, moment.at),
            TaskEvent::Asked { question } => {
                self.question = Some(Arc::new(question.clone()));
                self.asked = self.question.clone().map(|question| (question, None));
                self.open.iter_mut().for_each(|open| open.said = true);
            }
            TaskEvent::Answered { text, by } => {
                let Some(question) = self.question.take() else { return };
                self.note(format!("Q: {}\nA: {text}", question.text), by, moment.at);
                self.asked = Some((question, Some(text.clone())));
                self.step_on(Trigger::Answer);
            }
            TaskEvent::Checkpointed { number, step, commit } => {
                self.checkpoints.truncate(self.at.map_or(0, |at| at + 1));
                let (at, depth) = (moment.at, moment.depth);
                let checkpoint =
                    TaskCheckpoint { number: *number, step: step.clone(), at, commit: commit.clone(), depth };
                self.checkpoints.push(checkpoint);
                self.at = Some(self.checkpoints.len() - 1);
                self.open.iter_mut().for_each(|open| open.checkpoint = true);
            }
            TaskEvent::Moved { to, .. } => self.go_to(*to),
            TaskEvent::MetadataSet { name, value, .. } => match value {
                Some(value) => drop(self.metadata.insert(name.clone(), value.clone())),
                None => drop(self.metadata.remove(name)),
            },
            TaskEvent::Checked { result, .. } => {
                self.open.iter_mut().for_each(|open| open.checked = Some(result.clone()));
            }
            TaskEvent::Delivered { delivery } => {
                self.delivery = Some(delivery.clone());
                self.open.iter_mut().for_each(|open| open.delivered = true);
            }
            TaskEvent::Left { step, end } => self.leave(step, end),
            TaskEvent::Finished { .. } => {
                self.open = None;
                self.phase = TaskPhase::Done;
            }
            TaskEvent::Abandoned { .. } => {
                self.open = None;
                self.held = None;
                self.step_on(Trigger::Abandon);
            }
        }
    }

    fn enter(&mut self, step: &str, by: &Actor, at: Timestamp) {
        self.held = None;
        self.trouble = None;
        if self.open.as_ref().is_none_or(|open| open.name != step) {
            self.open = Some(OpenStep::new(step, by.clone(), at));
        }
        // A plan that goes on without an answer knows what was asked.
        self.question = None;
        self.phase = phase_of(step);
    }

    fn guarded(&mut self, name: GuardName, word: &GuardWord) {
        match word {
            GuardWord::Warned(warning) => self.notice(&name, warning),
            GuardWord::Stopped(reason) => {
                self.held = Some(Held { by: name, reason: reason.clone(), is_guard: true });
                self.step_on(Trigger::Hold);
            }
            GuardWord::Overridden(_) => {
                if self.held.as_ref().is_some_and(|held| held.by == name) {
                    self.held = None;
                    self.step_on(Trigger::Reset);
                }
                self.overridden.push(name);
            }
        }
    }

    fn effect(&mut self, name: GuardName, occasion: Occasion, result: &EffectResult) {
        match result {
            EffectResult::Done(message) => message.iter().for_each(|message| self.notice(&name, message)),
            EffectResult::Failed(reason) => self.notice(&name, &format!("failed: {reason}")),
            EffectResult::Stopped(reason) => {
                self.held = Some(Held { by: name, reason: reason.clone(), is_guard: false });
                self.step_on(Trigger::Hold);
                return;
            }
        }
        if let Some(open) = &mut self.open {
            open.effects.push((occasion, name));
        }
    }

    fn leave(&mut self, step: &str, end: &StepEnd) {
        self.open = None;
        match end {
            StepEnd::Done => {
                if step != START {
                    self.position = step.to_owned();
                }
                if matches!(step, PLANNING | IMPLEMENTING | REVIEWING) {
                    self.own_position = step.to_owned();
                }
                self.held = None;
                self.overridden.retain(|name| name.step != step);
                self.step_on(Trigger::StepDone);
            }
            StepEnd::Asked => self.step_on(Trigger::Ask),
            StepEnd::Failed(reason) => {
                self.trouble = Some(reason.clone());
                self.step_on(Trigger::Error);
            }
            StepEnd::Cancelled => {
                self.trouble = Some(format!("{step} was cancelled"));
                self.step_on(Trigger::Abort);
            }
        }
    }

    fn go_to(&mut self, number: u32) {
        let Some(at) = self.checkpoints.iter().position(|checkpoint| checkpoint.number == number) else {
            return;
        };
        self.at = Some(at);
        // A step that was cut is given up by that.
        self.open = None;
        let step = self.checkpoints[at].step.as_str();
        self.position = if step == START { IDLE.to_owned() } else { step.to_owned() };
        let own = self.checkpoints[..=at].iter().rev().map(|checkpoint| checkpoint.step.as_str());
        let own = own.into_iter().find(|step| matches!(*step, PLANNING | IMPLEMENTING | REVIEWING));
        self.own_position = own.unwrap_or(IDLE).to_owned();
        self.held = None;
        self.trouble = None;
        self.question = None;
        self.overridden.clear();
        self.phase = TaskPhase::Idle;
    }

    fn note(&mut self, text: String, by: &Actor, at: Timestamp) {
        let phase = self.phase.to_string();
        self.notes.push(Arc::new(TaskNote { at, phase, by: by.clone(), text }));
    }

    fn notice(&mut self, name: &GuardName, text: &str) {
        if self.notices.len() == MAX_NOTICES {
            self.notices.remove(0);
        }
        self.notices.push(format!("{} of {}: {text}", name.name, name.hook).into());
    }

    fn step_on(&mut self, on: Trigger) {
        if let Some(to) = follow(self.phase.kind(), on) {
            self.phase = match to {
                PhaseKind::Starting => TaskPhase::Starting,
                PhaseKind::Idle => TaskPhase::Idle,
                PhaseKind::Planning => TaskPhase::Planning,
                PhaseKind::Implementing => TaskPhase::Implementing,
                PhaseKind::Reviewing => TaskPhase::Reviewing,
                PhaseKind::Finishing => TaskPhase::Finishing,
                PhaseKind::Step => {
                    TaskPhase::Step(self.open.as_ref().map(|open| open.name.clone()).unwrap_or_default())
                }
                PhaseKind::Waiting => TaskPhase::Waiting,
                PhaseKind::Paused => TaskPhase::Paused,
                PhaseKind::Failed => TaskPhase::Failed,
                PhaseKind::Done => TaskPhase::Done,
                PhaseKind::Abandoned => TaskPhase::Abandoned,
            };
        }
    }

    /// A turn of the session ended.
    pub(crate) fn turn_ended(&mut self, turn: Option<TurnId>, end: &TurnEnd) {
        let ours = self.open.iter_mut().flat_map(|open| &mut open.turn);
        ours.filter(|ours| Some(ours.id) == turn).for_each(|ours| ours.end = Some(end.clone()));
    }

    /// A turn of the session that was cut goes on.
    pub(crate) fn turn_goes_on(&mut self, turn: Option<TurnId>) {
        let ours = self.open.iter_mut().flat_map(|open| &mut open.turn);
        ours.filter(|ours| Some(ours.id) == turn).for_each(|ours| ours.end = None);
    }

    /// A model was used in a turn of the session.
    pub(crate) fn use_up(&mut self, turn: Option<TurnId>, usage: Usage) {
        let Some(open) = &self.open else { return };
        if open.turn.as_ref().is_some_and(|ours| Some(ours.id) == turn) {
            let cost =
                self.costs.entry(open.name.clone()).or_insert(StepCost { usage: Usage::NONE, calls: 0 });
            cost.usage = cost.usage.plus(usage);
            cost.calls += 1;
        }
    }

    /// What the table looks at.
    pub fn facts(&self) -> Facts {
        let at = self.at.unwrap_or(0);
        Facts {
            specifications: self.specifications.len(),
            earlier: at,
            later: self.checkpoints.len().saturating_sub(at + 1),
        }
    }

    /// The checkpoint it stands on.
    pub fn checkpoint(&self) -> Option<&TaskCheckpoint> {
        self.checkpoints.get(self.at?)
    }
}

/// The phase of a task that is in a step.
pub(crate) fn phase_of(step: &str) -> TaskPhase {
    match step {
        START => TaskPhase::Starting,
        PLANNING => TaskPhase::Planning,
        IMPLEMENTING => TaskPhase::Implementing,
        REVIEWING => TaskPhase::Reviewing,
        DONE => TaskPhase::Finishing,
        step => TaskPhase::Step(step.to_owned()),
    }
}
