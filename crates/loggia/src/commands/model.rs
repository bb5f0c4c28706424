//! `loggia model`: which models there are, which one new sessions use, and whether one works.

use loggia_cli::{ConfiguredModel, ModelList, ModelTest, ModelUse, Outcome};

use super::client::{self, Home};
use super::known::Known;
use crate::cli::{ModelCommand, ModelUseArguments};
use crate::config::Config;
use crate::daemon::stopping::{self, Freed};
use crate::errors::{self, Error};

/// Runs the command.
pub(crate) fn run(config: &Config, home: &Home, command: ModelCommand) -> Result<Outcome, Error> {
    match command {
        ModelCommand::List(arguments) => client::run(home, async |client, terminal| {
            let options = ModelList { configured: configured(config), json: arguments.json };
            loggia_cli::model_list(client, options, terminal).await
        }),
        ModelCommand::Use(arguments) => choose(config, home, &arguments),
        ModelCommand::Test(arguments) => {
            let workspace = home.workspace(None)?;
            let options = ModelTest { name: arguments.name, workspace, json: arguments.json };
            client::run_with_model(home, async |client, terminal| {
                loggia_cli::model_test(client, options, terminal).await
            })
        }
    }
}

/// The model that is set here, if one is.
fn configured(config: &Config) -> Option<ConfiguredModel> {
    let (name, by) = (config.model()?.to_owned(), config.model_origin()?);
    Some(ConfiguredModel { name, by, counts_first: config.own_model().is_some() })
}

/// Sets the model of new sessions. A server that lacks what this terminal has, such as a key, is started anew if nobody
/// needs it.
fn choose(config: &Config, home: &Home, arguments: &ModelUseArguments) -> Result<Outcome, Error> {
    let set = || {
        let options = ModelUse { name: arguments.name.clone(), json: arguments.json };
        client::run(home, async |client, terminal| loggia_cli::model_use(client, options, terminal).await)
    };
    let refused = match set() {
        Err(Error::Client(error)) if error.is_about_model() => error,
        done => return done,
    };
    let name = arguments.name.as_deref().unwrap_or_default();
    if matches!(Known::of(name, config), Known::Here) {
        match stopping::free(&home.places)? {
            Freed::Gone => return set(),
            Freed::Absent => {}
            Freed::Stays(record) => {
                let message = format!("the server that runs ({record}) keeps the keys it was started with");
                errors::warn(&message, "run `loggia stop`, start it again from here, and choose again");
            }
        }
    }
    Err(refused.into())
}
