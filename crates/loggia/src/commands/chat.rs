//! `loggia chat`: a conversation with the agent.

use std::sync::Arc;

use loggia_cli::{Ask, Chat, Outcome};

use super::ask;
use super::client::{self, Home};
use crate::cli::TurnArguments;
use crate::config::Config;
use crate::errors::Error;

/// Where what was typed is remembered, in the data directory.
const HISTORY: &str = "history";

/// Runs the command.
pub(crate) fn run(config: &Config, home: Home, arguments: &TurnArguments) -> Result<Outcome, Error> {
    let Ask { workspace, model, session, approvals, preset, budget, quiet, .. } =
        ask::asked(config, &home, arguments, false)?;
    let home = Arc::new(home);
    let history = Some(home.places.data().join(HISTORY));
    let revive = Some(ask::revive(&home));
    let chat = Chat { workspace, model, session, approvals, preset, budget, history, quiet, revive };
    let runtime = client::runtime()?;
    let done = runtime.block_on(async {
        let client = home.client_with_model().await?;
        let (interrupts, listening) = client::interrupts_and_end()?;
        let listening = tokio::spawn(listening);
        let mut terminal = client::terminal();
        let workspace = chat.workspace.clone();
        let talk = async { Ok(loggia_cli::chat(&client, chat, &mut terminal, interrupts).await?) };
        let done = ask::trusting(&home, &client, workspace, talk).await;
        listening.abort();
        done
    });
    // A keyboard that is being read is not waited for.
    runtime.shutdown_background();
    done
}
