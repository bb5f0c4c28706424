//! `loggia model`: which models there are, which one new sessions use, and whether one works.

use loggia_cli::{ModelList, ModelTest, ModelUse, Outcome};

use super::client::{self, Home};
use crate::cli::ModelCommand;
use crate::errors::Error;

/// Runs the command.
pub(crate) fn run(home: &Home, command: ModelCommand) -> Result<Outcome, Error> {
    let workspace = home.workspace(None)?;
    client::run(home, async |client, terminal| match command {
        ModelCommand::List(arguments) => {
            loggia_cli::model_list(client, ModelList { json: arguments.json }, terminal).await
        }
        ModelCommand::Use(arguments) => {
            let options = ModelUse { name: arguments.name, json: arguments.json };
            loggia_cli::model_use(client, options, terminal).await
        }
        ModelCommand::Test(arguments) => {
            let options = ModelTest { name: arguments.name, workspace, json: arguments.json };
            loggia_cli::model_test(client, options, terminal).await
        }
    })
}
