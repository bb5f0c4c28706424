//! The code index of a workspace.

use loggia_protocol_agent_server::{
    ChangesParams, ChangesResult, HitKind, IndexStatus, ReferenceList, SearchResult, SkippedList, TextMatch,
    WorkspaceId,
};

use crate::client::Ask;
use crate::{Client, Error};

impl Client {
    /// How the index is.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn index_status(&self, id: &WorkspaceId) -> Result<IndexStatus, Error> {
        self.ask(Ask::get(&["v1", "workspaces", &id.0, "index", "status"])).await
    }

    /// Begins to build the index from nothing, or joins the build that runs.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn rebuild_index(&self, id: &WorkspaceId) -> Result<IndexStatus, Error> {
        self.ask(Ask::post(&["v1", "workspaces", &id.0, "index", "rebuild"])).await
    }

    /// Begins to look at every file's hash again, or joins the build that runs.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn refresh_index(&self, id: &WorkspaceId) -> Result<IndexStatus, Error> {
        self.ask(Ask::post(&["v1", "workspaces", &id.0, "index", "refresh"])).await
    }

    /// Tells the index which files have changed.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn change_index(
        &self,
        id: &WorkspaceId,
        params: &ChangesParams,
    ) -> Result<ChangesResult, Error> {
        self.ask(Ask::post(&["v1", "workspaces", &id.0, "index", "incremental"]).json(params)).await
    }

    /// Searches, in everything or in one kind of things.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn search(
        &self,
        id: &WorkspaceId,
        query: &str,
        kind: Option<&HitKind>,
    ) -> Result<SearchResult, Error> {
        let ask =
            Ask::get(&["v1", "workspaces", &id.0, "search"]).query("q", Some(query)).query("kind", kind);
        self.ask(ask).await
    }

    /// Searches with everything that can be said about it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn search_with(&self, id: &WorkspaceId, search: &Search) -> Result<SearchResult, Error> {
        let ask = Ask::get(&["v1", "workspaces", &id.0, "search"])
            .query("q", Some(&search.query))
            .query("kind", search.kind.as_ref())
            .query("match", search.matching.as_ref())
            .query("symbol_kind", joined(&search.symbol_kinds))
            .query("path", joined(&search.paths))
            .query("limit", search.limit);
        self.ask(ask).await
    }

    /// Where a name is used, in all files or in those that match one of these globs.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn references(
        &self,
        id: &WorkspaceId,
        name: &str,
        paths: &[String],
        limit: Option<u64>,
    ) -> Result<ReferenceList, Error> {
        let ask = Ask::get(&["v1", "workspaces", &id.0, "references"])
            .query("name", Some(name))
            .query("path", joined(paths))
            .query("limit", limit);
        self.ask(ask).await
    }

    /// The files that are not in the index though the rules would have them.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn skipped_files(&self, id: &WorkspaceId, limit: Option<u64>) -> Result<SkippedList, Error> {
        self.ask(Ask::get(&["v1", "workspaces", &id.0, "index", "skipped"]).query("limit", limit)).await
    }

    /// Holds the running build up.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn pause_index(&self, id: &WorkspaceId) -> Result<IndexStatus, Error> {
        self.ask(Ask::post(&["v1", "workspaces", &id.0, "index", "pause"])).await
    }

    /// Lets a build go on that is held up.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn resume_index(&self, id: &WorkspaceId) -> Result<IndexStatus, Error> {
        self.ask(Ask::post(&["v1", "workspaces", &id.0, "index", "resume"])).await
    }

    /// Ends the running build; the last finished state stays.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn cancel_index(&self, id: &WorkspaceId) -> Result<IndexStatus, Error> {
        self.ask(Ask::post(&["v1", "workspaces", &id.0, "index", "cancel"])).await
    }

    /// Drops the index.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn drop_index(&self, id: &WorkspaceId) -> Result<IndexStatus, Error> {
        self.ask(Ask::delete(&["v1", "workspaces", &id.0, "index"])).await
    }
}

/// What is looked for, and how.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// The words.
    pub query: String,
    /// In one kind of things; in everything otherwise.
    pub kind: Option<HitKind>,
    /// How the words are read, if text is looked for.
    pub matching: Option<TextMatch>,
    /// Only definitions of these kinds, such as `function`.
    pub symbol_kinds: Vec<String>,
    /// Only files that match one of these globs; one that begins with `!` leaves files out.
    pub paths: Vec<String>,
    /// At most so many.
    pub limit: Option<u64>,
}

/// As one value of a query, if there is something.
fn joined(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(","))
}
