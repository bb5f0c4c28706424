//! What a streamed token costs, by how many listen, beside a bare broadcast of the same strings.
//!
//! Every token is heard by everybody before the next comes, so nobody gets two at once: that is what a model which
//! takes its time does, and the dearest case. One thread does everything but the store's work, on both sides.
//!
//! A token's costs are what it adds to a turn: those of a turn of one token are subtracted, and told beside.

use std::time::Duration;

use anyhow::{Result, ensure};
use loggia_domain::EventBody;
use loggia_engine::{Subscription, Told};
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::Runtime;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

use super::progress;
use super::report::{Figure, Limit};
use super::talker::{TOKEN, be_heard};
use super::world::{NEVER, World, prompt, scratch, store};
use crate::measure::median;

const PART: &str = "Streamed tokens";

const TOKENS: usize = 5000;

const SUBSCRIBERS: [usize; 3] = [1, 10, 100];

/// The engine may take this many times what a bare broadcast takes.
const TIMES: f64 = 3.0;

/// Rounds are short here, and there can be more of them.
const MORE_ROUNDS: usize = 3;

/// Measures the process's CPU time.
pub(super) fn measure(rounds: usize) -> Result<Vec<Figure>> {
    each(rounds * MORE_ROUNDS, "ns of CPU", cpu, |figure| figure.limited(Limit::TimesFloor(TIMES)))
}

/// Counts allocations with a counter that only rises.
pub fn allocations(counter: fn() -> u64) -> Result<Vec<Figure>> {
    each(1, "allocations", counter, |figure| figure)
}

/// The process's CPU time in nanoseconds, all threads together.
fn cpu() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let time = Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0));
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn each(
    rounds: usize,
    unit: &str,
    meter: fn() -> u64,
    limited: impl Fn(Figure) -> Figure,
) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for subscribers in SUBSCRIBERS {
        let measured = load(rounds, subscribers, meter)?;
        let listeners = match subscribers {
            1 => "1 subscriber".to_owned(),
            count => format!("{count} subscribers"),
        };
        let note = format!(
            "{:.0} pieces each; a broadcast that shares its strings takes {:.1}; the turn itself takes {:.0}",
            measured.pieces, measured.shared, measured.turn,
        );
        let figure = Figure::new(PART, format!("one token, {listeners}"), measured.engine, unit);
        figures.push(limited(figure.beside(measured.broadcast)).noted(note));
    }
    Ok(figures)
}

/// Medians over rounds: for one token, but for the turn.
struct Measured {
    engine: f64,
    broadcast: f64,
    /// A broadcast that need not copy.
    shared: f64,
    /// A turn of one token, with as many subscribers.
    turn: f64,
    /// Pieces each subscriber got in a round.
    pieces: f64,
}

fn load(rounds: usize, subscribers: usize, meter: fn() -> u64) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let directory = scratch()?;
    let world =
        runtime.block_on(async { World::start(directory.path(), store(directory.path())?, NEVER).await })?;
    let (mut engine, mut broadcast, mut shared) = (Vec::new(), Vec::new(), Vec::new());
    let (mut turns, mut pieces) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        progress(&format!("streamed tokens: {subscribers} subscribers, round {round} of {rounds}"));
        let streamed = through_engine(&runtime, &world, subscribers, TOKENS, meter)?;
        let bare = through_broadcast(&runtime, subscribers, || TOKEN.to_owned(), meter)?;
        let bare_shared =
            through_broadcast(&runtime, subscribers, || std::sync::Arc::<str>::from(TOKEN), meter)?;
        let turn = through_engine(&runtime, &world, subscribers, 1, meter)?;
        // The first warms up.
        if round > 0 {
            engine.push((streamed.used as f64 - turn.used as f64) / (TOKENS - 1) as f64);
            pieces.push(streamed.pieces as f64 / subscribers as f64);
            broadcast.push(bare as f64 / TOKENS as f64);
            shared.push(bare_shared as f64 / TOKENS as f64);
            turns.push(turn.used as f64);
        }
    }
    runtime.block_on(world.engine.stop());
    Ok(Measured {
        engine: median(&mut engine),
        broadcast: median(&mut broadcast),
        shared: median(&mut shared),
        turn: median(&mut turns),
        pieces: median(&mut pieces),
    })
}

/// What one turn used.
struct Streamed {
    used: u64,
    pieces: usize,
}

fn through_engine(
    runtime: &Runtime,
    world: &World,
    subscribers: usize,
    tokens: usize,
    meter: fn() -> u64,
) -> Result<Streamed> {
    runtime.block_on(async {
        let session = world.open().await?;
        let seat = world.join(session).await?;
        // From now on: whoever still reads the past when a reply begins gets it whole at its end.
        let last = seat.state().await?.last_seq;
        let listening: Vec<JoinHandle<Result<(usize, usize)>>> =
            (0..subscribers).map(|_| tokio::spawn(listen(seat.subscribe(last)))).collect();
        settle().await;
        let before = meter();
        seat.intend(prompt(format!("stream {tokens}"))).await?;
        let mut pieces = 0;
        for listener in listening {
            let (bytes, heard) = listener.await??;
            ensure!(bytes == tokens * TOKEN.len(), "{bytes} bytes of {tokens} tokens were heard");
            pieces += heard;
        }
        Ok(Streamed { used: meter() - before, pieces })
    })
}

/// Bytes and pieces heard until the turn's end.
async fn listen(mut subscription: Subscription) -> Result<(usize, usize)> {
    let (mut bytes, mut pieces) = (0, 0);
    loop {
        match subscription.next().await? {
            Told::Reply(piece) => {
                bytes += piece.text.len();
                pieces += 1;
            }
            Told::Event(event) if matches!(event.body, EventBody::TurnEnded { .. }) => {
                return Ok((bytes, pieces));
            }
            Told::Event(_) | Told::Passing(_) => {}
        }
    }
}

fn through_broadcast<T: AsRef<str> + Clone + Send + 'static>(
    runtime: &Runtime,
    subscribers: usize,
    token: impl Fn() -> T + Send + 'static,
    meter: fn() -> u64,
) -> Result<u64> {
    runtime.block_on(async {
        let (sender, _) = broadcast::channel::<T>(TOKENS);
        let listening: Vec<JoinHandle<Result<usize>>> =
            (0..subscribers).map(|_| tokio::spawn(hear(sender.subscribe()))).collect();
        settle().await;
        let before = meter();
        let talking = tokio::spawn(async move {
            for _ in 0..TOKENS {
                be_heard().await;
                // A listener that is gone is found missing below.
                let _ = sender.send(token());
            }
        });
        talking.await?;
        for listener in listening {
            let bytes = listener.await??;
            ensure!(bytes == TOKENS * TOKEN.len(), "{bytes} bytes of {TOKENS} tokens were heard");
        }
        Ok(meter() - before)
    })
}

async fn hear<T: AsRef<str> + Clone>(mut receiver: broadcast::Receiver<T>) -> Result<usize> {
    let mut bytes = 0;
    loop {
        match receiver.recv().await {
            Ok(piece) => bytes += piece.as_ref().len(),
            Err(broadcast::error::RecvError::Closed) => return Ok(bytes),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Lets every task run until it waits.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}
