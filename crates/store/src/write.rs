//! Writing: one thread, one connection, as few commits as possible.
//!
//! The thread takes what waits, up to [`MAX_BATCH`] jobs, into one transaction and answers them all after its commit.
//! While it waits for the disk, the next batch gathers.
//!
//! A job is judged before its first row is written, so that a refused one leaves nothing behind; if a write itself
//! fails, the whole transaction is rolled back and everybody in it is told.

use std::collections::HashMap;
use std::path::Path;
use std::thread::JoinHandle;

use loggia_domain::{
    Event, EventBody, NewEvent, RunningReply, Seq, SessionId, StoreError, Timestamp, TurnId, Workspace,
};
use rusqlite::{Connection, params};
use tokio::sync::{mpsc, oneshot};

use crate::open::{OpenError, open_writer};
use crate::read::{self, sql};
use crate::rows::{EventRow, Word};

/// Jobs that may wait. A writer that is this far behind makes its callers wait, which slows their clients down.
const QUEUE: usize = 1024;
/// Jobs in one commit: beyond a hundred rows a commit gains nothing more from company.
const MAX_BATCH: usize = 128;
/// Sessions whose place in the journal is remembered; beyond it all are looked up again.
const MAX_KNOWN: usize = 4096;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// Something to write.
#[derive(Debug)]
pub(crate) enum Job {
    Append { session: SessionId, events: Vec<(NewEvent, EventRow)>, answer: Answer<Vec<Event>> },
    KeepReply { session: SessionId, reply: RunningReply, answer: Answer<()> },
    DeleteSession { session: SessionId, answer: Answer<()> },
    RegisterWorkspace { workspace: Workspace, answer: Answer<Workspace> },
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
        let (jobs, queue) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("store-write".to_owned())
            .spawn(move || State { connection, known: HashMap::new() }.run(queue))
            .map_err(|source| OpenError::NotWritable { path: path.to_owned(), source })?;
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

/// Where a session's journal stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    key: i64,
    last: u64,
}

struct State {
    connection: Connection,
    known: HashMap<SessionId, Place>,
}

/// An answer that waits for the commit.
type Pending = Box<dyn FnOnce(Result<(), StoreError>)>;

impl State {
    fn run(mut self, mut queue: mpsc::Receiver<Job>) {
        while let Some(first) = queue.blocking_recv() {
            let mut pending = Vec::new();
            let outcome = self.transaction(first, &mut queue, &mut pending);
            if let Err(error) = &outcome {
                tracing::error!(%error, "a commit of the store failed");
                // What was counted in memory is not on disk.
                self.known.clear();
            }
            for answer in pending {
                answer(outcome.as_ref().copied().map_err(again));
            }
        }
    }

    fn transaction(
        &mut self,
        first: Job,
        queue: &mut mpsc::Receiver<Job>,
        pending: &mut Vec<Pending>,
    ) -> Result<(), StoreError> {
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(sql)?;
        let mut next = Some(first);
        let mut jobs = 0;
        while let Some(job) = next {
            if let Err(error) = self.take(job, pending) {
                self.roll_back();
                return Err(error);
            }
            jobs += 1;
            next = if jobs < MAX_BATCH { queue.try_recv().ok() } else { None };
        }
        self.connection.execute_batch("COMMIT").map_err(|error| {
            self.roll_back();
            sql(error)
        })
    }

    fn roll_back(&self) {
        if let Err(error) = self.connection.execute_batch("ROLLBACK") {
            // SQLite rolls back by itself on some errors; then there is nothing left to roll back.
            tracing::debug!(%error, "nothing to roll back");
        }
    }

    /// Does a job's writing. An error here is one of the transaction; a refused job is answered and is none.
    fn take(&mut self, job: Job, pending: &mut Vec<Pending>) -> Result<(), StoreError> {
        match job {
            Job::Append { session, events, answer } => {
                let done = self.append(session, events);
                settle(done, answer, pending)
            }
            Job::KeepReply { session, reply, answer } => {
                settle(self.keep_reply(session, &reply), answer, pending)
            }
            Job::DeleteSession { session, answer } => settle(self.delete_session(session), answer, pending),
            Job::RegisterWorkspace { workspace, answer } => {
                settle(self.register_workspace(workspace), answer, pending)
            }
        }
    }

    fn place_of(&mut self, session: SessionId) -> Result<Option<Place>, StoreError> {
        if let Some(place) = self.known.get(&session) {
            return Ok(Some(*place));
        }
        let Some(key) = read::key_of(&self.connection, session)? else { return Ok(None) };
        let last = read::session(&self.connection, session)?.last_seq.0;
        Ok(Some(Place { key, last }))
    }

    fn append(
        &mut self,
        session: SessionId,
        events: Vec<(NewEvent, EventRow)>,
    ) -> Result<Vec<Event>, StoreError> {
        let place = self.place_of(session)?;
        check_opening(place.is_some(), &events)?;
        let Some(updated) = events.last().map(|(event, _)| event.at) else { return Ok(Vec::new()) };
        let mut place = match place {
            Some(place) => place,
            None => self.open_session(session, &events[0].0)?,
        };
        let mut stored = Vec::with_capacity(events.len());
        for (event, row) in events {
            place.last += 1;
            self.insert(place, &event, &row)?;
            self.reflect(place.key, &event.body)?;
            let NewEvent { at, turn, body } = event;
            stored.push(Event { seq: Seq(place.last), at, turn, body });
        }
        self.touch(place, updated)?;
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(session, place);
        Ok(stored)
    }

