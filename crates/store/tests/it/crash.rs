//! The store's process is killed in the middle of its work, again and again: what it had acknowledged is there.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use loggia_domain::{MessageId, RunningReply, Seq, SessionId, Store, TurnId, WorkspaceId};
use loggia_store::{OpenError, SqliteStore};

use crate::process;
use crate::support::{Stage, session_with, started};

/// Each round continues with the store the last one left behind.
const KILLS: usize = 25;
/// Sessions that write at the same time.
const SESSIONS: usize = 6;
/// A round is killed after so many acknowledgements at most.
const MOST_LINES: u64 = 400;

/// What a process said was done: `event SESSION SEQ`, `reply SESSION NUMBER`.
#[derive(Default)]
struct Acknowledged {
    events: HashMap<SessionId, u64>,
    replies: HashMap<SessionId, u64>,
}

impl Acknowledged {
    /// Takes a line; false for one that is not ours, or was cut.
    fn take(&mut self, line: &str) -> bool {
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        let [kind, session, number, "."] = words[..] else { return false };
        let counts = match kind {
            "event" => &mut self.events,
            "reply" => &mut self.replies,
            _ => return false,
        };
        counts.insert(session.parse().unwrap(), number.parse().unwrap());
        true
    }
}

fn say(kind: &str, session: SessionId, number: u64) {
    let line = format!("{kind} {session} {number} .\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

/// Not a test by itself: writes without end when started by the one below.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inside_the_process_that_is_killed() {
    let Some(directory) = process::given_directory() else { return };
    let store = Arc::new(SqliteStore::open(&directory).unwrap());
    let tasks = (0..SESSIONS).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let session = session_with(&*store, WorkspaceId::new(), 0, 1).await;
            say("event", session, 1);
            let (events, replies) = tokio::join!(write_events(&store, session), write_reply(&store, session));
            (events, replies)
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}

async fn write_events(store: &SqliteStore, session: SessionId) {
    loop {
        let stored =
            store.append(session, vec![started("a", 2), started(&"b".repeat(3000), 2)]).await.unwrap();
        say("event", session, stored[1].seq.0);
    }
}

async fn write_reply(store: &SqliteStore, session: SessionId) {
    let (turn, message) = (TurnId::new(), MessageId::new());
    for number in 1.. {
        let reply = RunningReply { turn, message, text: number.to_string(), thought: String::new() };
        store.keep_reply(session, reply).await.unwrap();
        say("reply", session, number);
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_kill_dash_nine() {
    let stage = Stage::new();
    let directory = stage.directory.path();
    let mut acknowledged = Acknowledged::default();
    let mut random = seed();
    for _ in 0..KILLS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let lines = 1 + (random >> 33) % MOST_LINES;
        kill_after(directory, lines, &mut acknowledged);
        check(directory, &acknowledged).await;
    }
    assert!(acknowledged.events.len() >= KILLS, "hardly anything was written");
}

/// Different in every run: a place that is wrong once in a thousand should be met some day.
fn seed() -> u64 {
    SessionId::new().bytes()[8..].iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

/// Lets a process write until it has said so many things, kills it, and takes everything it had said.
fn kill_after(directory: &Path, lines: u64, acknowledged: &mut Acknowledged) {
    let mut child = process::running("crash::inside_the_process_that_is_killed", directory).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut taken = 0;
    let mut line = String::new();
    while taken < lines {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "it ended by itself");
        taken += u64::from(acknowledged.take(&line));
    }
    let error = SqliteStore::open(directory).unwrap_err();
    assert!(matches!(error, OpenError::InUse { owner: Some(pid), .. } if pid == child.id()), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    for line in output.lines() {
        acknowledged.take(&line.unwrap());
    }
}

async fn check(directory: &Path, acknowledged: &Acknowledged) {
    let store = SqliteStore::open(directory).unwrap();
    for (session, last) in &acknowledged.events {
        let events = store.events(*session, Seq(0), usize::MAX).await.unwrap();
        let there: Vec<u64> = events.iter().map(|event| event.seq.0).collect();
        assert_eq!(there, (1..=there.len() as u64).collect::<Vec<_>>(), "no gap and no repeat");
        assert!(there.len() as u64 >= *last, "{last} was acknowledged, {} are there", there.len());
        assert_eq!(there.len() % 2, 1, "two events were appended together, and half of them is there");
        let summary = store.session(*session).await.unwrap();
        assert_eq!(summary.last_seq.0, there.len() as u64, "the listing follows the journal");
    }
    for (session, number) in &acknowledged.replies {
        let kept: u64 = store.kept_reply(*session).await.unwrap().unwrap().text.parse().unwrap();
        assert!(kept >= *number, "{number} was acknowledged, {kept} is there");
    }
}
