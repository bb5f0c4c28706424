//! What tests of several crates share. Only ever a dev-dependency.
//!
//! Knows how golden files are laid out, how a peer can misbehave and how git is run apart from its user. Refuses to know what any product
//! crate does with any of it: a test brings the table or the connection, this crate brings the trouble.
//!
//! The binary `peer-kit` plays the same parts as real processes.

pub mod git;
pub mod golden;
pub mod hostile;
pub mod log;
pub mod methods;
mod writes;

pub use writes::Writes;
