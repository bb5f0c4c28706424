//! `loggia config show [KEY]`: every setting, its value and where the value came from.

use crate::cli::ConfigShowArguments;
use crate::config::places::Places;
use crate::config::{Config, Setting, keys, show};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::nearest::nearest;
use crate::output::Printer;

/// Runs the command.
pub(crate) fn run(config: &Config, arguments: &ConfigShowArguments) -> Result<ExitCode, Error> {
    let chosen = chosen(config)?;
    let settings = match &arguments.key {
        None => config.settings().iter().collect(),
        Some(path) => find(config, path)?,
    };
    let mut printer = Printer::new();
    if arguments.json {
        printer.line(show::json(&settings, chosen.as_deref()))?;
    } else {
        match (&arguments.key, settings.as_slice()) {
            (Some(_), [one]) => printer.line(show::one(one, chosen.as_deref()))?,
            _ => printer.line(show::table(&settings, chosen.as_deref()))?,
        }
    }
    printer.finish()?;
    Ok(ExitCode::Success)
}

/// The model that was chosen with `loggia model use`, if that counts before the configuration here.
fn chosen(config: &Config) -> Result<Option<String>, Error> {
    if config.own_model().is_some() {
        return Ok(None);
    }
    match loggia_engine::chosen_model(Places::find()?.data()) {
        Ok(chosen) => Ok(chosen.map(|name| name.0)),
        // The server that cannot read it says so; the configuration is still worth showing.
        Err(error) => {
            tracing::warn!(%error, "which model was chosen is not known");
            Ok(None)
        }
    }
}

/// The setting of that name; of a list all there are.
fn find<'a>(config: &'a Config, path: &str) -> Result<Vec<&'a Setting>, Error> {
    let named = |setting: &&Setting| setting.path == path || setting.key.path == path;
    let found: Vec<_> = config.settings().iter().filter(named).collect();
    if found.is_empty() {
        return Err(Error::NoSuchKey { key: path.to_owned(), nearest: nearest(path, keys::names()) });
    }
    Ok(found)
}
