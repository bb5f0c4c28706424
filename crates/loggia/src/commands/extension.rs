//! `loggia ext`: which extensions there are, how they are, and their commands.

use std::path::PathBuf;

use loggia_cli::{
    ExtensionChange, ExtensionRun, ExtensionsOf, Outcome, extension_change, extension_info, extension_list,
    extension_logs, extension_run, extension_start,
};

use super::client::{self, Home};
use super::message;
use crate::cli::{ExtensionCommand, ExtensionListArguments, ExtensionNamedArguments, ExtensionRunArguments};
use crate::errors::Error;
use crate::exit_code::ExitCode;

/// Runs the command.
pub(crate) fn run(home: &Home, command: ExtensionCommand) -> Result<ExitCode, Error> {
    let outcome = match command {
        ExtensionCommand::Run(arguments) => return run_command(home, *arguments).map(ExitCode::from),
        ExtensionCommand::List(arguments) => {
            let options = all(home, arguments)?;
            client::run(home, async |client, terminal| extension_list(client, options, terminal).await)?
        }
        ExtensionCommand::Start(arguments) => {
            let options = all(home, arguments)?;
            let well =
                client::run(home, async |client, terminal| extension_start(client, options, terminal).await)?;
            return Ok(if well { ExitCode::Success } else { ExitCode::Faults });
        }
        ExtensionCommand::Info(arguments) => {
            let (name, options) = one(home, arguments)?;
            client::run(home, async |client, terminal| extension_info(client, name, options, terminal).await)?
        }
        ExtensionCommand::Logs(arguments) => {
            let (name, options) = one(home, arguments)?;
            client::run(home, async |client, terminal| extension_logs(client, name, options, terminal).await)?
        }
        ExtensionCommand::Restart(arguments) => change(home, arguments, ExtensionChange::Restart)?,
        ExtensionCommand::Stop(arguments) => change(home, arguments, ExtensionChange::Stop)?,
    };
    Ok(outcome.into())
}

fn change(
    home: &Home,
    arguments: ExtensionNamedArguments,
    change: ExtensionChange,
) -> Result<Outcome, Error> {
    let (name, options) = one(home, arguments)?;
    client::run(home, async |client, terminal| {
        extension_change(client, name, change, options, terminal).await
    })
}

fn run_command(home: &Home, arguments: ExtensionRunArguments) -> Result<Outcome, Error> {
    let workspace = home.workspace(arguments.workspace.as_deref())?;
    let message = arguments.message.map(|file| message::below(&workspace, &file)).transpose()?;
    let options = ExtensionRun {
        extension: arguments.extension,
        command: arguments.command,
        workspace,
        message,
        save: arguments.save,
        timeout_s: arguments.timeout,
        yes: arguments.yes,
        answers: arguments.answers,
        // One that is gone has no paths below it.
        here: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        json: arguments.json,
    };
    client::run_asking(home, async |client, terminal, interrupts| {
        extension_run(client, options, terminal, interrupts).await
    })
}

fn all(home: &Home, arguments: ExtensionListArguments) -> Result<ExtensionsOf, Error> {
    Ok(ExtensionsOf { workspace: home.workspace(arguments.workspace.as_deref())?, json: arguments.json })
}

fn one(home: &Home, arguments: ExtensionNamedArguments) -> Result<(String, ExtensionsOf), Error> {
    let workspace = home.workspace(arguments.workspace.as_deref())?;
    Ok((arguments.name, ExtensionsOf { workspace, json: arguments.json }))
}
