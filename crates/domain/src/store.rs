//! What the engine needs of whoever keeps its journals.
//!
//! The journal is the only truth about a session. Everything else a store offers is kept beside it for speed or
//! for what is no event: listings, the tail of a running reply, and blobs.

use std::future::Future;
use std::pin::Pin;

use crate::{
    ContentHash, Event, MessageId, NewEvent, Seq, SessionId, SessionSummary, TurnId, Workspace, WorkspaceId,
};

/// A future that can be kept anywhere.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Keeps sessions. One daemon owns a store; everybody else is a client of that daemon.
pub trait Store: Send + Sync + 'static {
    /// Adds events to a session's journal, all or none, and returns their numbers once they are on disk.
    ///
    /// The first event of a session's first append is `SessionOpened`; it makes the session. When the events hold
    /// the end of the running reply's message, the kept tail goes in the same step.
    fn append(
        &self,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>>;

    /// Reads up to `limit` events after a number, in order.
    fn events(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>>;

    /// Keeps the text of the running reply so far, without a number. Replaces what was kept of it before.
    fn keep_reply(&self, session: SessionId, reply: RunningReply) -> BoxFuture<'_, Result<(), StoreError>>;

    /// What was kept of a reply whose end never came.
    fn kept_reply(&self, session: SessionId) -> BoxFuture<'_, Result<Option<RunningReply>, StoreError>>;

    /// Reads up to `limit` events after a number as lines of JSON, for keeping elsewhere.
    fn export(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Seq, String)>, StoreError>>;

    /// Makes a session of lines that [`export`](Store::export) gave, all or nothing, with the events' own numbers.
    /// It has no preset and remembers no answers: what was allowed elsewhere is not allowed here.
    fn import(
        &self,
        session: SessionId,
        workspace: WorkspaceId,
        lines: Vec<String>,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>>;

    /// Makes a session whose journal is another's up to and including a number, all or nothing. Its opening is
    /// replaced by the one given; the other events keep their numbers.
    fn fork(
        &self,
        from: SessionId,
        through: Seq,
        to: SessionId,
        opening: NewEvent,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>>;

    /// Lists sessions, the most recently changed first.
    fn sessions(&self, query: SessionQuery) -> BoxFuture<'_, Result<Page<SessionSummary>, StoreError>>;

    /// One session's summary.
    fn session(&self, session: SessionId) -> BoxFuture<'_, Result<SessionSummary, StoreError>>;

    /// Removes a session and its journal.
    fn delete_session(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Registers a workspace. One with the same root is given back instead, whatever its name.
    fn register_workspace(&self, workspace: Workspace) -> BoxFuture<'_, Result<Workspace, StoreError>>;

    /// Takes a workspace off the list. One that a session was opened in stays, since that session tells of it.
    fn forget_workspace(&self, workspace: WorkspaceId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Lists the workspaces, oldest first.
    fn workspaces(&self) -> BoxFuture<'_, Result<Vec<Workspace>, StoreError>>;

    /// One workspace.
    fn workspace(&self, workspace: WorkspaceId) -> BoxFuture<'_, Result<Workspace, StoreError>>;

    /// Keeps bytes under their hash. Keeping the same twice keeps them once.
    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<ContentHash, StoreError>>;

    /// Gives kept bytes back.
    fn blob(&self, hash: ContentHash) -> BoxFuture<'_, Result<Vec<u8>, StoreError>>;
}

/// A reply that is still being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningReply {
    /// The turn it belongs to.
    pub turn: TurnId,
    /// Its id.
    pub message: MessageId,
    /// Its text so far.
    pub text: String,
    /// What the model thought aloud so far.
    pub thought: String,
}

/// Which sessions to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionQuery {
    /// Only those of this workspace.
    pub workspace: Option<WorkspaceId>,
    /// At most so many.
    pub limit: usize,
    /// Those after this place, as an earlier page gave it.
    pub cursor: Option<String>,
}

/// Part of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The part.
    pub items: Vec<T>,
    /// Where the next part begins, if there is one.
    pub next: Option<String>,
}

/// Why a store cannot do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such session.
    #[error("there is no session `{0}`")]
    NoSuchSession(SessionId),
    /// There is no such workspace.
    #[error("there is no workspace `{0}`")]
    NoSuchWorkspace(WorkspaceId),
    /// The first events of a session do not begin with its opening, or a later one opens it again.
    #[error("a journal begins with the opening of its session, and only there")]
    MisplacedOpening,
    /// A line that is no exported event.
    #[error("line {line} is not an event of a journal: {reason}")]
    BadImport {
        /// Which, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A cursor that no listing gave.
    #[error("the cursor `{0}` is not one of ours")]
    BadCursor(String),
    /// A blob is missing or not what its hash says.
    #[error("blob {hash}: {fault}")]
    Blob {
        /// Which.
        hash: ContentHash,
        /// What is wrong with it.
        fault: BlobError,
    },
    /// A stored row cannot be read.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// No room is left.
    #[error("the disk is full")]
    Full,
    /// The store cannot be written or read.
    #[error("the store does not answer: {0}")]
    Unavailable(String),
}

/// What can be wrong with a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// It is not there.
    #[error("is not there")]
    Missing,
    /// Its bytes have another hash.
    #[error("is damaged")]
    Damaged,
}
