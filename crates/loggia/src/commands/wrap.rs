//! `loggia wrap`: a console for any program.
//!
//! No configuration is read: a server that somebody runs has nothing to do with it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use loggia_endermux_io::server::BindError;
use loggia_wire::child::Keeper;
use loggia_wrap::{Options, Ready, WrapError, status_of};
use serde::Serialize;
use tracing::level_filters::LevelFilter;

use crate::cli::{GlobalFlags, WrapArguments};
use crate::config::places::Places;
use crate::daemon::DaemonError;
use crate::daemon::directories::{MAX_WRAP_NAME, RuntimeDirectory, make_private};
use crate::errors::{self, Error, ErrorKind};
use crate::exit_code::ExitCode;
use crate::logging::{self, Format, Heard};

/// How much of a file of words is read. Beyond, it is no list of words.
const MAX_WORDS_FILE: u64 = 1024 * 1024;

/// The line for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    event: &'static str,
    socket: &'a str,
    pid: i32,
}

/// Runs the command.
pub(crate) fn run(flags: &GlobalFlags, arguments: &WrapArguments) -> Result<ExitCode, Error> {
    logging::start(level(flags), Format::Text, Heard::Everybody, None, None);
    let options = options(flags, arguments)?;
    let program = options.program.to_string_lossy().into_owned();
    let tell = |ready: &Ready<'_>| {
        let socket = ready.socket.to_string_lossy();
        if arguments.json {
            let line = Line { event: "ready", socket: &socket, pid: ready.pid };
            errors::note(&serde_json::to_string(&line).expect("texts and numbers can always be written"));
        } else if !flags.quiet {
            errors::note(&format!(
                "wrap: `{program}` runs as process {}; attach with `loggia attach -s {socket}`",
                ready.pid
            ));
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| DaemonError::Runtime { source })?;
    match runtime.block_on(loggia_wrap::run(options, tell)) {
        Ok(exit) => Ok(ExitCode::Program(status_of(exit))),
        Err(error) => match error.status() {
            Some(status) => {
                errors::tell(&error.to_string(), "see that it exists, is in `PATH` and can be executed");
                Ok(ExitCode::Program(status))
            }
            None => Err(error.into()),
        },
    }
}

/// What went wrong, for the one who called us.
pub(crate) fn kind(error: &WrapError) -> ErrorKind {
    match error {
        WrapError::Socket(_) | WrapError::Program(_) | WrapError::History { .. } => ErrorKind::Unavailable,
        WrapError::System(_) => ErrorKind::Internal,
    }
}

/// What to try.
pub(crate) fn hint(error: &WrapError) -> Option<String> {
    match error {
        WrapError::Socket(BindError::Taken { path }) => Some(format!(
            "attach to it with `loggia attach -s {}`, or take another socket with `--name NAME` or `-s SOCKET`",
            path.display()
        )),
        WrapError::Socket(BindError::InTheWay { .. }) => {
            Some("move it away, or name another path with `-s SOCKET`".to_owned())
        }
        WrapError::Socket(_) => Some(
            "name a path in a directory that you can write to, of at most 100 bytes, with `-s SOCKET`"
                .to_owned(),
        ),
        WrapError::History { .. } => {
            Some("name a file that you can write with `--history FILE`, or leave it out".to_owned())
        }
        WrapError::Program(_) | WrapError::System(_) => None,
    }
}

fn options(flags: &GlobalFlags, arguments: &WrapArguments) -> Result<Options, Error> {
    let mut command = arguments.command.iter().cloned();
    let program = command.next().unwrap_or_default();
    let socket = match &arguments.socket {
        Some(path) => path.clone(),
        None => usual_socket(arguments.name.as_deref().map_or(&program, OsStr::new))?,
    };
    let mut words = arguments.word.clone();
    for path in &arguments.words {
        words.extend(read_words(path)?);
    }
    let keeper = Keeper::this_executable("__supervise").map_err(|source| DaemonError::Runtime { source })?;
    Ok(Options {
        program,
        args: command.collect(),
        keeper,
        socket,
        terminal: arguments.pty.then(|| arguments.size.unwrap_or_default()),
        stderr_level: arguments.stderr_level.into(),
        restart: arguments.restart.into(),
        max_restarts: arguments.max_restarts,
        stop_command: arguments.stop_command.clone(),
        stop_timeout: arguments.stop_limit(),
        words,
        history: arguments.history.clone(),
        copies: !flags.quiet,
        stdin_eof: arguments.stdin_eof,
    })
}

fn usual_socket(called: &OsStr) -> Result<PathBuf, Error> {
    let runtime = RuntimeDirectory::of(&Places::find()?);
    make_private(runtime.path())?;
    Ok(runtime.wrap_socket(&short_name(called)))
}

/// A name for a socket, made of a program's: letters, digits and what is harmless between them.
fn short_name(called: &OsStr) -> String {
    let name = Path::new(called).file_name().unwrap_or(called).to_string_lossy();
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    name.chars().take(MAX_WRAP_NAME).map(harmless).collect()
}

/// The entries of a list; lines that begin with `#` are none.
fn read_words(path: &Path) -> Result<Vec<String>, Error> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_WORDS_FILE).read_to_end(&mut bytes));
    read.map_err(|source| Error::Input { path: path.to_owned(), source })?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect())
}

/// What is worth a line here: what the program says is, and little else.
pub(super) fn level(flags: &GlobalFlags) -> LevelFilter {
    match (&flags.log_level, flags.verbose) {
        (Some(level), _) => logging::level(level),
        (None, 0) if flags.quiet => LevelFilter::ERROR,
        (None, 0) => LevelFilter::WARN,
        (None, 1) => LevelFilter::DEBUG,
        (None, _) => LevelFilter::TRACE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_called_after_the_program() {
        assert_eq!(short_name(OsStr::new("/usr/bin/python3")), "python3");
        assert_eq!(short_name(OsStr::new("my server!")), "my_server_");
        assert_eq!(short_name(OsStr::new(&"x".repeat(100))).len(), MAX_WRAP_NAME);
    }
}
