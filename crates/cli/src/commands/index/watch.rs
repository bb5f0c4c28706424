//! The index as it changes.

use std::time::Duration;

use loggia_client::Client;
use loggia_protocol_agent_server::{IndexState, IndexStatus};

use super::super::{say, say_json};
use super::{IndexOf, progress, tell};
use crate::ask::workspace;
use crate::paint::printable;
use crate::{CliError, Interrupts, Outcome, Terminal};

/// How often it is looked whether something changed.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Brings the index up to date, which also has the server listen to the files, and tells what becomes of it: a line for each
/// change, until somebody interrupts it. The server goes on.
///
/// # Errors
/// See [`CliError`].
pub async fn index_watch(
    client: &Client,
    options: IndexOf,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let id = workspace(client, &options.workspace).await?.workspace_id;
    let mut status = client.refresh_index(&id).await?;
    let mut told: Option<IndexStatus> = None;
    loop {
        if told.as_ref().is_none_or(|told| differs(told, &status)) {
            match options.json {
                true => say_json(terminal, &status)?,
                false => say(terminal, &line(&status))?,
            }
            told = Some(status);
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_AGAIN) => {}
            () = interrupts.next() => return Ok(Outcome::Cancelled),
        }
        status = client.index_status(&id).await?;
    }
}

/// Whether there is something new. How far a build is within its step is not: that would be a line for every look.
fn differs(one: &IndexStatus, other: &IndexStatus) -> bool {
    let telling = |status: &IndexStatus| IndexStatus {
        bytes: 0,
        done: 0,
        total: 0,
        per_second: None,
        seconds_left: None,
        // Builds that nobody asked for have none.
        started_at: None,
        finished_at: None,
        ..status.clone()
    };
    telling(one) != telling(other)
}

fn line(status: &IndexStatus) -> String {
    let mut text = match status.state {
        IndexState::Building => progress::words(status).trim_end().to_owned(),
        _ => tell::line(status),
    };
    if let Some(error) = &status.last_error {
        text.push_str(&format!("; last error: {}", printable(error)));
    }
    text
}

#[cfg(test)]
mod tests {
    use loggia_protocol_agent_server::IndexStep;

    use super::*;
    use crate::commands::index::progress::tests::status;

    #[test]
    fn a_step_and_a_file_more_are_news_and_how_far_it_is_is_none() {
        let building = |step| IndexStatus { step: Some(step), total: 9, ..status(IndexState::Building) };
        let text = building(IndexStep::Text);
        assert!(!differs(&text, &IndexStatus { done: 5, per_second: Some(3.0), ..text.clone() }));
        assert!(differs(&text, &building(IndexStep::Symbols)));
        let ready = status(IndexState::Ready);
        assert!(differs(&ready, &IndexStatus { files: 1, ..ready.clone() }));
        assert!(differs(&ready, &status(IndexState::Stale)));
    }

    #[test]
    fn a_line_tells_the_state_or_the_step() {
        let failed = IndexStatus { last_error: Some("no\u{7}room".to_owned()), ..status(IndexState::Failed) };
        assert_eq!(
            line(&failed),
            "failed: 0 files, 0 definitions, 0 pieces of text, 0 KiB on disk; last error: no\\u{7}room"
        );
        let building = IndexStatus { step: Some(IndexStep::Writing), ..status(IndexState::Building) };
        assert_eq!(line(&building), "indexing: writing");
    }
}
