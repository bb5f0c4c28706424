//! Many who hear one session, each at a pace of its own, while turns come and go.

use std::sync::Arc;

use loggia_domain::{Event, EventBody, Intent, Preset, Seq};
use loggia_engine::{Seat, Subscription, Told};
use loggia_tests::prompt;
use proptest::collection::vec;
use proptest::prelude::*;
use tokio::sync::watch;

use super::heard::Heard;
use super::life::{DRIVES, Life};
use super::puppet::Puppet;
use super::steps::{Act, End, Manner, Reply};

/// A session with readers.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    threads: bool,
    turns: Vec<Turn>,
    readers: Vec<Reader>,
}

/// One turn: a reply in so many pieces.
#[derive(Debug, Clone)]
struct Turn {
    pieces: u8,
    /// Whether the pieces come all at once.
    burst: bool,
    /// Cancelled once so many things of it were heard; it ends by itself otherwise.
    cancelled: Option<usize>,
}

/// Somebody who reads.
#[derive(Debug, Clone)]
struct Reader {
    /// The turn during which it comes, in percent of all.
    comes: usize,
    /// Where it begins, in percent of the journal at that time.
    from: u64,
    /// How much it reads, and for how many turns it then does something else; again and again.
    pace: Vec<(usize, usize)>,
}

pub(super) fn reading() -> impl Strategy<Value = Reading> {
    let turn = (0..60_u8, any::<bool>(), prop::option::weighted(0.3, 0..8_usize))
        .prop_map(|(pieces, burst, cancelled)| Turn { pieces, burst, cancelled });
    let pace = vec((1..40_usize, 0..6_usize), 1..4);
    let reader =
        (0..100_usize, 0..130_u64, pace).prop_map(|(comes, from, pace)| Reader { comes, from, pace });
    (any::<bool>(), vec(turn, 4..50), vec(reader, 1..6)).prop_map(|(threads, turns, readers)| Reading {
        threads,
        turns,
        readers,
    })
}

/// How far the session has come.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    turns: usize,
    /// The last event of all.
    end: Option<Seq>,
}

/// Plays a session and looks whether everybody heard it.
///
/// # Panics
/// If somebody did not.
pub(super) fn play(reading: &Reading) {
    let mut builder = match reading.threads {
        true => tokio::runtime::Builder::new_multi_thread(),
        false => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder.worker_threads(2).enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("work")).unwrap();
    let puppet = Puppet::new(directory.path().join("work"), 10_000_000);
    runtime.block_on(async {
        let life = Life::begin(directory.path(), &puppet, Preset::Ask, None).await;
        let (heard, journal) = converse(life, &puppet, reading).await;
        for (place, heard) in heard.iter().enumerate() {
            heard.agrees(&journal).unwrap_or_else(|wrong| panic!("reader {place}: {wrong}"));
            assert_eq!(heard.last(), journal.last().unwrap().seq, "reader {place} did not hear the end");
        }
    });
}

async fn converse(mut life: Life, puppet: &Arc<Puppet>, reading: &Reading) -> (Vec<Heard>, Vec<Event>) {
    let (progress, told) = watch::channel(Progress::default());
    let mut waiting: Vec<&Reader> = reading.readers.iter().collect();
    let mut tasks = Vec::new();
    life.join(0, Manner { eager: false, ..DRIVES }).await;
    let driver = life.guests[0].take().expect("just joined").seat;
    let mut own = driver.subscribe(Seq(0));
    let mut heard = Heard::after(Seq(0));
    for (number, turn) in reading.turns.iter().enumerate() {
        let come = |reader: &&Reader| reader.comes * reading.turns.len() / 100 <= number;
        for reader in waiting.extract_if(.., |reader| come(reader)) {
            life.join(1, Manner { eager: false, watches: true, ..DRIVES }).await;
            let seat = life.guests[1].take().expect("just joined").seat;
            let last = life.state().await.last_seq;
            let subscription = seat.subscribe(Seq(last.0 * reader.from / 100));
            tasks.push(tokio::spawn(read(seat, subscription, reader.pace.clone(), told.clone())));
        }
        take_turn(&driver, puppet, turn, &mut own, &mut heard).await;
        progress.send_modify(|progress| progress.turns += 1);
    }
    let last = life.state().await.last_seq;
    progress.send_modify(|progress| progress.end = Some(last));
    while heard.last() < last {
        heard.take(&own.next().await.unwrap());
    }
    let mut all = vec![heard];
    for task in tasks {
        all.push(task.await.unwrap());
    }
    (all, life.events(life.session, Seq(0)).await)
}

/// Begins a turn, cancels it if it is to be, and hears its end.
async fn take_turn(
    driver: &Seat,
    puppet: &Arc<Puppet>,
    turn: &Turn,
    told: &mut Subscription,
    heard: &mut Heard,
) {
    let say = match turn.burst {
        true => Act::Burst { pieces: turn.pieces },
        false => Act::Say { pieces: turn.pieces },
    };
    let end = if turn.cancelled.is_some() { End::Hangs } else { End::Whole };
    let text = puppet.learn(&[Reply { acts: vec![Act::Think, say], end }]);
    let began = driver.intend(prompt(&text)).await.unwrap().seq;
    let mut left = turn.cancelled;
    loop {
        if left == Some(0) {
            driver.intend(Intent::Cancel { reason: None }).await.unwrap();
            left = None;
        }
        let next = told.next().await.unwrap();
        heard.take(&next);
        match &next {
            Told::Event(event) if event.seq < began => {}
            Told::Event(event) if matches!(event.body, EventBody::TurnEnded { .. }) => return,
            // The thought is always told, so that there is something to count.
            _ => {
                left =
                    left.map(|left| if matches!(next, Told::Reply(_)) { 0 } else { left.saturating_sub(1) });
            }
        }
    }
}

/// Reads at a pace until the end.
async fn read(
    _seat: Seat,
    mut subscription: Subscription,
    pace: Vec<(usize, usize)>,
    mut progress: watch::Receiver<Progress>,
) -> Heard {
    let mut heard = Heard::after(subscription.position());
    for (most, turns) in pace.into_iter().cycle() {
        for _ in 0..most {
            let end = progress.borrow().end;
            if end.is_some_and(|end| subscription.position() >= end) {
                return heard;
            }
            tokio::select! {
                told = subscription.next() => heard.take(&told.unwrap()),
                changed = progress.changed() => changed.unwrap(),
            }
        }
        let until = progress.borrow().turns + turns;
        let over = |progress: &Progress| progress.turns >= until || progress.end.is_some();
        drop(progress.wait_for(over).await.unwrap());
    }
    heard
}
