//! `loggia config show [KEY]`: every setting, its value and where the value came from.

use crate::cli::ConfigShowArguments;
use crate::config::{Config, keys, show};
use crate::errors::Error;
use crate::exit_code::ExitCode;
use crate::nearest::nearest;
use crate::output::Printer;

/// Runs the command.
pub(crate) fn run(config: &Config, arguments: &ConfigShowArguments) -> Result<ExitCode, Error> {
    let settings = match &arguments.key {
        None => config.settings().iter().collect(),
        Some(path) => vec![find(config, path)?],
    };
    let mut printer = Printer::new();
    if arguments.json {
        printer.line(show::json(&settings))?;
    } else if arguments.key.is_some() {
        for setting in settings {
            printer.line(show::one(setting))?;
        }
    } else {
        printer.line(show::table(&settings))?;
    }
    printer.finish()?;
    Ok(ExitCode::Success)
}

fn find<'a>(config: &'a Config, path: &str) -> Result<&'a crate::config::Setting, Error> {
    config
        .settings()
        .iter()
        .find(|setting| setting.path == path)
        .ok_or_else(|| Error::NoSuchKey { key: path.to_owned(), nearest: nearest(path, keys::names()) })
}
