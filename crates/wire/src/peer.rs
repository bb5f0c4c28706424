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
//! - answers and urgent calls are read and served however many other calls wait; the reader pauses only for
//!   room, when what it holds has reached a bound, which is how a flooding peer is slowed down, and a pause
//!   in which nothing moves ends the connection;
//! - an urgent method starts when it is read, whatever else is under way;
//! - an answer that is broken after its id fails its call at once instead of letting it wait.
//!
//! ```
//! use loggia_jsonrpc::{Dialect, Method};
//! use loggia_wire::framing::Lines;
//! use loggia_wire::peer::{Router, Settings, connect};
//!
//! struct Double;
//! impl Method for Double {
//!     const NAME: &'static str = "double";
//!     type Params = i64;
//!     type Result = i64;
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (here, there) = tokio::io::duplex(1024);
//! let (reader, writer) = tokio::io::split(there);
//! let router = Router::new().serve::<Double, _, _>(|_context, number| async move { Ok(number * 2) });
//! let settings = Settings::new("caller", Dialect::STANDARD);
//! let (_caller, connection) = connect(reader, writer, Lines::new(4096), settings, router);
//! tokio::spawn(connection.run());
//!
//! let (reader, writer) = tokio::io::split(here);
//! let settings = Settings::new("server", Dialect::STANDARD);
//! let (server, connection) = connect(reader, writer, Lines::new(4096), settings, Router::new());
//! tokio::spawn(connection.run());
//! assert_eq!(server.call::<Double>(&21).await?, 42);
//! # Ok(())
//! # }
//! ```

mod calls;
mod connection;
mod dispatch;
mod error;
mod handle;
mod lane;
mod notice;
mod outbox;
mod responder;
mod router;
mod settings;
mod stats;

pub use connection::Connection;
pub use error::{CallError, CloseReason, NotifyError};
pub use handle::{Peer, connect};
pub use notice::Notice;
pub use responder::Context;
pub use router::Router;
pub use settings::{Limits, PER_CALL, Settings};
pub use stats::Stats;
