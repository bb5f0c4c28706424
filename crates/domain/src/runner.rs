//! Commands, and what the engine needs of whoever runs them.

use std::path::PathBuf;
use std::time::Duration;

use crate::{BoxFuture, OutputStream};

/// Runs commands. Dropping the future of [`run`](Runner::run) kills the command and all it has started.
pub trait Runner: Send + Sync + 'static {
    /// Runs a command to its end, handing on what it writes as it comes.
    fn run(
        &self,
        command: CommandSpec,
        output: OutputSink,
    ) -> BoxFuture<'static, Result<CommandEnd, RunError>>;
}

/// Takes what a command writes, in pieces that are whole characters.
pub type OutputSink = Box<dyn Fn(OutputStream, &str) + Send + Sync>;

/// A command, and everything that holds it in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// As a shell reads it.
    pub line: String,
    /// Where it runs: absolute, inside the root.
    pub directory: PathBuf,
    /// The workspace's root: what it may write.
    pub root: PathBuf,
    /// Variables of its own.
    pub environment: Vec<(String, String)>,
    /// How long it may take.
    pub time_limit: Duration,
    /// How many bytes are kept of each of its streams.
    pub output_bytes: usize,
    /// What it may reach besides its root.
    pub confinement: Confinement,
}

/// What a command may reach besides its root, the system's own directories and a temporary directory of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Whether it is refused when it cannot be confined here.
    pub required: bool,
    /// The network.
    pub network: bool,
    /// Unix sockets.
    pub unix_sockets: bool,
    /// Further directories it may read.
    pub readable: Vec<PathBuf>,
    /// Further directories it may write.
    pub writable: Vec<PathBuf>,
    /// Variables it gets from our environment besides the usual ones.
    pub inherited: Vec<String>,
    /// What it must never see, wherever it lies: our own data, configuration and sockets.
    pub hidden: Vec<PathBuf>,
    /// Parts of the root it must not write: `.git`'s internals and our own directory.
    pub read_only: Vec<PathBuf>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEnd {
    /// How.
    pub exit: CommandExit,
    /// What it wrote to standard output, within the limit.
    pub stdout: CapturedOutput,
    /// What it wrote to standard error, within the limit.
    pub stderr: CapturedOutput,
    /// What held it in.
    pub sandbox: SandboxLevel,
    /// How long it took.
    pub took: Duration,
}

/// What is kept of a stream: its beginning and its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CapturedOutput {
    /// The beginning; everything, if nothing was left out.
    pub head: String,
    /// The end, if something was left out between.
    pub tail: String,
    /// How many bytes were left out between.
    pub left_out: u64,
}

impl CapturedOutput {
    /// The beginning and the end with a line between that says what is missing.
    pub fn text(&self) -> String {
        match self.left_out {
            0 => format!("{}{}", self.head, self.tail),
            bytes => format!("{}\n[… {bytes} bytes left out …]\n{}", self.head, self.tail),
        }
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandExit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It took too long and was killed.
    TimedOut,
}

/// What held a command in, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SandboxLevel {
    /// Nothing.
    None,
    /// Landlock and a filter of system calls, but not all that was asked for: an older kernel.
    Partial,
    /// Landlock and a filter of system calls.
    Confined,
    /// Namespaces of its own as well.
    Isolated,
}

/// Why a command did not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The policy wants it confined and it cannot be, here.
    #[error("the policy requires a sandbox and none works here: {0}")]
    NoSandbox(String),
    /// Its directory is not inside the root.
    #[error("`{}` is not a directory inside the workspace", .0.display())]
    BadDirectory(PathBuf),
    /// It could not be started.
    #[error("the command could not be started: {0}")]
    NotStarted(String),
    /// The one that keeps it was lost.
    #[error("the command was lost: {0}")]
    Lost(String),
}
