//! A child under load is killed with SIGKILL again and again; what it had told is there each time.
//!
//! Twenty kills here; `cargo xtask crash` does two hundred.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use loggia_domain::{EventBody, MessageId, SessionId, Store};
use loggia_tests::crash::{BEGINNING, LOAD, engine, now, sessions};
use loggia_tests::load::{FILES, version};

use crate::KEEPER;

/// How many kills, unless the environment says otherwise.
const KILLS: u64 = 20;

/// How much of a reply may be lost, in milliseconds, unless the environment says otherwise. Generous, since other
/// tests share the machine; the chore asks for what is promised.
const LOSS: u128 = 2_000;

/// What a child had told when it was killed.
#[derive(Debug, Default)]
struct Acknowledged {
    events: BTreeMap<SessionId, u64>,
    /// For each reply, the longest length that was told long enough before the kill.
    replies: BTreeMap<(SessionId, MessageId), usize>,
}

fn setting<T: std::str::FromStr>(name: &str, otherwise: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Numbers that look random and are the same in every run.
fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_was_told_is_lost_by_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let kills = setting("LOGGIA_CRASH_KILLS", KILLS);
    let loss = setting("LOGGIA_CRASH_LOSS_MS", LOSS);
    let mut seed = 20_261_116;
    let mut told = 0;
    for kill in 0..kills {
        let life = Duration::from_millis(20 + random(&mut seed) % 400);
        let path = directory.path().to_owned();
        let acknowledged =
            tokio::task::spawn_blocking(move || live_and_die(&path, life, loss)).await.unwrap();
        told += acknowledged.events.len();
        check(directory.path(), &acknowledged, kill).await;
    }
    assert!(told as u64 > kills, "the children told too little: {told}");
}

#[expect(clippy::disallowed_methods, reason = "the child is to be killed by us, not kept")]
fn live_and_die(directory: &Path, life: Duration, loss: u128) -> Acknowledged {
    let mut child = Command::new(KEEPER)
        .arg("crash")
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready", "the child comes up after every crash");
    // However slow the machine is: something has been told before the kill.
    let mut told: Vec<String> = lines.by_ref().take(10).map_while(Result::ok).collect();
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<String>>());
    std::thread::sleep(life);
    let killed = now();
    child.kill().unwrap();
    child.wait().unwrap();
    let mut acknowledged = Acknowledged::default();
    told.extend(reader.join().unwrap());
    for line in told {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["event", session, seq] => {
                acknowledged.events.insert(session.parse().unwrap(), seq.parse().unwrap());
            }
            ["reply", session, message, length, at] if at.parse::<u128>().unwrap() + loss <= killed => {
                let reply = (session.parse().unwrap(), message.parse().unwrap());
                acknowledged.replies.insert(reply, length.parse().unwrap());
            }
            // The last line may be torn by the kill.
            _ => {}
        }
    }
    acknowledged
}

async fn check(directory: &Path, acknowledged: &Acknowledged, kill: u64) {
    let (engine, store) = engine(directory, KEEPER.as_ref()).await.unwrap();
    let known = sessions(&engine, directory).await.unwrap();
    for (session, what) in known.iter().zip(LOAD) {
        // Loading recovers: what was open is closed, or still asks.
        let state = engine.state(*session).await.unwrap();
        assert!(state.turn.is_none() || !state.pending.is_empty(), "kill {kill}, {what}: {:?}", state.turn);
        let events = whole_journal(&store, *session).await;
        let seqs: Vec<u64> = events.iter().map(|event| event.seq.0).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "kill {kill}, {what}: a gap");
        if let Some(seq) = acknowledged.events.get(session) {
            assert!(seqs.len() as u64 >= *seq, "kill {kill}, {what}: {seq} was told");
        }
        for ((owner, message), length) in &acknowledged.replies {
            if owner == session {
                let kept = kept_length(&events, *message);
                assert!(kept >= *length, "kill {kill}, {what}: {length} bytes were told, {kept} are kept");
            }
        }
        if let Some(directory_of_files) = what.split(' ').nth(1) {
            let applied = events.iter().filter(|event| matches!(event.body, EventBody::PatchApplied { .. }));
            let sets = (applied.count() / FILES) as u64;
            let found = version(&directory.join("work").join(directory_of_files)).unwrap_or(0);
            assert_eq!(found, sets, "kill {kill}, {what}: the files and the journal do not agree");
        }
    }
    engine.stop().await;
}

async fn whole_journal(store: &std::sync::Arc<dyn Store>, session: SessionId) -> Vec<loggia_domain::Event> {
    let mut events = Vec::new();
    let mut after = BEGINNING;
    loop {
        let page = store.events(session, after, 1000).await.unwrap();
        let Some(last) = page.last() else { return events };
        after = last.seq;
        events.extend(page);
    }
}

fn kept_length(events: &[loggia_domain::Event], wanted: MessageId) -> usize {
    let length = |event: &loggia_domain::Event| match &event.body {
        EventBody::MessageEnded { message, .. } if message.id == wanted => Some(message.text.len()),
        _ => None,
    };
    events.iter().find_map(length).unwrap_or(0)
}
