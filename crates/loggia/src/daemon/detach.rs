//! A daemon that stays when its starter goes.
//!
//! The starter runs our own executable again, in a session of its own, and waits. The new process says on its standard
//! output that it is ready, and lets go of it; what goes wrong before that it says on the starter's standard error.
//! From then on its log is a file.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::DaemonError;
use crate::config::places::Places;
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::output::Printer;

/// The hidden command that is a daemon whose starter goes.
pub(crate) const COMMAND: &str = "__serve";

const LOG_FILE: &str = "daemon.log";

/// A log that has grown beyond this is put aside; one older log is kept.
const MAX_LOG_BYTES: u64 = 8 * 1024 * 1024;

/// Far more than a daemon says before it is ready.
const MAX_WORDS: u64 = 64 * 1024;

/// How often a daemon looks at the length of its log: what is written meanwhile does no harm.
const LOOK: Duration = Duration::from_secs(60);

/// Starts a daemon with these arguments and waits until it is ready.
#[expect(clippy::disallowed_methods, reason = "the daemon is meant to outlive whoever starts it")]
pub(crate) fn start(arguments: Vec<OsString>) -> Result<ExitCode, Error> {
    let failed = |source| DaemonError::Start { source };
    let mut child = Command::new(std::env::current_exe().map_err(failed)?)
        .arg(COMMAND)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut told = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut told).map_err(failed)?;
    }
    if told.is_empty() {
        // It has said why.
        let status = child.wait().map_err(failed)?;
        return Ok(status.code().map_or(ExitCode::Failure, ExitCode::of_number));
    }
    let mut printer = Printer::new();
    printer.bytes(&told)?;
    printer.finish()?;
    Ok(ExitCode::Success)
}

/// Starts a daemon for a command that needs one, and waits for the first byte it says: then it is ready. It gets nothing
/// of ours but these variables.
#[expect(clippy::disallowed_methods, reason = "the daemon is meant to outlive whoever starts it")]
pub(crate) fn start_for(environment: Vec<(OsString, OsString)>) -> Result<(), DaemonError> {
    let failed = |source| DaemonError::Start { source };
    let mut child = Command::new(std::env::current_exe().map_err(failed)?)
        .args([COMMAND, "--auto", "--json", "--color=never"])
        .env_clear()
        .envs(environment)
        // It is nobody's in particular: where the first command was typed must not matter to the others.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Heard beside: it must not stop because nobody reads what it says.
    let words = std::thread::spawn(move || stderr.map(last_words).unwrap_or_default());
    let ready = stdout.map_or(Ok(0), |mut stdout| stdout.read(&mut [0; 1])).map_err(failed)?;
    if ready > 0 {
        return Ok(());
    }
    let status = child.wait().map_err(failed)?;
    let said = words.join().unwrap_or_default();
    Err(DaemonError::NotStarted { code: status.code(), said })
}

/// The beginning of what a daemon says; the rest is heard and forgotten.
fn last_words(mut stderr: impl io::Read) -> String {
    let mut said = Vec::new();
    // One that cannot be read any more has said all it will.
    let _ = stderr.by_ref().take(MAX_WORDS).read_to_end(&mut said);
    let _ = io::copy(&mut stderr, &mut io::sink());
    String::from_utf8_lossy(&said).into_owned()
}

/// Leaves the starter's terminal: its signals are not for us.
pub(crate) fn leave_terminal() {
    if let Err(error) = rustix::process::setsid() {
        tracing::debug!(%error, "there is no terminal to leave");
    }
}

/// Where a daemon that was let go writes its log.
pub(crate) fn log_file(places: &Places) -> PathBuf {
    places.data().join(LOG_FILE)
}

/// What a daemon needs to let go of its starter. Whatever can go wrong does so before the starter is told to go.
#[derive(Debug)]
pub(crate) struct Release {
    path: PathBuf,
    log: File,
    nothing: File,
}

impl Release {
    /// Opens everything.
    pub(crate) fn prepare(places: &Places) -> Result<Self, DaemonError> {
        let path = log_file(places);
        let opened = open_log(&path)
            .and_then(|log| Ok((log, OpenOptions::new().read(true).write(true).open("/dev/null")?)));
        match opened {
            Ok((log, nothing)) => Ok(Self { path, log, nothing }),
            Err(source) => Err(DaemonError::Log { path, source }),
        }
    }

    /// Lets go of the starter: it may go now. What is logged from here on goes to a file.
    pub(crate) fn let_go(self) -> Result<(), DaemonError> {
        let Self { path, log, nothing } = self;
        let released = rustix::stdio::dup2_stderr(&log).and_then(|()| rustix::stdio::dup2_stdout(&nothing));
        released.map_err(|error| DaemonError::Log { path, source: error.into() })?;
        // The directory we were started in may be unmounted one day.
        if let Err(error) = std::env::set_current_dir("/") {
            tracing::warn!(%error, "the directory it was started in stays in use");
        }
        Ok(())
    }
}

/// Sees to it that the log of a daemon that was let go does not grow for ever. Never ends.
pub(crate) async fn tend_log(path: PathBuf) {
    loop {
        tokio::time::sleep(LOOK).await;
        let log = path.clone();
        // It is a disk, if not a busy one.
        let tended = tokio::task::spawn_blocking(move || tend(&log)).await;
        if let Ok(Err(error)) = tended {
            tracing::warn!(%error, "the log cannot be put aside");
        }
    }
}

/// Goes on in a new log if this one is too long.
fn tend(path: &Path) -> io::Result<()> {
    if is_too_long(path) {
        rustix::stdio::dup2_stderr(&open_log(path)?)?;
    }
    Ok(())
}

fn is_too_long(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.len() > MAX_LOG_BYTES)
}

fn open_log(path: &Path) -> io::Result<File> {
    if is_too_long(path) {
        std::fs::rename(path, path.with_extension("log.old"))?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_log_that_is_too_long_is_put_aside_and_one_older_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(LOG_FILE);
        for round in 0..3 {
            let mut log = open_log(&path).unwrap();
            assert_eq!(log.metadata().unwrap().len(), 0, "it goes on in a new one");
            writeln!(log, "{round}").unwrap();
            log.set_len(MAX_LOG_BYTES).unwrap();
            assert!(!is_too_long(&path));
            log.set_len(MAX_LOG_BYTES + 1).unwrap();
        }
        let aside = std::fs::read(path.with_extension("log.old")).unwrap();
        assert_eq!(aside[0], b'1', "the one before the last");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
