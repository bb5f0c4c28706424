//! `loggia stop`: asks the server to stop and waits until it has.

use loggia_domain::Unsaved;
use serde::Serialize;

use crate::cli::StopArguments;
use crate::config::places::Places;
use crate::daemon::stopping;
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::output::Printer;

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct Shown {
    /// Whether one ran.
    was_running: bool,
    pid: Option<u32>,
}

/// Runs the command.
pub(crate) fn run(arguments: &StopArguments) -> Result<ExitCode, Error> {
    let unsaved = if arguments.discard { Unsaved::Discard } else { Unsaved::Keep };
    let record = stopping::stop(&Places::find()?, unsaved)?;
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
