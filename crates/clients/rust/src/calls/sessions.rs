//! Sessions: conversations, and what can be done with them from outside.

use loggia_protocol_agent_server::{
    CreateSessionParams, EventPage, ForkSessionParams, RenameSessionParams, Session, SessionId, SessionModel,
    SessionPage, UndoParams, UndoResult, WorkspaceId,
};

use crate::client::Ask;
use crate::{Client, Error, Page};

impl Client {
    /// Opens a session.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn create_session(&self, params: &CreateSessionParams) -> Result<Session, Error> {
        self.ask(Ask::post(&["v1", "sessions"]).json(params)).await
    }

    /// Lists sessions, newest first; of one workspace or of all.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn sessions(&self, workspace: Option<&WorkspaceId>, page: &Page) -> Result<SessionPage, Error> {
        let ask = Ask::get(&["v1", "sessions"])
            .query("workspace_id", workspace.map(|id| &id.0))
            .query("limit", page.limit)
            .query("cursor", page.cursor.as_ref());
        self.ask(ask).await
    }

    /// One session.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn session(&self, id: &SessionId) -> Result<Session, Error> {
        self.ask(Ask::get(&["v1", "sessions", &id.0])).await
    }

    /// Deletes a session; a running turn is cancelled first.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delete_session(&self, id: &SessionId) -> Result<(), Error> {
        self.tell(Ask::delete(&["v1", "sessions", &id.0])).await
    }

    /// A page of the journal: what came after an event, as the stream would have said it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn events(&self, id: &SessionId, after: u64, limit: Option<u32>) -> Result<EventPage, Error> {
        let ask =
            Ask::get(&["v1", "sessions", &id.0, "events"]).query("after", Some(after)).query("limit", limit);
        self.ask(ask).await
    }

    /// Calls a session something else.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn rename_session(
        &self,
        id: &SessionId,
        params: &RenameSessionParams,
    ) -> Result<Session, Error> {
        self.ask(Ask::post(&["v1", "sessions", &id.0, "rename"]).json(params)).await
    }

    /// Lets a session go on with another model.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_session_model(&self, id: &SessionId, model: &SessionModel) -> Result<Session, Error> {
        self.ask(Ask::post(&["v1", "sessions", &id.0, "model"]).json(model)).await
    }

    /// A new session with the past of this one.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn fork_session(&self, id: &SessionId, params: &ForkSessionParams) -> Result<Session, Error> {
        self.ask(Ask::post(&["v1", "sessions", &id.0, "fork"]).json(params)).await
    }

    /// Takes changes back.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn undo(&self, id: &SessionId, params: &UndoParams) -> Result<UndoResult, Error> {
        self.ask(Ask::post(&["v1", "sessions", &id.0, "undo"]).json(params)).await
    }

    /// Makes changes again that were taken back.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn redo(&self, id: &SessionId, params: &UndoParams) -> Result<UndoResult, Error> {
        self.ask(Ask::post(&["v1", "sessions", &id.0, "redo"]).json(params)).await
    }

    /// Goes on with a turn that was interrupted.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn continue_session(&self, id: &SessionId) -> Result<Session, Error> {
        self.ask(Ask::post(&["v1", "sessions", &id.0, "continue"])).await
    }

    /// Cancels the running turn.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn cancel_session(&self, id: &SessionId) -> Result<Session, Error> {
        self.ask(Ask::post(&["v1", "sessions", &id.0, "cancel"])).await
    }
}
