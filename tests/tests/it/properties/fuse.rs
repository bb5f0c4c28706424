//! A store that can die: from a chosen write on, nothing more is written and nobody is answered, as when the process
//! is killed there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use loggia_domain::{
    BoxFuture, ContentHash, Event, NewEvent, Page, RunningReply, Seq, SessionId, SessionQuery,
    SessionSummary, Store, StoreError, Workspace, WorkspaceId,
};
use tokio::sync::watch;

/// A store that can die.
pub(super) struct Fuse {
    inner: Arc<dyn Store>,
    /// How many writes to a journal are left.
    left: AtomicI64,
    /// Whether the last one still reaches the disk.
    stored: AtomicBool,
    dead: watch::Sender<bool>,
}

impl Fuse {
    pub(super) fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        let (left, stored) = (AtomicI64::new(i64::MAX), AtomicBool::new(false));
        Arc::new(Self { inner, left, stored, dead: watch::Sender::new(false) })
    }

    /// Dies with the write that comes after so many others.
    pub(super) fn arm(&self, after: i64, stored: bool) {
        self.stored.store(stored, Ordering::SeqCst);
        self.left.store(after, Ordering::SeqCst);
    }

    /// Dies now.
    pub(super) fn die(&self) {
        self.dead.send_replace(true);
    }

    /// Waits until it has died.
    pub(super) async fn dead(&self) {
        let mut dead = self.dead.subscribe();
        drop(dead.wait_for(|dead| *dead).await);
    }

    fn is_dead(&self) -> bool {
        *self.dead.borrow()
    }
}

impl Store for Fuse {
    fn append(
        &self,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        Box::pin(async move {
            if self.is_dead() {
                return std::future::pending().await;
            }
            if self.left.fetch_sub(1, Ordering::SeqCst) > 1 {
                return self.inner.append(session, events).await;
            }
            if self.stored.load(Ordering::SeqCst) {
                self.inner.append(session, events).await?;
            }
            self.die();
            std::future::pending().await
        })
    }

    fn events(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        self.inner.events(session, after, limit)
    }

    fn keep_reply(&self, session: SessionId, reply: RunningReply) -> BoxFuture<'_, Result<(), StoreError>> {
        match self.is_dead() {
            true => Box::pin(std::future::pending()),
            false => self.inner.keep_reply(session, reply),
        }
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

    // A process that is about to die may still have kept a blob; nobody misses or minds it.
    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<ContentHash, StoreError>> {
        self.inner.put_blob(bytes)
    }

    fn blob(&self, hash: ContentHash) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        self.inner.blob(hash)
    }
}
