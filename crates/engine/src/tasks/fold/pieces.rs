//! What a task's state is made of.

use loggia_domain::{Actor, CheckResult, Occasion, Seq, TaskCommit, Timestamp, TurnEnd, TurnId, Usage};

/// A step under way. What it has behind it is not done again.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenStep {
    /// Its name.
    pub name: String,
    /// Who asked for it.
    pub by: Actor,
    /// When.
    pub entered: Timestamp,
    /// The turn that does its work.
    pub turn: Option<StepTurn>,
    /// Effects that have run.
    pub effects: Vec<(Occasion, GuardName)>,
    /// Whether what its turn said is kept.
    pub said: bool,
    /// Whether its checkpoint is there.
    pub checkpoint: bool,
    /// What checking the work came to.
    pub checked: Option<CheckResult>,
    /// Whether the work is where it belongs.
    pub delivered: bool,
}

/// The turn of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTurn {
    /// Which.
    pub id: TurnId,
    /// The event that says so.
    pub began: Seq,
    /// How it ended, if it has.
    pub end: Option<TurnEnd>,
}

/// A guard or an effect, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardName {
    /// Whose.
    pub hook: String,
    /// Which.
    pub name: String,
    /// At which step.
    pub step: String,
}

/// What holds a task back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The guard or the effect.
    pub by: GuardName,
    /// Why, in its words.
    pub reason: String,
    /// Whether it is a guard, which can be overridden; an effect can only be tried again.
    pub is_guard: bool,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNote {
    /// When.
    pub at: Timestamp,
    /// Where the task was.
    pub phase: String,
    /// Whose.
    pub by: Actor,
    /// The note.
    pub text: String,
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskCheckpoint {
    /// Which, counted from 1.
    pub number: u32,
    /// The step that led to it.
    pub step: String,
    /// When.
    pub at: Timestamp,
    /// Its commit, if the task has a branch.
    pub commit: Option<TaskCommit>,
    /// How many of the session's own undo steps were there.
    pub depth: usize,
}

/// What a step has cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepCost {
    /// What its models used.
    pub usage: Usage,
    /// How often they were asked.
    pub calls: u64,
}

impl OpenStep {
    pub(super) fn new(name: &str, by: Actor, entered: Timestamp) -> Self {
        Self {
            name: name.to_owned(),
            by,
            entered,
            turn: None,
            effects: Vec::new(),
            said: false,
            checkpoint: false,
            checked: None,
            delivered: false,
        }
    }
}
