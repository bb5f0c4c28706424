//! Tasks: a piece of work from somewhere that goes from step to step in a session of its own.
//!
//! Knows what can happen to a task. Refuses to know what follows from it: that is the engine's table.
//! What happens to a task is in its session's journal and nowhere else.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::{Actor, Commit, JsonText, Occasion, SessionId, WorkItem, WorkspaceId};

/// A task's name: eight hexadecimal digits, the last ones of its session's id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId([u8; 4]);

impl TaskId {
    /// The task of a session.
    pub fn of(session: SessionId) -> Self {
        let [.., a, b, c, d] = *session.bytes();
        Self([a, b, c, d])
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.0;
        write!(f, "{a:02x}{b:02x}{c:02x}{d:02x}")
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no task's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no task: they are called by eight hexadecimal digits, such as `1a2b3c4d`")]
pub struct TaskIdError(pub String);

impl FromStr for TaskId {
    type Err = TaskIdError;

    fn from_str(text: &str) -> Result<Self, TaskIdError> {
        let wrong = || TaskIdError(text.chars().take(64).collect());
        let plain = text.len() == 8 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        match plain {
            true => Ok(Self(u32::from_str_radix(text, 16).map_err(|_| wrong())?.to_be_bytes())),
            false => Err(wrong()),
        }
    }
}

/// What happened to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskEvent {
    /// It began. Always the first thing that happens to it.
    Started(Box<TaskStart>),
    /// It entered a step; said of one it is in already, it goes on there.
    Entered {
        /// The step.
        step: String,
        /// Who asked for it.
        by: Actor,
    },
    /// The turn that this event belongs to does the work of a step.
    Working {
        /// The step.
        step: String,
    },
    /// A guard had something to say.
    Guarded {
        /// The step that was about to be entered.
        step: String,
        /// Whose guard it is.
        hook: String,
        /// Which.
        guard: String,
        /// What it said, or who said otherwise.
        word: GuardWord,
    },
    /// An effect has run.
    EffectRun {
        /// The step.
        step: String,
        /// Whose effect it is.
        hook: String,
        /// Which.
        effect: String,
        /// What it followed.
        occasion: Occasion,
        /// What came of it.
        result: EffectResult,
    },
    /// The agent said what is to be done.
    Specified {
        /// Which specification it is, counted from 1.
        number: u32,
        /// The specification.
        text: String,
    },
    /// The agent said what it thinks of the work.
    Reviewed {
        /// Which review it is, counted from 1.
        number: u32,
        /// The review.
        text: String,
    },
    /// Somebody added a note.
    Noted {
        /// The note.
        text: String,
        /// Who.
        by: Actor,
    },
    /// The agent asks something before it can go on.
    Asked {
        /// The question.
        question: TaskQuestion,
    },
    /// Somebody answered that.
    Answered {
        /// The answer.
        text: String,
        /// Who.
        by: Actor,
    },
    /// What there is was kept, to go back to. Later checkpoints than the one it stood on are gone.
    Checkpointed {
        /// Which checkpoint, counted from 1.
        number: u32,
        /// The step that led to it.
        step: String,
        /// The commit, if the task has a branch.
        commit: Option<TaskCommit>,
    },
    /// It went back or forth to a checkpoint.
    Moved {
        /// Which.
        to: u32,
        /// Who asked for it.
        by: Actor,
    },
    /// Somebody stated a fact that guards may look for, or took it back.
    MetadataSet {
        /// Its name.
        name: String,
        /// What; nothing if it is taken back.
        value: Option<JsonText>,
        /// Who.
        by: Actor,
    },
    /// The work was checked before its end.
    Checked {
        /// What was run.
        target: String,
        /// What came of it.
        result: CheckResult,
    },
    /// The work went where it belongs.
    Delivered {
        /// Where to.
        delivery: Delivery,
    },
    /// It left a step.
    Left {
        /// The step.
        step: String,
        /// How.
        end: StepEnd,
    },
    /// It is done.
    Finished {
        /// Who finished it.
        by: Actor,
    },
    /// It was given up.
    Abandoned {
        /// Who gave it up.
        by: Actor,
    },
}

/// What a task begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskStart {
    /// Where it comes from, as somebody named it.
    pub reference: String,
    /// Who brought it.
    pub provider: String,
    /// What its provider resolved the reference to.
    pub key: String,
    /// What is to be done.
    pub item: WorkItem,
    /// The item's text as it was then.
    pub source: String,
    /// The workspace it was started in. Its session works in another one if it has a working tree of its own.
    pub home: WorkspaceId,
    /// Where its work goes; nothing if it has no branch.
    pub branch: Option<TaskBranch>,
    /// What its commits begin with.
    pub commit_prefix: String,
    /// The agents that were chosen when it began.
    pub agents: TaskAgents,
    /// Variables that agents of plugins get for this task alone, while its home is trusted.
    pub environment: Vec<(String, String)>,
    /// Who began it.
    pub by: Actor,
}

