//! The store as the engine sees it.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use loggia_domain::{
    BoxFuture, ContentHash, Event, NewEvent, Page, RunningReply, Seq, SessionId, SessionQuery,
    SessionSummary, Store, StoreError, Workspace, WorkspaceId,
};

use crate::blobs::Blobs;
use crate::lines;
use crate::lock::StoreLock;
use crate::open::OpenError;
use crate::read::{self, Readers};
use crate::rows::{self, EventRow};
use crate::write::{Job, Writer};

/// A store in a directory of its own.
///
/// Dropping it writes what waits and gives the directory free. The order of the fields is the order in which that
/// happens: the lock goes last.
#[derive(Debug)]
pub struct SqliteStore {
    writer: Writer,
    readers: Readers,
    blobs: Blobs,
    _lock: StoreLock,
}

impl SqliteStore {
    /// Opens the store in a directory, making both if they are not there.
    ///
    /// # Errors
    /// [`OpenError`]; nothing is changed then.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        // What was said in sessions is in there: nobody else looks in, wherever the directory lies.
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(|source| OpenError::NotWritable { path: directory.to_owned(), source })?;
        let lock = StoreLock::take(&directory.join("store.lock"))?;
        let database = directory.join("store.sqlite");
        let writer = Writer::start(&database)?;
        let readers = Readers::start(&database)?;
        Ok(Self { writer, readers, blobs: Blobs::open(directory.join("blobs")), _lock: lock })
    }
}

/// Rows are made on the caller's thread, so that the writing thread only writes.
fn with_rows(events: Vec<NewEvent>) -> Result<Vec<(NewEvent, EventRow)>, StoreError> {
    events.into_iter().map(with_row).collect()
}

fn with_row(event: NewEvent) -> Result<(NewEvent, EventRow), StoreError> {
    match rows::encode(&event.body) {
        Ok(row) => Ok((event, row)),
        Err(error) => Err(StoreError::Unavailable(error.to_string())),
    }
}

impl Store for SqliteStore {
    fn append(
        &self,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        Box::pin(async move {
            let events = with_rows(events)?;
            self.writer.write(|answer| Job::Append { session, events, answer }).await
        })
    }

    fn events(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        Box::pin(self.readers.read(move |connection| read::events(connection, session, after, limit)))
    }

    fn keep_reply(&self, session: SessionId, reply: RunningReply) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |answer| Job::KeepReply { session, reply, answer }))
    }

    fn kept_reply(&self, session: SessionId) -> BoxFuture<'_, Result<Option<RunningReply>, StoreError>> {
        Box::pin(self.readers.read(move |connection| read::kept_reply(connection, session)))
    }

    fn export(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Seq, String)>, StoreError>> {
        Box::pin(self.readers.read(move |connection| read::export(connection, session, after, limit)))
    }

    fn import(
        &self,
        session: SessionId,
        workspace: WorkspaceId,
        lines: Vec<String>,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        Box::pin(async move {
            // Long work: on a thread of ours, not on one that others share.
            let events = self.readers.read(move |_| lines::read(&lines, workspace)).await?;
            self.writer.write(|answer| Job::Import { session, events, answer }).await
        })
    }

    fn fork(
        &self,
        from: SessionId,
        through: Seq,
        to: SessionId,
        opening: NewEvent,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        Box::pin(async move {
            let opening = Box::new(with_row(opening)?);
            self.writer.write(|answer| Job::Fork { from, through, to, opening, answer }).await
        })
    }

    fn sessions(&self, query: SessionQuery) -> BoxFuture<'_, Result<Page<SessionSummary>, StoreError>> {
        Box::pin(self.readers.read(move |connection| read::sessions(connection, &query)))
    }

    fn session(&self, session: SessionId) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        Box::pin(self.readers.read(move |connection| read::session(connection, session)))
    }

    fn delete_session(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |answer| Job::DeleteSession { session, answer }))
    }

    fn register_workspace(&self, workspace: Workspace) -> BoxFuture<'_, Result<Workspace, StoreError>> {
        Box::pin(self.writer.write(move |answer| Job::RegisterWorkspace { workspace, answer }))
    }

    fn forget_workspace(&self, workspace: WorkspaceId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |answer| Job::ForgetWorkspace { workspace, answer }))
    }

    fn workspaces(&self) -> BoxFuture<'_, Result<Vec<Workspace>, StoreError>> {
        Box::pin(self.readers.read(read::workspaces))
    }

    fn workspace(&self, workspace: WorkspaceId) -> BoxFuture<'_, Result<Workspace, StoreError>> {
        Box::pin(self.readers.read(move |connection| read::workspace(connection, workspace)))
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<ContentHash, StoreError>> {
        let blobs = self.blobs.clone();
        Box::pin(self.readers.read(move |_| blobs.put(&bytes)))
    }

    fn blob(&self, hash: ContentHash) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        let blobs = self.blobs.clone();
        Box::pin(self.readers.read(move |_| blobs.get(hash)))
    }
}
