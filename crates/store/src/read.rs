//! Reading: a few threads with a read-only connection each, beside the writer.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use loggia_domain::{
    Event, Page, Preset, RunningReply, Seq, SessionId, SessionQuery, SessionSummary, StoreError, Timestamp,
    TurnId, Workspace, WorkspaceId,
};
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use rusqlite::{Connection, OptionalExtension, Row, params};
use tokio::sync::{mpsc, oneshot};

use crate::lines;
use crate::open::{OpenError, open_reader};
use crate::rows::{self, Word};

/// Two: a long page for one client does not make another wait.
const THREADS: usize = 2;

/// Reads that may wait; beyond it callers wait to ask, which slows their clients down.
const QUEUE: usize = 1024;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The reading threads. Dropping it lets them finish what they have.
#[derive(Debug)]
pub(crate) struct Readers {
    jobs: Option<mpsc::Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(crate) fn start(path: &Path) -> Result<Self, OpenError> {
        let (jobs, queue) = mpsc::channel::<Job>(QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        let mut threads = Vec::new();
        for number in 0..THREADS {
            let (connection, queue) = (open_reader(path)?, queue.clone());
            let thread = std::thread::Builder::new().name(format!("store-read-{number}")).spawn(move || {
                while let Some(job) = next(&queue) {
                    job(&connection);
                }
            });
            threads.push(thread.map_err(|source| OpenError::NotWritable { path: path.to_owned(), source })?);
        }
        Ok(Self { jobs: Some(jobs), threads })
    }

    /// Does something with a connection and gives the outcome back.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (answer, outcome) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // Whoever asked may have gone.
            let _ = answer.send(work(connection));
        });
        let closed = || StoreError::Unavailable("the store is closed".to_owned());
        let jobs = self.jobs.as_ref().ok_or_else(closed)?;
        jobs.send(job).await.map_err(|_| closed())?;
        outcome.await.map_err(|_| closed())?
    }
}

fn next(queue: &Mutex<mpsc::Receiver<Job>>) -> Option<Job> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a reading thread of the store panicked");
            }
        }
    }
}

pub(crate) fn events(
    connection: &Connection,
    session: SessionId,
    after: Seq,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    each_row(connection, session, after, limit, |seq, at, turn, kind, data| {
        let body = rows::decode(kind, data)
            .map_err(|error| StoreError::Damaged(format!("event {}: {error}", seq.0)))?;
        Ok(Event { seq, at: Timestamp(at), turn, body })
    })
}

/// The same rows as lines.
pub(crate) fn export(
    connection: &Connection,
    session: SessionId,
    after: Seq,
    limit: usize,
) -> Result<Vec<(Seq, String)>, StoreError> {
    each_row(connection, session, after, limit, |seq, at, turn, kind, data| {
        Ok((seq, lines::write(seq, at, turn, kind, data)?))
    })
}

fn each_row<T>(
    connection: &Connection,
    session: SessionId,
    after: Seq,
    limit: usize,
    mut take: impl FnMut(Seq, i64, Option<TurnId>, &str, &str) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let key = key_of(connection, session)?.ok_or(StoreError::NoSuchSession(session))?;
    let mut statement = connection
        .prepare_cached(
            "SELECT seq, at, turn, kind, data FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?",
        )
        .map_err(sql)?;
    let bounds = params![key, column(after), i64::try_from(limit).unwrap_or(i64::MAX)];
    let mut rows = statement.query(bounds).map_err(sql)?;
    let mut taken = Vec::new();
    while let Some(row) = rows.next().map_err(sql)? {
        let seq: i64 = row.get(0).map_err(sql)?;
        let turn: Option<[u8; 16]> = row.get(2).map_err(sql)?;
        let at = row.get(1).map_err(sql)?;
        let turn = turn.map(TurnId::from_bytes);
        taken.push(take(Seq(seq.cast_unsigned()), at, turn, text(row, 3)?, text(row, 4)?)?);
    }
    Ok(taken)
}

/// A number as a column holds it; one beyond that is beyond every event.
pub(crate) fn column(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

pub(crate) fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, StoreError> {
    let value = row.get_ref(column).map_err(sql)?;
    value.as_str().map_err(|error| StoreError::Damaged(error.to_string()))
}

pub(crate) fn key_of(connection: &Connection, session: SessionId) -> Result<Option<i64>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT key FROM sessions WHERE id = ?").map_err(sql)?;
    statement.query_row([session.bytes()], |row| row.get(0)).optional().map_err(sql)
}

pub(crate) fn kept_reply(
    connection: &Connection,
    session: SessionId,
) -> Result<Option<RunningReply>, StoreError> {
    let key = key_of(connection, session)?.ok_or(StoreError::NoSuchSession(session))?;
    let mut statement = connection
        .prepare_cached("SELECT turn, message, text, thought FROM replies WHERE session = ?")
        .map_err(sql)?;
    let reply = statement.query_row([key], |row| {
        Ok(RunningReply {
            turn: TurnId::from_bytes(row.get(0)?),
            message: loggia_domain::MessageId::from_bytes(row.get(1)?),
            text: row.get(2)?,
            thought: row.get(3)?,
        })
    });
    reply.optional().map_err(sql)
}

