//! Steps, guards and effects that others add to how a task goes.

use super::{GuestError, WorkItem};
use crate::{BoxFuture, JsonText};

/// Has a say in how work goes from step to step. Which of its guards and effects are due is the engine's affair.
pub trait WorkflowHook: Send + Sync + 'static {
    /// What people call it.
    fn name(&self) -> String;

    /// What it adds.
    fn parts(&self) -> BoxFuture<'_, Result<WorkflowParts, GuestError>>;

    /// Asks one of its guards. One that fails to answer does not allow.
    fn guard(&self, guard: String, moment: StepMoment) -> BoxFuture<'_, Result<Verdict, GuestError>>;

    /// Runs one of its effects; gives what to tell people.
    fn effect(&self, effect: String, moment: StepMoment)
    -> BoxFuture<'_, Result<Option<String>, GuestError>>;
}

/// What a hook adds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkflowParts {
    /// Steps, in its order.
    pub steps: Vec<WorkflowStep>,
    /// What holds work back.
    pub guards: Vec<WorkflowGuard>,
    /// What follows steps, in its order.
    pub effects: Vec<WorkflowEffect>,
}

/// A step that a hook adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowStep {
    /// Its name.
    pub name: String,
    /// What happens in it.
    pub description: Option<String>,
    /// Where it stands.
    pub place: StepPlace,
}

/// Where a step stands among others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepPlace {
    /// Right after this one.
    After(String),
    /// Right before this one.
    Before(String),
    /// Before the work is done.
    Last,
}

/// Something that may hold work back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowGuard {
    /// Its name.
    pub name: String,
    /// What it looks at.
    pub description: Option<String>,
    /// The steps of its hook that it guards; for a hook without steps none, and it guards the end of the work.
    pub steps: Vec<String>,
}

/// Something that follows steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowEffect {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The steps of its hook that it follows; for a hook without steps none, and it follows every step.
    pub steps: Vec<String>,
    /// Whether work must not go on when it fails.
    pub critical: bool,
}

/// What a guard or an effect is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepMoment {
    /// The task.
    pub task: String,
    /// The step it is in or about to enter.
    pub step: String,
    /// What happened, for effects.
    pub occasion: Option<Occasion>,
    /// What is worked on.
    pub item: WorkItem,
    /// The task's branch.
    pub branch: Option<String>,
    /// Names of its specification files.
    pub specifications: Vec<String>,
    /// Names of its checkpoints.
    pub checkpoints: Vec<String>,
    /// Further facts of the task that guards may look for, as an object.
    pub facts: JsonText,
}

/// What happened to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Occasion {
    /// It began.
    TaskStarted,
    /// It entered a step.
    StepEntered,
    /// It left a step.
    StepLeft,
    /// A checkpoint was made.
    CheckpointMade,
    /// It is done.
    TaskDone,
}

/// What a guard says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Go on; this is to be minded.
    Allow(Option<String>),
    /// Stop here, for this reason, until somebody decides otherwise.
    Stop(String),
}
