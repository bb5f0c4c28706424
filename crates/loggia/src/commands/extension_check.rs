//! `loggia ext check PROGRAM`: whether an extension does what hosts expect.
//!
//! No configuration is read and no server is needed: whoever writes an extension has perhaps neither.

use std::path::Path;

use loggia_extensions::{CheckOptions, ExtensionEntry, Limits, Report, USUAL_MESSAGE, check};
use loggia_wire::child::Keeper;
use serde::Serialize;

use crate::cli::{ExtensionCheckArguments, GlobalFlags};
use crate::daemon::DaemonError;
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::logging::{self, Format, Heard};
use crate::output::{Printer, printable};

/// The report for programs.
#[derive(Debug, Serialize)]
struct Line<'a> {
    ok: bool,
    #[serde(flatten)]
    report: &'a Report,
}

/// Runs the command.
pub(crate) fn run(flags: &GlobalFlags, arguments: &ExtensionCheckArguments) -> Result<ExitCode, Error> {
    logging::start(super::wrap::level(flags), Format::Text, Heard::Everybody, None, None);
    let keeper = Keeper::this_executable("__supervise").map_err(|source| DaemonError::Runtime { source })?;
    let entry = ExtensionEntry { args: arguments.args.clone(), ..ExtensionEntry::new(&arguments.path) };
    let here = Path::new(".");
    let unreadable = |source| Error::Input { path: here.to_owned(), source };
    // What it keeps in the run is nobody's afterwards.
    let data = tempfile::tempdir().map_err(|source| DaemonError::Runtime { source })?;
    let options = CheckOptions {
        keeper,
        // As a server gives it: all of the user's.
        environment: std::env::vars_os().collect(),
        directory: here.canonicalize().map_err(unreadable)?,
        data_directory: data.path().to_owned(),
        message: match &arguments.message {
            Some(file) => super::message::read(file)?,
            None => USUAL_MESSAGE.to_owned(),
        },
        commands: !arguments.no_commands,
        malformed: arguments.malformed,
        limits: Limits::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| DaemonError::Runtime { source })?;
    let report = runtime.block_on(check(&entry, &options));
    tell(&report, arguments.json)?;
    Ok(if report.has_passed() { ExitCode::Success } else { ExitCode::Faults })
}

fn tell(report: &Report, json: bool) -> Result<(), Error> {
    let mut printer = Printer::new();
    if json {
        let line = Line { ok: report.has_passed(), report };
        printer.line(serde_json::to_string(&line).expect("texts and numbers can always be written"))?;
    } else {
        for line in report.render().lines() {
            printer.line(printable(line))?;
        }
    }
    printer.finish()
}
