//! The kit as a host sees it: lines in, lines out.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod agents;
mod envelope;
mod providers;
mod support;
mod workflows;
