//! What the http door costs, and how fast the whole daemon is: each figure beside a floor that is a bare axum server.
//!
//! Knows what is measured and which limits we set ourselves. The floor has the same routes and says the same bytes, with
//! nothing behind them: no engine, no store, no tokens, no limits.
//!
//! What always holds: contenders take turns within a round; clients are in another process than the server, so that
//! their work is not counted; whatever is about memory is measured in a process of its own.

#![expect(clippy::print_stderr, reason = "progress of a run that takes minutes")]

mod bare;
mod clock;
mod daemon;
mod door;
mod drive;
mod idle;
mod listen;
mod model;
mod plain;
mod process;
mod rest;
mod rivals;
mod socket;
mod stream;

use anyhow::Result;

use crate::engine::Figure;
use crate::engine::world::figures_of;

pub use bare::run as bare;
pub use listen::run as listen;

/// Measures everything; `rounds` is odd so that a median is a measured value.
pub fn all(rounds: usize) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for part in [Part::Rest, Part::Stream, Part::Bytes] {
        figures.extend(part.here(rounds)?);
    }
    progress("memory of idle sockets");
    figures.extend(figures_of(process::start_part("idle")?)?);
    figures.extend(Part::Rivals.here(rounds)?);
    eprint!("\r\x1b[K");
    Ok(figures)
}

/// What can be measured by itself.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Part {
    /// Requests per second.
    Rest,
    /// Tokens to many clients: delay and CPU.
    Stream,
    /// Bytes on the wire of a long reply.
    Bytes,
    /// Memory of idle sockets; needs a process of its own.
    Idle,
    /// What we measured of others, for the daemon.
    Rivals,
}

impl Part {
    /// Measures it in this process.
    pub fn here(self, rounds: usize) -> Result<Vec<Figure>> {
        match self {
            Self::Rest => rest::measure(rounds),
            Self::Stream => stream::measure(rounds),
            Self::Bytes => stream::bytes(),
            Self::Idle => idle::measure(),
            Self::Rivals => rivals::measure(rounds),
        }
    }
}

fn progress(what: &str) {
    eprint!("\r\x1b[K{what}");
}
