//! Tools: what the agent can call, and what becomes of calls.
//!
//! A tool reads; it never writes and never runs anything. What it wants done it gives back as a [`ToolEffect`],
//! and the engine does it under the policy: so there is one place where files change and commands start.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{BoxFuture, ClientId, CommandExit, JsonText, Plan, SandboxLevel};

/// Something the agent can call, in one workspace.
pub trait Tool: Send + Sync + 'static {
    /// What a model is told about it.
    fn spec(&self) -> &ToolSpec;

    /// Reads a call's arguments, without touching anything.
    ///
    /// # Errors
    /// What is wrong with them, in words that help the model do better.
    fn prepare(&self, arguments: &JsonText) -> Result<Box<dyn PreparedCall>, ArgumentError>;
}

/// A call whose arguments are understood.
pub trait PreparedCall: Send + Sync {
    /// What it would touch; the policy judges that.
    fn demand(&self) -> Demand;

    /// Does the reading part. Dropping the future ends it.
    fn run(self: Box<Self>, context: ToolContext) -> BoxFuture<'static, Result<ToolEffect, ToolError>>;
}

/// What a model is told about a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: JsonText,
}

/// What a call would touch. Paths are relative to the root, as the model wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Demand {
    /// Files and directories it reads.
    pub reads: Vec<String>,
    /// Files it makes or changes.
    pub writes: Vec<String>,
    /// Files it removes.
    pub deletes: Vec<String>,
    /// Whether it changes files that only its reading part can name: they are judged then.
    pub unnamed_writes: bool,
    /// The command it runs.
    pub command: Option<CommandRequest>,
    /// The command of an extension that it runs.
    pub guest_command: Option<GuestCommandRequest>,
}

impl Demand {
    /// Whether the call changes nothing, so that it may run beside others.
    pub fn only_reads(&self) -> bool {
        !self.changes_files() && self.command.is_none() && self.guest_command.is_none()
    }

    /// Whether the call changes files by itself.
    pub fn changes_files(&self) -> bool {
        !self.writes.is_empty() || !self.deletes.is_empty() || self.unnamed_writes
    }
}

/// A command of an extension that a model wants run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GuestCommandRequest {
    /// What it is run with.
    pub command: String,
    /// Whose; the first extension's that has it if nothing is said.
    pub extension: Option<String>,
    /// How long it may take, if the model said.
    pub timeout_s: Option<u64>,
}

/// A command a model wants run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandRequest {
    /// As a shell reads it.
    pub line: String,
    /// Where, relative to the root; the root itself if empty.
    pub directory: String,
    /// With which variables besides the usual ones.
    pub environment: Vec<(String, String)>,
    /// Why.
    pub reason: Option<String>,
    /// How long it may take, if the model said.
    pub timeout_s: Option<u64>,
}

/// What a tool may look at.
#[derive(Clone)]
pub struct ToolContext {
    /// Whether the policy lets a path be read; what it does not is left out of listings and searches.
    pub may_read: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// Files as they would be if the changes collected so far were made; nothing for one that would be gone.
    pub overlay: Arc<BTreeMap<String, Option<Vec<u8>>>>,
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext").field("overlay", &self.overlay.keys()).finish_non_exhaustive()
    }
}

/// What a call comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolEffect {
    /// An answer for the model; nothing else is to be done.
    Output(String),
    /// Files are to change.
    Edits(Vec<FileEdit>),
    /// A command is to run.
    Command(CommandRequest),
    /// A command of an extension is to run.
    GuestCommand(GuestCommandRequest),
    /// The plan is to be this one.
    Plan(Plan),
}

/// A change a tool wants made to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The file, relative to the root.
    pub path: String,
    /// What it held when the tool looked; nothing if it was not there.
    pub before: Option<Vec<u8>>,
    /// What it should hold; nothing if it should go.
    pub after: Option<Vec<u8>>,
    /// Why, in the model's words.
    pub rationale: Option<String>,
    /// How to tell that it is right, in the model's words.
    pub acceptance_criteria: Vec<String>,
}

/// Arguments that a tool cannot use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArgumentError(pub String);

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It leads where no call may: told to people as well as to the model.
    #[error("{0}")]
    Forbidden(String),
    /// It cannot be done: told to the model, which may know better.
    #[error("{0}")]
    Failed(String),
}

/// Who does the work of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// The server.
    Server,
    /// A client, which reports back.
    Client(ClientId),
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolOutcome {
    /// It worked.
    Succeeded {
        /// What the model is told.
        output: String,
    },
    /// It ran and failed.
    Failed {
        /// What the model is told.
        message: String,
    },
    /// It was not allowed to run.
    Denied {
        /// What the model is told.
        reason: String,
    },
    /// The turn was cancelled first.
    Cancelled,
}

/// What is worth knowing of a command that ran, besides its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandSummary {
    /// How it ended.
    pub exit: CommandExit,
    /// What held it in; nothing if a client ran it.
    pub sandbox: Option<SandboxLevel>,
    /// How many bytes of output were left out.
    pub left_out: u64,
}

/// Which of a command's streams a piece of output is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}
