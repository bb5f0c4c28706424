//! What other agent servers were measured by, for the daemon as people start it, with a scripted model.
//!
//! Each row has the bar we set ourselves from the best of the others, and beside it what the floor takes for the same.
//! How late single tokens are is measured where the model is in reach, in [`stream`](super::stream).

use anyhow::Result;

use super::daemon::{self, Running};
use super::drive::{User, first_answer, together, turn};
use super::progress;
use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::engine::world::threads;
use crate::measure::median;
use crate::rows::{Row, Rows};

const PART: &str = "The daemon, with a scripted model";

/// Turns of one round that count for a median.
const TURNS: usize = 30;

/// Sessions at once.
const SESSIONS: usize = 8;

/// Tokens of a long reply.
const LONG: usize = 5000;

/// Tokens of each session when several stream.
const SHORT: usize = 1000;

const ONE_TOKEN: &str = "[[reply]]\nrepeat = true\nparts = [{ text = \"tok \" }]\n";

/// Measures the daemon and the floor in turn.
pub(super) fn measure(rounds: usize) -> Result<Vec<Figure>> {
    threads()?.block_on(async {
        let mut rows = Rows::new(PART, ROWS);
        for round in 0..=rounds {
            progress(&format!("the daemon: round {round} of {rounds}"));
            rows.keep = round > 0;
            start(&mut rows).await?;
            turns(&mut rows).await?;
            commands(&mut rows).await?;
            long_reply(&mut rows).await?;
            several(&mut rows).await?;
        }
        rows.figures()
    })
}

const fn row(what: &'static str, unit: &'static str, limit: f64) -> Row {
    Row::limited(what, unit, Limit::AtMost(limit))
}

const START: Row = row("started, to the first answer", "ms", 15.0);
const IDLE: Row = row("resident when idle", "MiB", 25.0);
const OPEN: Row = row("open a session", "ms", 5.0);
const FIRST: Row = Row::free("first turn of one token", "ms");
const WARM: Row = row("warm turn of one token, written durably", "ms", 5.0);
const COMMAND: Row = row("turn with one command", "ms", 15.0);
const REPLY: Row = row("reply of 5,000 tokens", "ms", 100.0);
const REPLY_CPU: Row = row("CPU of it", "s", 0.10);
const REPLY_RESIDENT: Row = row("resident after it", "MiB", 40.0);
const AT_ONCE: Row = row("8 sessions at once, one token, median", "ms", 15.0);
const STREAMING: Row = Row::limited("8 sessions streaming", "tokens/s", Limit::AtLeast(60_000.0));

const ROWS: &[Row] =
    &[START, IDLE, OPEN, FIRST, WARM, COMMAND, REPLY, REPLY_CPU, REPLY_RESIDENT, AT_ONCE, STREAMING];

/// The daemon with this script, and the floor.
fn contenders(script: &str) -> Result<[Running; 2]> {
    Ok([daemon::start(script)?, daemon::start_bare()?])
}

async fn start(rows: &mut Rows) -> Result<()> {
    rows.take(&START, true, daemon::bare_start()?);
    let server = daemon::start(ONE_TOKEN)?;
    rows.take(&START, false, first_answer(&server).await?);
    rows.take(&IDLE, false, server.resident()?);
    Ok(())
}

async fn turns(rows: &mut Rows) -> Result<()> {
    for server in contenders(ONE_TOKEN)? {
        let mut user = User::of(&server).await?;
        let (mut opened, mut times) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            opened.push(user.open().await?.1);
        }
        let mut socket = user.follow().await?;
        rows.take(&FIRST, server.is_bare(), turn(&mut socket, "say 1", 1).await?);
        for _ in 0..TURNS {
            times.push(turn(&mut socket, "say 1", 1).await?);
        }
        rows.take(&OPEN, server.is_bare(), median(&mut opened));
        rows.take(&WARM, server.is_bare(), median(&mut times));
    }
    Ok(())
}

async fn commands(rows: &mut Rows) -> Result<()> {
    let call =
        "[[reply]]\nparts = [{ call = { tool = \"run_command\", arguments = { command = \"true\" } } }]\n";
    let script = format!("{call}[[reply]]\nparts = [{{ text = \"tok \" }}]\n").repeat(TURNS + 1);
    for server in contenders(&script)? {
        let mut socket = User::of(&server).await?.follow().await?;
        let tokens = usize::from(!server.is_bare());
        turn(&mut socket, "run", tokens).await?;
        let mut times = Vec::new();
        for _ in 0..TURNS {
            times.push(turn(&mut socket, "run", tokens).await?);
        }
        rows.take(&COMMAND, server.is_bare(), median(&mut times));
    }
    Ok(())
}

async fn long_reply(rows: &mut Rows) -> Result<()> {
    let script = format!(
        "{}[[reply]]\nrepeat = true\nparts = [{{ tokens = {{ count = {LONG}, text = \"tok \" }} }}]\n",
        ONE_TOKEN.replace("true", "1")
    );
    for server in contenders(&script)? {
        let mut socket = User::of(&server).await?.follow().await?;
        turn(&mut socket, "say 1", 1).await?;
        let before = server.cpu()?;
        let took = turn(&mut socket, &format!("say {LONG}"), LONG).await?;
        rows.take(&REPLY, server.is_bare(), took);
        rows.take(&REPLY_CPU, server.is_bare(), server.cpu()? - before);
        rows.take(&REPLY_RESIDENT, server.is_bare(), server.resident()?);
    }
    Ok(())
}

async fn several(rows: &mut Rows) -> Result<()> {
    let script = format!(
        "{}[[reply]]\nrepeat = true\nparts = [{{ tokens = {{ count = {SHORT}, text = \"tok \" }} }}]\n",
        ONE_TOKEN.replace("true", &(2 * SESSIONS).to_string())
    );
    let server = daemon::start(&script)?;
    let mut user = User::of(&server).await?;
    let mut sockets = Vec::new();
    for _ in 0..SESSIONS {
        sockets.push(user.follow().await?);
    }
    // Once to warm up.
    let (sockets, _, _) = together(sockets, "say 1", 1).await?;
    let (sockets, mut times, _) = together(sockets, "say 1", 1).await?;
    rows.take(&AT_ONCE, false, median(&mut times));
    let (_, _, wall) = together(sockets, &format!("say {SHORT}"), SHORT).await?;
    rows.take(&STREAMING, false, (SESSIONS * SHORT) as f64 / wall * 1000.0);
    several_bare(rows).await
}

/// The floor has one session only, so it has to be eight servers.
async fn several_bare(rows: &mut Rows) -> Result<()> {
    let servers = (0..SESSIONS).map(|_| daemon::start_bare()).collect::<Result<Vec<_>>>()?;
    let mut sockets = Vec::new();
    for server in &servers {
        sockets.push(User::of(server).await?.follow().await?);
    }
    let (sockets, _, _) = together(sockets, "say 1", 1).await?;
    let (sockets, mut times, _) = together(sockets, "say 1", 1).await?;
    rows.take(&AT_ONCE, true, median(&mut times));
    let (_, _, wall) = together(sockets, &format!("say {SHORT}"), SHORT).await?;
    rows.take(&STREAMING, true, (SESSIONS * SHORT) as f64 / wall * 1000.0);
    Ok(())
}
