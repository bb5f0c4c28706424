//! The http door: editors, browsers and scripts drive sessions over HTTP and WebSocket.
//!
//! Knows the agent server's endpoints and messages, who is asking and what their token allows. Refuses to know what a
//! session decides: every request becomes a call of the engine, every event a message, and the translation between
//! the two is pure. Refuses to know where it listens: whoever starts it hands over listeners.
//!
//! What always holds:
//! - nothing is answered before the asker is known, but for health, pairing and the page;
//! - a client's mistake is answered with a problem that says what to change, never with a 500;
//! - what one client sends or does not read takes a bounded amount of memory and disturbs nobody else;
//! - a stream tells each event once, in order, and can be picked up after any event it told.

mod ask;
mod auth;
mod body;
mod contract;
mod door;
mod from_wire;
mod guard;
mod identity;
mod listen;
mod metrics;
mod model_name;
mod nearest;
mod page;
mod pages;
mod peer;
mod private_file;
mod problem;
mod rest;
mod router;
mod stream;
mod to_wire;

pub use auth::tokens::TokenError;
pub use door::{Door, DoorError, Examine, Parts, Settings, Traffic, examine_nothing};
pub use identity::{Identity, Proof};
pub use listen::{Listener, SlowBody, Tls, TlsError, accept_local, is_welcome};
pub use page::page_code_name;
pub use peer::Peer;
pub use stream::Timing;
