//! Models through their trait: the scripted one, and providers played by servers of our own.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod catalogue;
mod contract;
mod fallback;
mod keyring;
mod logs;
mod ollama;
mod scripted;
mod searching;
