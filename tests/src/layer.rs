//! A store with something in between: what is written can be watched, held up or refused on its way down.
//!
//! Knows every method of a store, so that nobody else has to pass them on. Of reading only that of journals is in between.

use std::collections::BTreeMap;
use std::sync::Arc;

use loggia_domain::{
    BoxFuture, ContentHash, Event, NewEvent, Page, RunningReply, Seq, SessionId, SessionQuery,
    SessionSummary, Store, StoreError, Workspace, WorkspaceId,
};
use tokio::sync::watch;

use crate::player::PATIENCE;

/// What stands between an engine and its store. Whatever is not written out here goes through as it is.
pub trait Between: Send + Sync + 'static {
    /// Events on their way into a journal.
    fn append<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Vec<Event>, StoreError>> {
        below.append(session, events)
    }

    /// A part of a journal that is asked for.
    fn events<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Event>, StoreError>> {
        below.events(session, after, limit)
    }

    /// The running reply on its way to where it is kept.
    fn keep_reply<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
        reply: RunningReply,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        below.keep_reply(session, reply)
    }

    /// A journal that is to go.
    fn delete_session<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        below.delete_session(session)
    }

    /// Bytes that are to be kept.
    fn put_blob<'a>(
        &'a self,
        below: &'a dyn Store,
        bytes: Vec<u8>,
    ) -> BoxFuture<'a, Result<ContentHash, StoreError>> {
        below.put_blob(bytes)
    }
}

/// A store with something in between.
pub struct Layer<B> {
    below: Arc<dyn Store>,
    between: Arc<B>,
}

impl<B: Between> Layer<B> {
    /// Puts something over a store.
    pub fn over(below: Arc<dyn Store>, between: Arc<B>) -> Arc<dyn Store> {
        Arc::new(Self { below, between })
    }
}

impl<B> std::fmt::Debug for Layer<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Layer").finish_non_exhaustive()
    }
}

impl<B: Between> Store for Layer<B> {
    fn append(
        &self,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        self.between.append(&*self.below, session, events)
    }

    fn events(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        self.between.events(&*self.below, session, after, limit)
    }

    fn keep_reply(&self, session: SessionId, reply: RunningReply) -> BoxFuture<'_, Result<(), StoreError>> {
        self.between.keep_reply(&*self.below, session, reply)
    }

    fn kept_reply(&self, session: SessionId) -> BoxFuture<'_, Result<Option<RunningReply>, StoreError>> {
        self.below.kept_reply(session)
    }

    fn export(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Seq, String)>, StoreError>> {
        self.below.export(session, after, limit)
    }

    fn import(
        &self,
        session: SessionId,
        workspace: WorkspaceId,
        lines: Vec<String>,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        self.below.import(session, workspace, lines)
    }

    fn fork(
        &self,
        from: SessionId,
        through: Seq,
        to: SessionId,
        opening: NewEvent,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        self.below.fork(from, through, to, opening)
    }

    fn sessions(&self, query: SessionQuery) -> BoxFuture<'_, Result<Page<SessionSummary>, StoreError>> {
        self.below.sessions(query)
    }

    fn session(&self, session: SessionId) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        self.below.session(session)
    }

    fn delete_session(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.between.delete_session(&*self.below, session)
    }

    fn register_workspace(&self, workspace: Workspace) -> BoxFuture<'_, Result<Workspace, StoreError>> {
        self.below.register_workspace(workspace)
    }

    fn forget_workspace(&self, workspace: WorkspaceId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.below.forget_workspace(workspace)
    }

    fn workspaces(&self) -> BoxFuture<'_, Result<Vec<Workspace>, StoreError>> {
        self.below.workspaces()
    }

    fn workspace(&self, workspace: WorkspaceId) -> BoxFuture<'_, Result<Workspace, StoreError>> {
        self.below.workspace(workspace)
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<ContentHash, StoreError>> {
        self.between.put_blob(&*self.below, bytes)
    }

    fn blob(&self, hash: ContentHash) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        self.below.blob(hash)
    }
}

/// A kind of write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Write {
    /// To a journal.
    Events,
    /// Of the running reply.
    Reply,
    /// The end of a journal.
    Deletion,
    /// Of bytes under their hash.
    Blob,
}

/// A disk that does as it is told: writes of a kind fail or wait until it is well again.
#[derive(Debug)]
pub struct Disk {
    troubles: watch::Sender<BTreeMap<Write, Trouble>>,
    held: watch::Sender<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Full,
    Stuck,
}

impl Disk {
    /// One without troubles.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { troubles: watch::Sender::new(BTreeMap::new()), held: watch::Sender::new(0) })
    }

    /// From now on writes of a kind find no room.
    pub fn fill(&self, write: Write) {
        self.trouble(write, Trouble::Full);
    }

    /// From now on writes of a kind wait.
    pub fn hold(&self, write: Write) {
        self.held.send_replace(0);
        self.trouble(write, Trouble::Stuck);
    }

    /// Waits until a write waits.
    ///
    /// # Panics
    /// If none comes.
    pub async fn holds_one(&self) {
        let mut held = self.held.subscribe();
        let waits = tokio::time::timeout(PATIENCE, held.wait_for(|held| *held > 0)).await;
        drop(waits.expect("something is written"));
    }

    /// Everything goes through again, first what waits.
    pub fn heal(&self) {
        self.troubles.send_modify(BTreeMap::clear);
    }

    fn trouble(&self, write: Write, trouble: Trouble) {
        self.troubles.send_modify(|troubles| {
            troubles.insert(write, trouble);
        });
    }

    async fn take(&self, write: Write) -> Result<(), StoreError> {
        let mut troubles = self.troubles.subscribe();
        let trouble = troubles.borrow_and_update().get(&write).copied();
        match trouble {
            None => Ok(()),
            Some(Trouble::Full) => Err(StoreError::Full),
            Some(Trouble::Stuck) => {
                self.held.send_modify(|held| *held += 1);
                let well = troubles.wait_for(|troubles| troubles.get(&write) != Some(&Trouble::Stuck)).await;
                well.map(drop).map_err(|_| StoreError::Unavailable("the disk is gone".to_owned()))
            }
        }
    }
}

impl Between for Disk {
    fn append<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Vec<Event>, StoreError>> {
        Box::pin(async move {
            self.take(Write::Events).await?;
            below.append(session, events).await
        })
    }

    fn keep_reply<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
        reply: RunningReply,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.take(Write::Reply).await?;
            below.keep_reply(session, reply).await
        })
    }

    fn delete_session<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.take(Write::Deletion).await?;
            below.delete_session(session).await
        })
    }

    fn put_blob<'a>(
        &'a self,
        below: &'a dyn Store,
        bytes: Vec<u8>,
    ) -> BoxFuture<'a, Result<ContentHash, StoreError>> {
        Box::pin(async move {
            self.take(Write::Blob).await?;
            below.put_blob(bytes).await
        })
    }
}
