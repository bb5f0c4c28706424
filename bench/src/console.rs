//! A console that logs to many terminals, beside a bare broadcast of the same bytes with a length before them.
//!
//! Knows what is measured and which limits we set ourselves. Each contender is a process of its own, so that its CPU time and
//! memory are its own; terminals are sockets of this process that read and throw away.
//!
//! What always holds: contenders take turns within a round, get the same requests and send the same bytes; lines are logged in
//! batches that fit every queue, and the next comes when everybody has the last, so that none is dropped.

#![expect(clippy::print_stderr, reason = "progress of a run that takes a minute")]

mod bare;
mod contender;
mod ours;
mod terminal;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;

use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::home::Home;
use crate::rows::{Row, Rows};
use contender::{Contender, Kind};
use terminal::Terminal;

const PART: &str = "A console";

/// What every log line says: about as much as lines of servers do.
const LINE: &str =
    "[12:00:00 INFO]: [Server thread] some player moved somewhere and something else happened there, too\n";

/// Lines that are logged at once. They fit what may wait for one client, many times over.
const BATCH: usize = 2000;

/// Lines that are logged in one measurement.
const LINES: usize = 20_000;

/// Terminals while completions are asked for.
const LISTENING: usize = 10;

/// Completions of one round.
const COMPLETIONS: usize = 500;

/// Lines that fill the queue of a terminal that does not read.
const FILLING: usize = 50_000;

/// Lines after that.
const MORE: usize = 200_000;

/// Starts of `loggia attach` in one round.
const STARTS: usize = 5;

/// What it may take of the CPU that the bare broadcast takes.
const CPU: Limit = Limit::TimesFloor(2.0);

/// How many terminals, the row of the rate and the row of the price.
const LOADS: [(usize, Row, Row); 3] = [
    (1, Row::free("lines to 1 terminal", "/s"), Row::limited("CPU of a line to 1 terminal", "µs", CPU)),
    (10, Row::free("lines to 10 terminals", "/s"), Row::limited("CPU of a line to 10 terminals", "µs", CPU)),
    (50, Row::free("lines to 50 terminals", "/s"), Row::limited("CPU of a line to 50 terminals", "µs", CPU)),
];
const MIDDLE: Row = Row::free("completion under the load of 10, p50", "ms");
const LATE: Row = Row::free("completion under the load of 10, p99", "ms");
const STALLED: Row = Row::free("memory, a terminal does not read, 50,000 lines", "MiB");
const GROWN: Row = Row::limited("growth over 200,000 more lines", "MiB", Limit::AtMost(2.0));
const START: Row = Row::limited("`loggia attach -c help`, start to end", "ms", Limit::AtMost(30.0));

const ROWS: &[Row] = &[
    LOADS[0].1, LOADS[0].2, LOADS[1].1, LOADS[1].2, LOADS[2].1, LOADS[2].2, MIDDLE, LATE, STALLED, GROWN,
    START,
];

/// Measures everything; `rounds` is odd so that a median is a measured value.
pub fn all(rounds: usize) -> Result<Vec<Figure>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut rows = Rows::new(PART, ROWS);
    for round in 0..=rounds {
        eprint!("\r\x1b[Ka console: round {round} of {rounds}");
        rows.keep = round > 0;
        for kind in [Kind::Ours, Kind::Bare] {
            runtime.block_on(loads(&mut rows, kind))?;
            runtime.block_on(completions(&mut rows, kind))?;
        }
        runtime.block_on(stalled(&mut rows))?;
        starts(&mut rows)?;
    }
    eprint!("\r\x1b[K");
    rows.figures()
}

/// Serves as one of the contenders until standard input ends.
pub fn serve(bare: bool, socket: &Path) -> Result<()> {
    if bare { bare::serve(socket) } else { ours::serve(socket) }
}

/// Lines to so many terminals.
async fn loads(rows: &mut Rows, kind: Kind) -> Result<()> {
    for (count, rate, price) in &LOADS {
        let mut contender = Contender::start(kind)?;
        let mut terminals = listening(&contender, *count).await?;
        log(&mut contender, &mut terminals, BATCH).await?;
        let (before, began) = (contender.cpu()?, Instant::now());
        log(&mut contender, &mut terminals, LINES).await?;
        rows.take(rate, kind == Kind::Bare, LINES as f64 / began.elapsed().as_secs_f64());
        rows.take(price, kind == Kind::Bare, (contender.cpu()? - before) * 1e6 / LINES as f64);
    }
    Ok(())
}

/// Completions while others are logged to.
async fn completions(rows: &mut Rows, kind: Kind) -> Result<()> {
    let mut contender = Contender::start(kind)?;
    let mut terminals = listening(&contender, LISTENING).await?;
    let mut asking = Terminal::connect(contender.socket()).await?;
    let flood = async {
        loop {
            log(&mut contender, &mut terminals, BATCH).await?;
        }
    };
    let asked = async {
        let mut took = Vec::with_capacity(COMPLETIONS);
        for _ in 0..COMPLETIONS {
            let began = Instant::now();
            asking.complete().await?;
            took.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        anyhow::Ok(took)
    };
    let mut took: Vec<f64> = tokio::select! {
        took = asked => took?,
        failed = flood => return failed,
    };
    took.sort_by(f64::total_cmp);
    rows.take(&MIDDLE, kind == Kind::Bare, took[took.len() / 2]);
    rows.take(&LATE, kind == Kind::Bare, took[took.len() * 99 / 100]);
    Ok(())
}

/// A terminal that does not read, and one that does.
async fn stalled(rows: &mut Rows) -> Result<()> {
    let mut contender = Contender::start(Kind::Ours)?;
    let deaf = listening(&contender, 1).await?;
    let mut terminals = listening(&contender, 1).await?;
    log(&mut contender, &mut terminals, FILLING).await?;
    let before = contender.resident()?;
    log(&mut contender, &mut terminals, MORE).await?;
    rows.ours(&STALLED, before);
    rows.ours(&GROWN, contender.resident()? - before);
    drop(deaf);
    Ok(())
}

/// The client as people start it, for one command; beside it, what the program takes to tell its version.
fn starts(rows: &mut Rows) -> Result<()> {
    let home = Home::new("")?;
    let contender = Contender::start(Kind::Ours)?;
    let socket = contender.socket().to_str().context("a path that is text")?;
    for _ in 0..STARTS {
        rows.ours(&START, home.run(&["attach", "-s", socket, "-c", "help"])?.end);
        rows.floor(&START, home.run(&["--version"])?.end);
    }
    Ok(())
}

async fn listening(contender: &Contender, count: usize) -> Result<Vec<Terminal>> {
    let mut terminals = Vec::with_capacity(count);
    for _ in 0..count {
        let mut terminal = Terminal::connect(contender.socket()).await?;
        terminal.subscribe().await?;
        terminals.push(terminal);
    }
    Ok(terminals)
}

/// Has lines logged, batch by batch, and waits until everybody has them.
async fn log(contender: &mut Contender, terminals: &mut [Terminal], lines: usize) -> Result<()> {
    for _ in 0..lines / BATCH {
        contender.log(BATCH)?;
        try_join_all(terminals.iter_mut().map(|terminal| terminal.hear(BATCH))).await?;
    }
    Ok(())
}
