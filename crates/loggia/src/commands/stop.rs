//! `loggia stop`: asks the server to stop and waits until it has.

use std::time::{Duration, Instant};

use hyper::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use crate::cli::StopArguments;
use crate::config::places::Places;
use crate::daemon::directories::RuntimeDirectory;
use crate::daemon::lock::{self, Record};
use crate::daemon::{DaemonError, client};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::output::Printer;

/// Doors may take five seconds, the engine ten and telemetry two; then a little.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often to look whether it has gone: nobody tells.
const LOOK: Duration = Duration::from_millis(20);

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct Shown {
    /// Whether one ran.
    was_running: bool,
    pid: Option<u32>,
}

/// Runs the command.
pub(crate) fn run(arguments: &StopArguments) -> Result<ExitCode, Error> {
    let runtime = RuntimeDirectory::of(&Places::find()?);
    let holder = || if runtime.is_ours() { lock::holder(&runtime.lock_file()) } else { Ok(None) };
    let record = holder()?;
    if let Some(record) = &record {
        ask(&runtime, record)?;
        let deadline = Instant::now() + PATIENCE;
        while let Some(there) = holder()?.filter(|there| there.pid == record.pid || there.pid == 0) {
            if Instant::now() > deadline {
                return Err(DaemonError::StillThere(there).into());
            }
            std::thread::sleep(LOOK);
        }
    }
    let shown = Shown { was_running: record.is_some(), pid: record.map(|record| record.pid) };
    let mut printer = Printer::new();
    if arguments.json {
        printer.line(serde_json::to_string(&shown).expect("numbers can always be written"))?;
    } else {
        printer.line(if shown.was_running { "stopped" } else { "no server runs" })?;
    }
    printer.finish()?;
    Ok(ExitCode::Success)
}

/// Asks politely; one that cannot hear, by a signal.
fn ask(runtime: &RuntimeDirectory, record: &Record) -> Result<(), DaemonError> {
    match client::ask(&runtime.http_socket(), Method::POST, "/v1/stop") {
        Ok(answer) if answer.status.is_success() => Ok(()),
        Ok(answer) => Err(DaemonError::Refused { status: answer.status.to_string() }),
        Err(error) => {
            tracing::debug!(%error, "no answer; a signal will do");
            let pid = i32::try_from(record.pid).ok().and_then(Pid::from_raw);
            let Some(pid) = pid else { return Err(DaemonError::Silent(record.clone())) };
            // Whoever has gone meanwhile is found gone.
            let _ = kill_process(pid, Signal::TERM);
            Ok(())
        }
    }
}