/// The branch of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskBranch {
    /// The branch.
    pub name: String,
    /// The branch it began at, and usually goes back to.
    pub base: String,
    /// The commit it began at; nothing where older versions wrote it down.
    pub from: Option<Commit>,
    /// Its own working tree, if it has one.
    pub tree: Option<PathBuf>,
}

/// How what belongs to tasks is called, as far as somebody says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskNames {
    /// The scheme of references that have none and that no provider claims.
    pub scheme: Option<String>,
    /// How branches are called: words `{key}` `{task_id}` `{type}` `{slug}` `{title}` are put in.
    pub branch: Option<String>,
    /// What commits begin with; the same words.
    pub commit_prefix: Option<String>,
}

impl TaskNames {
    /// What these say, and where they say nothing, what the others say.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            scheme: self.scheme.or(others.scheme),
            branch: self.branch.or(others.branch),
            commit_prefix: self.commit_prefix.or(others.commit_prefix),
        }
    }
}

/// Which agents do the work of a task; each is a model's name, or `plugin:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskAgents {
    /// For every step that has none of its own.
    pub any: Option<String>,
    /// For planning.
    pub planning: Option<String>,
    /// For implementing.
    pub implementing: Option<String>,
    /// For reviewing.
    pub reviewing: Option<String>,
}

/// What a guard said, or who said otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardWord {
    /// Go on, but mind this.
    Warned(String),
    /// Stop here, for this reason.
    Stopped(String),
    /// Somebody goes on all the same.
    Overridden(Actor),
}

/// What came of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectResult {
    /// It worked, and may have said something.
    Done(Option<String>),
    /// It did not; the task goes on.
    Failed(String),
    /// It did not, and the task must not go on.
    Stopped(String),
}

/// A question of an agent to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskQuestion {
    /// What it asks.
    pub text: String,
    /// Answers it offers.
    pub options: Vec<String>,
    /// What it said besides, for when it goes on.
    pub context: String,
}

/// A commit that a checkpoint is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskCommit {
    /// The commit.
    pub commit: Commit,
    /// The mark it carries.
    pub mark: String,
}

/// What came of checking the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckResult {
    /// It is fine.
    Passed,
    /// There was nothing to check it with.
    Absent,
    /// It is not: what was written.
    Failed(String),
}

/// Where the work went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Into another branch.
    Merged {
        /// Which.
        into: String,
        /// The commit.
        commit: Commit,
        /// Whether that branch was sent away as well.
        pushed: bool,
    },
    /// It was proposed for merging.
    Proposed {
        /// What people call the proposal.
        label: Option<String>,
        /// Where people look at it.
        location: Option<String>,
    },
    /// Nowhere: it stays where it is.
    Kept {
        /// Whether its branch was sent away.
        pushed: bool,
    },
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepEnd {
    /// It is done.
    Done,
    /// With a question.
    Asked,
    /// It failed, for this reason; it may be tried again.
    Failed(String),
    /// Somebody cancelled it.
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_called_by_the_end_of_its_sessions_id() {
        let session: SessionId = "ses_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f".parse().unwrap();
        assert_eq!(TaskId::of(session).to_string(), "7c8d9e0f");
        assert_eq!("7c8d9e0f".parse(), Ok(TaskId::of(session)));
        for text in ["", "7c8d9e0", "7c8d9e0f0", "7C8D9E0F", "+c8d9e0f", "../etc/pa"] {
            assert!(text.parse::<TaskId>().is_err(), "{text}");
        }
    }
}
