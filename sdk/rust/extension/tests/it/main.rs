//! The kit for extensions: frames in, frames out.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod asking;
mod envelope;
mod events;
mod support;
