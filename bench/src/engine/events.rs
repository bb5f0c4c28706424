//! Durable events per second: through the store, through the engine, and by SQLite in a bare loop.
//!
//! Every session has one event outstanding: it sends the next when the last is on disk. The bare loop puts as many
//! events into a transaction as the contender beside it achieved in the same round.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use loggia_domain::{Actor, EventBody, Intent, JsonText, NewEvent, SessionId, Store, Timestamp};
use loggia_engine::Seat;
use tempfile::TempDir;

use super::bare::{Bare, Row};
use super::commits::commits;
use super::progress;
use super::report::{Figure, Limit};
use super::world::{NEVER, World, scratch, store, threads};
use crate::measure::{median, rate};

const PART: &str = "Durable events";

/// Sessions, and events each has to store in a round.
const LOADS: [(usize, usize); 3] = [(1, 400), (8, 200), (64, 100)];

/// At least this share of what SQLite does alone.
const SHARE: f64 = 0.6;

/// Measures all loads.
pub(super) fn measure(rounds: usize) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (sessions, events) in LOADS {
        figures.extend(threads()?.block_on(load(rounds, sessions, events))?);
    }
    Ok(figures)
}

/// What a contender did in a round.
#[derive(Debug, Clone, Copy)]
struct Round {
    rate: f64,
    batch: f64,
    floor: f64,
}

async fn load(rounds: usize, sessions: usize, events: usize) -> Result<Vec<Figure>> {
    let mut through_store = ThroughStore::start(sessions).await?;
    let mut through_engine = ThroughEngine::start(sessions).await?;
    let (mut of_store, mut of_engine) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        progress(&format!("durable events: {sessions} sessions, round {round} of {rounds}"));
        let store = through_store.round(events).await?;
        let engine = through_engine.round(events).await?;
        // The first warms up.
        if round > 0 {
            of_store.push(store);
            of_engine.push(engine);
        }
    }
    through_engine.world.engine.stop().await;
    let contenders = [("store", of_store), ("engine", of_engine)];
    Ok(contenders.iter().map(|(name, rounds)| figure(name, sessions, rounds)).collect())
}

fn figure(name: &str, sessions: usize, rounds: &[Round]) -> Figure {
    let middle = |of: fn(&Round) -> f64| median(&mut rounds.iter().map(of).collect::<Vec<f64>>());
    let value = middle(|round| round.rate);
    // The floor that makes the ratio the median of ratios: each was measured beside its round.
    let ratio = middle(|round| round.rate / round.floor);
    let what = format!("{sessions} session{}, through the {name}", if sessions == 1 { "" } else { "s" });
    let batch = middle(|round| round.batch);
    Figure::new(PART, what, value, "events/s")
        .beside(value / ratio)
        .limited(Limit::ShareOfFloor(SHARE))
        .noted(format!("{batch:.1} to a commit"))
}

/// A store, and a copy of it for SQLite alone.
struct ThroughStore {
    directory: TempDir,
    store: Arc<dyn Store>,
    sessions: Vec<SessionId>,
    floor: Floor,
}

impl ThroughStore {
    async fn start(count: usize) -> Result<Self> {
        let directory = scratch()?;
        let store = store(directory.path())?;
        let world = World::start(directory.path(), Arc::clone(&store), NEVER).await?;
        let mut sessions = Vec::new();
        for _ in 0..count {
            sessions.push(world.open().await?);
        }
        world.engine.stop().await;
        store.append(sessions[0], vec![event()]).await?;
        let floor = Floor::start(directory.path(), count).await?;
        Ok(Self { directory, store, sessions, floor })
    }

    async fn round(&mut self, events: usize) -> Result<Round> {
        let before = commits(self.directory.path())?;
        let start = Instant::now();
        let tasks = self.sessions.iter().map(|session| {
            let (store, session) = (Arc::clone(&self.store), *session);
            tokio::spawn(async move {
                for _ in 0..events {
                    store.append(session, vec![event()]).await?;
                }
                anyhow::Ok(())
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await??;
        }
        let took = start.elapsed();
        let commits = commits(self.directory.path())?.wrapping_sub(before);
        self.floor.beside(self.sessions.len() * events, took, commits)
    }
}

/// An engine with a client on every session, and a copy of its store for SQLite alone.
struct ThroughEngine {
    directory: TempDir,
    world: World,
    seats: Vec<Arc<Seat>>,
    floor: Floor,
}

impl ThroughEngine {
    async fn start(count: usize) -> Result<Self> {
        let directory = scratch()?;
        let world = World::start(directory.path(), store(directory.path())?, NEVER).await?;
        let mut seats = Vec::new();
        for _ in 0..count {
            let session = world.open().await?;
            seats.push(Arc::new(world.join(session).await?));
        }
        seats[0].intend(intent()).await?;
        let floor = Floor::start(directory.path(), count).await?;
        Ok(Self { directory, world, seats, floor })
    }

    async fn round(&mut self, events: usize) -> Result<Round> {
        let before = commits(self.directory.path())?;
        let start = Instant::now();
        let tasks = self.seats.iter().map(|seat| {
            let seat = Arc::clone(seat);
            tokio::spawn(async move {
                for _ in 0..events {
                    seat.intend(intent()).await?;
                }
                anyhow::Ok(())
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await??;
        }
        let took = start.elapsed();
        let commits = commits(self.directory.path())?.wrapping_sub(before);
        self.floor.beside(self.seats.len() * events, took, commits)
    }
}

/// SQLite alone over a store with as many sessions.
struct Floor {
    _directory: TempDir,
    bare: Bare,
}

impl Floor {
    async fn start(contender: &Path, sessions: usize) -> Result<Self> {
        let directory = scratch()?;
        let world = World::start(directory.path(), store(directory.path())?, NEVER).await?;
        for _ in 0..sessions {
            world.open().await?;
        }
        world.engine.stop().await;
        drop(world);
        let bare = Bare::open(directory.path(), Row::newest(contender)?)?;
        Ok(Self { _directory: directory, bare })
    }

    /// A contender's round, with the same done by SQLite alone right after it.
    fn beside(&mut self, events: usize, took: Duration, commits: u32) -> Result<Round> {
        let batch = events as f64 / f64::from(commits);
        let alone = self.bare.append(events, batch)?;
        Ok(Round { rate: rate(events, took), batch, floor: rate(events, alone) })
    }
}

/// A fact that touches nothing but the journal.
fn event() -> NewEvent {
    let body = EventBody::ContextUpdated { context: context(), by: Actor::Engine };
    NewEvent { at: Timestamp::now(), turn: None, body }
}

/// The same asked for by a client.
fn intent() -> Intent {
    Intent::UpdateContext { context: context() }
}

fn context() -> JsonText {
    JsonText(r#"{"activeFile":"src/main.rs","selection":{"start":120,"end":180}}"#.to_owned())
}
