//! What can go wrong, and how people are told.
//!
//! Every failure of a command ends up as one [`Error`]. It knows its message, its causes, its hint and its
//! kind; the kind becomes an exit code in `exit_code.rs`. Only this file writes to stderr on its own account.
//!
//! The form is always the same, readable without colours:
//!
//! ```text
//! error: what failed, on what
//!   cause: why
//!
//! hint: what to try
//! ```

use std::error::Error as _;
use std::io::{self, Write as _};
use std::path::PathBuf;

use loggia_cli::CliError;
use loggia_plugins::StarterError;
use loggia_protocol_agent_server::{Problem, ProblemType};
use loggia_wrap::WrapError;

use crate::color::{ERROR, HINT, WARNING};
use crate::commands::init::InitError;
use crate::commands::{extension_new, index_pull, plugin_new, wrap};
use crate::config::{Config, ConfigError};
use crate::daemon::DaemonError;
use crate::exit_code::ExitCode;
use crate::output::{printable, printable_lines};

/// A command that did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The configuration does not make sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A daemon does not come up, does not answer, or did not end well.
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    /// The server did not do it, or what it did could not be shown.
    #[error(transparent)]
    Client(#[from] CliError),
    /// A program was not wrapped.
    #[error(transparent)]
    Wrap(#[from] WrapError),
    /// A plugin to start from was not written.
    #[error(transparent)]
    Starter(#[from] StarterError),
    /// An extension to start from was not written.
    #[error(transparent)]
    ExtensionStarter(#[from] loggia_extensions::StarterError),
    /// A model to make vectors was not fetched.
    #[error(transparent)]
    Pull(#[from] loggia_embed::PullError),
    /// A set-up was not made.
    #[error(transparent)]
    Init(#[from] InitError),
    /// A script is to be played by a server that does not play it.
    #[error("the server has no model `{name}`")]
    ScriptElsewhere {
        /// The model that was named.
        name: String,
    },
    /// A policy that was edited makes no sense, or was not taken.
    #[error("the policy was not changed: {reason}")]
    Policy {
        /// What is wrong with it.
        reason: String,
        /// Where the text is that was written.
        draft: PathBuf,
        /// Of which workspace, as it was named.
        workspace: Option<PathBuf>,
    },
    /// An editor could not be started, or failed.
    #[error("the editor `{editor}` {what}, so the policy was not changed")]
    Editor {
        /// What was started.
        editor: String,
        /// What it did.
        what: String,
        /// Where the text is that was written, if somebody wrote one.
        draft: Option<PathBuf>,
    },
    /// A directory that was named, or is the current one, cannot be worked in.
    #[error("`{}` is no directory to work in", path.display())]
    NoDirectory {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file that a workspace is to have is not in it.
    #[error("`{}` is not in the workspace `{}`", path.display(), workspace.display())]
    OutsideWorkspace {
        /// Which file.
        path: PathBuf,
        /// Which workspace.
        workspace: PathBuf,
    },
    /// Something is to be changed for a workspace, and there is none.
    #[error("there is no workspace around this directory")]
    NoWorkspace,
    /// A directory has a name that cannot be told to a server.
    #[error("the name of the directory `{}` is not UTF-8", path.display())]
    UnreadableName {
        /// Which.
        path: PathBuf,
    },
    /// `config show` was asked for a key that does not exist.
    #[error("there is no key `{key}`")]
    NoSuchKey {
        /// What was asked for.
        key: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// A file that was named could not be read.
    #[error("cannot read `{}`", path.display())]
    Input {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file that was named is not there.
    #[error("there is no file `{}`", path.display())]
    NoFile {
        /// Which file.
        path: PathBuf,
    },
    /// A file was to be named, and a directory was.
    #[error("`{}` names a directory, not a file", path.display())]
    NamesDirectory {
        /// What was named.
        path: PathBuf,
    },
    /// A file could not be written.
    #[error("cannot write `{}`", path.display())]
    WriteFile {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Nobody named an editor, and there is no terminal for the usual one.
    #[error("there is no terminal to edit in")]
    NoEditor,
    /// Standard output did not take what we wrote.
    #[error("cannot write to standard output")]
    Output {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A reference page has no place for its generated part.
    #[error("`{}` has no line `{marker}`", path.display())]
    NoMarker {
        /// Which page.
        path: PathBuf,
        /// The line that is missing.
        marker: String,
    },
    /// Generated parts of reference pages are not what the code says.
    #[error("not current: {}", pages.join(", "))]
    StaleDocs {
        /// Which pages.
        pages: Vec<String>,
        /// The command that repairs them.
        repair: String,
    },
}

/// What a failure means to the one who called us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Whoever read our output has seen enough.
    ClosedOutput,
    /// The command line is wrong.
    Usage,
    /// The configuration is wrong.
    Configuration,
    /// What was to be worked with has faults.
    Faults,
    /// Something outside is not there.
    Unavailable,
    /// Somebody said no.
    Refused,
    /// It is our fault, or the machine's.
    Internal,
}

impl Error {
    /// What the failure means to the caller.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Config(_) => ErrorKind::Configuration,
            Self::Daemon(error) => error.kind(),
            Self::Client(error) => client_kind(error),
            Self::Init(error) => error.kind(),
            Self::Wrap(error) => wrap::kind(error),
            Self::Starter(error) => plugin_new::kind(error),
            Self::ExtensionStarter(error) => extension_new::kind(error),
            Self::Pull(error) => index_pull::kind(error),
            Self::NoSuchKey { .. }
            | Self::Policy { .. }
            | Self::NoDirectory { .. }
            | Self::UnreadableName { .. }
            | Self::NoWorkspace
            | Self::NoFile { .. }
            | Self::NamesDirectory { .. }
            | Self::OutsideWorkspace { .. }
            | Self::NoEditor
            | Self::ScriptElsewhere { .. } => ErrorKind::Usage,
            Self::Editor { .. } => ErrorKind::Unavailable,
            Self::Input { .. } => ErrorKind::Unavailable,
            Self::Output { source } if source.kind() == io::ErrorKind::BrokenPipe => ErrorKind::ClosedOutput,
            Self::Output { .. } | Self::WriteFile { .. } | Self::NoMarker { .. } | Self::StaleDocs { .. } => {
                ErrorKind::Internal
            }
        }
    }

    /// What to try.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint(),
            Self::Daemon(error) => error.hint(),
            Self::Client(error) => Some(error.hint().to_owned()),
            Self::Init(error) => Some(error.hint()),
            Self::Wrap(error) => wrap::hint(error),
            Self::Starter(error) => Some(plugin_new::hint(error)),
            Self::ExtensionStarter(error) => Some(extension_new::hint(error)),
            Self::Pull(error) => Some(index_pull::hint(error).to_owned()),
            Self::ScriptElsewhere { name } => Some(format!(
                "a script is played by the process that is started with it: add `--ephemeral`, or run `loggia stop` and `loggia serve --model {name}`"
            )),
            Self::NoSuchKey { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Self::NoSuchKey { nearest: None, .. } => Some("`loggia config show` lists all keys".to_owned()),
            Self::Policy { draft, workspace, .. } => {
                let workspace = workspace.as_ref().map(|path| format!(" -w '{}'", path.display()));
                Some(format!(
                    "what you wrote is kept; `loggia policy edit{} --from '{}'` goes on with it, and docs/policy.md tells what can be written",
                    workspace.unwrap_or_default(),
                    draft.display()
                ))
            }
            Self::NoEditor => Some(
                "run it in a terminal, or name in `VISUAL` or `EDITOR` a program that changes the file it is given"
                    .to_owned(),
            ),
            Self::Editor { draft: None, .. } => Some("name an editor in `VISUAL` or `EDITOR`".to_owned()),
            Self::Editor { draft: Some(draft), .. } => Some(format!(
                "what was written is kept in `{}`; name an editor in `VISUAL` or `EDITOR`",
                draft.display()
            )),
            Self::NoDirectory { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => Some(
                "you need the right to read it: `ls -ld` tells who owns it, `chmod u+rx` gives it to you"
                    .to_owned(),
            ),
            Self::NoDirectory { .. } => Some(
                "name a directory that exists with `-w DIR`, or leave it out and start from one".to_owned(),
            ),
            Self::OutsideWorkspace { .. } => {
                Some("name a file of the workspace, or the workspace that has it with `-w DIR`".to_owned())
            }
            Self::NoWorkspace => Some(
                "name one with `-w DIR`, or say `--global` for all of them; a directory with `.git` or `.loggia` is one"
                    .to_owned(),
            ),
            Self::UnreadableName { .. } => Some("rename it, or work in a directory above it".to_owned()),
            Self::NoFile { .. } => Some("see that its name is right; `-` reads what is piped in".to_owned()),
            Self::NamesDirectory { .. } => Some("name a file, without `/` at its end".to_owned()),
            Self::Input { source, .. } if source.kind() == io::ErrorKind::InvalidData => {
                Some("save it as UTF-8; only HL7, which begins with `MSH`, may be Latin-1".to_owned())
            }
            Self::Input { .. } => Some("see that it exists and can be read".to_owned()),
            Self::StaleDocs { repair, .. } => Some(format!("run `{repair}`")),
            _ => None,
        }
    }
}

/// What the failure of a client means to the caller.
fn client_kind(error: &CliError) -> ErrorKind {
    match error {
        error if error.reader_went_away() => ErrorKind::ClosedOutput,
        CliError::Output(_) | CliError::Keyboard(_) => ErrorKind::Internal,
        CliError::Workspace(_)
        | CliError::Model(_)
        | CliError::NothingAsked
        | CliError::TooMuchInput { .. }
        | CliError::NoSession
        | CliError::NoTask
        | CliError::NoMessage
        | CliError::SeveralTasks { .. }
        | CliError::NotConfirmed { .. }
        | CliError::NoTerminal
        | CliError::NothingToStep { .. }
        | CliError::NothingToStepHere { .. }
        | CliError::NoSuchSession(_)
        | CliError::ShortId { .. }
        | CliError::SeveralSessions { .. }
        | CliError::File { .. }
        | CliError::SessionHasBegun { .. } => ErrorKind::Usage,
        CliError::Console(error) if error.is_refusal() => ErrorKind::Refused,
        CliError::Refused(refusal) if is_tasks_refusal(&refusal.problem) => ErrorKind::Refused,
        CliError::Refused(refusal) if is_desks_refusal(&refusal.problem) => ErrorKind::Refused,
        CliError::Refused(refusal) if is_extensions_fault(&refusal.problem) => ErrorKind::Faults,
        CliError::Refused(refusal) | CliError::NotSearched { refusal, .. }
            if (400..=499).contains(&refusal.problem.status) =>
        {
            ErrorKind::Usage
        }
        _ => ErrorKind::Unavailable,
    }
}

/// Whether a task, its guards or its repository stand in the way of what was asked.
fn is_tasks_refusal(problem: &Problem) -> bool {
    let is_task = problem.instance.as_deref().is_some_and(|path| path.starts_with("/v1/tasks"));
    is_task && problem.kind == ProblemType::Conflict
}

/// Whether a message's file is kept from everybody, or an extension may not run.
fn is_desks_refusal(problem: &Problem) -> bool {
    let is_below = |root| problem.instance.as_deref().is_some_and(|path| path.starts_with(root));
    match problem.kind {
        ProblemType::Forbidden => is_below("/v1/messages"),
        ProblemType::Conflict => is_below("/v1/extensions"),
        _ => false,
    }
}

/// Whether an extension did not start, ended, or did not get to what was asked of it.
fn is_extensions_fault(problem: &Problem) -> bool {
    let is_extension = problem.instance.as_deref().is_some_and(|path| path.starts_with("/v1/extensions/"));
    is_extension && problem.kind == ProblemType::Unavailable
}

/// Tells people what went wrong and decides how to leave.
pub(crate) fn report(error: &Error) -> ExitCode {
    if let Error::Daemon(DaemonError::NotStarted { code: Some(code), said }) = error
        && !said.is_empty()
    {
        // It has said it all, in the same form. Nobody can be told that stderr is gone.
        let _ = anstream::stderr().write_all(said.as_bytes());
        return ExitCode::of_number(*code);
    }
    let kind = error.kind();
    if kind != ErrorKind::ClosedOutput {
        let mut causes = Vec::new();
        let mut cause = error.source();
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        say("error", ERROR, &error.to_string(), &causes, error.hint().as_deref());
    }
    kind.into()
}

/// Passes on what the parser of the command line has to say: help, the version, or what is wrong.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    if let Some(file) = file_in_place_of_protocol(error) {
        note("");
        note(&format!("hint: the protocol comes first, as in `loggia inspect hermes {file}`"));
    }
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ExitCode::Failure,
        _ if error.use_stderr() => ExitCode::Usage,
        _ => ExitCode::Success,
    }
}

/// The slip that is made most: `inspect FILE` without the protocol.
fn file_in_place_of_protocol(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let argument = text(ContextKind::InvalidArg)?;
    let given = text(ContextKind::InvalidValue)?;
    let slip = error.kind() == ErrorKind::InvalidValue
        && argument.contains("PROTOCOL")
        && std::path::Path::new(&given).exists();
    slip.then_some(given)
}

/// Tells which settings of an untrusted workspace were left out.
pub(crate) fn warn_of_ignored(config: &Config) {
    let mut ignored = config.ignored().peekable();
    while let Some((setting, value)) = ignored.next() {
        let message =
            format!("ignored `{} = {}` from `{}`: {}", setting.path, value.value, value.origin, value.reason);
        let hint = format!(
            "the workspace is not trusted; settings you want go into `{}`",
            config.user_file().display()
        );
        // One hint serves them all.
        let hint = ignored.peek().is_none().then_some(hint);
        say("warning", WARNING, &message, &[], hint.as_deref());
    }
}

/// Tells what went wrong where somebody else found it, and what to do about it.
pub(crate) fn tell(message: &str, hint: &str) {
    say("error", ERROR, message, &[], Some(hint));
}

/// Tells something to look at, and what to do about it.
pub(crate) fn warn(message: &str, hint: &str) {
    say("warning", WARNING, message, &[], Some(hint));
}

/// Tells a plain fact on stderr.
pub(crate) fn note(message: &str) {
    // Nobody can be told that stderr is gone.
    let _ = writeln!(anstream::stderr(), "{}", printable(message));
}

fn say(word: &str, style: anstyle::Style, message: &str, causes: &[String], hint: Option<&str>) {
    let mut text = format!("{style}{word}:{style:#} {}\n", printable_lines(message));
    for cause in causes {
        text.push_str(&format!("  cause: {}\n", printable_lines(cause)));
    }
    if let Some(hint) = hint {
        text.push_str(&format!("\n{HINT}hint:{HINT:#} {}\n", printable_lines(hint)));
    }
    // Nobody can be told that stderr is gone.
    let _ = anstream::stderr().write_all(text.as_bytes());
}
