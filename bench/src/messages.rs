//! What the desk costs with a message of twenty thousand segments on it: getting, patching and setting.
//!
//! Knows what is measured and which limits we set ourselves. The floor is the parser alone: the same message taken apart
//! once, and nothing done with it. Each part has its own file and its own rows.
//!
//! What always holds: contenders take turns within a round and work on the same text; a call is over when its future is.

#![expect(clippy::print_stderr, reason = "progress of a run that takes a minute")]

mod desk;

use anyhow::Result;

use crate::engine::Figure;

/// Measures everything; `rounds` is odd so that a median is a measured value.
pub fn all(rounds: usize) -> Result<Vec<Figure>> {
    let figures = desk::all(rounds)?;
    eprint!("\r\x1b[K");
    Ok(figures)
}
