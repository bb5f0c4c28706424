//! How long a person waits for the command line, and what it takes of the machine, with a scripted model.
//!
//! Knows what is measured and which limits we set ourselves. The floor is `curl` with a provider that says the same as
//! fast as it can: nothing between a question and its answer but one request. Ours has a daemon, a session, two durable
//! writes and a policy in between.
//!
//! What always holds: contenders take turns within a round; a time begins before the process is made and ends when what
//! it is about came out of a pipe; memory is read while the process waits, page by page.

#![expect(clippy::print_stderr, reason = "progress of a run that takes a minute")]

mod provider;

use anyhow::Result;

use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::home::Home;
use crate::process::Timed;
use crate::rows::{Row, Rows};
use provider::Provider;

const PART: &str = "The command line, with a scripted model";

/// Questions of one round to a daemon that runs.
const QUESTIONS: usize = 10;

/// Tokens of a long reply.
const LONG: usize = 5000;

/// What every token is.
const TOKEN: &str = "tok ";

const VERSION: Row = Row::free("`--version`", "ms");
const FIRST_EVER: Row = Row::free("very first ask, to its end", "ms");
const COLD_FIRST: Row = Row::free("cold ask, to the first token", "ms");
const COLD: Row = Row::limited("cold ask, to its end", "ms", Limit::AtMost(60.0));
const WARM_FIRST: Row = Row::limited("warm ask, to the first token", "ms", Limit::OverFloor(15.0));
const WARM: Row = Row::limited("warm ask, to its end", "ms", Limit::OverFloor(15.0));
const REPLY_FIRST: Row = Row::free("5,000 tokens into a pipe, to the first", "ms");
const REPLY: Row = Row::free("5,000 tokens into a pipe, to the last", "ms");
const IDLE: Row = Row::limited("daemon when idle", "MiB", Limit::AtMost(25.0));
const AFTER: Row = Row::limited("daemon after 5,000 tokens", "MiB", Limit::AtMost(40.0));
const WAITING: Row = Row::free("client that waits", "MiB");
const CLIENT_AFTER: Row = Row::free("client after 5,000 tokens", "MiB");

const ROWS: &[Row] = &[
    VERSION,
    FIRST_EVER,
    COLD_FIRST,
    COLD,
    WARM_FIRST,
    WARM,
    REPLY_FIRST,
    REPLY,
    IDLE,
    AFTER,
    WAITING,
    CLIENT_AFTER,
];

/// Measures everything; `rounds` is odd so that a median is a measured value.
pub fn all(rounds: usize) -> Result<Vec<Figure>> {
    let provider = Provider::start()?;
    let mut rows = Rows::new(PART, ROWS);
    for round in 0..=rounds {
        eprint!("\r\x1b[Kthe command line: round {round} of {rounds}");
        rows.keep = round > 0;
        starts(&mut rows, &provider)?;
        questions(&mut rows, &provider)?;
        long_reply(&mut rows, &provider)?;
        waiting(&mut rows)?;
    }
    eprint!("\r\x1b[K");
    rows.figures()
}

/// A program that is only started, and questions that have to start the daemon first.
fn starts(rows: &mut Rows, provider: &Provider) -> Result<()> {
    let home = Home::new(&one_token())?;
    rows.ours(&VERSION, home.run(&["--version"])?.end);
    rows.floor(&VERSION, provider.version()?);
    rows.ours(&FIRST_EVER, home.ask()?.end);
    home.stop()?;
    let Timed { first, end } = home.ask()?;
    rows.ours(&COLD_FIRST, first);
    rows.ours(&COLD, end);
    let floor = provider.ask(1)?;
    rows.floor(&COLD_FIRST, floor.first);
    rows.floor(&COLD, floor.end);
    Ok(())
}

/// Questions to a daemon that runs.
fn questions(rows: &mut Rows, provider: &Provider) -> Result<()> {
    let home = Home::new(&one_token())?;
    home.ask()?;
    rows.ours(&IDLE, home.daemon()?.resident()?);
    for _ in 0..QUESTIONS {
        let ours = home.ask()?;
        rows.ours(&WARM_FIRST, ours.first);
        rows.ours(&WARM, ours.end);
        let floor = provider.ask(1)?;
        rows.floor(&WARM_FIRST, floor.first);
        rows.floor(&WARM, floor.end);
    }
    Ok(())
}

/// A long reply, and the daemon's memory after it.
fn long_reply(rows: &mut Rows, provider: &Provider) -> Result<()> {
    let home = Home::new(&format!("{}{}", once(TOKEN), long("")))?;
    home.ask()?;
    let ours = home.ask()?;
    rows.ours(&REPLY_FIRST, ours.first);
    rows.ours(&REPLY, ours.end);
    rows.ours(&AFTER, home.daemon()?.resident()?);
    let floor = provider.ask(LONG)?;
    rows.floor(&REPLY_FIRST, floor.first);
    rows.floor(&REPLY, floor.end);
    Ok(())
}

/// The memory of clients whose model says something and then nothing more.
fn waiting(rows: &mut Rows) -> Result<()> {
    let silent = format!("[[reply]]\nparts = [{{ text = {TOKEN:?} }}, {{ hang = true }}]\n");
    rows.ours(&WAITING, Home::new(&silent)?.resident_while_waiting(TOKEN.len())?);
    let home = Home::new(&long(", { hang = true }"))?;
    rows.ours(&CLIENT_AFTER, home.resident_while_waiting(LONG * TOKEN.len())?);
    Ok(())
}

/// A script of one reply.
fn once(text: &str) -> String {
    format!("[[reply]]\nparts = [{{ text = {text:?} }}]\n")
}

/// A script that says the same for ever.
fn one_token() -> String {
    format!("[[reply]]\nrepeat = true\nparts = [{{ text = {TOKEN:?} }}]\n")
}

/// A script of a long reply, and what comes after it.
fn long(then: &str) -> String {
    format!("[[reply]]\nparts = [{{ tokens = {{ count = {LONG}, text = {TOKEN:?} }} }}{then}]\n")
}
