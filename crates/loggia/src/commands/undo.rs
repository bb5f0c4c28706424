//! `loggia undo` and `loggia redo`.

use loggia_cli::{Outcome, SessionChoice, Undo};
use loggia_protocol_agent_server::SessionId;

use super::client::{self, Home};
use crate::cli::UndoArguments;
use crate::errors::Error;

/// Takes back.
pub(crate) fn undo(home: &Home, arguments: UndoArguments) -> Result<Outcome, Error> {
    let options = options(home, arguments)?;
    client::run_asking(home, async |client, terminal, interrupts| {
        loggia_cli::undo(client, options, terminal, interrupts).await
    })
}

/// Makes again.
pub(crate) fn redo(home: &Home, arguments: UndoArguments) -> Result<Outcome, Error> {
    let options = options(home, arguments)?;
    client::run_asking(home, async |client, terminal, interrupts| {
        loggia_cli::redo(client, options, terminal, interrupts).await
    })
}

fn options(home: &Home, arguments: UndoArguments) -> Result<Undo, Error> {
    let UndoArguments { session, steps, workspace, yes, json } = arguments;
    let session = session.map_or(SessionChoice::Latest, |id| SessionChoice::Id(SessionId(id)));
    Ok(Undo { session, workspace: home.workspace(workspace.as_deref())?, steps: Some(steps), yes, json })
}
