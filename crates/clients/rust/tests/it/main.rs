//! The client against a server that a test plays, over real sockets.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod calls;
mod dialogs;
mod limits;
mod play;
mod problems;
mod resume;
mod tls;
mod unix;
