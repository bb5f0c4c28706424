//! A reply of 5,000 tokens on its way to many clients, beside a bare WebSocket fan-out of the same bytes.
//!
//! The model speaks at a steady pace and each token carries the moment it was spoken. Clients are in another process, so
//! the CPU time is that of the server alone, the model's thread included on both sides.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use axum::body::Bytes;

use super::clock::cpu;
use super::door::OpenDoor;
use super::listen::{Orders, Report};
use super::process::Clients;
use super::{bare, progress};
use crate::engine::Figure;
use crate::engine::report::Limit;
use crate::engine::world::{scratch, threads};
use crate::measure::median;

const PART: &str = "5,000 tokens to many clients";

const TOKENS: u64 = 5000;

/// How many listen, and microseconds between tokens: so many that two cores can tell everybody in time.
const LOADS: [(usize, u64); 3] = [(1, 400), (10, 500), (100, 2500)];

/// The door may take this many times the CPU of the fan-out.
const TIMES: f64 = 2.0;

/// Milliseconds from the model to one client that half of the tokens, and 99 of 100, may take.
const LATENESS: (f64, f64) = (0.4, 1.0);

/// Measures delay and CPU.
pub(super) fn measure(rounds: usize) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (clients, pace) in LOADS {
        // The larger loads take long and vary little.
        let rounds = if clients > 10 { rounds.div_ceil(2) } else { rounds };
        figures.extend(load(rounds, clients, pace)?);
    }
    Ok(figures)
}

/// Medians over rounds.
#[derive(Debug, Default)]
struct Measured {
    cpu: Vec<f64>,
    middle: Vec<f64>,
    late: Vec<f64>,
    messages: Vec<f64>,
}

impl Measured {
    fn take(&mut self, report: &Report, cpu: u64) {
        self.cpu.push(cpu as f64 / report.tokens as f64);
        self.middle.push(report.middle / 1000.0);
        self.late.push(report.late / 1000.0);
        self.messages.push(report.messages as f64);
    }
}

fn load(rounds: usize, clients: usize, pace: u64) -> Result<Vec<Figure>> {
    let runtime = threads()?;
    let directory = scratch()?;
    let prompt = format!("pace {TOKENS} {pace}");
    let (door, orders, floor) = runtime.block_on(async {
        let door = OpenDoor::open(directory.path()).await?;
        let orders = orders(&door, clients, true).await?;
        anyhow::Ok((door, orders, bare::serve(Bytes::new()).await?))
    })?;
    let (mut ours, mut theirs) = (Measured::default(), Measured::default());
    for round in 0..=rounds {
        progress(&format!("tokens to {clients} clients: round {round} of {rounds}"));
        let door = turn(&orders, &prompt)?;
        let bare = turn(&Orders { address: floor, ..copy(&orders) }, &prompt)?;
        // The first warms up.
        if round > 0 {
            ours.take(&door.0, door.1);
            theirs.take(&bare.0, bare.1);
        }
    }
    runtime.block_on(door.close())?;
    let who = if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
    let note = format!(
        "{:.0} messages, the fan-out {:.0}; a token every {pace} µs",
        median(&mut ours.messages),
        median(&mut theirs.messages)
    );
    let used = Figure::new(PART, format!("CPU of a token, {who}"), median(&mut ours.cpu), "ns")
        .beside(median(&mut theirs.cpu))
        .limited(Limit::TimesFloor(TIMES))
        .noted(note);
    let late = |what: &str, ours: &mut [f64], theirs: &mut [f64], limit: f64| {
        let figure =
            Figure::new(PART, format!("{what} is late by, {who}"), median(ours), "ms").beside(median(theirs));
        // What is promised is promised to one.
        if clients == 1 { figure.limited(Limit::AtMost(limit)) } else { figure }
    };
    Ok(vec![
        used,
        late("half of the tokens", &mut ours.middle, &mut theirs.middle, LATENESS.0),
        late("99 of 100", &mut ours.late, &mut theirs.late, LATENESS.1),
    ])
}

/// The bytes of the same reply with and without the text so far in every message.
pub(super) fn bytes() -> Result<Vec<Figure>> {
    const PART: &str = "Bytes of a reply of 5,000 tokens";
    progress("bytes on the wire");
    let runtime = threads()?;
    let directory = scratch()?;
    let door = runtime.block_on(OpenDoor::open(directory.path()))?;
    let heard = |delta_only| -> Result<Report> {
        let orders = runtime.block_on(orders(&door, 1, delta_only))?;
        Ok(turn(&orders, &format!("plain {TOKENS} 400"))?.0)
    };
    let (deltas, whole) = (heard(true)?, heard(false)?);
    runtime.block_on(door.close())?;
    let figure = |what: &str, report: &Report| {
        Figure::new(PART, what, report.bytes as f64 / TOKENS as f64, "bytes a token")
            .noted(format!("{} bytes in {} messages", report.bytes, report.messages))
    };
    Ok(vec![figure("with `delta_only`", &deltas), figure("without", &whole)])
}

async fn orders(door: &OpenDoor, sockets: usize, delta_only: bool) -> Result<Orders> {
    let (tokens, sessions) = (door.tokens(sockets).await?, vec![door.session().await?]);
    Ok(Orders { address: door.address, tokens, sessions, sockets, delta_only })
}

fn copy(orders: &Orders) -> Orders {
    let Orders { address, tokens, sessions, sockets, delta_only } = orders;
    let address: SocketAddr = *address;
    Orders {
        address,
        tokens: tokens.clone(),
        sessions: sessions.clone(),
        sockets: *sockets,
        delta_only: *delta_only,
    }
}

/// One turn with new clients: what they heard, and the CPU time of this process meanwhile.
fn turn(orders: &Orders, prompt: &str) -> Result<(Report, u64)> {
    let mut clients = Clients::connect(orders)?;
    let before = cpu();
    let report = clients.turn(prompt)?;
    let used = cpu() - before;
    let expected = TOKENS * orders.sockets as u64;
    ensure!(report.tokens == expected, "{} of {expected} tokens were heard", report.tokens);
    Ok((report, used))
}
