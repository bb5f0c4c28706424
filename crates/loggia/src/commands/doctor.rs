//! `loggia doctor`: what is set up, what works, and what to do about the rest.
//!
//! What always holds: a configuration that does not make sense is one of the findings, and keeps nothing else from being
//! told by a server that runs.

use std::error::Error as _;

use loggia_cli::CliError;
use loggia_client::{Client, Server};
use loggia_protocol_agent_server::{CheckState, DoctorCheck, DoctorReport};

use super::client::{self, Home};
use crate::cli::DoctorArguments;
use crate::config::ConfigError;
use crate::config::places::Places;
use crate::daemon::directories::RuntimeDirectory;
use crate::daemon::stopping;
use crate::errors::Error;
use crate::exit_code::ExitCode;

/// Runs the command.
pub(crate) fn run(home: &Home, arguments: &DoctorArguments) -> Result<ExitCode, Error> {
    let well = client::run_with_model(home, async |client, terminal| {
        loggia_cli::doctor(client, arguments.json, terminal).await
    })?;
    Ok(if well { ExitCode::Success } else { ExitCode::Faults })
}

/// The same with a configuration that does not make sense: a server that runs is asked, and none is started.
pub(crate) fn run_misconfigured(error: &ConfigError, arguments: &DoctorArguments) -> Result<ExitCode, Error> {
    let places = Places::find()?;
    let mut report = match stopping::running(&places)? {
        Some(_) => {
            let server = Client::new(Server::Unix(RuntimeDirectory::of(&places).http_socket()));
            client::runtime()?.block_on(server.doctor()).map_err(CliError::from)?
        }
        None => {
            let message = "none runs, and none can be started with this configuration".to_owned();
            let check =
                DoctorCheck { name: "server".to_owned(), state: CheckState::Absent, message, hint: None };
            DoctorReport { version: env!("CARGO_PKG_VERSION").to_owned(), checks: vec![check] }
        }
    };
    report.checks.insert(0, found(error));
    let well = loggia_cli::doctor_report(&report, arguments.json, &mut client::terminal())?;
    Ok(if well { ExitCode::Success } else { ExitCode::Faults })
}

/// What is wrong with the configuration, with its causes.
fn found(error: &ConfigError) -> DoctorCheck {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    let hint = error.hint().unwrap_or_else(|| "correct it there, and ask again".to_owned());
    DoctorCheck { name: "configuration".to_owned(), state: CheckState::Failed, message, hint: Some(hint) }
}
