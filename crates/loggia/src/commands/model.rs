//! `loggia model`: which models there are, which one new sessions use, and whether one works.

use loggia_cli::{CliError, ModelList, ModelTest, ModelUse, Outcome};
use loggia_models::Environment;

use super::client::{self, Home};
use crate::cli::{ModelCommand, ModelUseArguments};
use crate::config::Config;
use crate::daemon::models;
use crate::daemon::stopping::{self, Freed};
use crate::errors::{self, Error};

/// Runs the command.
pub(crate) fn run(config: &Config, home: &Home, command: ModelCommand) -> Result<Outcome, Error> {
    match command {
        ModelCommand::List(arguments) => client::run(home, async |client, terminal| {
            loggia_cli::model_list(client, ModelList { json: arguments.json }, terminal).await
        }),
        ModelCommand::Use(arguments) => choose(config, home, &arguments),
        ModelCommand::Test(arguments) => {
            let workspace = home.workspace(None)?;
            let options = ModelTest { name: arguments.name, workspace, json: arguments.json };
            client::run(home, async |client, terminal| {
                loggia_cli::model_test(client, options, terminal).await
            })
        }
    }
}

/// Sets the model of new sessions. A server that lacks what this terminal has, such as a key, is started anew if nobody
/// needs it.
fn choose(config: &Config, home: &Home, arguments: &ModelUseArguments) -> Result<Outcome, Error> {
    let set = || {
        let options = ModelUse { name: arguments.name.clone(), json: arguments.json };
        client::run(home, async |client, terminal| loggia_cli::model_use(client, options, terminal).await)
    };
    let refused = match set() {
        Err(Error::Client(CliError::Server(error))) if error.problem().is_some() => error,
        done => return done,
    };
    let environment = Environment::from_fn(|name| std::env::var(name).ok());
    let is_known_here = models::find(Some(&arguments.name), &config.endpoints(), environment).is_ok();
    if is_known_here {
        match stopping::free(&home.places)? {
            Freed::Gone => return set(),
            Freed::Absent => {}
            Freed::Stays(record) => {
                let message = format!("the server that runs ({record}) keeps the keys it was started with");
                errors::warn(&message, "run `loggia stop`, start it again from here, and choose again");
            }
        }
    }
    Err(CliError::Server(refused).into())
}
