//! What there is to choose from, found where it is kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_domain::{SessionQuery, SessionSummary};
use loggia_engine::EngineError;

use crate::door::Inner;
use crate::guest::Guest;

/// Sessions that are looked at, the latest first: a year of busy days.
const SESSIONS: usize = 10_000;

/// How many are asked for at once.
const PAGE: usize = 200;

/// Entries of a directory that are looked at.
const ENTRIES: usize = 1000;

/// How long providers may take to say which models they have, while somebody waits for a completion.
const MODELS: Duration = Duration::from_secs(2);

impl Inner {
    /// The latest sessions.
    pub(crate) async fn latest(&self, limit: usize) -> Result<Vec<SessionSummary>, EngineError> {
        Ok(self.parts.engine.sessions(SessionQuery { workspace: None, limit, cursor: None }).await?.items)
    }

    /// All sessions, as far as anybody looks.
    pub(crate) async fn sessions(&self) -> Result<Vec<SessionSummary>, EngineError> {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let query = SessionQuery { workspace: None, limit: PAGE, cursor };
            let page = self.parts.engine.sessions(query).await?;
            found.extend(page.items);
            cursor = page.next;
            if cursor.is_none() || found.len() >= SESSIONS {
                return Ok(found);
            }
        }
    }

    /// The names of the models, if they are told in time.
    pub(crate) async fn model_names(&self) -> Vec<String> {
        let listing = tokio::time::timeout(MODELS, self.parts.models.list()).await.unwrap_or_default();
        listing.models.into_iter().map(|model| model.name.0).collect()
    }

    /// The names of the plugins of the workspace of the session in use. None is started.
    pub(crate) async fn plugin_names(&self, guest: &Guest) -> Vec<String> {
        let Ok(workspace) = crate::commands::usual(self, guest).await else { return Vec::new() };
        let Ok(workspace) = self.parts.engine.workspace(workspace).await else { return Vec::new() };
        let listing = self.parts.plugins.list(Some(workspace)).await.unwrap_or_default();
        let mut names: Vec<String> = listing.plugins.into_iter().map(|plugin| plugin.name).collect();
        names.dedup();
        names
    }

    /// The names of the extensions of that workspace. None is started.
    pub(crate) async fn extension_names(&self, guest: &Guest) -> Vec<String> {
        let Ok(workspace) = crate::commands::usual(self, guest).await else { return Vec::new() };
        let Ok(workspace) = self.parts.engine.workspace(workspace).await else { return Vec::new() };
        let listing = self.parts.engine.extensions().list(workspace).await.unwrap_or_default();
        listing.extensions.into_iter().map(|extension| extension.name).collect()
    }
}

/// A directory somebody named, as an absolute path: what is relative is relative to where their terminal is.
pub(crate) fn absolute(guest: &Guest, typed: &str) -> Option<PathBuf> {
    let path = match typed.strip_prefix("~/").or_else(|| (typed == "~").then_some("")) {
        Some(rest) => PathBuf::from(std::env::var_os("HOME")?).join(rest),
        None => PathBuf::from(typed),
    };
    if path.is_absolute() { Some(path) } else { Some(guest.directory()?.join(path)) }
}

/// The directories a half-typed path could become, typed in full.
pub(crate) async fn directories(guest: &Guest, typed: &str) -> Vec<String> {
    let (parent, begun) = typed.rfind('/').map_or(("", typed), |slash| typed.split_at(slash + 1));
    let Some(place) = absolute(guest, if parent.is_empty() { "." } else { parent }) else {
        return Vec::new();
    };
    let (parent, begun) = (parent.to_owned(), begun.to_owned());
    let look = tokio::task::spawn_blocking(move || names(&place, &begun));
    let mut names = look.await.unwrap_or_default();
    names.sort();
    names.into_iter().map(|name| format!("{parent}{name}/")).collect()
}

fn names(place: &Path, begun: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let name = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let fits = name.starts_with(begun) && (begun.starts_with('.') || !name.starts_with('.'));
        (fits && entry.path().is_dir() && !name.chars().any(char::is_control)).then_some(name)
    };
    entries.take(ENTRIES).flatten().filter_map(name).collect()
}
