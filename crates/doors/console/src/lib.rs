//! The console door: any number of terminals watch the daemon and give it commands.
//!
//! Knows the commands people type, and what a terminal is told of sessions and of the daemon's log. Refuses to know
//! connections, frames and queues: `loggia-endermux-io` has them. Refuses to know what a session decides: every command
//! becomes a call of the engine, and every event becomes text.
//!
//! What always holds:
//! - one table describes the commands; reading a line, completing it, colouring it and `help` all follow that table;
//! - text of models, tools, files and clients holds no escape sequences by the time it is on the wire;
//! - nobody who logs waits for a console, and no console waits for another;
//! - the first answer to a question holds, whichever door it came through; later ones are told whose it was;
//! - whoever only listens keeps no session in memory.

mod board;
mod commands;
mod complete;
mod dialog;
mod door;
mod facts;
mod follow;
mod guest;
mod highlight;
mod host;
mod ids;
mod lines;
mod log;
mod paint;
mod question;
mod read;
mod table;
mod tell;
mod voice;
mod watch;
mod words;

pub use door::{Admits, Door, Parts};
pub use log::{Journal, Limit};
