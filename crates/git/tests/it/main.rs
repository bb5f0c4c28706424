//! The user's git at work in real repositories: every method, every state a repository can be in, repositories that
//! want to run something, and gits that are killed.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod branches;
mod checkpoints;
mod excluding;
mod hostile;
mod killed;
mod lately;
mod merging;
mod moving;
mod pushing;
mod standing;
mod support;
mod trees;
