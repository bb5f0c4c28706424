//! Opening a store: whose is it, which version is it, is it whole?

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::schema;

/// Why a store cannot be opened. Nothing was changed in any of these cases.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error("the store is in use by another process{}", owner.map_or(String::new(), |pid| format!(" ({pid})")))]
    InUse {
        /// The lock that says so.
        path: PathBuf,
        /// The other process, if it said who it is.
        owner: Option<u32>,
    },
    /// The directory or a file in it cannot be written.
    #[error("`{}` cannot be written", path.display())]
    NotWritable {
        /// What.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file is a database of somebody else, or no database at all.
    #[error("`{}` is not a store of ours", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The database is damaged.
    #[error("`{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A newer version of the program has written it.
    #[error("`{}` has version {found}; this program knows versions up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest this program knows.
        known: i64,
    },
    /// The database cannot be opened for another reason.
    #[error("`{}` cannot be opened: {reason}", path.display())]
    Unavailable {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
}

/// Opens the database for writing, and brings it up to date.
pub(crate) fn open_writer(path: &Path) -> Result<Connection, OpenError> {
    let failed = |error: rusqlite::Error| sort(path, &error);
    let fresh = !path.exists();
    if fresh {
        found(path)?;
    }
    let mut connection = Connection::open(path).map_err(failed)?;
    let version = check(path, &connection, fresh)?;
    configure(&connection).map_err(failed)?;
    schema::migrate(&mut connection, version).map_err(failed)?;
    schema::settle(&connection).map_err(failed)?;
    Ok(connection)
}

/// Opens the database for reading beside the writer.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| sort(path, &error))?;
    connection.busy_timeout(BUSY).map_err(|error| sort(path, &error))?;
    Ok(connection)
}

/// Within one process only a checkpoint can be in the way, for a moment.
const BUSY: std::time::Duration = std::time::Duration::from_secs(5);

/// Looks before anything is written: a file that is not ours stays as it is.
fn check(path: &Path, connection: &Connection, fresh: bool) -> Result<i64, OpenError> {
    let failed = |error: rusqlite::Error| sort(path, &error);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    let owner: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    let version: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    let empty = fresh || (tables == 0 && owner == 0 && version == 0);
    match (empty, owner == schema::APPLICATION_ID, version) {
        (true, _, _) => Ok(0),
        (false, false, _) => Err(OpenError::NotOurs { path: path.to_owned() }),
        (false, true, found) if found > schema::VERSION => {
            Err(OpenError::Newer { path: path.to_owned(), found, known: schema::VERSION })
        }
        (false, true, version) => Ok(version),
    }
}

/// Makes the file a database in the mode we want. There is nothing to lose yet, so the disk is waited for once, where
/// SQLite by itself would do so four times. That once cannot be left out: a database without its first page loses what
/// its journal holds.
fn found(path: &Path) -> Result<(), OpenError> {
    let failed = |error: rusqlite::Error| sort(path, &error);
    let connection = Connection::open(path).map_err(failed)?;
    connection.pragma_update(None, "synchronous", "OFF").map_err(failed)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    connection.close().map_err(|(_, error)| sort(path, &error))?;
    // After it is closed: whoever closes the file a second time lets go of the locks that SQLite holds on it.
    let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|source| OpenError::NotWritable { path: path.to_owned(), source })
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Every commit is on disk before it is acknowledged.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    Ok(())
}

fn sort(path: &Path, error: &rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotOurs { path },
        Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged { path, reason: error.to_string() },
        Some(
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::DiskFull,
        ) => OpenError::NotWritable { path, source: std::io::Error::other(error.to_string()) },
        _ => OpenError::Unavailable { path, reason: error.to_string() },
    }
}
