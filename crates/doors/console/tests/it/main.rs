//! Terminals at a console in front of a whole engine.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod bounds;
mod commands;
mod completing;
mod extensions;
mod indexing;
mod plugins;
mod questions;
mod sessions;
mod support;
mod tasks;
mod turns;
