//! Every number the protocol fixes: sizes, times, the port, and how a stream is closed.
//!
//! Constants only; the door enforces them.

use std::time::Duration;

/// Where the server listens unless told otherwise. The specification's base URLs name it.
pub const DEFAULT_PORT: u16 = 3199;

/// The largest HTTP body: room for a few thousand file changes, not for an upload.
pub const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

/// The largest WebSocket message: a prompt with the editor's whole context fits many times over.
pub const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// How deep objects and arrays may nest: no message needs ten levels, and free-form arguments get the rest.
pub const MAX_JSON_DEPTH: usize = 64;

/// The largest header section: a token and a few cookies are far below.
pub const MAX_HEADER_BYTES: usize = 16 * 1024;

/// How often a quiet WebSocket is pinged: under the half-minute after which home routers forget a connection.
pub const PING_INTERVAL: Duration = Duration::from_secs(20);

/// After how long without any frame a WebSocket counts as dead: three missed pings.
pub const SILENCE_DEADLINE: Duration = Duration::from_secs(60);

/// How many WebSockets one token may hold: many editor windows, not a leak.
pub const MAX_SOCKETS_PER_TOKEN: usize = 64;

/// How long a client may take to send `client.hello` after it connected.
pub const HELLO_DEADLINE: Duration = Duration::from_secs(10);

/// Characters in a pairing code: short enough to read aloud, long enough for five tries.
pub const PAIRING_CODE_LENGTH: usize = 8;

/// How long a pairing code can be used.
pub const PAIRING_CODE_LIFETIME: Duration = Duration::from_secs(120);

/// Wrong tries after which a pairing code is dead.
pub const MAX_PAIRING_TRIES: u32 = 5;

/// How long the code for a page can be used: a browser that was just started opens it within seconds.
pub const PAGE_CODE_LIFETIME: Duration = Duration::from_secs(120);

/// How long a page's cookie lets it in: a phone that is used now and then need not be paired every week.
pub const PAGE_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The WebSocket subprotocol of the stream.
pub const STREAM_SUBPROTOCOL: &str = "loggia.v1";

/// What a browser, which cannot set headers on a WebSocket, writes before its token in a second subprotocol.
pub const BEARER_SUBPROTOCOL_PREFIX: &str = "bearer.";

/// The codes with which a stream is closed.
pub mod close {
    /// The daemon is stopping; connect again later.
    pub const GOING_AWAY: u16 = 1001;
    /// A binary frame came: messages are text.
    pub const UNSUPPORTED_DATA: u16 = 1003;
    /// A message was over [`MAX_MESSAGE_BYTES`](crate::MAX_MESSAGE_BYTES).
    pub const MESSAGE_TOO_BIG: u16 = 1009;
    /// The token with which the stream was opened was revoked.
    pub const TOKEN_REVOKED: u16 = 4401;
    /// The session was deleted.
    pub const SESSION_GONE: u16 = 4404;
    /// No `client.hello` came within [`HELLO_DEADLINE`](crate::HELLO_DEADLINE).
    pub const HELLO_TIMEOUT: u16 = 4408;
    /// The client stopped reading for too long; it may resume with `after`.
    pub const TOO_SLOW: u16 = 4409;
    /// Somebody stopped the daemon with `POST /v1/stop`; it does not come back by itself.
    pub const STOPPED: u16 = 4410;
}
