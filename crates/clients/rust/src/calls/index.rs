//! The code index of a workspace.

use loggia_protocol_agent_server::{
    ChangesParams, ChangesResult, HitKind, IndexStatus, SearchResult, WorkspaceId,
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
}
