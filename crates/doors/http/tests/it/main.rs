//! The door over real sockets.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod stream_approvals;
mod stream_bad_input;
mod stream_commands;
mod stream_ends;
mod stream_hello;
mod stream_patches;
mod stream_resume;
mod stream_support;
mod stream_turns;
