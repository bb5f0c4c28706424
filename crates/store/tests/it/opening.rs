//! Opening a store that is taken, foreign, newer, damaged or not writable: a clear error, and nothing changed.

use std::path::Path;

use loggia_domain::{Seq, Store, WorkspaceId};
use loggia_store::{OpenError, SqliteStore};
use rusqlite::Connection;

use crate::support::{Stage, session_with};

fn database(stage: &Stage) -> std::path::PathBuf {
    stage.directory.path().join("store.sqlite")
}

fn open(stage: &Stage) -> Result<SqliteStore, OpenError> {
    SqliteStore::open(stage.directory.path())
}

/// Opening fails, and the file has the same bytes after it.
fn refused(stage: &Stage, path: &Path) -> OpenError {
    let before = std::fs::read(path).unwrap();
    let error = open(stage).unwrap_err();
    assert_eq!(std::fs::read(path).unwrap(), before, "a refused file was changed");
    error
}

#[test]
fn a_second_owner_is_told_who_the_first_is() {
    let stage = Stage::new();
    let first = open(&stage).unwrap();
    let error = open(&stage).unwrap_err();
    assert!(
        matches!(error, OpenError::InUse { owner: Some(pid), .. } if pid == std::process::id()),
        "{error}"
    );
    drop(first);
    open(&stage).unwrap();
}

#[test]
fn a_lock_file_left_by_a_crash_is_no_lock() {
    let stage = Stage::new();
    std::fs::write(stage.directory.path().join("store.lock"), "4711\n").unwrap();
    open(&stage).unwrap();
}

#[test]
fn what_is_no_database_is_refused() {
    let stage = Stage::new();
    std::fs::write(
        database(&stage),
        "this is not a database, and longer than a header of one would be ".repeat(50),
    )
    .unwrap();
    assert!(matches!(refused(&stage, &database(&stage)), OpenError::NotOurs { .. }));
}

#[test]
fn somebody_elses_database_is_refused() {
    let stage = Stage::new();
    let foreign = Connection::open(database(&stage)).unwrap();
    foreign.execute_batch("CREATE TABLE events (id INTEGER); INSERT INTO events VALUES (1)").unwrap();
    drop(foreign);
    assert!(matches!(refused(&stage, &database(&stage)), OpenError::NotOurs { .. }));
}

#[test]
fn a_newer_database_is_refused() {
    let stage = Stage::new();
    drop(open(&stage).unwrap());
    let ours = Connection::open(database(&stage)).unwrap();
    ours.pragma_update(None, "user_version", 99).unwrap();
    ours.pragma_update(None, "journal_mode", "DELETE").unwrap();
    drop(ours);
    let error = refused(&stage, &database(&stage));
    assert!(matches!(error, OpenError::Newer { found: 99, .. }), "{error}");
}

#[tokio::test]
async fn damaged_pages_are_an_error_and_not_an_answer() {
    let stage = Stage::new();
    let session = session_with(&open(&stage).unwrap(), WorkspaceId::new(), 500, 1).await;
    let path = database(&stage);
    let mut bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() > 40_000, "the journal fills several pages");
    // Past the pages of the schema, into those of the journal.
    bytes[24_000..].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    match open(&stage) {
        Err(error) => assert!(matches!(error, OpenError::Damaged { .. }), "{error}"),
        Ok(store) => {
            let error = store.events(session, Seq(0), 1000).await.unwrap_err();
            assert!(matches!(error, loggia_domain::StoreError::Damaged(_)), "{error}");
        }
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let stage = Stage::new();
    let file = stage.directory.path().join("a-file");
    std::fs::write(&file, "").unwrap();
    let error = SqliteStore::open(&file.join("store")).unwrap_err();
    assert!(matches!(&error, OpenError::NotWritable { path, .. } if path.starts_with(&file)), "{error}");
}

#[test]
fn a_directory_that_is_made_is_its_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    let directory = stage.directory.path().join("data/store");
    drop(SqliteStore::open(&directory).unwrap());
    for made in [directory.as_path(), directory.parent().unwrap()] {
        let mode = made.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", made.display());
    }
}