/// A session's row. While it does not tell the last event, the journal is asked.
const SUMMARY: &str = "SELECT id, workspace, title, model, preset, created,
    coalesce(updated, (SELECT at FROM events WHERE session = key ORDER BY seq DESC LIMIT 1)) AS updated,
    coalesce(last_seq, (SELECT max(seq) FROM events WHERE session = key)) AS last_seq,
    closed FROM sessions";

fn summary(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    let preset: Option<String> = row.get(4)?;
    let last: i64 = row.get(7)?;
    Ok(SessionSummary {
        id: SessionId::from_bytes(row.get(0)?),
        workspace: WorkspaceId::from_bytes(row.get(1)?),
        title: row.get(2)?,
        model: row.get::<_, Option<String>>(3)?.map(loggia_domain::ModelName),
        preset: preset.as_deref().and_then(Preset::from_word),
        created: Timestamp(row.get(5)?),
        updated: Timestamp(row.get(6)?),
        last_seq: Seq(last.cast_unsigned()),
        closed: row.get(8)?,
    })
}

pub(crate) fn session(connection: &Connection, session: SessionId) -> Result<SessionSummary, StoreError> {
    let mut statement = connection.prepare_cached(&format!("{SUMMARY} WHERE id = ?")).map_err(sql)?;
    let found = statement.query_row([session.bytes()], summary).optional().map_err(sql)?;
    found.ok_or(StoreError::NoSuchSession(session))
}

pub(crate) fn sessions(
    connection: &Connection,
    query: &SessionQuery,
) -> Result<Page<SessionSummary>, StoreError> {
    let (updated, id) = match &query.cursor {
        Some(cursor) => parse_cursor(cursor)?,
        None => (i64::MAX, [0xff; 16]),
    };
    let workspace = query.workspace.map(|workspace| *workspace.bytes());
    let text = format!(
        "WITH listed AS MATERIALIZED ({SUMMARY}{}) SELECT * FROM listed
         WHERE (updated, id) < (?1, ?2) ORDER BY updated DESC, id DESC LIMIT ?3",
        if workspace.is_some() { " WHERE workspace = ?4" } else { "" }
    );
    let mut statement = connection.prepare_cached(&text).map_err(sql)?;
    // One more than asked, to know whether there is a next page.
    let limit = i64::try_from(query.limit.saturating_add(1)).unwrap_or(i64::MAX);
    let rows = match workspace {
        Some(workspace) => statement.query_map(params![updated, id, limit, workspace], summary),
        None => statement.query_map(params![updated, id, limit], summary),
    };
    let mut items = rows.map_err(sql)?.collect::<rusqlite::Result<Vec<_>>>().map_err(sql)?;
    let more = items.len() > query.limit;
    items.truncate(query.limit);
    let next = items.last().filter(|_| more).map(|last| format!("{}-{}", last.updated.0, last.id));
    Ok(Page { items, next })
}

fn parse_cursor(cursor: &str) -> Result<(i64, [u8; 16]), StoreError> {
    let parsed = cursor
        .split_once('-')
        .and_then(|(updated, id)| Some((updated.parse().ok()?, *id.parse::<SessionId>().ok()?.bytes())));
    parsed.ok_or_else(|| StoreError::BadCursor(cursor.chars().take(100).collect()))
}

fn workspace_of(row: &Row<'_>) -> rusqlite::Result<Workspace> {
    use std::os::unix::ffi::OsStringExt;
    let root: Vec<u8> = row.get(2)?;
    Ok(Workspace {
        id: WorkspaceId::from_bytes(row.get(0)?),
        name: row.get(1)?,
        root: std::ffi::OsString::from_vec(root).into(),
        created: Timestamp(row.get(3)?),
    })
}

pub(crate) fn workspaces(connection: &Connection) -> Result<Vec<Workspace>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id, name, root, created FROM workspaces ORDER BY created, id")
        .map_err(sql)?;
    let rows = statement.query_map([], workspace_of).map_err(sql)?;
    rows.collect::<rusqlite::Result<_>>().map_err(sql)
}

pub(crate) fn workspace(connection: &Connection, id: WorkspaceId) -> Result<Workspace, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id, name, root, created FROM workspaces WHERE id = ?")
        .map_err(sql)?;
    let found = statement.query_row([id.bytes()], workspace_of).optional().map_err(sql)?;
    found.ok_or(StoreError::NoSuchWorkspace(id))
}

pub(crate) fn workspace_at(connection: &Connection, root: &[u8]) -> Result<Option<Workspace>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id, name, root, created FROM workspaces WHERE root = ?")
        .map_err(sql)?;
    statement.query_row([root], workspace_of).optional().map_err(sql)
}

/// Sorts what SQLite says into what a caller can do about it.
pub(crate) fn sql(error: rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full,
        // The index of the log is memory mapped: it is made larger first, and that needs room.
        Some(ErrorCode::SystemIoFailure) if is_extended(&error, SQLITE_IOERR_SHMSIZE) => StoreError::Full,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(error.to_string()),
        _ => match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..) => StoreError::Damaged(error.to_string()),
            other => StoreError::Unavailable(other.to_string()),
        },
    }
}

fn is_extended(error: &rusqlite::Error, code: i32) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == code)
}
