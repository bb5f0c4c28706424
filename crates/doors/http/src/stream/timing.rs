//! How long streams wait for what.

use std::time::Duration;

use loggia_protocol_agent_server::{HELLO_DEADLINE, PING_INTERVAL, SILENCE_DEADLINE};

/// How long a socket may be blocked before its client counts as too slow: as long as a client may be silent.
const BLOCKED: Duration = SILENCE_DEADLINE;

/// How long the last frames may take when a stream is closed; the daemon's doors have as long to drain.
const FAREWELL: Duration = Duration::from_secs(5);

/// How long streams wait for what. The protocol's own limits by default; tests are less patient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// For the hello.
    pub hello: Duration,
    /// From one ping to the next.
    pub ping: Duration,
    /// For any frame at all.
    pub silence: Duration,
    /// For a socket that takes nothing more.
    pub blocked: Duration,
    /// For the client to take note that the stream is closed.
    pub farewell: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            hello: HELLO_DEADLINE,
            ping: PING_INTERVAL,
            silence: SILENCE_DEADLINE,
            blocked: BLOCKED,
            farewell: FAREWELL,
        }
    }
}
