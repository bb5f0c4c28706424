//! What the engine costs: each figure beside a floor that does the same without an engine.
//!
//! Knows what is measured and which limits we set ourselves. Refuses to know how figures are shown.
//!
//! What always holds: contenders take turns within a round; whatever is about memory is measured in a process of
//! its own, so that nothing before it has left room in the heap.

#![expect(clippy::print_stderr, reason = "progress of a run that takes a minute")]

mod bare;
mod cancel;
mod commits;
mod counting;
mod events;
mod idle;
mod reopen;
pub(crate) mod report;
mod stream;
mod talker;
mod turn;
mod undo;
mod unread;
pub(crate) mod world;

use anyhow::Result;

pub use report::{Figure, render};
pub use stream::allocations;

/// Measures everything; `rounds` is odd so that a median is a measured value.
pub fn all(rounds: usize) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for part in [Part::Events, Part::Turn, Part::Stream, Part::Reopen, Part::Undo, Part::Cancel] {
        figures.extend(part.here(rounds)?);
    }
    progress("memory of idle sessions");
    figures.extend(world::figures_of(world::start_part("idle")?)?);
    progress("memory with subscribers that never read");
    // Beside each other: what they use of memory does not depend on how fast they are.
    let (unread, read) = (world::start_part("unread")?, world::start_part("read")?);
    figures.extend(unread::compare(&world::figures_of(unread)?, &world::figures_of(read)?)?);
    eprint!("\r\x1b[K");
    Ok(figures)
}

/// What can be measured by itself.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Part {
    /// Durable events per second.
    Events,
    /// A turn of one token.
    Turn,
    /// What a streamed token costs.
    Stream,
    /// A session with a long journal.
    Reopen,
    /// A change of many files.
    Undo,
    /// How soon a cancelled turn has ended.
    Cancel,
    /// Memory of sessions nobody uses; needs a process of its own.
    Idle,
    /// Memory with subscribers that never read; needs a process of its own.
    Unread,
    /// The same without them.
    Read,
}

impl Part {
    /// Measures it in this process.
    pub fn here(self, rounds: usize) -> Result<Vec<Figure>> {
        match self {
            Self::Events => events::measure(rounds),
            Self::Turn => turn::measure(),
            Self::Stream => stream::measure(rounds),
            Self::Reopen => reopen::measure(rounds),
            Self::Undo => undo::measure(rounds),
            Self::Cancel => cancel::measure(rounds),
            Self::Idle => idle::measure(),
            Self::Unread => unread::measure(unread::SUBSCRIBERS),
            Self::Read => unread::measure(0),
        }
    }
}

fn progress(what: &str) {
    eprint!("\r\x1b[K{what}");
}
