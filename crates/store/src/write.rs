//! Writing: one thread, one connection, as few commits as possible.
//!
//! The thread takes what waits, up to [`MAX_BATCH`] jobs, into one transaction and answers them all after its commit.
//! While it waits for the disk, the next batch gathers. A job of unusual size gets a transaction of its own, so
//! that its failure is nobody else's.
//!
//! A job is judged before its first row is written, so that a refused one leaves nothing behind; if a write itself
//! fails, the whole transaction is rolled back and everybody in it is told.

mod tables;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use loggia_domain::{
    Event, NewEvent, RunningReply, Seq, SessionId, SessionSummary, StoreError, Workspace, WorkspaceId,
};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::lines::ReadEvent;
use crate::open::{OpenError, open_writer};
use crate::rows::EventRow;
use crate::write::tables::Tables;

/// Jobs that may wait. A writer that is this far behind makes its callers wait, which slows their clients down.
const QUEUE: usize = 1024;
/// Jobs in one commit: beyond a hundred rows a commit gains nothing more from company.
const MAX_BATCH: usize = 128;
/// How long a commit waits for jobs when fewer came than last time. Whoever was just answered often writes again at
/// once; without the wait the first of them would get a commit alone and all others the next. It is less than a
/// commit takes.
const PATIENCE: Duration = Duration::from_micros(100);

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// Something to write.
#[derive(Debug)]
pub(crate) enum Job {
    Append {
        session: SessionId,
        events: Vec<(NewEvent, EventRow)>,
        answer: Answer<Vec<Event>>,
    },
    KeepReply {
        session: SessionId,
        reply: RunningReply,
        answer: Answer<()>,
    },
    Import {
        session: SessionId,
        events: Vec<ReadEvent>,
        answer: Answer<SessionSummary>,
    },
    Fork {
        from: SessionId,
        through: Seq,
        to: SessionId,
        opening: Box<(NewEvent, EventRow)>,
        answer: Answer<SessionSummary>,
    },
    DeleteSession {
        session: SessionId,
        answer: Answer<()>,
    },
    RegisterWorkspace {
        workspace: Workspace,
        answer: Answer<Workspace>,
    },
    ForgetWorkspace {
        workspace: WorkspaceId,
        answer: Answer<()>,
    },
}

impl Job {
    /// Tells whoever asked that it will not be done. Whoever asked may have gone.
    fn refuse(self, error: StoreError) {
        match self {
            Self::Append { answer, .. } => drop(answer.send(Err(error))),
            Self::Import { answer, .. } | Self::Fork { answer, .. } => drop(answer.send(Err(error))),
            Self::KeepReply { answer, .. }
            | Self::DeleteSession { answer, .. }
            | Self::ForgetWorkspace { answer, .. } => {
                drop(answer.send(Err(error)));
            }
            Self::RegisterWorkspace { answer, .. } => drop(answer.send(Err(error))),
        }
    }

    /// Whether it may touch a whole journal at once.
    fn is_large(&self) -> bool {
        matches!(self, Self::Import { .. } | Self::Fork { .. } | Self::DeleteSession { .. })
    }
}

/// The writing thread. Dropping it writes what waits, then ends it.
#[derive(Debug)]
pub(crate) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(path: &Path) -> Result<Self, OpenError> {
        let connection = open_writer(path)?;
        Self::on(connection).map_err(|source| OpenError::NotWritable { path: path.to_owned(), source })
    }

    fn on(connection: Connection) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let queue = Queue { jobs: queue, held: None };
        let batches = Batches { tables: Tables::new(connection), queue, last_size: 0 };
        let thread =
            std::thread::Builder::new().name("store-write".to_owned()).spawn(move || batches.run())?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Hands a job over and waits for its answer.
    pub(crate) async fn write<T>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, StoreError> {
        let closed = || StoreError::Unavailable("the store is closed".to_owned());
        let (answer, outcome) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or_else(closed)?;
        jobs.send(job(answer)).await.map_err(|_| closed())?;
        outcome.await.map_err(|_| closed())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the writing thread of the store panicked");
        }
    }
}

/// What waits.
struct Queue {
    jobs: mpsc::Receiver<Job>,
    /// A large job that came while a batch was under way.
    held: Option<Job>,
}

impl Queue {
    /// The first job of a batch; nothing when there will be none.
    fn first(&mut self) -> Option<Job> {
        self.held.take().or_else(|| self.jobs.blocking_recv())
    }

