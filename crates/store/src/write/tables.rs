//! What is written for each job, inside a transaction that somebody else begins and ends.
//!
//! Knows the statements. Refuses to know who asked and who else is in the transaction.
//!
//! What always holds:
//! - each method judges first and writes then, so that one which refuses has written nothing;
//! - what is remembered of sessions is what the transaction would leave; rolling back forgets it;
//! - the row of a session in the listing does not tell its last event while it may get more: the journal is asked
//!   then. So an append writes one page and not two.

use std::collections::HashMap;

use loggia_domain::{
    Event, EventBody, NewEvent, RunningReply, Seq, SessionId, SessionSummary, StoreError, TurnId, Workspace,
    WorkspaceId,
};
use rusqlite::{Connection, Params, params};

use crate::lines::{self, ReadEvent};
use crate::read::{self, sql};
use crate::rows::{self, EventRow, Word};

/// Sessions whose place in the journal is remembered; beyond it all are looked up again.
const MAX_KNOWN: usize = 4096;
/// Prepared statements that are kept: all there are.
const STATEMENTS: usize = 32;

/// Where a session's journal stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    key: i64,
    last: u64,
}

pub(super) struct Tables {
    connection: Connection,
    /// Sessions that may get more events; their rows do not tell the last one.
    known: HashMap<SessionId, Place>,
}

impl Tables {
    pub(super) fn new(connection: Connection) -> Self {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Self { connection, known: HashMap::new() }
    }

    pub(super) fn begin(&self) -> Result<(), StoreError> {
        self.execute("BEGIN IMMEDIATE", [])
    }

    pub(super) fn commit(&self) -> Result<(), StoreError> {
        self.execute("COMMIT", [])
    }

    pub(super) fn roll_back(&mut self) {
        if let Err(error) = self.execute("ROLLBACK", []) {
            // SQLite rolls back by itself on some errors; then there is nothing left to roll back.
            tracing::debug!(%error, "nothing to roll back");
        }
        self.known.clear();
    }

    pub(super) fn append(
        &mut self,
        session: SessionId,
        events: Vec<(NewEvent, EventRow)>,
    ) -> Result<Vec<Event>, StoreError> {
        let place = self.place_of(session)?;
        check_opening(place.is_some(), &events)?;
        let Some((first, _)) = events.first() else { return Ok(Vec::new()) };
        let mut place = match place {
            Some(place) => self.awake(session, place)?,
            None => self.open_session(session, first)?,
        };
        let mut stored = Vec::with_capacity(events.len());
        for (event, row) in events {
            place.last += 1;
            self.insert(place, &event, &row)?;
            self.reflect(place.key, &event.body)?;
            let NewEvent { at, turn, body } = event;
            stored.push(Event { seq: Seq(place.last), at, turn, body });
        }
        self.remember(session, place);
        Ok(stored)
    }

    pub(super) fn import(
        &mut self,
        session: SessionId,
        events: &[ReadEvent],
    ) -> Result<SessionSummary, StoreError> {
        let (None, Some(first)) = (self.place_of(session)?, events.first()) else {
            return Err(StoreError::MisplacedOpening);
        };
        let mut place = self.open_session(session, &first.event)?;
        for ReadEvent { seq, event, row } in events {
            place.last = seq.0;
            self.insert(place, event, row)?;
            self.reflect(place.key, &event.body)?;
        }
        read::session(&self.connection, session)
    }

    pub(super) fn fork(
        &mut self,
        from: SessionId,
        through: Seq,
        to: SessionId,
        opening: &(NewEvent, EventRow),
    ) -> Result<SessionSummary, StoreError> {
        let origin = self.place_of(from)?.ok_or(StoreError::NoSuchSession(from))?;
        let (opening, row) = opening;
        if self.place_of(to)?.is_some() || !matches!(opening.body, EventBody::SessionOpened { .. }) {
            return Err(StoreError::MisplacedOpening);
        }
        let place = Place { last: lines::FIRST.0, ..self.open_session(to, opening)? };
        self.insert(place, opening, row)?;
        self.execute(
            "INSERT INTO events (session, seq, at, turn, kind, data)
             SELECT ?, seq, at, turn, kind, data FROM events WHERE session = ? AND seq > ? AND seq <= ?",
            params![place.key, origin.key, place.last.cast_signed(), read::column(through)],
        )?;
        self.reflect_copied(place.key)?;
        read::session(&self.connection, to)
    }

    pub(super) fn keep_reply(&mut self, session: SessionId, reply: &RunningReply) -> Result<(), StoreError> {
        let place = self.place_of(session)?.ok_or(StoreError::NoSuchSession(session))?;
        let RunningReply { turn, message, text, thought } = reply;
        self.execute(
            "REPLACE INTO replies (session, turn, message, text, thought) VALUES (?, ?, ?, ?, ?)",
            params![place.key, turn.bytes(), message.bytes(), text, thought],
        )
    }

