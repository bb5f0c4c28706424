//! Models through the trait.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod scripted;
mod searching;
