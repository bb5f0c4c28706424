//! The rpc door over a stream in memory, in front of a whole engine.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod bad_input;
mod history;
mod listings;
mod modes;
mod permissions;
mod preview;
mod session;
mod start_stop;
mod steps;
mod support;
mod together;
mod turns;
