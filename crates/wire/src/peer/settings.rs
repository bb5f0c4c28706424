//! What a connection is told when it is made.

use std::time::Duration;

use loggia_jsonrpc::{Dialect, codes};

/// How one connection behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who is on the other end, for logs.
    pub name: String,
    /// How this protocol reads and writes JSON-RPC.
    pub dialect: Dialect,
    /// The bounds.
    pub limits: Limits,
    /// How long a call waits for its answer unless it says otherwise; `None` waits until the stream ends.
    pub call_timeout: Option<Duration>,
    /// After the peer's stream ends, how long handlers may finish and answers may be written.
    pub drain: Duration,
    /// The code of the answer to a request that came while too much was under way.
    pub overload_code: i64,
}

/// The bounds of one connection.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Calls under way at once, and as many urgent ones besides. Further requests are answered "overloaded"; for a
    /// call without an id the reader waits.
    pub in_flight: usize,
    /// Ordered calls waiting for their turn. Further requests are answered "overloaded"; for a notification
    /// the reader waits, since dropping one would tear a hole into what the peer tells.
    pub ordered_queue: usize,
    /// Bytes waiting to be written. Over it, own calls fail as overloaded; answers and notifications wait. One
    /// message may overshoot it, so memory is bounded by this and the largest message.
    pub outbox_bytes: usize,
    /// Members of one batch.
    pub batch_members: usize,
}

impl Default for Limits {
    /// Room for bursts of a busy editor; a thousand idle connections hold none of it.
    fn default() -> Self {
        Self { in_flight: 256, ordered_queue: 1024, outbox_bytes: 1024 * 1024, batch_members: 256 }
    }
}

impl Settings {
    /// Settings for a dialect, with default limits and no time limit on calls.
    pub fn new(name: impl Into<String>, dialect: Dialect) -> Self {
        Self {
            name: name.into(),
            dialect,
            limits: Limits::default(),
            call_timeout: None,
            drain: Duration::from_secs(2),
            overload_code: codes::SERVER_ERROR,
        }
    }
}
