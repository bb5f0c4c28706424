//! A store that counts what is read from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loggia_domain::{
    BoxFuture, ContentHash, Event, NewEvent, Page, RunningReply, Seq, SessionId, SessionQuery,
    SessionSummary, Store, StoreError, Workspace, WorkspaceId,
};
use loggia_store::SqliteStore;

type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// How many events were read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counter(Arc<AtomicUsize>);

impl Counter {
    /// How many since it was asked the last time.
    pub(crate) fn take(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

pub(crate) struct CountingStore {
    pub(crate) store: SqliteStore,
    pub(crate) read: Counter,
}

impl Store for CountingStore {
    fn events(&self, session: SessionId, after: Seq, limit: usize) -> Answer<'_, Vec<Event>> {
        Box::pin(async move {
            let events = self.store.events(session, after, limit).await?;
            self.read.0.fetch_add(events.len(), Ordering::SeqCst);
            Ok(events)
        })
    }

    fn append(&self, session: SessionId, events: Vec<NewEvent>) -> Answer<'_, Vec<Event>> {
        self.store.append(session, events)
    }

    fn keep_reply(&self, session: SessionId, reply: RunningReply) -> Answer<'_, ()> {
        self.store.keep_reply(session, reply)
    }

    fn kept_reply(&self, session: SessionId) -> Answer<'_, Option<RunningReply>> {
        self.store.kept_reply(session)
    }

    fn export(&self, session: SessionId, after: Seq, limit: usize) -> Answer<'_, Vec<(Seq, String)>> {
        self.store.export(session, after, limit)
    }

    fn import(
        &self,
        session: SessionId,
        workspace: WorkspaceId,
        lines: Vec<String>,
    ) -> Answer<'_, SessionSummary> {
        self.store.import(session, workspace, lines)
    }

    fn fork(
        &self,
        from: SessionId,
        through: Seq,
        to: SessionId,
        opening: NewEvent,
    ) -> Answer<'_, SessionSummary> {
        self.store.fork(from, through, to, opening)
    }

    fn sessions(&self, query: SessionQuery) -> Answer<'_, Page<SessionSummary>> {
        self.store.sessions(query)
    }

    fn session(&self, session: SessionId) -> Answer<'_, SessionSummary> {
        self.store.session(session)
    }

    fn delete_session(&self, session: SessionId) -> Answer<'_, ()> {
        self.store.delete_session(session)
    }

    fn register_workspace(&self, workspace: Workspace) -> Answer<'_, Workspace> {
        self.store.register_workspace(workspace)
    }

    fn forget_workspace(&self, workspace: WorkspaceId) -> Answer<'_, ()> {
        self.store.forget_workspace(workspace)
    }

    fn workspaces(&self) -> Answer<'_, Vec<Workspace>> {
        self.store.workspaces()
    }

    fn workspace(&self, workspace: WorkspaceId) -> Answer<'_, Workspace> {
        self.store.workspace(workspace)
    }

    fn put_blob(&self, bytes: Vec<u8>) -> Answer<'_, ContentHash> {
        self.store.put_blob(bytes)
    }

    fn blob(&self, hash: ContentHash) -> Answer<'_, Vec<u8>> {
        self.store.blob(hash)
    }
}
