//! Memory with subscribers that never read, while tokens and events pass them by.
//!
//! The conversation itself takes memory as it grows, whoever listens. So the same is done in another process
//! without such subscribers, and what counts is the difference.

use anyhow::{Context, Result};
use loggia_domain::{Intent, Seq};
use loggia_engine::Subscription;

use super::report::{Figure, Limit};
use super::world::{NEVER, World, scratch, store, take_turn, threads};
use crate::measure::resident;

const PART: &str = "1,000 subscribers that never read";

/// So many that what each costs would be seen.
pub(super) const SUBSCRIBERS: usize = 1000;

/// Turns and their tokens: 200,000 in all.
const TURNS: usize = 40;
const TOKENS: usize = 5000;

/// Events after that.
const EVENTS: usize = 5000;

/// KiB for each: nothing of what passed by, which is 900 KiB; some for what two heaps differ by anyway.
const KIB_EACH: f64 = 1.0;

/// Measures in this process: how resident memory grew with the tokens and then with the events.
pub(super) fn measure(subscribers: usize) -> Result<Vec<Figure>> {
    threads()?.block_on(pass_by(subscribers))
}

async fn pass_by(subscribers: usize) -> Result<Vec<Figure>> {
    let directory = scratch()?;
    let world = World::start(directory.path(), store(directory.path())?, NEVER).await?;
    let (seat, mut reads) = world.play().await?;
    take_turn(&seat, &mut reads, "say 1".to_owned()).await?;
    let unread: Vec<Subscription> = (0..subscribers).map(|_| seat.subscribe(Seq(0))).collect();
    let before = resident();
    for _ in 0..TURNS {
        take_turn(&seat, &mut reads, format!("stream {TOKENS}")).await?;
    }
    let streamed = resident();
    for number in 0..EVENTS {
        seat.intend(Intent::Rename { title: format!("Session {number}") }).await?;
    }
    let stored = resident();
    drop(unread);
    world.engine.stop().await;
    let grown = |what: &str, resident: u64| {
        Figure::new(PART, what, resident as f64 - before as f64, "KiB").noted(format!("{before} before"))
    };
    Ok(vec![grown("200,000 tokens", streamed), grown("5,000 events more", stored)])
}

/// What the subscribers cost.
pub(super) fn compare(unread: &[Figure], read: &[Figure]) -> Result<Vec<Figure>> {
    let figure = |(with, without): (&Figure, &Figure)| {
        Figure::new(PART, format!("growth after {}", with.what), with.value, "KiB")
            .noted(format!("{:.0} without them", without.value))
    };
    let mut figures: Vec<Figure> = unread.iter().zip(read).map(figure).collect();
    let last =
        |figures: &[Figure]| figures.last().map(|figure| figure.value).context("a part told too little");
    let each = (last(unread)? - last(read)?) / SUBSCRIBERS as f64;
    figures.push(Figure::new(PART, "what each of them costs", each, "KiB").limited(Limit::AtMost(KIB_EACH)));
    Ok(figures)
}
