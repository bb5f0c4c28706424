//! `loggia rpc`: the agent that a client of the Autohand protocol starts.
//!
//! Knows how such a client starts and ends it. Refuses to know the protocol, which is the door's: this process carries bytes
//! to the daemon that runs, or to one it starts, or serves them itself if nothing is to be kept.
//!
//! What always holds:
//! - standard output is the protocol's and standard error is for people;
//! - no flag is fatal; what keeps the agent from starting is told in the protocol's form, and as people are told;
//! - end of input and signals end it within the time that the least patient client gives it.

mod arguments;
pub(crate) mod farewell;
mod in_process;
pub(crate) mod preamble;
mod pump;

use std::error::Error as _;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use loggia_rpc::{Exit, Launch, LaunchError};
use tokio::io::AsyncReadExt as _;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

pub(crate) use arguments::Meant;

use crate::cli::GlobalFlags;
use crate::commands::client::{self, Home};
use crate::config::places::Places;
use crate::config::{Config, OwnFlag, keys};
use crate::daemon::ephemeral::Ephemeral;
use crate::daemon::signals::Signals;
use crate::daemon::{DaemonError, find};
use crate::errors::{self, Error};
use crate::exit_code::ExitCode;
use crate::logging::Heard;
use preamble::Preamble;
use pump::End;

/// The variable with which existing clients ask for more on standard error.
const DEBUG: &str = "AUTOHAND_DEBUG";

/// Why nothing can begin.
#[derive(Debug)]
struct Failed {
    error: Error,
    /// What the client has said already, and wants an answer to.
    said: Vec<u8>,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { error, said: Vec::new() }
    }
}

/// Runs the command with these words after its name.
pub(crate) fn run(mut flags: GlobalFlags, given: &[OsString]) -> ExitCode {
    let words = &arguments::texts(given);
    arguments::add_flags(&mut flags, words);
    let mut heard = Heard::Everybody;
    if flags.log_level.is_none() && std::env::var(DEBUG).is_ok_and(|value| value == "1" || value == "true") {
        flags.log_level = Some("debug".to_owned());
        // Whether the engine runs in this process or in a server is the same to a client: it hears nothing of it.
        heard = Heard::Program;
    }
    let runtime = if arguments::is_ephemeral(words) { Ephemeral::runtime() } else { client::runtime() };
    let runtime = match runtime {
        Ok(runtime) => runtime,
        // There is nothing to tell it with.
        Err(error) => return errors::report(&error.into()),
    };
    let code = match listen(&runtime) {
        Ok(mut signals) => readable(given)
            .and_then(|current| live(&runtime, &mut signals, (&flags, heard), words, current))
            .unwrap_or_else(|failed| refuse(&runtime, &mut signals, failed)),
        Err(error) => errors::report(&error.into()),
    };
    // Standard input may still be read; nobody waits for that.
    runtime.shutdown_background();
    code
}

/// Hears signals from now on. First of all: one that comes early is a wish to end, not an accident.
fn listen(runtime: &Runtime) -> Result<Signals, DaemonError> {
    let _inside = runtime.enter();
    Signals::listen_with_hangup().map_err(|source| DaemonError::Runtime { source })
}

/// The current directory, if that and the one to work in have names that can be told.
fn readable(given: &[OsString]) -> Result<String, Failed> {
    if let Some(path) = arguments::unreadable_directory(given) {
        return Err(Error::UnreadableName { path: path.into() }.into());
    }
    let current = std::env::current_dir();
    let current = current.map_err(|source| Error::Input { path: Path::new(".").to_owned(), source })?;
    let unreadable = |path: OsString| Error::UnreadableName { path: path.into() };
    Ok(current.into_os_string().into_string().map_err(unreadable)?)
}

fn live(
    runtime: &Runtime,
    signals: &mut Signals,
    (flags, heard): (&GlobalFlags, Heard),
    words: &[String],
    current: String,
) -> Result<ExitCode, Failed> {
    let preamble = Preamble::here(words, &current);
    let current = PathBuf::from(current);
    let launch = preamble.launch(&current);
    // What cannot be meant is told where the rest is answered, too.
    let workspace = launch.as_ref().map_or(current.as_path(), |launch| launch.workspace.as_path());
    let places = Places::around(Some(workspace)).map_err(Error::from)?;
    if !arguments::is_ephemeral(words) {
        let config = Config::load_in(&places, flags, &[]).map_err(Error::from)?;
        crate::begin_client_heard(&config, heard);
        let preamble = preamble.with_flags(config.rpc_flags());
        remark(&preamble.launch(&current));
        let preamble = Preamble {
            model: config.own_model().map(str::to_owned),
            preset: config.own_preset(),
            ..preamble
        };
        let home = Home::new(places, &config);
        return of_server(runtime, signals, home, &preamble);
    }
    let model = launch.as_ref().ok().and_then(|launch| launch.model.clone());
    let model = OwnFlag { key: &keys::MODEL_DEFAULT, name: "--model", text: model.as_deref() };
    let config = Config::load_in(&places, flags, &[model]).map_err(Error::from)?;
    crate::begin_client_heard(&config, heard);
    // The engine has it as its default.
    let launch = preamble.with_flags(config.rpc_flags()).launch(&current);
    remark(&launch);
    let launch = launch.map(|launch| Launch { model: None, ..launch });
    let exit = runtime.block_on(in_process::run(signals, &config, flags, &places, launch))?;
    Ok(leave(exit))
}

/// Tells people what was asked for and has no effect.
fn remark(launch: &Result<Launch, LaunchError>) {
    for remark in launch.iter().flat_map(|launch| &launch.remarks) {
        errors::warn(&remark.message, remark.hint);
    }
}

/// Has the daemon serve the client.
fn of_server(
    runtime: &Runtime,
    signals: &mut Signals,
    home: Home,
    preamble: &Preamble,
) -> Result<ExitCode, Failed> {
    let find = move || {
        let stream = find::rpc(&home.places, &home.variables)?;
        home.warn_of_unheard()?;
        Ok(stream)
    };
    Ok(match runtime.block_on(pump::run(signals, preamble.line(), find))? {
        End::Told(farewell) => leave(Exit { code: farewell.exit, reason: farewell.reason }),
        End::Left => ExitCode::Success,
        End::Lost => errors::report(&DaemonError::Lost.into()),
    })
}

/// Says why nothing began, if nothing did.
fn leave(exit: Exit) -> ExitCode {
    if let Some(reason) = &exit.reason {
        errors::tell(reason, "`loggia rpc --help` tells how the agent is started");
    }
    ExitCode::of_number(exit.code.into())
}

/// Tells people and the client why nothing can begin.
fn refuse(runtime: &Runtime, signals: &mut Signals, Failed { error, said }: Failed) -> ExitCode {
    errors::report(&error);
    let (mut reason, said) = (error.to_string(), said.as_slice());
    let mut cause = error.source();
    while let Some(error) = cause {
        reason.push_str(&format!(": {error}"));
        cause = error.source();
    }
    runtime.block_on(async {
        let (stdin, stdout) = (said.chain(tokio::io::stdin()), tokio::io::stdout());
        tokio::select! {
            _ = loggia_rpc::refuse(reason, stdin, stdout, CancellationToken::new()) => {}
            _ = signals.next() => {}
        }
    });
    ExitCode::Failure
}
