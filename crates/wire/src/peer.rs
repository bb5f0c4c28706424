//! A JSON-RPC 2.0 peer: both sides may ask, over any stream and any [`crate::framing::Codec`].
//!
//! Knows envelopes, ids, pending calls, order, limits and time. Refuses to know what any method means: that
//! is in the [`Router`] somebody hands in, built from the method types of a protocol crate.
//!
//! One connection is one task with one reader, one writer and one table of pending calls. Only the writer
//! touches the sink; everybody else appends whole frames to the [outbox](outbox::Outbox).
//!
//! What always holds:
//! - a call is in the outbox before [`Peer::call`] returns its future, so calls go out in the caller's order;
//! - a call leaves the pending table exactly once: answered, timed out, dropped or closed;
//! - a request gets exactly one answer, also when its handler panics or is cancelled;
//! - the reader never waits for a handler: only for room in the outbox or the ordered queue, which is how
//!   a flooding peer is slowed down;
//! - an urgent method starts when it is read, whatever else is under way.

mod calls;
mod connection;
mod dispatch;
mod error;
mod handle;
mod lane;
mod outbox;
mod responder;
mod router;
mod settings;
mod stats;

pub use connection::Connection;
pub use error::{CallError, CloseReason, NotifyError};
pub use handle::{Peer, connect};
pub use responder::Context;
pub use router::Router;
pub use settings::{Limits, Settings};
pub use stats::Stats;
