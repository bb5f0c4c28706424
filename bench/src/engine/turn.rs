//! A turn of one token, from the prompt to its end: how long, and how often it waits for the disk.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use loggia_tests::Layer;

use super::commits::commits;
use super::counting::Counts;
use super::progress;
use super::report::{Figure, Limit};
use super::world::{NEVER, World, scratch, store, take_turn, threads};
use crate::measure::median;

const PART: &str = "A turn of one token";

/// Turns before the first that counts.
const WARM_UP: usize = 20;

/// Turns that count.
const TURNS: usize = 300;

/// Milliseconds nobody notices.
const MILLISECONDS: f64 = 5.0;

/// Its beginning, its end, and one to spare.
const COMMITS: f64 = 3.0;

/// Measures turns in one session.
pub(super) fn measure() -> Result<Vec<Figure>> {
    threads()?.block_on(turns())
}

async fn turns() -> Result<Vec<Figure>> {
    progress("a turn of one token");
    let directory = scratch()?;
    let counting = Arc::new(Counts::default());
    let world =
        World::start(directory.path(), Layer::over(store(directory.path())?, Arc::clone(&counting)), NEVER)
            .await?;
    let (seat, mut subscription) = world.play().await?;
    for _ in 0..WARM_UP {
        take_turn(&seat, &mut subscription, "say 1".to_owned()).await?;
    }
    let (mut times, mut most) = (Vec::new(), 0);
    let (appended, kept) = counting.counts();
    let committed = commits(directory.path())?;
    for _ in 0..TURNS {
        let (before, _) = counting.counts();
        let start = Instant::now();
        take_turn(&seat, &mut subscription, "say 1".to_owned()).await?;
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        most = most.max(counting.counts().0 - before);
    }
    let (appends, keeps) = counting.counts();
    let commits = f64::from(commits(directory.path())?.wrapping_sub(committed)) / TURNS as f64;
    world.engine.stop().await;
    let middle = median(&mut times);
    let late = times[TURNS * 95 / 100];
    let note = format!(
        "{:.2} on average; the running reply was kept {:.2} times; {commits:.2} commits",
        (appends - appended) as f64 / TURNS as f64,
        (keeps - kept) as f64 / TURNS as f64,
    );
    Ok(vec![
        Figure::new(PART, "prompt to end, median", middle, "ms").limited(Limit::AtMost(MILLISECONDS)),
        Figure::new(PART, "prompt to end, 95 of 100 turns", late, "ms"),
        Figure::new(PART, "appends one after another, at most", most as f64, "appends")
            .limited(Limit::AtMost(COMMITS))
            .noted(note),
    ])
}