    pub(super) fn delete_session(&mut self, session: SessionId) -> Result<(), StoreError> {
        let place = self.place_of(session)?.ok_or(StoreError::NoSuchSession(session))?;
        self.known.remove(&session);
        for text in [
            "DELETE FROM events WHERE session = ?",
            "DELETE FROM replies WHERE session = ?",
            "DELETE FROM sessions WHERE key = ?",
        ] {
            self.execute(text, [place.key])?;
        }
        Ok(())
    }

    pub(super) fn register_workspace(&self, workspace: Workspace) -> Result<Workspace, StoreError> {
        use std::os::unix::ffi::OsStrExt;
        let root = workspace.root.as_os_str().as_bytes();
        if let Some(known) = read::workspace_at(&self.connection, root)? {
            return Ok(known);
        }
        self.execute(
            "INSERT INTO workspaces (id, name, root, created) VALUES (?, ?, ?, ?)",
            params![workspace.id.bytes(), workspace.name, root, workspace.created.0],
        )?;
        Ok(workspace)
    }

    pub(super) fn forget_workspace(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM workspaces WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM sessions WHERE workspace = ?1)",
            [workspace.bytes()],
        )
    }

    fn execute(&self, text: &str, params: impl Params) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(text).map_err(sql)?;
        statement.execute(params).map_err(sql).map(drop)
    }

    fn place_of(&self, session: SessionId) -> Result<Option<Place>, StoreError> {
        if let Some(place) = self.known.get(&session) {
            return Ok(Some(*place));
        }
        let Some(key) = read::key_of(&self.connection, session)? else { return Ok(None) };
        let text = "SELECT coalesce(max(seq), 0) FROM events WHERE session = ?";
        let mut statement = self.connection.prepare_cached(text).map_err(sql)?;
        let last = statement.query_row([key], |row| row.get(0)).map(i64::cast_unsigned).map_err(sql)?;
        Ok(Some(Place { key, last }))
    }

    /// Makes the row of a session stop telling the last event, unless it does not already.
    fn awake(&self, session: SessionId, place: Place) -> Result<Place, StoreError> {
        if !self.known.contains_key(&session) {
            self.execute("UPDATE sessions SET updated = NULL, last_seq = NULL WHERE key = ?", [place.key])?;
        }
        Ok(place)
    }

    fn remember(&mut self, session: SessionId, place: Place) {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(session, place);
    }

    fn open_session(&self, session: SessionId, opening: &NewEvent) -> Result<Place, StoreError> {
        let EventBody::SessionOpened { workspace, title, model, preset, .. } = &opening.body else {
            return Err(StoreError::MisplacedOpening);
        };
        let model = model.as_ref().map(|model| &model.0);
        let preset = preset.as_ref().map(Word::word);
        self.execute(
            "INSERT INTO sessions (id, workspace, title, model, preset, created, closed)
             VALUES (?, ?, ?, ?, ?, ?, 0)",
            params![session.bytes(), workspace.bytes(), title, model, preset, opening.at.0],
        )?;
        Ok(Place { key: self.connection.last_insert_rowid(), last: 0 })
    }

    fn insert(&self, place: Place, event: &NewEvent, row: &EventRow) -> Result<(), StoreError> {
        let turn = event.turn.as_ref().map(TurnId::bytes);
        self.execute(
            "INSERT INTO events (session, seq, at, turn, kind, data) VALUES (?, ?, ?, ?, ?, ?)",
            params![place.key, place.last.cast_signed(), event.at.0, turn, row.kind, row.data],
        )
    }

    /// Brings what is kept beside the journal up to date with an event.
    fn reflect(&self, key: i64, body: &EventBody) -> Result<(), StoreError> {
        match body {
            EventBody::SessionRenamed { title, .. } => {
                self.execute("UPDATE sessions SET title = ? WHERE key = ?", params![title, key])
            }
            EventBody::ModelChanged { model, .. } => {
                self.execute("UPDATE sessions SET model = ? WHERE key = ?", params![model.0, key])
            }
            EventBody::SessionClosed { .. } => {
                self.execute("UPDATE sessions SET closed = 1 WHERE key = ?", [key])
            }
            // The whole reply is in the journal now; what was kept of it has done its work.
            EventBody::MessageEnded { message, .. } => self.execute(
                "DELETE FROM replies WHERE session = ? AND message = ?",
                params![key, message.id.bytes()],
            ),
            _ => Ok(()),
        }
    }

    /// The same for events that were copied from another journal.
    fn reflect_copied(&self, key: i64) -> Result<(), StoreError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT kind, data FROM events
                 WHERE session = ? AND kind IN ('session_renamed', 'model_changed', 'session_closed')
                 ORDER BY seq",
            )
            .map_err(sql)?;
        let mut found = statement.query([key]).map_err(sql)?;
        while let Some(row) = found.next().map_err(sql)? {
            let body = rows::decode(read::text(row, 0)?, read::text(row, 1)?)
                .map_err(|error| StoreError::Damaged(error.to_string()))?;
            self.reflect(key, &body)?;
        }
        Ok(())
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