    fn open_session(&self, session: SessionId, opening: &NewEvent) -> Result<Place, StoreError> {
        let EventBody::SessionOpened { workspace, title, model, preset, .. } = &opening.body else {
            return Err(StoreError::MisplacedOpening);
        };
        let mut statement = self
            .connection
            .prepare_cached(
                "INSERT INTO sessions (id, workspace, title, model, preset, created, updated, last_seq, closed)
                 VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)",
            )
            .map_err(sql)?;
        let at = opening.at.0;
        let model = model.as_ref().map(|model| &model.0);
        let preset = preset.as_ref().map(Word::word);
        statement
            .execute(params![session.bytes(), workspace.bytes(), title, model, preset, at, at])
            .map_err(sql)?;
        Ok(Place { key: self.connection.last_insert_rowid(), last: 0 })
    }

    fn insert(&self, place: Place, event: &NewEvent, row: &EventRow) -> Result<(), StoreError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "INSERT INTO events (session, seq, at, turn, kind, data) VALUES (?, ?, ?, ?, ?, ?)",
            )
            .map_err(sql)?;
        let turn = event.turn.as_ref().map(TurnId::bytes);
        statement
            .execute(params![place.key, place.last.cast_signed(), event.at.0, turn, row.kind, row.data])
            .map_err(sql)?;
        Ok(())
    }

    /// Brings what is kept beside the journal up to date with an event.
    fn reflect(&self, key: i64, body: &EventBody) -> Result<(), StoreError> {
        let change = |text: &str, value: &dyn rusqlite::ToSql| {
            let mut statement = self.connection.prepare_cached(text).map_err(sql)?;
            statement.execute(params![value, key]).map_err(sql).map(drop)
        };
        match body {
            EventBody::SessionRenamed { title, .. } => {
                change("UPDATE sessions SET title = ? WHERE key = ?", title)
            }
            EventBody::ModelChanged { model, .. } => {
                change("UPDATE sessions SET model = ? WHERE key = ?", &model.0)
            }
            EventBody::SessionClosed { .. } => change("UPDATE sessions SET closed = ? WHERE key = ?", &true),
            // The whole reply is in the journal now; what was kept of it has done its work.
            EventBody::MessageEnded { message, .. } => {
                change("DELETE FROM replies WHERE message = ? AND session = ?", message.id.bytes())
            }
            _ => Ok(()),
        }
    }

    fn touch(&self, place: Place, updated: Timestamp) -> Result<(), StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("UPDATE sessions SET updated = max(updated, ?), last_seq = ? WHERE key = ?")
            .map_err(sql)?;
        statement.execute(params![updated.0, place.last.cast_signed(), place.key]).map_err(sql)?;
        Ok(())
    }

    fn keep_reply(&mut self, session: SessionId, reply: &RunningReply) -> Result<(), StoreError> {
        let place = self.place_of(session)?.ok_or(StoreError::NoSuchSession(session))?;
        let mut statement = self
            .connection
            .prepare_cached(
                "REPLACE INTO replies (session, turn, message, text, thought) VALUES (?, ?, ?, ?, ?)",
            )
            .map_err(sql)?;
        let row = params![place.key, reply.turn.bytes(), reply.message.bytes(), reply.text, reply.thought];
        statement.execute(row).map_err(sql)?;
        Ok(())
    }

    fn delete_session(&mut self, session: SessionId) -> Result<(), StoreError> {
        let place = self.place_of(session)?.ok_or(StoreError::NoSuchSession(session))?;
        for text in [
            "DELETE FROM events WHERE session = ?",
            "DELETE FROM replies WHERE session = ?",
            "DELETE FROM sessions WHERE key = ?",
        ] {
            self.connection.prepare_cached(text).map_err(sql)?.execute([place.key]).map_err(sql)?;
        }
        self.known.remove(&session);
        Ok(())
    }

    fn register_workspace(&self, workspace: Workspace) -> Result<Workspace, StoreError> {
        use std::os::unix::ffi::OsStrExt;
        let root = workspace.root.as_os_str().as_bytes();
        if let Some(known) = read::workspace_at(&self.connection, root)? {
            return Ok(known);
        }
        let mut statement = self
            .connection
            .prepare_cached("INSERT INTO workspaces (id, name, root, created) VALUES (?, ?, ?, ?)")
            .map_err(sql)?;
        statement
            .execute(params![workspace.id.bytes(), workspace.name, root, workspace.created.0])
            .map_err(sql)?;
        Ok(workspace)
    }
}

/// A journal begins with the opening of its session, and only there.
fn check_opening(known: bool, events: &[(NewEvent, EventRow)]) -> Result<(), StoreError> {
    let openings = |event: &&(NewEvent, EventRow)| matches!(event.0.body, EventBody::SessionOpened { .. });
    let first_opens = events.first().is_some_and(|event| openings(&event));
    let count = events.iter().filter(openings).count();
    match (known, first_opens, count) {
        (true, _, 0) | (false, true, 1) => Ok(()),
        _ => Err(StoreError::MisplacedOpening),
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
