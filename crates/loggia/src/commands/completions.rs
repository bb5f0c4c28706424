//! `loggia completions SHELL`: prints a completion script.

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsArguments};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::output::Printer;

/// Runs the command.
pub(crate) fn run(arguments: &CompletionsArguments) -> Result<ExitCode, Error> {
    // The generator panics when it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "loggia", &mut script);
    let mut printer = Printer::new();
    printer.bytes(&script)?;
    printer.finish()?;
    Ok(ExitCode::Success)
}
