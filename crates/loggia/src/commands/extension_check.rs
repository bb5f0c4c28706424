//! `loggia ext check PROGRAM`: whether an extension does what hosts expect.
//!
//! No configuration is read and no server is needed: whoever writes an extension has perhaps neither.

use loggia_extensions::{CheckOptions, ExtensionEntry, Report, check};
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
    let options = CheckOptions {
        keeper,
        // As a server gives it: all of the user's.
        environment: std::env::vars_os().collect(),
        commands: !arguments.no_commands,
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
