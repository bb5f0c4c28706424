//! A store that counts what is written to it, one after another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use loggia_domain::{
    BoxFuture, ContentHash, Event, NewEvent, Page, RunningReply, Seq, SessionId, SessionQuery,
    SessionSummary, Store, StoreError, Workspace, WorkspaceId,
};

/// Passes everything on and counts what has to be waited for.
pub(super) struct CountingStore {
    inner: Arc<dyn Store>,
    appends: AtomicUsize,
    kept: AtomicUsize,
}

impl CountingStore {
    pub(super) fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, appends: AtomicUsize::new(0), kept: AtomicUsize::new(0) }
    }

    /// How often events were appended and running replies kept.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.appends.load(Relaxed), self.kept.load(Relaxed))
    }
}

impl Store for CountingStore {
    fn append(
        &self,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        self.appends.fetch_add(1, Relaxed);
        self.inner.append(session, events)
    }

    fn keep_reply(&self, session: SessionId, reply: RunningReply) -> BoxFuture<'_, Result<(), StoreError>> {
        self.kept.fetch_add(1, Relaxed);
        self.inner.keep_reply(session, reply)
    }

    fn events(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        self.inner.events(session, after, limit)
    }

    fn kept_reply(&self, session: SessionId) -> BoxFuture<'_, Result<Option<RunningReply>, StoreError>> {
        self.inner.kept_reply(session)
    }

    fn export(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Seq, String)>, StoreError>> {
        self.inner.export(session, after, limit)
    }

    fn import(
        &self,
        session: SessionId,
        workspace: WorkspaceId,
        lines: Vec<String>,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        self.inner.import(session, workspace, lines)
    }

    fn fork(
        &self,
        from: SessionId,
        through: Seq,
        to: SessionId,
        opening: NewEvent,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        self.inner.fork(from, through, to, opening)
    }

    fn sessions(&self, query: SessionQuery) -> BoxFuture<'_, Result<Page<SessionSummary>, StoreError>> {
        self.inner.sessions(query)
    }

    fn session(&self, session: SessionId) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        self.inner.session(session)
    }

    fn delete_session(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.delete_session(session)
    }

    fn register_workspace(&self, workspace: Workspace) -> BoxFuture<'_, Result<Workspace, StoreError>> {
        self.inner.register_workspace(workspace)
    }

    fn workspaces(&self) -> BoxFuture<'_, Result<Vec<Workspace>, StoreError>> {
        self.inner.workspaces()
    }

    fn workspace(&self, workspace: WorkspaceId) -> BoxFuture<'_, Result<Workspace, StoreError>> {
        self.inner.workspace(workspace)
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<ContentHash, StoreError>> {
        self.inner.put_blob(bytes)
    }

    fn blob(&self, hash: ContentHash) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        self.inner.blob(hash)
    }
}
