//! Server and client over real sockets and in memory, and clients that are written byte by byte.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod client;
mod epochs;
mod faults;
mod handshake;
mod logs;
mod python;
mod results;
mod session;
mod socket;
mod stop;
mod support;
