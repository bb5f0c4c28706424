//! The tables, and how older ones become today's.
//!
//! `user_version` counts the migrations a database has had. They run in order, each in its own transaction, and
//! are never changed once released.

use rusqlite::Connection;

/// Marks a file as ours ("Log1").
pub(crate) const APPLICATION_ID: i32 = 0x4C6F_6731;

/// Every step from an empty file to today.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE workspaces (
        id      BLOB NOT NULL PRIMARY KEY,
        name    TEXT NOT NULL,
        root    BLOB NOT NULL UNIQUE,
        created INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- `key` stands for the session in `events`, where sixteen more bytes per row would count.
    -- `updated` and `last_seq` tell the last event. Both are NULL while a session may get more: then the journal
    -- is asked, so that an append has nothing to write here. For the same reason there is no index by age;
    -- even ten thousand rows are sorted quickly.
    CREATE TABLE sessions (
        key       INTEGER PRIMARY KEY,
        id        BLOB NOT NULL UNIQUE,
        workspace BLOB NOT NULL,
        title     TEXT,
        model     TEXT,
        preset    TEXT,
        created   INTEGER NOT NULL,
        updated   INTEGER,
        last_seq  INTEGER,
        closed    INTEGER NOT NULL
    ) STRICT;

    -- Rows lie in the order in which journals are read.
    CREATE TABLE events (
        session INTEGER NOT NULL,
        seq     INTEGER NOT NULL,
        at      INTEGER NOT NULL,
        turn    BLOB,
        kind    TEXT NOT NULL,
        data    TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE replies (
        session INTEGER PRIMARY KEY,
        turn    BLOB NOT NULL,
        message BLOB NOT NULL,
        text    TEXT NOT NULL,
        thought TEXT NOT NULL
    ) STRICT;
"];

/// Lets every row tell its session's last event again: nobody appends yet.
pub(crate) fn settle(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "UPDATE sessions SET
             (updated, last_seq) = (SELECT at, seq FROM events WHERE session = key ORDER BY seq DESC LIMIT 1)
         WHERE last_seq IS NULL",
    )
}

/// The version this program writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Brings a database of ours up to date.
pub(crate) fn migrate(connection: &mut Connection, from: i64) -> rusqlite::Result<()> {
    for (step, statements) in MIGRATIONS.iter().enumerate().skip(usize::try_from(from).unwrap_or(0)) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(statements)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", step as i64 + 1)?;
        transaction.commit()?;
    }
    Ok(())
}
