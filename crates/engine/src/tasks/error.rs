//! Why something about a task came to nothing.

use std::path::PathBuf;

use loggia_domain::{BarredProvider, GuestError, RepositoryError, Role, StoreError, TaskId};

use super::fold::Held;
use super::machine::Refusal;
use crate::agents::AgentError;
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
    /// Nobody is there to do it.
    #[error("a step needs a model or a plugin's agent: {0}")]
    NoModel(String),
    /// Whoever was named to do it is not there.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The tree holds what is not the task's, and a checkpoint would take it along.
    #[error("the working tree has changes that are not committed and not the task's ({})", shown(.0))]
    NotCommitted(Vec<String>),
    /// Of what a step wanted to change, nothing was let in.
    #[error("nothing was changed, since all that was to be changed or run was refused: {}", few(.0).join("; "))]
    AllRefused(Vec<String>),
    /// The work does not fit what it is to be merged into.
    #[error(
        "`{branch}` cannot be merged into `{into}`: {files}; nothing was merged, and the files are as they were"
    )]
    Conflict {
        /// The task's branch.
        branch: String,
        /// Where it was to go.
        into: String,
        /// Which files do not fit, in words.
        files: String,
        /// The tree that the branch is in.
        tree: PathBuf,
        /// Whether it was to be one commit.
        squash: bool,
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
    #[error("nobody knows `{scheme}:`; there are {}{}", .known.join(", "), barred_words(.scheme, .barred))]
    UnknownScheme {
        /// The scheme.
        scheme: String,
        /// Those that somebody knows.
        known: Vec<String>,
        /// Who is there and may not run.
        barred: Vec<BarredProvider>,
    },
    /// Nobody takes a reference without a scheme.
    #[error(
        "`{reference}` has no scheme, and nobody knows `{scheme}:`, which is set for such; there are {}{}",
        .known.join(", "), barred_words(.scheme, .barred)
    )]
    NoProvider {
        /// The reference.
        reference: String,
        /// The scheme of references that have none.
        scheme: String,
        /// Schemes that somebody knows.
        known: Vec<String>,
        /// Who is there and may not run.
        barred: Vec<BarredProvider>,
    },
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

    /// What to do about it, where there is more to say than the words of the error do.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoModel(_) => "set a model with `loggia init` or `loggia model use PROVIDER:MODEL`, and see with `loggia doctor` \
                 that it answers; or name who is to do the step with `--agent PROVIDER:MODEL` or `--agent plugin:NAME`"
                .to_owned(),
            Self::Agent(AgentError::Barred { .. }) => {
                "do that, and take the step again; or name somebody else with `--agent`".to_owned()
            }
            Self::Agent(_) => {
                "`loggia plugin list` tells which plugins there are; `--agent plugin:NAME` names the agent of one, and \
                 `--agent PROVIDER:MODEL` a model"
                    .to_owned()
            }
            Self::NotCommitted(_) => "commit them, or put them aside with `git stash -u`, and take the step again; what a step that \
                 came to no end has left, `loggia task undo --steps 0 --discard` throws away; a task that is started with \
                 `--place worktree` leaves your tree alone"
                .to_owned(),
            Self::Repository { error: RepositoryError::Dirty(_) } => {
                "`git stash -u` puts them aside and `git stash pop` brings them back; `--place worktree` starts a task in \
                 a tree of its own"
                    .to_owned()
            }
            Self::WouldLose { .. } => {
                "`git stash -u` puts them aside and `git stash pop` brings them back; `--discard` cannot be undone".to_owned()
            }
            Self::AllRefused(_) => "`loggia task note TEXT` tells the agent what to do otherwise, and `loggia task implement` has it \
                 done again; with `--yes` everything that is asked is allowed"
                .to_owned(),
            Self::Conflict { into, tree, squash, .. } => conflict_hint(into, &tree.display().to_string(), *squash),
            Self::TreeTaken { .. } => {
                "`loggia task finish` or `loggia task abandon` ends it; `--place worktree` gives the new one a tree of its own"
                    .to_owned()
            }
            Self::UnknownScheme { scheme, barred, .. } | Self::NoProvider { scheme, barred, .. }
                if has_scheme(scheme, barred).is_some() =>
            {
                "do that, and start the task again".to_owned()
            }
            Self::UnknownScheme { .. } | Self::NoProvider { .. } => "write it as `SCHEME:REST`, as in `file:tasks/login.md`; `loggia plugin list` tells which \
                 plugins bring tasks"
                .to_owned(),
            Self::ProviderCannot { what: LIST, .. } => {
                "name the task itself, as in `loggia task start SCHEME:REST`".to_owned()
            }
            Self::ProviderCannot { .. } => {
                "`loggia task finish` leaves the work on its branch, and `--merge` merges it".to_owned()
            }
            Self::Guest(GuestError::NotFound(_)) => {
                "see that the reference is right; `loggia task browse SCHEME` lists what a provider has".to_owned()
            }
            Self::Guest(GuestError::Untrusted(_)) => {
                "`loggia trust` shows what would run, and lets it; `--trust` is for one run".to_owned()
            }
            Self::Guest(GuestError::TimedOut(_) | GuestError::Gone(_) | GuestError::Failed(_)) => {
                "`loggia plugin validate NAME` tries whether a plugin works; one that does is started again".to_owned()
            }
            _ => return None,
        })
    }
}

/// How the work is brought together with what it is to be merged into, command by command.
fn conflict_hint(into: &str, tree: &str, squash: bool) -> String {
    let tree = format!("'{}'", tree.replace('\'', "'\\''"));
    let squash = if squash { " --squash" } else { "" };
    format!(
        "bring them together on the task's branch, and finish again:\n  \
         git -C {tree} merge {into}\n  \
         (settle the files that it names)\n  \
         git -C {tree} add -A\n  \
         git -C {tree} commit --no-edit\n  \
         loggia task finish --merge{squash}"
    )
}

/// What a provider does when its items are listed.
pub(super) const LIST: &str = "list items";

/// Whoever has a scheme, and may not run.
fn has_scheme<'a>(scheme: &str, barred: &'a [BarredProvider]) -> Option<&'a BarredProvider> {
    barred.iter().find(|provider| provider.schemes.iter().any(|known| known == scheme))
}

/// A word about who has a scheme and may not run; else about who may not run and might take the reference.
fn barred_words(scheme: &str, barred: &[BarredProvider]) -> String {
    let names = |providers: &[BarredProvider]| {
        let names = providers.iter().take(SHOWN).map(|provider| format!("`{}`", provider.plugin));
        names.collect::<Vec<_>>().join(", ")
    };
    match (has_scheme(scheme, barred), barred) {
        (Some(BarredProvider { plugin, why, .. }), _) => {
            format!("; the plugin `{plugin}` has it and may not run: {why}")
        }
        (None, [first, ..]) => {
            format!("; not asked were {}, which may not run; the first: {}", names(barred), first.why)
        }
        (None, []) => String::new(),
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

/// Some of many paths.
fn shown(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(SHOWN).map(|path| format!("`{path}`")).collect();
    let more = paths.len().saturating_sub(SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", shown.join(", "))
}

/// Some of many words.
fn few(words: &[String]) -> Vec<String> {
    let more = words.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("and {more} more"));
    words.iter().take(SHOWN).cloned().chain(more).collect()
}

fn hint(error: &RepositoryError) -> String {
    match error {
        RepositoryError::Dirty(paths) => format!(" ({}): commit or stash them first", shown(paths)),
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
