//! Why something about a task came to nothing.

use loggia_domain::{GuestError, RepositoryError, Role, StoreError, TaskId};

use super::fold::Held;
use super::machine::Refusal;
use crate::error::{EngineError, IntentError};

/// Why something about a task came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// There is none.
    #[error("there is no task `{0}`")]
    NotFound(TaskId),
    /// Whoever asks may not.
    #[error("this needs the role `{}`", role_word(*needs))]
    Forbidden {
        /// The least role that would.
        needs: Role,
    },
    /// Something is being done about it already.
    #[error(
        "something is being done about the task `{0}` already: wait for it, or cancel the turn of its session"
    )]
    Busy(TaskId),
    /// It is over.
    #[error("the task `{0}` is over")]
    Over(TaskId),
    /// It is not where that can happen.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A guard or an effect holds it back.
    #[error("{}", held(.0))]
    Held(Box<Held>),
    /// Nothing holds it back.
    #[error("no guard holds the task back")]
    NotHeld,
    /// A step failed.
    #[error("{step} failed: {reason}")]
    Failed {
        /// Which.
        step: String,
        /// Why.
        reason: String,
    },
    /// Another task has the working tree.
    #[error(
        "the task `{task}` ({title}) is under way here: finish it, abandon it, or give the new one a tree of its own"
    )]
    TreeTaken {
        /// Which.
        task: TaskId,
        /// What it is about.
        title: String,
    },
    /// The reference has a scheme that nobody has.
    #[error("nobody knows `{scheme}:`; there are {}", .known.join(", "))]
    UnknownScheme {
        /// The scheme.
        scheme: String,
        /// Those that somebody knows.
        known: Vec<String>,
    },
    /// Nobody takes the reference.
    #[error("nothing brings tasks from `{0}`")]
    NoProvider(String),
    /// The provider cannot do that.
    #[error("the provider `{provider}` cannot {what}")]
    ProviderCannot {
        /// Which.
        provider: String,
        /// What.
        what: &'static str,
    },
    /// The task has no branch.
    #[error("the task has no branch, so there is nothing to {0}")]
    NoBranch(&'static str),
    /// Something that was given makes no sense.
    #[error("{0}")]
    Bad(String),
    /// A guest did not do what it was asked.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// The repository did not.
    #[error("{error}{}", hint(.error))]
    Repository {
        /// Why.
        #[from]
        error: RepositoryError,
    },
    /// Changes that no commit holds would be lost.
    #[error("{error}{}, or have them thrown away (`--discard`)", hint(.error))]
    WouldLose {
        /// Which.
        error: RepositoryError,
    },
    /// The session did not take it.
    #[error(transparent)]
    Intent(#[from] IntentError),
    /// The engine cannot.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The engine stops. What was under way goes on when somebody asks for it again.
    #[error("the engine stops")]
    Stopping,
}

impl From<StoreError> for TaskError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl TaskError {
    /// The same where whoever asks can say that uncommitted changes may go.
    pub(super) fn discardable(self) -> Self {
        match self {
            Self::Repository { error: error @ RepositoryError::Dirty(_) } => Self::WouldLose { error },
            error => error,
        }
    }
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::Watch => "watch",
        Role::Drive => "drive",
        Role::Admin => "admin",
    }
}

fn held(held: &Held) -> String {
    let Held { by, reason, is_guard } = held;
    let (hook, name, step) = (&by.hook, &by.name, &by.step);
    match is_guard {
        true => format!("`{name}` of `{hook}` holds the task back before {step}: {reason}"),
        false => format!("`{name}` of `{hook}` failed at {step}, and the task must not go on: {reason}"),
    }
}

/// How many paths a hint names.
const SHOWN: usize = 5;

fn hint(error: &RepositoryError) -> String {
    match error {
        RepositoryError::Dirty(paths) => {
            let shown: Vec<String> = paths.iter().take(SHOWN).map(|path| format!("`{path}`")).collect();
            let more = paths.len().saturating_sub(SHOWN);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!(" ({}{more}): commit or stash them first", shown.join(", "))
        }
        RepositoryError::NoRepository(_) | RepositoryError::NoGit(_) => {
            "; start the task without a branch to work here all the same".to_owned()
        }
        RepositoryError::Empty => ": make a first commit, or start the task without a branch".to_owned(),
        RepositoryError::BranchExists(_) => {
            ": remove it, or give the task another key, slug or pattern".to_owned()
        }
        RepositoryError::Moved { .. } => {
            ": somebody has worked on it, so go back by hand or make a checkpoint by another step".to_owned()
        }
        _ => String::new(),
    }
}
