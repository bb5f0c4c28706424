//! An Endermux console for any line-oriented program: a game server, a REPL, a database shell.
//!
//! Knows one program, whose output is logged to everybody who is attached and whose input is what they send. Refuses to
//! know what the program is and what its lines mean. The protocol is `loggia-endermux-io`'s; that the program goes when
//! we go, `kill -9` included, is the doing of its keeper in `loggia-wire`.
//!
//! # What always holds
//!
//! - Nobody attached can hold the program up: what waits for a client is bounded, and a client that does not read loses
//!   log lines. Only our own stdout and stderr can, as they would without us.
//! - Lines that the program does not read are bounded, too; whoever sends one more is told that it was not sent.
//! - Who sent a line is logged to everybody before the program gets it.
//! - While the program is down commands cannot be given, and clients stay.
//! - The socket is gone before [`run`] returns.

mod chunk;
mod copies;
mod cut;
mod desk;
mod history;
mod keyboard;
mod level;
mod life;
mod options;
mod run;
mod signals;
mod vocabulary;

pub use level::Level;
pub use options::{Options, Restart};
pub use run::{Ready, WrapError, run, status_of};
