//! What to start, and through which keeper.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::confine::Confinement;
use super::limits::Limits;
use super::spare::Spare;
use super::terminal::TerminalSize;

/// How to start the keeper: our own executable and the hidden subcommand that calls [`super::keep`].
#[derive(Debug, Clone)]
pub struct Keeper {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    /// Where one is kept ready, if one is.
    pub(super) spare: Option<Arc<Spare>>,
}

impl Keeper {
    /// A keeper in some other executable, as tests need it.
    pub fn new(program: impl Into<PathBuf>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self { program: program.into(), args: args.into_iter().map(Into::into).collect(), spare: None }
    }

    /// The same with one in namespaces of its own kept ready after a program has used one, for a while: for whoever
    /// starts one program after another and does not want to wait.
    pub fn with_a_spare(mut self) -> Self {
        self.spare = Some(Arc::default());
        self
    }

    /// The running executable under the given subcommand.
    ///
    /// # Errors
    /// When the executable's own path cannot be found.
    pub fn this_executable(subcommand: &str) -> std::io::Result<Self> {
        // Linux keeps this name valid even when the file was replaced by an upgrade in the meantime.
        let itself = PathBuf::from("/proc/self/exe");
        let program = if itself.exists() { itself } else { std::env::current_exe()? };
        Ok(Self::new(program, [subcommand]))
    }
}

/// A program to start.
#[derive(Clone)]
pub struct ChildSpec {
    /// Who this is, for logs and error messages.
    pub name: String,
    /// The executable; a bare name is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working directory; ours if not given.
    pub cwd: Option<PathBuf>,
    /// Its environment.
    pub environment: Environment,
    /// Where its bytes come from and go.
    pub streams: Streams,
    /// Told of every line on the program's stderr, besides the log and the tail.
    pub on_stderr: Option<StderrListener>,
    /// What it may use up.
    pub limits: Limits,
    /// What it may reach; everything we do if not given.
    pub confinement: Option<Confinement>,
}

/// Where a program's bytes come from and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    /// A conversation over stdin and stdout ([`Child::take_streams`](super::Child::take_streams)); stderr is
    /// talk, drained line by line.
    #[default]
    Conversation,
    /// No input, and two streams of output to be read as they come
    /// ([`Child::take_output`](super::Child::take_output)).
    Output,
    /// Three pipes, and all of them the caller's ([`Child::take_all`](super::Child::take_all)).
    Apart,
    /// A terminal of its own for all three ([`Child::take_streams`](super::Child::take_streams)): lines are edited by
    /// the system, nothing is echoed, and a line ends as the program wrote it. When the program and all below it are
    /// gone, reading fails (`EIO`); that is the end. For programs that are not held in.
    Terminal(TerminalSize),
}

/// Somebody who wants to hear every line of a program's stderr.
pub type StderrListener = Arc<dyn Fn(&str) + Send + Sync>;

/// What a program finds in its environment.
#[derive(Debug, Clone)]
pub enum Environment {
    /// All of ours, with these added or replaced.
    Inherit(Vec<(OsString, OsString)>),
    /// These and no others.
    Exactly(Vec<(OsString, OsString)>),
}

impl ChildSpec {
    /// A program with our environment and working directory.
    pub fn new(name: impl Into<String>, program: impl Into<OsString>) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            environment: Environment::Inherit(Vec::new()),
            streams: Streams::Conversation,
            on_stderr: None,
            limits: Limits::default(),
            confinement: None,
        }
    }

    /// The same with arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The same in a directory.
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cwd = Some(directory.into());
        self
    }

    /// The same with an environment.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// The same with nothing on stdin, and both outputs for the caller to read.
    pub fn output_only(mut self) -> Self {
        self.streams = Streams::Output;
        self
    }

    /// The same with other streams.
    pub fn streams(mut self, streams: Streams) -> Self {
        self.streams = streams;
        self
    }

    /// The same within limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same held in.
    pub fn confinement(mut self, confinement: Confinement) -> Self {
        self.confinement = Some(confinement);
        self
    }
}

impl fmt::Debug for ChildSpec {
    /// Values of the environment may be secrets and are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildSpec")
            .field("name", &self.name)
            .field("program", &self.program)
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("confinement", &self.confinement)
            .finish_non_exhaustive()
    }
}
