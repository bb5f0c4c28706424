//! `loggia plugin`: which plugins there are, whether they may run, and how they come and go.

use std::path::{Path, PathBuf};

use loggia_cli::{
    PluginInstall, PluginList, PluginNamed, PluginRemove, PluginValidate, plugin_disable, plugin_enable,
    plugin_info, plugin_install, plugin_list, plugin_remove, plugin_validate,
};

use super::client::{self, Home};
use crate::cli::{PluginCommand, PluginPlace, PluginSwitchArguments};
use crate::errors::Error;
use crate::exit_code::ExitCode;

/// Runs the command.
pub(crate) fn run(home: &Home, command: PluginCommand) -> Result<ExitCode, Error> {
    let outcome = match command {
        PluginCommand::List(arguments) => {
            let workspace = seen_from(home, &arguments.place)?;
            let options = PluginList { workspace, json: arguments.json };
            client::run(home, async |client, terminal| plugin_list(client, options, terminal).await)?
        }
        PluginCommand::Info(arguments) => {
            let workspace = seen_from(home, &arguments.place)?;
            let options = PluginNamed { name: arguments.name, workspace, json: arguments.json };
            client::run(home, async |client, terminal| plugin_info(client, options, terminal).await)?
        }
        PluginCommand::Validate(arguments) => {
            let workspace = seen_from(home, &arguments.place)?;
            let options = PluginValidate { name: arguments.name, workspace, json: arguments.json };
            let well =
                client::run(home, async |client, terminal| plugin_validate(client, options, terminal).await)?;
            return Ok(if well { ExitCode::Success } else { ExitCode::Faults });
        }
        PluginCommand::Enable(arguments) => {
            let options = switched(home, arguments)?;
            client::run(home, async |client, terminal| plugin_enable(client, options, terminal).await)?
        }
        PluginCommand::Disable(arguments) => {
            let options = switched(home, arguments)?;
            client::run(home, async |client, terminal| plugin_disable(client, options, terminal).await)?
        }
        PluginCommand::Install(arguments) => {
            let workspace = changed_in(home, &arguments.place)?;
            let options =
                PluginInstall { source: source(&arguments.source)?, workspace, json: arguments.json };
            client::run(home, async |client, terminal| plugin_install(client, options, terminal).await)?
        }
        PluginCommand::Remove(arguments) => {
            let workspace = changed_in(home, &arguments.place)?;
            let (name, yes, json) = (arguments.name, arguments.yes, arguments.json);
            let options = PluginRemove { name, workspace, yes, json };
            client::run_asking(home, async |client, terminal, interrupts| {
                plugin_remove(client, options, terminal, interrupts).await
            })?
        }
    };
    Ok(outcome.into())
}

fn switched(home: &Home, arguments: PluginSwitchArguments) -> Result<PluginNamed, Error> {
    let workspace = changed_in(home, &arguments.place)?;
    Ok(PluginNamed { name: arguments.name, workspace, json: arguments.json })
}

/// From where to look: outside of every workspace there are only the user's own.
fn seen_from(home: &Home, place: &PluginPlace) -> Result<Option<PathBuf>, Error> {
    match (place.global, &place.workspace, &home.places.workspace) {
        (true, ..) | (_, None, None) => Ok(None),
        (_, named, _) => home.workspace(named.as_deref()).map(Some),
    }
}

/// Where to change something: outside of every workspace somebody has to say that all are meant.
fn changed_in(home: &Home, place: &PluginPlace) -> Result<Option<PathBuf>, Error> {
    let found = seen_from(home, place)?;
    if found.is_none() && !place.global {
        return Err(Error::NoWorkspace);
    }
    Ok(found)
}

/// What a server can understand that stands elsewhere: an address as it is, a path from the root on.
fn source(given: &str) -> Result<String, Error> {
    let path = Path::new(given);
    let is_address = given.contains("://") || (given.contains('@') && given.contains(':'));
    if is_address && !path.exists() {
        return Ok(given.to_owned());
    }
    let failed = |source| Error::NoDirectory { path: path.to_owned(), source };
    let real = path.canonicalize().map_err(failed)?;
    let text = real.to_str().map(str::to_owned);
    text.ok_or(Error::UnreadableName { path: real })
}
