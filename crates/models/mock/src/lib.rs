//! Providers that tests play: a server that answers as it is told, and the words in which each kind of provider answers.
//!
//! Knows HTTP and the four dialects; refuses to know what is asked and what should come of it. What always holds: it
//! listens on this machine alone, and what it was sent is kept as it came.
#![expect(clippy::unwrap_used, reason = "a test whose provider cannot be played should fail")]

mod dialect;
mod server;

pub use dialect::{Say, error, frames, text};
pub use server::{Answer, Gate, Mock, Nobody, Request, Step};
