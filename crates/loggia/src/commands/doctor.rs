//! `loggia doctor`: what is set up, what works, and what to do about the rest.

use super::client;
use crate::cli::DoctorArguments;
use crate::config::places::Places;
use crate::errors::Error;
use crate::exit_code::ExitCode;

/// Runs the command.
pub(crate) fn run(places: &Places, arguments: &DoctorArguments) -> Result<ExitCode, Error> {
    let well = client::run(places, async |client, terminal| {
        loggia_cli::doctor(client, arguments.json, terminal).await
    })?;
    Ok(if well { ExitCode::Success } else { ExitCode::Faults })
}
