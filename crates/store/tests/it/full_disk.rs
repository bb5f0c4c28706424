//! A disk without room: said clearly, nothing acknowledged is lost, and the store goes on when there is room again.
//!
//! The disk is a small one in memory, mounted where only a process of our own sees it. Where that is not allowed, the
//! unit test of a database that cannot grow has to do.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use loggia_domain::{MessageId, RunningReply, Seq, SessionId, Store, StoreError, TurnId, WorkspaceId};
use loggia_store::{OpenError, SqliteStore};

use crate::process;
use crate::support::{Stage, session_with, started};

/// Large enough for the log to be written back into the database in between.
const DISK: &str = "size=12m";
/// What is freed later, twice.
const BALLAST: usize = 2 * 1024 * 1024;
/// Events that one session appends at most; the disk holds fewer.
const MOST: usize = 10_000;

/// The ways to mount something for oneself: as anybody, or as the superuser.
const ALONE: [&[&str]; 2] = [&["--user", "--map-root-user", "--mount"], &["--mount"]];

/// A process of our own that runs one test on a small disk; nothing where that is not allowed.
fn on_small_disk(test: &str, directory: &Path) -> Option<Command> {
    let mount = "mount -t tmpfs -o \"$0\" tmpfs \"$1\" && shift && exec \"$@\"";
    let alone = |how: &[&str]| {
        let mut command = process::command("unshare");
        command.args(how).args(["sh", "-c", mount, DISK]).arg(directory);
        command
    };
    let works = |how: &&&[&str]| alone(how).arg("true").output().is_ok_and(|output| output.status.success());
    let how = ALONE.iter().find(works)?;
    let inner = process::running(test, directory);
    let mut command = alone(how);
    command.arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    Some(command)
}

/// Whether the test could be run; it has passed then.
fn passes_on_small_disk(test: &str) -> bool {
    let stage = Stage::new();
    let Some(mut command) = on_small_disk(test, stage.directory.path()) else { return false };
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{errors}");
    assert!(std::fs::read_dir(stage.directory.path()).unwrap().next().is_none(), "it was not the small disk");
    true
}

#[test]
fn a_full_disk_is_said_and_survived() {
    if !passes_on_small_disk("full_disk::inside_the_small_disk") {
        println!("NOT RUN: no file system can be mounted here");
    }
}

#[test]
fn a_file_system_that_cannot_be_written_is_named() {
    if !passes_on_small_disk("full_disk::inside_the_read_only_disk") {
        println!("NOT RUN: no file system can be mounted here");
    }
}

/// Appends from several sessions until none has room. Tells the last acknowledged number of each.
async fn fill(store: &Arc<SqliteStore>, sessions: &[SessionId]) -> Vec<u64> {
    let tasks: Vec<_> = sessions
        .iter()
        .map(|session| {
            let (store, session) = (store.clone(), *session);
            tokio::spawn(async move {
                let mut last = store.session(session).await.unwrap().last_seq.0;
                for _ in 0..MOST {
                    match store.append(session, vec![started(&"x".repeat(8000), 2)]).await {
                        Ok(stored) => last = stored[0].seq.0,
                        Err(StoreError::Full) => return last,
                        Err(error) => panic!("{error}"),
                    }
                }
                panic!("the disk is never full");
            })
        })
        .collect();
    let mut last = Vec::new();
    for task in tasks {
        last.push(task.await.unwrap());
    }
    last
}

async fn check_journals(store: &SqliteStore, sessions: &[SessionId], last: &[u64]) {
    for (session, last) in sessions.iter().zip(last) {
        let events = store.events(*session, Seq(0), usize::MAX).await.unwrap();
        let there: Vec<u64> = events.iter().map(|event| event.seq.0).collect();
        assert_eq!(there, (1..=*last).collect::<Vec<_>>());
    }
}

/// Not a test by itself: runs where the disk is small, started by the one above.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inside_the_small_disk() {
    let Some(disk) = process::given_directory() else { return };
    let ballast = [disk.join("ballast"), disk.join("more")];
    for file in &ballast {
        std::fs::write(file, vec![1; BALLAST]).unwrap();
    }
    let directory = disk.join("store");
    let store = Arc::new(SqliteStore::open(&directory).unwrap());
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(session_with(&*store, WorkspaceId::new(), 0, 1).await);
    }
    let last = fill(&store, &sessions).await;
    assert!(last.iter().sum::<u64>() > 300, "the disk had room for more than {last:?}");
    check_journals(&store, &sessions, &last).await;
    check_other_writes(&store, &directory, sessions[0]).await;

    std::fs::remove_file(&ballast[0]).unwrap();
    let more = fill(&store, &sessions).await;
    assert!(more.iter().sum::<u64>() > last.iter().sum::<u64>() + 50, "room was made: {last:?}, {more:?}");
    check_journals(&store, &sessions, &more).await;

    drop(store);
    std::fs::remove_file(&ballast[1]).unwrap();
    let store = SqliteStore::open(&directory).unwrap();
    check_journals(&store, &sessions, &more).await;
}

/// Everything else that is written says the same, and leaves nothing behind.
async fn check_other_writes(store: &SqliteStore, directory: &Path, session: SessionId) {
    let reply = RunningReply {
        turn: TurnId::new(),
        message: MessageId::new(),
        text: "x".repeat(100_000),
        thought: String::new(),
    };
    assert!(matches!(store.keep_reply(session, reply).await, Err(StoreError::Full)));
    assert!(matches!(store.put_blob(vec![1; 100_000]).await, Err(StoreError::Full)));
    assert_eq!(std::fs::read_dir(directory.join("blobs/drafts")).unwrap().count(), 0, "a draft was left");
    let lines = store.export(session, Seq(0), usize::MAX).await.unwrap();
    let lines = lines.into_iter().map(|(_, line)| line).collect();
    let copy = SessionId::new();
    let imported = store.import(copy, WorkspaceId::new(), lines).await;
    assert!(matches!(imported, Err(StoreError::Full)));
    assert!(matches!(store.session(copy).await, Err(StoreError::NoSuchSession(_))), "all or nothing");
}

/// Not a test by itself, like the one above.
#[tokio::test]
async fn inside_the_read_only_disk() {
    let Some(disk) = process::given_directory() else { return };
    let directory = disk.join("store");
    drop(SqliteStore::open(&directory).unwrap());
    let output = process::command("mount").args(["-o", "remount,bind,ro"]).arg(&disk).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    for directory in [&directory, &disk.join("another")] {
        let error = SqliteStore::open(directory).unwrap_err();
        assert!(
            matches!(&error, OpenError::NotWritable { path, .. } if path.starts_with(directory)),
            "{error}"
        );
    }
}
