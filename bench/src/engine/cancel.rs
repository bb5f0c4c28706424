//! How soon a cancelled turn has ended: one whose model says nothing, and one whose command heeds no signal.
//!
//! The clock runs from the client's intent until the client has heard of the turn's end, which is in the journal
//! by then.

use std::time::Instant;

use anyhow::{Result, ensure};
use loggia_domain::{Event, EventBody, Intent, Passing, Preset, Seq, TurnEnd};
use loggia_engine::{Subscription, Told};

use super::progress;
use super::report::{Figure, Limit};
use super::world::{NEVER, World, prompt, scratch, store, threads};
use crate::measure::median;

const PART: &str = "Cancelling a turn";

/// What people are promised, for every turn and not for most of them.
const MILLISECONDS: f64 = 200.0;

/// A cancelled turn takes milliseconds, so there can be more of them.
const MORE_ROUNDS: usize = 5;

/// What the command says once it heeds no signal.
pub(super) const DEAF: &str = "deaf";

/// Measures both.
pub(super) fn measure(rounds: usize) -> Result<Vec<Figure>> {
    threads()?.block_on(async {
        let directory = scratch()?;
        let world = World::start(directory.path(), store(directory.path())?, NEVER).await?;
        let mut figures = Vec::new();
        for (what, instruction, stuck) in [
            ("a model that says nothing", "silence", Stuck::Model),
            ("a command that heeds no signal", "stuck", Stuck::Command),
        ] {
            let mut times = Vec::new();
            for round in 0..=rounds * MORE_ROUNDS {
                progress(&format!("cancelling: {what}, round {round} of {}", rounds * MORE_ROUNDS));
                times.push(cancel(&world, instruction, stuck).await?);
            }
            let slowest = times.iter().copied().fold(0.0, f64::max);
            let note = format!("the slowest; half take at most {:.1}", median(&mut times));
            figures.push(
                Figure::new(PART, what, slowest, "ms").limited(Limit::AtMost(MILLISECONDS)).noted(note),
            );
        }
        world.engine.stop().await;
        Ok(figures)
    })
}

/// What a turn hangs in.
#[derive(Debug, Clone, Copy)]
enum Stuck {
    Model,
    Command,
}

/// Milliseconds until a turn that hangs has ended.
async fn cancel(world: &World, instruction: &str, stuck: Stuck) -> Result<f64> {
    let session = world.open_with(Preset::Full).await?;
    let seat = world.join(session).await?;
    let mut subscription = seat.subscribe(Seq(0));
    seat.intend(prompt(instruction)).await?;
    hangs(&mut subscription, stuck).await?;
    let start = Instant::now();
    seat.intend(Intent::Cancel { reason: None }).await?;
    loop {
        let Told::Event(event) = subscription.next().await? else { continue };
        if let EventBody::TurnEnded { end, .. } = &event.body {
            let took = start.elapsed();
            ensure!(matches!(end, TurnEnd::Cancelled), "the turn ended otherwise: {end:?}");
            return Ok(took.as_secs_f64() * 1000.0);
        }
    }
}

/// Waits until the turn hangs.
async fn hangs(subscription: &mut Subscription, stuck: Stuck) -> Result<()> {
    loop {
        match (subscription.next().await?, stuck) {
            (Told::Reply(_), Stuck::Model) => return Ok(()),
            (Told::Passing(passing), Stuck::Command) if is_deaf(&passing) => return Ok(()),
            (Told::Event(event), _) => going_on(&event)?,
            _ => {}
        }
    }
}

fn is_deaf(passing: &Passing) -> bool {
    matches!(passing, Passing::ToolOutput { chunk, .. } if chunk.contains(DEAF))
}

fn going_on(event: &Event) -> Result<()> {
    let ended = matches!(event.body, EventBody::TurnEnded { .. });
    ensure!(!ended, "the turn ended before it could be cancelled: {:?}", event.body);
    Ok(())
}
