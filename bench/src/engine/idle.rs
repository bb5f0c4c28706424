//! Memory of sessions nobody uses: in memory still, and unloaded.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use loggia_engine::Seat;

use super::report::{Figure, Limit};
use super::world::{World, scratch, store, take_turn, threads};
use crate::measure::resident;

const PART: &str = "1,000 idle sessions";

const SESSIONS: usize = 1000;

/// Sessions that take their turn at once.
const AT_ONCE: usize = 50;

/// When they are unloaded: late enough to look at them first.
const UNLOAD_AFTER: Duration = Duration::from_secs(3);

/// KiB each, as long as they are in memory.
const KIB_EACH: f64 = 16.0;

/// Measures in this process.
pub(super) fn measure() -> Result<Vec<Figure>> {
    threads()?.block_on(sessions())
}

async fn sessions() -> Result<Vec<Figure>> {
    let directory = scratch()?;
    let world = Arc::new(World::start(directory.path(), store(directory.path())?, UNLOAD_AFTER).await?);
    // One that loads what all of them share.
    drop(one(&world).await?);
    let before = resident();
    let loaded = thousand(&world).await?;
    unloaded(&world).await;
    let unloaded_once = resident();
    let again = thousand(&world).await?;
    unloaded(&world).await;
    world.engine.stop().await;
    let each = |after: u64, before: u64| (after as f64 - before as f64) / SESSIONS as f64;
    let figure = |what: &str, after: u64, before: u64| {
        Figure::new(PART, what, each(after, before), "KiB")
            .noted(format!("{before} KiB resident before, {after} then"))
    };
    Ok(vec![
        figure("in memory, each", loaded, before).limited(Limit::AtMost(KIB_EACH)),
        figure("unloaded, each, as the allocator gives it back", unloaded_once, before),
        figure("a second thousand after them, each", again, unloaded_once),
    ])
}

/// Resident memory with a thousand sessions that nobody is on.
async fn thousand(world: &Arc<World>) -> Result<u64> {
    let mut seats = Vec::with_capacity(SESSIONS);
    while seats.len() < SESSIONS {
        let some = (0..AT_ONCE).map(|_| {
            let world = Arc::clone(world);
            tokio::spawn(async move { one(&world).await })
        });
        for task in some.collect::<Vec<_>>() {
            seats.push(task.await??);
        }
    }
    // Only now may they be unloaded: a session with a client on it is not idle.
    drop(seats);
    tokio::time::sleep(UNLOAD_AFTER / 3).await;
    ensure!(world.engine.loaded_sessions() >= SESSIONS, "sessions were unloaded too early");
    Ok(resident())
}

/// Waits until no session is in memory.
async fn unloaded(world: &World) {
    while world.engine.loaded_sessions() > 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A session that has had a turn, and the client that is still on it.
async fn one(world: &World) -> Result<Seat> {
    let (seat, mut subscription) = world.play().await?;
    take_turn(&seat, &mut subscription, "say 1".to_owned()).await?;
    Ok(seat)
}
