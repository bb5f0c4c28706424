//! What an editor waits for that starts the agent as a process and talks to it over pipes, with a scripted model.
//!
//! Knows what is measured and which limits we set ourselves. The floor is a process that says every line again, with the
//! very lines that ours said just before: pipes, processes and lines, and nothing that makes an agent.
//!
//! What always holds: contenders take turns within a round; a time begins before a process is made or a line is written,
//! and ends when the line it is about came out of the pipe; memory is read while the process waits, page by page.

#![expect(clippy::print_stderr, reason = "progress of a run that takes a minute")]

mod talk;

use std::io::{BufRead, BufReader, Write};

use anyhow::Result;
use serde_json::json;

use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::home::Home;
use crate::rows::{Row, Rows};
use talk::Talk;

const PART: &str = "The rpc door, with a scripted model";

/// Starts and turns of one round beside a daemon that runs.
const TIMES: usize = 10;

/// Tokens of a long reply.
const LONG: usize = 5000;

/// What every token is.
const TOKEN: &str = "tok ";

/// The least patient client kills the agent a second after it asked it to go.
const LEAVE: Limit = Limit::AtMost(800.0);

const WARM: Row = Row::limited("start to the first answer, a daemon runs", "ms", Limit::AtMost(15.0));
const COLD: Row = Row::limited("start to the first answer, none runs", "ms", Limit::AtMost(40.0));
const TURN: Row = Row::free("prompt to `turnEnd`, one token", "ms");
const RATE: Row = Row::free("5,000 tokens, tokens per second", "/s");
const LINES: Row = Row::free("5,000 tokens, lines they came in", "");
const CPU: Row = Row::free("5,000 tokens, CPU of both processes", "ms");
const MEMORY: Row = Row::free("process after 5,000 tokens", "MiB");
const DAEMON: Row = Row::limited("daemon after 5,000 tokens", "MiB", Limit::AtMost(40.0));
const TERM: Row = Row::limited("SIGTERM to the end of the process", "ms", LEAVE);
const TERM_IN_TURN: Row = Row::limited("SIGTERM in a turn, to the end", "ms", LEAVE);
const END: Row = Row::limited("end of input to the end of the process", "ms", LEAVE);

const ROWS: &[Row] = &[WARM, COLD, TURN, RATE, LINES, CPU, MEMORY, DAEMON, TERM, TERM_IN_TURN, END];

/// Measures everything; `rounds` is odd so that a median is a measured value.
pub fn all(rounds: usize) -> Result<Vec<Figure>> {
    let mut rows = Rows::new(PART, ROWS);
    for round in 0..=rounds {
        eprint!("\r\x1b[Kthe rpc door: round {round} of {rounds}");
        rows.keep = round > 0;
        starts(&mut rows)?;
        turns(&mut rows)?;
        long_reply(&mut rows)?;
        leaving_a_turn(&mut rows)?;
    }
    eprint!("\r\x1b[K");
    rows.figures()
}

/// Says every line again: the other end of the floor.
pub fn echo() -> Result<()> {
    let mut input = BufReader::new(std::io::stdin().lock());
    let mut output = std::io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(&line)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

/// Processes that are started, answer once and are told to leave; the first has to start a daemon.
fn starts(rows: &mut Rows) -> Result<()> {
    let home = Home::new(&one_token())?;
    // A home that is new is made first, which happens once in a life.
    let mut first = Talk::rpc(&home)?;
    first.first_answer()?;
    first.end_input()?;
    home.stop()?;
    for time in 0..=TIMES {
        let mut ours = Talk::rpc(&home)?;
        let took = ours.first_answer()?;
        rows.ours(if time == 0 { &COLD } else { &WARM }, took);
        let mut floor = Talk::echo()?;
        let took = floor.first_answer()?;
        rows.floor(if time == 0 { &COLD } else { &WARM }, took);
        if time % 2 == 0 {
            rows.ours(&TERM, ours.terminate()?);
            rows.floor(&TERM, floor.terminate()?);
        } else {
            rows.ours(&END, ours.end_input()?);
            rows.floor(&END, floor.end_input()?);
        }
    }
    Ok(())
}

/// Turns of one token, one after another.
fn turns(rows: &mut Rows) -> Result<()> {
    let home = Home::new(&one_token())?;
    let (mut ours, mut floor) = (Talk::rpc(&home)?, Talk::echo()?);
    ours.first_answer()?;
    floor.first_answer()?;
    for _ in 0..TIMES {
        let (took, lines) = turn(&mut ours)?;
        rows.ours(&TURN, took * 1000.0);
        rows.floor(&TURN, floor.replay(&lines)? * 1000.0);
    }
    Ok(())
}

/// A long reply: how fast, at which price, and what is left of it in memory.
fn long_reply(rows: &mut Rows) -> Result<()> {
    let tokens = format!("[[reply]]\nparts = [{{ tokens = {{ count = {LONG}, text = {TOKEN:?} }} }}]\n");
    let home = Home::new(&format!("[[reply]]\nparts = [{{ text = {TOKEN:?} }}]\n{tokens}"))?;
    let (mut ours, mut floor) = (Talk::rpc(&home)?, Talk::echo()?);
    floor.first_answer()?;
    turn(&mut ours)?;
    let daemon = home.daemon()?;
    let before = ours.cpu()? + daemon.cpu()?;
    let (took, lines) = turn(&mut ours)?;
    rows.ours(&CPU, (ours.cpu()? + daemon.cpu()? - before) * 1000.0);
    rows.ours(&RATE, LONG as f64 / took);
    rows.ours(&LINES, lines.iter().filter(|line| line.contains("autohand.messageUpdate")).count() as f64);
    rows.ours(&MEMORY, ours.resident()?);
    rows.ours(&DAEMON, daemon.resident()?);
    let before = floor.cpu()?;
    let took = floor.replay(&lines)?;
    rows.floor(&CPU, (floor.cpu()? - before) * 1000.0);
    rows.floor(&RATE, LONG as f64 / took);
    rows.floor(&MEMORY, floor.resident()?);
    Ok(())
}

/// A process that is told to leave while its model says nothing.
fn leaving_a_turn(rows: &mut Rows) -> Result<()> {
    let home = Home::new(&format!("[[reply]]\nparts = [{{ text = {TOKEN:?} }}, {{ hang = true }}]\n"))?;
    let mut ours = Talk::rpc(&home)?;
    ours.first_answer()?;
    ours.say(&prompt())?;
    ours.until(|line| line.contains("autohand.messageUpdate"))?;
    rows.ours(&TERM_IN_TURN, ours.terminate()?);
    Ok(())
}

/// A whole turn: how many seconds it took, and what was said.
fn turn(talk: &mut Talk) -> Result<(f64, Vec<String>)> {
    let began = std::time::Instant::now();
    talk.say(&prompt())?;
    let lines = talk.until(|line| line.contains("autohand.turnEnd"))?;
    Ok((began.elapsed().as_secs_f64(), lines))
}

fn prompt() -> String {
    json!({"jsonrpc": "2.0", "id": 2, "method": "autohand.prompt", "params": {"message": "say something"}})
        .to_string()
}

/// A script that says the same for ever.
fn one_token() -> String {
    format!("[[reply]]\nrepeat = true\nparts = [{{ text = {TOKEN:?} }}]\n")
}
