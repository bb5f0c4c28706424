//! Sessions that are split, taken elsewhere and brought back.

use loggia_domain::{Actor, EventBody, NewEvent, Seq, SessionId, SessionSummary, Timestamp, WorkspaceId};

use crate::engine::Engine;
use crate::error::EngineError;

/// How many events are exported at a time.
const PAGE: usize = 512;

impl Engine {
    /// Splits a session at an event: the new one begins as this one was then. What was open at that point is
    /// closed as interrupted when the new session is first used. Files are not touched.
    ///
    /// # Errors
    /// If there is no such session or event, or the store cannot.
    pub async fn fork_session(&self, from: SessionId, at: Seq, by: Actor) -> Result<SessionId, EngineError> {
        let store = &self.shared.parts.store;
        let summary = store.session(from).await?;
        if at == Seq(0) || at > summary.last_seq {
            return Err(EngineError::NoSuchEvent(at.0));
        }
        let state = self.state(from).await?;
        let body = EventBody::SessionOpened {
            workspace: summary.workspace,
            title: summary.title,
            model: summary.model,
            preset: summary.preset,
            budget: state.opened.budget,
            forked_from: Some((from, at)),
            by,
        };
        let to = SessionId::new();
        let opening = NewEvent { at: Timestamp::now(), turn: None, body };
        store.fork(from, at, to, opening).await?;
        Ok(to)
    }

    /// Up to a page of a session's events after a number, as lines of JSON, each with its number.
    ///
    /// # Errors
    /// If there is no such session, or the store cannot.
    pub async fn export_session(&self, id: SessionId, after: Seq) -> Result<Vec<(Seq, String)>, EngineError> {
        Ok(self.shared.parts.store.export(id, after, PAGE).await?)
    }

    /// Makes a session of exported lines. Changes from before cannot be undone there: only the journal travels.
    ///
    /// # Errors
    /// If a line is no event, or the store cannot.
    pub async fn import_session(
        &self,
        workspace: WorkspaceId,
        lines: Vec<String>,
    ) -> Result<SessionSummary, EngineError> {
        self.shared.parts.store.workspace(workspace).await?;
        Ok(self.shared.parts.store.import(SessionId::new(), workspace, lines).await?)
    }
}
