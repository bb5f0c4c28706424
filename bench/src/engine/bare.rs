//! The floor of durable events: SQLite alone, in a loop, with the store's own tables and settings.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use rusqlite::{Connection, OpenFlags, params};

/// A connection of its own, and where each session's journal stands.
pub(super) struct Bare {
    connection: Connection,
    places: Vec<(i64, i64)>,
    row: Row,
}

/// An event as it lies in its table.
#[derive(Debug, Clone)]
pub(super) struct Row {
    at: i64,
    kind: String,
    data: String,
}

impl Row {
    /// The newest event of a store that is in use.
    pub(super) fn newest(directory: &Path) -> Result<Self> {
        let connection = Connection::open_with_flags(database(directory), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let text = "SELECT at, kind, data FROM events ORDER BY seq DESC LIMIT 1";
        let row =
            |row: &rusqlite::Row<'_>| Ok(Self { at: row.get(0)?, kind: row.get(1)?, data: row.get(2)? });
        Ok(connection.query_row(text, [], row)?)
    }
}

impl Bare {
    /// Takes over a store nobody has open.
    pub(super) fn open(directory: &Path, row: Row) -> Result<Self> {
        let connection = Connection::open(database(directory))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", "ON")?;
        let mut statement = connection.prepare("SELECT session, max(seq) FROM events GROUP BY session")?;
        let places = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let places = places.collect::<rusqlite::Result<_>>()?;
        drop(statement);
        Ok(Self { connection, places, row })
    }

    /// Adds events to all journals in turn, so many to a transaction on average.
    pub(super) fn append(&mut self, events: usize, batch: f64) -> Result<Duration> {
        let start = Instant::now();
        let (mut done, mut due) = (0, 0.0);
        while done < events {
            due += batch;
            self.run("BEGIN IMMEDIATE")?;
            while done < events && (done as f64) < due {
                self.insert(done)?;
                done += 1;
            }
            self.run("COMMIT")?;
        }
        Ok(start.elapsed())
    }

    fn insert(&mut self, number: usize) -> Result<()> {
        let count = self.places.len();
        let (session, last) = &mut self.places[number % count];
        *last += 1;
        let (session, last) = (*session, *last);
        let text = "INSERT INTO events (session, seq, at, turn, kind, data) VALUES (?, ?, ?, ?, ?, ?)";
        let turn: Option<&[u8; 16]> = None;
        let Row { at, kind, data } = &self.row;
        self.connection.prepare_cached(text)?.execute(params![session, last, at, turn, kind, data])?;
        Ok(())
    }

    fn run(&self, text: &str) -> Result<()> {
        self.connection.prepare_cached(text)?.execute([])?;
        Ok(())
    }
}

fn database(directory: &Path) -> std::path::PathBuf {
    directory.join("store").join("store.sqlite")
}
