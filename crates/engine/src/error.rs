//! Why the engine does not do what it is asked.

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalId, CallId, PatchId, Role, SessionId, StoreError, WorkspaceId,
};

use crate::agents::AgentError;

/// Why an intent came to nothing. The session is as it was.
#[derive(Debug, thiserror::Error)]
pub enum IntentError {
    /// The client's role does not allow it.
    #[error("this needs the role `{}`", role_name(*needs))]
    Forbidden {
        /// The least role that would.
        needs: Role,
    },
    /// A turn is under way.
    #[error("a turn is under way")]
    Busy,
    /// No turn is under way.
    #[error("no turn is under way")]
    NothingRuns,
    /// No turn was cut.
    #[error("there is no turn to continue")]
    NothingToContinue,
    /// Fewer turns changed files than are to be undone.
    #[error("{}", not_enough(*available, "undo"))]
    NothingToUndo {
        /// How many there are.
        available: usize,
    },
    /// Fewer turns were undone than are to be redone.
    #[error("{}", not_enough(*available, "redo"))]
    NothingToRedo {
        /// How many there are.
        available: usize,
    },
    /// Files have been changed since by somebody else.
    #[error("changed since by somebody else: {}", paths.join(", "))]
    Conflict {
        /// Which.
        paths: Vec<String>,
    },
    /// Files could not be put back.
    #[error("the files could not be changed: {0}")]
    Unwritable(String),
    /// There is no such question.
    #[error("there is no question `{0}`")]
    UnknownApproval(ApprovalId),
    /// Somebody was first.
    #[error("`{approval}` has been decided already")]
    AlreadyDecided {
        /// The question.
        approval: ApprovalId,
        /// The answer that holds, and whose it is.
        held: Box<(ApprovalAnswer, Actor)>,
    },
    /// The answer names a patch or a hunk the question is not about.
    #[error("the answer does not fit the question: {0}")]
    BadAnswer(String),
    /// No turn waits for a word about this step.
    #[error("nobody waits for a decision about step {0}")]
    UnknownStep(u32),
    /// More is shown than a model can be.
    #[error("an instruction has at most {} images", crate::engine::MAX_IMAGES)]
    TooManyImages,
    /// No client is to apply this patch.
    #[error("nobody waits for a report on `{0}`")]
    UnknownPatch(PatchId),
    /// No client is to run this call.
    #[error("nobody waits for a report on `{0}`")]
    UnknownCall(CallId),
    /// Another client was to do what is reported on.
    #[error("another client was asked to do that, and is still there")]
    NotYours,
    /// Something is longer than is kept.
    #[error("{what} is longer than {limit} bytes")]
    TooLong {
        /// What.
        what: &'static str,
        /// How long it may be.
        limit: usize,
    },
    /// The agent that is to take the turns is not there.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The session has ended for good.
    #[error("the session is closed")]
    Closed,
    /// Too much is asked at once.
    #[error("the session has too many requests waiting")]
    Overloaded,
    /// The session or the engine has gone.
    #[error("the session is gone")]
    Gone,
    /// The journal cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Watch => "watch",
        Role::Drive => "drive",
        Role::Admin => "admin",
    }
}

/// Why the engine cannot do something outside of a session's intents.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store cannot.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory cannot be a workspace.
    #[error(transparent)]
    Root(#[from] loggia_tree::RootError),
    /// The workspace's policy cannot be read or written.
    #[error(transparent)]
    Policy(#[from] crate::policy::files::PolicyFileError),
    /// The list of trusted workspaces cannot be read or written.
    #[error(transparent)]
    Trust(#[from] crate::trust::TrustError),
    /// What was left of an unfinished change cannot be read.
    #[error("unfinished changes cannot be looked at: {0}")]
    Unfinished(String),
    /// A session's journal makes no sense.
    #[error("the journal of `{0}` does not begin with an opening")]
    BadJournal(SessionId),
    /// A workspace's files cannot be watched over.
    #[error("the workspace `{workspace}` cannot be opened: {reason}")]
    Workspace {
        /// Which.
        workspace: WorkspaceId,
        /// Why.
        reason: String,
    },
    /// The directory holds, is or lies in one of our own.
    #[error("`{}` is one of our own directories or holds one: choose a project directory", .0.display())]
    OwnDirectory(std::path::PathBuf),
    /// The default model cannot be read or written.
    #[error("the default model in `{}` cannot be used: {reason}", .path.display())]
    CurrentModel {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        reason: String,
    },
    /// The default model was given when the server was started.
    #[error("the server was started with a model of its own, which counts before every choice")]
    PinnedModel,
    /// The agent that is to take a session's turns is not there.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// Which sessions are tasks cannot be read or written.
    #[error("the list of tasks cannot be used: {0}")]
    Tasks(String),
    /// The engine stops.
    #[error("the engine stops")]
    Stopping,
    /// The fork's place is not in the journal.
    #[error("the session has no event {0} to split from")]
    NoSuchEvent(u64),
}

/// How many there are is said only where there are some.
fn not_enough(available: usize, what: &str) -> String {
    match available {
        0 => format!("there is nothing to {what}"),
        1 => format!("there is only 1 change to {what}"),
        _ => format!("there are only {available} changes to {what}"),
    }
}
