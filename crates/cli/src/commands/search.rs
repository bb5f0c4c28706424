//! Looking for code in the index of a workspace.

mod mark;
mod show;

use loggia_client::Client;
use loggia_protocol_agent_server::{
    HitKind, IndexState, PartialAnswer, ReferenceList, SearchResult, TextMatch, WorkspaceId,
};

use super::index::{Built, IndexOf, build_missing, cancelled_by_others};
use super::say_json;
use crate::ask::workspace;
use crate::{CliError, Interrupts, Outcome, Terminal};

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Search {
    /// Where.
    pub of: IndexOf,
    /// The words.
    pub query: String,
    /// How.
    pub way: SearchWay,
    /// Only definitions of these kinds, such as `function`.
    pub kinds: Vec<String>,
    /// Only files that match one of these globs; one that begins with `!` leaves files out.
    pub paths: Vec<String>,
    /// At most so many; as many as the server thinks right otherwise.
    pub limit: Option<u64>,
}

/// How code is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchWay {
    /// In all ways, ranked together.
    All,
    /// By the names of definitions.
    Symbols,
    /// By words in files.
    Words,
    /// By words as they stand, within a line.
    Phrase,
    /// By a regular expression, within a line.
    Regex,
    /// By meaning.
    Vectors,
    /// Where a name is used.
    References,
}

/// What was found.
enum Found {
    Places(SearchResult),
    Uses(ReferenceList),
}

/// Looks for code. An index that has nothing yet is built first.
///
/// # Errors
/// See [`CliError`].
pub async fn search(
    client: &Client,
    options: Search,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let id = workspace(client, &options.of.workspace).await?.workspace_id;
    let status = client.index_status(&id).await?;
    if status.files == 0 && status.state != IndexState::Ready {
        match build_missing(client, &id, terminal, interrupts).await? {
            Built::Cancelled => return Ok(Outcome::Cancelled),
            Built::Over(status) if status.files == 0 && status.cancelled == Some(true) => {
                return cancelled_by_others(terminal);
            }
            Built::Over(_) | Built::Nowhere(_) => {}
        }
    }
    let found = ask(client, &id, &options).await.map_err(|error| match error {
        loggia_client::Error::Refused(refusal) => {
            let (way, has_paths) = (options.way, !options.paths.is_empty());
            CliError::NotSearched { refusal, way, has_paths }
        }
        error => error.into(),
    })?;
    if options.of.json {
        match &found {
            Found::Places(found) => say_json(terminal, found)?,
            Found::Uses(found) => say_json(terminal, found)?,
        }
        return Ok(Outcome::Done);
    }
    let text = show::text(&found, &options, terminal);
    if text.is_empty() {
        terminal.err("Nothing was found.\n").map_err(CliError::Output)?;
    }
    terminal.out(&text).map_err(CliError::Output)?;
    if let Some(note) = found.note() {
        terminal.err(&format!("{note}\n")).map_err(CliError::Output)?;
    }
    Ok(Outcome::Done)
}

impl Found {
    /// Why there may be more, and what to do about it.
    fn note(&self) -> Option<&'static str> {
        let partial = match self {
            Self::Places(found) => found.partial.as_ref(),
            Self::Uses(found) => found.partial.as_ref(),
        };
        Some(match partial? {
            PartialAnswer::Limit => "There may be more; `-n` shows up to 1,000.",
            PartialAnswer::Building => "The index is being built; there may be more.",
            PartialAnswer::Stale => {
                "The index is not up to date; `loggia index build` brings it there, `loggia index` tells more."
            }
            PartialAnswer::Other(_) => "There may be more.",
        })
    }
}

async fn ask(client: &Client, id: &WorkspaceId, options: &Search) -> Result<Found, loggia_client::Error> {
    let (kind, matching) = match options.way {
        SearchWay::References => {
            let uses = client.references(id, &options.query, &options.paths, options.limit).await?;
            return Ok(Found::Uses(uses));
        }
        SearchWay::All => (None, None),
        SearchWay::Symbols => (Some(HitKind::Symbol), None),
        SearchWay::Words => (Some(HitKind::Text), None),
        SearchWay::Phrase => (Some(HitKind::Text), Some(TextMatch::Phrase)),
        SearchWay::Regex => (Some(HitKind::Text), Some(TextMatch::Regex)),
        SearchWay::Vectors => (Some(HitKind::Vector), None),
    };
    let search = loggia_client::Search {
        query: options.query.clone(),
        kind,
        matching,
        symbol_kinds: options.kinds.clone(),
        paths: options.paths.clone(),
        limit: options.limit,
    };
    Ok(Found::Places(client.search_with(id, &search).await?))
}
