//! Many clients in a process of their own.
//!
//! Told what to do by lines of JSON on standard input: first [`Orders`], then an instruction for each turn. Says
//! `ready` when all are connected, and a [`Report`] after each turn.

use std::io::BufRead;
use std::net::SocketAddr;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::clock::{now, percentile};
use super::socket::{Said, Socket, said};

/// What to connect to.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Orders {
    pub(super) address: SocketAddr,
    /// Used in turn.
    pub(super) tokens: Vec<String>,
    /// Used in turn.
    pub(super) sessions: Vec<String>,
    pub(super) sockets: usize,
    pub(super) delta_only: bool,
}

/// What was heard in a turn.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Report {
    /// Tokens, all clients together.
    pub(super) tokens: u64,
    /// Messages, all clients together.
    pub(super) messages: u64,
    /// Bytes on the wire, all clients together.
    pub(super) bytes: u64,
    /// Microseconds from the model to the client that half of the tokens took at most; 0 without times in them.
    pub(super) middle: f64,
    /// The same for 99 of 100.
    pub(super) late: f64,
}

/// Listens until standard input ends.
pub fn run() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut lines = std::io::stdin().lock().lines();
    let orders: Orders = serde_json::from_str(&lines.next().context("orders")??)?;
    let mut sockets = runtime.block_on(connect(&orders))?;
    tell("ready")?;
    for line in lines {
        let prompt = line?;
        let (again, report) = runtime.block_on(turn(sockets, &prompt))?;
        sockets = again;
        tell(&serde_json::to_string(&report)?)?;
    }
    Ok(())
}

fn tell(line: &str) -> Result<()> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

async fn connect(orders: &Orders) -> Result<Vec<Socket>> {
    let mut sockets = Vec::with_capacity(orders.sockets);
    for number in 0..orders.sockets {
        let of = |list: &[String]| list.get(number % list.len().max(1)).cloned().unwrap_or_default();
        let (token, session) = (of(&orders.tokens), of(&orders.sessions));
        sockets.push(Socket::open(orders.address, &token, &session, orders.delta_only).await?);
    }
    Ok(sockets)
}

/// The first one speaks, all listen.
async fn turn(mut sockets: Vec<Socket>, prompt: &str) -> Result<(Vec<Socket>, Report)> {
    sockets.first_mut().context("a client")?.prompt(prompt).await?;
    let mut listening = JoinSet::new();
    for socket in sockets {
        listening.spawn(hear(socket));
    }
    let (mut sockets, mut report, mut delays) = (Vec::new(), Report::default(), Vec::new());
    while let Some(heard) = listening.join_next().await {
        let (socket, one, some) = heard??;
        sockets.push(socket);
        report.tokens += one.tokens;
        report.messages += one.messages;
        report.bytes += one.bytes;
        delays.extend(some);
    }
    if !delays.is_empty() {
        report.middle = percentile(&mut delays, 50);
        report.late = percentile(&mut delays, 99);
    }
    Ok((sockets, report))
}

/// One client until the end of a turn: what it heard, and how late each token was, in microseconds.
async fn hear(mut socket: Socket) -> Result<(Socket, Report, Vec<f64>)> {
    let (mut report, mut delays) = (Report::default(), Vec::new());
    loop {
        let text = socket.hear().await?;
        let heard = now();
        report.messages += 1;
        report.bytes += on_the_wire(text.len());
        match said(&text)? {
            Said::Tokens(tokens) => {
                for token in tokens.split_ascii_whitespace() {
                    report.tokens += 1;
                    if let Ok(spoken) = u64::from_str_radix(token, 16) {
                        delays.push(heard.saturating_sub(spoken) as f64 / 1000.0);
                    }
                }
            }
            Said::Final => return Ok((socket, report, delays)),
            Said::Other => {}
        }
    }
}

/// A text with its frame around it.
fn on_the_wire(text: usize) -> u64 {
    let frame = match text {
        0..=125 => 2,
        126..=65_535 => 4,
        _ => 10,
    };
    (text + frame) as u64
}