    /// One more job for the batch, if it comes in time and suits company.
    fn another(&mut self, patience: Duration) -> Option<Job> {
        if self.held.is_some() {
            return None;
        }
        let job = self.jobs.try_recv().ok().or_else(|| self.awaited(patience))?;
        if job.is_large() {
            self.held = Some(job);
            return None;
        }
        Some(job)
    }

    /// Looks again and again: a time this short is over before a sleeping thread is awake.
    fn awaited(&mut self, patience: Duration) -> Option<Job> {
        let began = Instant::now();
        while began.elapsed() < patience {
            std::thread::yield_now();
            if let Ok(job) = self.jobs.try_recv() {
                return Some(job);
            }
        }
        None
    }
}

struct Batches {
    tables: Tables,
    queue: Queue,
    /// Jobs in the last batch.
    last_size: usize,
}

/// An answer that waits for the commit.
type Pending = Box<dyn FnOnce(Result<(), StoreError>)>;

impl Batches {
    fn run(mut self) {
        while let Some(first) = self.queue.first() {
            let mut pending = Vec::new();
            if let Err(error) = self.tables.begin() {
                first.refuse(error);
                continue;
            }
            let outcome = self.transaction(first, &mut pending);
            if let Err(error) = &outcome {
                tracing::error!(%error, "a commit of the store failed");
                self.tables.roll_back();
            }
            for answer in pending {
                answer(outcome.as_ref().copied().map_err(again));
            }
        }
    }

    fn transaction(&mut self, first: Job, pending: &mut Vec<Pending>) -> Result<(), StoreError> {
        let mut next = Some(first);
        let mut size = 0;
        while let Some(job) = next {
            let alone = job.is_large();
            self.take(job, pending)?;
            size += 1;
            let patience = if size < self.last_size { PATIENCE } else { Duration::ZERO };
            next = if alone || size == MAX_BATCH { None } else { self.queue.another(patience) };
        }
        self.last_size = size;
        self.tables.commit()
    }

    /// Does a job's writing. An error here is one of the transaction; a refused job is answered and is none.
    fn take(&mut self, job: Job, pending: &mut Vec<Pending>) -> Result<(), StoreError> {
        let tables = &mut self.tables;
        match job {
            Job::Append { session, events, answer } => {
                settle(tables.append(session, events), answer, pending)
            }
            Job::KeepReply { session, reply, answer } => {
                settle(tables.keep_reply(session, &reply), answer, pending)
            }
            Job::Import { session, events, answer } => {
                settle(tables.import(session, &events), answer, pending)
            }
            Job::Fork { from, through, to, opening, answer } => {
                settle(tables.fork(from, through, to, &opening), answer, pending)
            }
            Job::DeleteSession { session, answer } => settle(tables.delete_session(session), answer, pending),
            Job::RegisterWorkspace { workspace, answer } => {
                settle(tables.register_workspace(workspace), answer, pending)
            }
            Job::ForgetWorkspace { workspace, answer } => {
                settle(tables.forget_workspace(workspace), answer, pending)
            }
        }
    }
}

/// Answers a refused job at once; one that wrote waits for the commit; a failed write fails the transaction.
fn settle<T: 'static>(
    done: Result<T, StoreError>,
    answer: Answer<T>,
    pending: &mut Vec<Pending>,
) -> Result<(), StoreError> {
    match done {
        Ok(value) => {
            pending.push(Box::new(move |committed| {
                // Whoever asked may have gone; the write stays.
                let _ = answer.send(committed.map(|()| value));
            }));
            Ok(())
        }
        Err(refused) if is_refusal(&refused) => {
            let _ = answer.send(Err(refused));
            Ok(())
        }
        Err(failed) => {
            let told = again(&failed);
            pending.push(Box::new(move |_| {
                let _ = answer.send(Err(told));
            }));
            Err(failed)
        }
    }
}

/// Whether a job was refused before it wrote anything.
fn is_refusal(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::NoSuchSession(_) | StoreError::NoSuchWorkspace(_) | StoreError::MisplacedOpening
    )
}

/// The same error for one more listener.
fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Full => StoreError::Full,
        StoreError::Damaged(reason) => StoreError::Damaged(reason.clone()),
        other => StoreError::Unavailable(other.to_string()),
    }
}
