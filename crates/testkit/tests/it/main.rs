//! The wire crate against real processes, honest and hostile.

#![expect(clippy::unwrap_used, reason = "a step that fails is the test's failure")]

mod hostile_processes;
mod lifetimes;
mod logging;
mod support;
