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
    /// How long the reader waits for room without anything moving before the connection is given up. Two sides that
    /// each wait for the other to read would wait for ever.
    pub stall: Duration,
    /// The code of the answer to a request that came while too much was under way.
    pub overload_code: i64,
}

/// The bounds of one connection.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Free calls under way at once, and as many urgent ones besides. Further requests are answered "overloaded"; for
    /// a call without an id the reader waits.
    pub in_flight: usize,
    /// Bytes of calls under way or waiting for their turn, with [`PER_CALL`] added for each. It is a bound for memory,
    /// so it counts bytes; until it is reached everything is read, so that answers and urgent calls are found
    /// behind any number of others. Beyond it, requests are answered "overloaded", and for a call without an
    /// id the reader waits, since dropping one would tear a hole into what the peer tells.
    pub held_bytes: usize,
    /// Bytes waiting to be written. Over it, own calls fail as overloaded; answers and notifications wait, and while
    /// answers alone are over it, nothing more is read that could cause more of them. One message may overshoot
    /// it, so memory is bounded by this and the largest message.
    pub outbox_bytes: usize,
    /// Members of one batch.
    pub batch_members: usize,
}

/// What a call costs besides its bytes: the handler's future and its place in a queue, roughly.
pub const PER_CALL: usize = 512;

impl Default for Limits {
    /// Room for bursts of a busy editor; a thousand idle connections hold none of it.
    fn default() -> Self {
        Self { in_flight: 256, held_bytes: 16 * 1024 * 1024, outbox_bytes: 1024 * 1024, batch_members: 256 }
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
            stall: Duration::from_secs(30),
            overload_code: codes::SERVER_ERROR,
        }
    }
}
