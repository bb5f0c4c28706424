//! Sessions that are split, taken elsewhere and brought back.

use loggia_domain::{
    Actor, Event, EventBody, NewEvent, Seq, SessionId, SessionSummary, Timestamp, WorkspaceId,
};

use crate::engine::Engine;
use crate::error::EngineError;

/// How many events can follow a closing, and more: what a command did that the closing cut, and its checkpoint.
const AFTER_CLOSING: u64 = 8;

/// How many events are exported at a time.
const PAGE: usize = 512;

impl Engine {
    /// Splits a session at an event: the new one begins as this one was then. What was open at that point is
    /// closed as interrupted when the new session is first used; a closing is not copied. Files are not touched.
    ///
    /// # Errors
    /// If there is no such session or event, or the store cannot.
    pub async fn fork_session(&self, from: SessionId, at: Seq, by: Actor) -> Result<SessionId, EngineError> {
        let store = &self.shared.parts.store;
        let summary = store.session(from).await?;
        if at == Seq(0) || at > summary.last_seq {
            return Err(EngineError::NoSuchEvent(at.0));
        }
        let at = self.before_closing(from, at).await?;
        let state = self.state(from).await?;
        // What came from elsewhere does not come from here because it was copied once more.
        let origin = match state.opened.forked_from {
            Some((elsewhere, _)) if state.is_imported() => elsewhere,
            _ => from,
        };
        let body = EventBody::SessionOpened {
            workspace: summary.workspace,
            title: summary.title,
            model: summary.model,
            preset: summary.preset,
            budget: state.opened.budget,
            forked_from: Some((origin, at)),
            by,
        };
        let to = SessionId::new();
        let opening = NewEvent { at: Timestamp::now(), turn: None, body };
        store.fork(from, at, to, opening).await?;
        Ok(to)
    }

    /// The event itself; or, if the session had been closed by then, the one before that.
    async fn before_closing(&self, session: SessionId, at: Seq) -> Result<Seq, EngineError> {
        let after = Seq(at.0.saturating_sub(AFTER_CLOSING));
        let limit = usize::try_from(at.0 - after.0).unwrap_or(usize::MAX);
        let events = self.shared.parts.store.events(session, after, limit).await?;
        let is_closing = |event: &&Event| matches!(event.body, EventBody::SessionClosed { .. });
        let closing = events.iter().filter(|event| event.seq <= at).find(is_closing);
        Ok(closing.map_or(at, |closing| Seq(closing.seq.0 - 1)))
    }

    /// Up to a page of a session's events after a number, as lines of JSON, each with its number.
    ///
    /// # Errors
    /// If there is no such session, or the store cannot.
    pub async fn export_session(&self, id: SessionId, after: Seq) -> Result<Vec<(Seq, String)>, EngineError> {
        Ok(self.shared.parts.store.export(id, after, PAGE).await?)
    }

    /// Makes a session of exported lines. It has the workspace's preset, and remembers no answers: what was allowed
    /// elsewhere is not allowed here. All of it is past: a turn that was open is closed as interrupted when the session
    /// is first used, whatever was asked and answered in it, and changes from before cannot be undone.
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
