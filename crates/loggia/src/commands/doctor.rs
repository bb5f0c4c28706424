//! `loggia doctor`: what is set up, what works, and what to do about the rest.

use super::client::{self, Home};
use crate::cli::DoctorArguments;
use crate::errors::Error;
use crate::exit_code::ExitCode;

/// Runs the command.
pub(crate) fn run(home: &Home, arguments: &DoctorArguments) -> Result<ExitCode, Error> {
    let well = client::run_with_model(home, async |client, terminal| {
        loggia_cli::doctor(client, arguments.json, terminal).await
    })?;
    Ok(if well { ExitCode::Success } else { ExitCode::Faults })
}
