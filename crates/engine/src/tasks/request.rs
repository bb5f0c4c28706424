//! What is asked about tasks, and what is told of them.

use std::sync::Arc;

use loggia_domain::{Budget, Preset, SessionId, TaskAgents, TaskId, TaskNames, WorkspaceId};
use tokio::task::JoinHandle;

use super::error::TaskError;
use super::fold::Task;
use super::machine::TaskPhase;

/// How tasks go, as whoever starts an engine decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSettings {
    /// How what belongs to them is called. Where nobody says, a workspace's own files do, and else [`names`](super::names).
    pub names: TaskNames,
    /// Which agents do the work, unless a task says otherwise.
    pub agents: TaskAgents,
    /// The target of the workspace's `Makefile` that the work must pass before its end.
    pub quality_target: String,
    /// How often an unattended task tries to pass it.
    pub tries: u32,
}

impl Default for TaskSettings {
    fn default() -> Self {
        Self {
            names: TaskNames::default(),
            agents: TaskAgents::default(),
            quality_target: "quality".to_owned(),
            tries: 3,
        }
    }
}

/// A task to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartTask {
    /// Where.
    pub workspace: WorkspaceId,
    /// What, as `scheme:rest` or in any words that a provider claims.
    pub reference: String,
    /// Where its work goes.
    pub place: TaskPlace,
    /// What the item is called for short, instead of what its provider says.
    pub key: Option<String>,
    /// The title, instead of the item's.
    pub title: Option<String>,
    /// The title as a part of a name, instead of what is made of it.
    pub slug: Option<String>,
    /// How the branch is called, instead of what the settings say.
    pub branch_pattern: Option<String>,
    /// What commits begin with, instead of what the settings say.
    pub commit_prefix: Option<String>,
    /// Which agents do the work.
    pub agents: TaskAgents,
    /// How much is allowed without asking, if not what the workspace's policy says.
    pub preset: Option<Preset>,
    /// What it may use up.
    pub budget: Budget,
}

impl StartTask {
    /// A task with defaults: on a branch of its own, in the workspace itself.
    pub fn new(workspace: WorkspaceId, reference: impl Into<String>) -> Self {
        Self {
            workspace,
            reference: reference.into(),
            place: TaskPlace::Branch,
            key: None,
            title: None,
            slug: None,
            branch_pattern: None,
            commit_prefix: None,
            agents: TaskAgents::default(),
            preset: None,
            budget: Budget::default(),
        }
    }
}

/// Where the work of a task goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskPlace {
    /// On a branch of its own, in the workspace's working tree.
    #[default]
    Branch,
    /// On a branch of its own, in a working tree of its own beside the repository.
    Tree,
    /// In the workspace as it is, without a branch.
    Here,
}

/// A step to be taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepRequest {
    /// The agent that does it: a model's name, or `plugin:NAME`. Counts before every other choice.
    pub agent: Option<String>,
}

/// How a task is to be finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishTask {
    /// Where the work goes.
    pub how: FinishHow,
    /// Whether what comes of it is sent to where the repository came from.
    pub push: bool,
    /// How it is checked first.
    pub quality: Quality,
    /// Whether its branch, its marks and its tree go once the work is merged.
    pub drop_branch: bool,
}

impl FinishTask {
    /// Checked as the settings say, and then left where it is.
    pub fn new(how: FinishHow) -> Self {
        Self { how, push: false, quality: Quality::default(), drop_branch: false }
    }
}

/// Where the work of a finished task goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishHow {
    /// Into the branch it came from.
    Merge {
        /// Whether it becomes one commit.
        squash: bool,
    },
    /// To its provider, as a proposal. That sends the branch away.
    Propose {
        /// In one line, if not the task's title.
        title: Option<String>,
        /// In full, if not the last specification.
        description: Option<String>,
        /// Whether it is still being worked on.
        draft: bool,
    },
    /// Nowhere.
    Keep,
}

/// How the work is checked before its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Quality {
    /// By the target that the settings name.
    #[default]
    Usual,
    /// By this target.
    Target(String),
    /// Not at all.
    Skip,
}

/// What becomes of what a task that is given up leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AbandonTask {
    /// Whether its branch, its marks and its tree stay.
    pub keep_branch: bool,
    /// Whether its readable files stay.
    pub keep_files: bool,
    /// What becomes of changes on its branch that no commit holds.
    pub uncommitted: Uncommitted,
}

/// What becomes of changes that no commit holds, such as those of a step that came to no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Uncommitted {
    /// They are not lost: whatever would lose them is refused.
    #[default]
    Keep,
    /// They are thrown away.
    Discard,
}

/// A task to be done from beginning to end while nobody looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoTask {
    /// What.
    pub start: StartTask,
    /// How it is to be finished.
    pub finish: FinishTask,
    /// How often it tries to pass the check, if not as often as the settings say.
    pub tries: Option<u32>,
}

/// A task as it is now.
#[derive(Debug, Clone)]
pub struct TaskView {
    /// Its name.
    pub id: TaskId,
    /// Its session.
    pub session: SessionId,
    /// How it stands.
    pub task: Arc<Task>,
    /// Whether something is being done about it now.
    pub running: bool,
}

impl TaskView {
    /// Whether a step of it was cut and waits to be gone on with.
    pub fn is_interrupted(&self) -> bool {
        self.task.open.is_some() && !self.running && self.task.phase != TaskPhase::Paused
    }
}

/// Something that is being done about a task. Letting go of it stops nothing.
#[derive(Debug)]
pub struct TaskRun {
    /// The task.
    pub task: TaskId,
    /// Its session, which tells what happens.
    pub session: SessionId,
    pub(super) done: JoinHandle<Result<TaskView, TaskError>>,
}

impl TaskRun {
    /// Waits until it is done.
    ///
    /// # Errors
    /// Why it came to nothing.
    pub async fn wait(self) -> Result<TaskView, TaskError> {
        self.done.await.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(TaskError::Stopping),
        })
    }
}
