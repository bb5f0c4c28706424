//! A build, followed to its end.
//!
//! What always holds: a build that was interrupted here is cancelled, and the line that showed it is gone.

use std::time::Duration;

use loggia_client::Client;
use loggia_protocol_agent_server::{IndexState, IndexStatus, WorkspaceId};

use super::{IndexOf, progress, tell};
use crate::ask::workspace;
use crate::live::WIPE;
use crate::{CliError, Interrupts, Outcome, Terminal};

/// How often it is asked how far a build is.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How often a build is told to end that has not begun yet, or takes its time.
const CANCELS: usize = 20;

/// How an index is built.
#[derive(Debug, Clone)]
pub struct IndexBuilding {
    /// Whose.
    pub of: IndexOf,
    /// From nothing, and not only what differs from the files.
    pub anew: bool,
}

/// How a build ended.
#[derive(Debug)]
pub(in crate::commands) enum Built {
    /// It is over. The index is like this now.
    Over(Box<IndexStatus>),
    /// There is no index that could be built.
    Nowhere(Box<IndexStatus>),
    /// Somebody interrupted it here.
    Cancelled,
}

/// Builds the index, shows how far it is, and then how it is. Ctrl-C cancels the build.
///
/// # Errors
/// See [`CliError`].
pub async fn index_build(
    client: &Client,
    options: IndexBuilding,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let id = workspace(client, &options.of.workspace).await?.workspace_id;
    let begun = match options.anew {
        true => client.rebuild_index(&id).await?,
        false => client.refresh_index(&id).await?,
    };
    let status = match until_built(client, &id, begun, terminal, interrupts).await? {
        Built::Cancelled => return Ok(Outcome::Cancelled),
        Built::Over(status) => *status,
        Built::Nowhere(status) => {
            let reason = status.last_error.unwrap_or_else(|| "there is no code index here".to_owned());
            return Err(CliError::NotBuilt { reason });
        }
    };
    if status.cancelled == Some(true) || status.state == IndexState::Empty {
        return cancelled_by_others(terminal);
    }
    if status.state == IndexState::Failed {
        let reason = status.last_error.unwrap_or_else(|| "the server does not say why".to_owned());
        return Err(CliError::NotBuilt { reason });
    }
    tell::all(&status, options.of.json, terminal)?;
    Ok(Outcome::Done)
}

/// Says that somebody else ended a build that was waited for.
pub(in crate::commands) fn cancelled_by_others(terminal: &mut Terminal) -> Result<Outcome, CliError> {
    terminal.err("The build was cancelled by somebody else.\n").map_err(CliError::Output)?;
    Ok(Outcome::Cancelled)
}

/// Builds an index that has nothing yet.
pub(in crate::commands) async fn build_missing(
    client: &Client,
    id: &WorkspaceId,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Built, CliError> {
    let begun = client.refresh_index(id).await?;
    until_built(client, id, begun, terminal, interrupts).await
}

/// Waits for the end of a build, and shows how far it is where somebody sees it.
async fn until_built(
    client: &Client,
    id: &WorkspaceId,
    begun: IndexStatus,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Built, CliError> {
    if begun.started_at.is_none() {
        return Ok(Built::Nowhere(Box::new(begun)));
    }
    let is_seen = terminal.stderr_is_terminal() && terminal.can_wipe();
    let mut is_shown = false;
    let built = loop {
        let status = client.index_status(id).await?;
        if !is_under_way(&status) {
            break Built::Over(Box::new(status));
        }
        if is_seen {
            let line = progress::line(&status, terminal.paint_err(), terminal.width());
            terminal.err(&format!("{WIPE}{line}")).map_err(CliError::Output)?;
            is_shown = true;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_AGAIN) => {}
            () = interrupts.next() => {
                cancel(client, id).await?;
                break Built::Cancelled;
            }
        }
    };
    if is_shown {
        terminal.err(WIPE).map_err(CliError::Output)?;
    }
    if matches!(built, Built::Cancelled) {
        terminal.err("Cancelled; what was there before stays.\n").map_err(CliError::Output)?;
    }
    Ok(built)
}

/// Ends a build. One that was only just asked for may not have begun, so it is told until it is over.
async fn cancel(client: &Client, id: &WorkspaceId) -> Result<(), CliError> {
    for _ in 0..CANCELS {
        if !is_under_way(&client.cancel_index(id).await?) {
            break;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

/// Whether a build runs, or was asked for and has not begun. Moments on the wire are in order as texts.
pub(super) fn is_under_way(status: &IndexStatus) -> bool {
    let started = status.started_at.as_ref().map(|at| at.0.as_str());
    let finished = status.finished_at.as_ref().map(|at| at.0.as_str());
    status.state == IndexState::Building || started > finished
}

#[cfg(test)]
mod tests {
    use loggia_protocol_agent_server::Timestamp;

    use super::*;

    #[test]
    fn a_build_that_was_asked_for_is_not_over_before_it_began() {
        let status = |state, started: Option<&str>, finished: Option<&str>| IndexStatus {
            started_at: started.map(|at| Timestamp(at.to_owned())),
            finished_at: finished.map(|at| Timestamp(at.to_owned())),
            ..progress::tests::status(state)
        };
        let (before, after) = (Some("2026-01-01T00:00:00.100Z"), Some("2026-01-01T00:00:00.200Z"));
        assert!(is_under_way(&status(IndexState::Ready, after, before)), "the end of another one counts not");
        assert!(is_under_way(&status(IndexState::Empty, before, None)));
        assert!(is_under_way(&status(IndexState::Building, before, after)), "it was begun another way");
        assert!(!is_under_way(&status(IndexState::Ready, before, after)));
        assert!(!is_under_way(&status(IndexState::Ready, before, before)));
        assert!(!is_under_way(&status(IndexState::Empty, None, None)));
    }
}
