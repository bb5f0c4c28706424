//! Bounds that are ours rather than the protocol's, each with its reason.

use std::time::Duration;

/// Connections at once, counted from their acceptance. A console is for people: one desk has a few terminals.
pub const MAX_CONNECTIONS: usize = 64;

/// Bytes of log frames that may wait for one client; beyond, the oldest are dropped. Some ten thousand lines: enough for a
/// terminal that was suspended for a while. The bytes are shared by all clients that wait for the same lines.
pub const LOG_QUEUE: usize = 4 * 1024 * 1024;

/// Bytes of answers that may wait for one client before it is read from again. One more message may come on top.
pub const REPLY_QUEUE: usize = 1024 * 1024;

/// What a waiting frame costs besides its bytes, so that a flood of tiny ones is bounded as well.
pub const FRAME_COST: usize = 64;

/// The longest piece of log text in one message: clients show each on a line of its own. JSON makes at most six bytes of
/// one, so that every piece fits a frame.
pub const LOG_PIECE: usize = 160 * 1024;

/// The longest log text; the middle of a longer one is left out. Smaller than [`LOG_QUEUE`], so that one text alone
/// does not push itself out.
pub const MAX_LOG: usize = 2 * 1024 * 1024;

/// How much is taken from the queue for one write.
pub const WRITE_BATCH: usize = 64 * 1024;

/// How long logs may wait for others after a write, so that one write takes them all. Nobody sees a line come a millisecond
/// later; the clock that measures it may make two of one.
pub const GATHER: Duration = Duration::from_millis(1);

/// What frames of logs are cut from, so that memory is asked for once for a few hundred lines. A client that waits with one
/// frame keeps that much from being used again.
pub const FRAME_SLAB: usize = 64 * 1024;

/// Bytes of log text kept for those who subscribe later.
pub const BACKLOG_BYTES: usize = 1024 * 1024;

/// Log events kept for those who subscribe later.
pub const BACKLOG_EVENTS: usize = 1000;

/// How long a host may take to complete, colour or parse: no client waits longer than five seconds for it.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// How long what was said last may take to get out when a connection ends.
pub const DRAIN: Duration = Duration::from_millis(500);

/// How long to wait before accepting again when the system has no room for another connection.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Requests of a client that may wait to be written.
pub const CLIENT_OUTBOX: usize = 64;

/// Bytes of events that may wait for a client's owner; beyond, the oldest logs are dropped, and it is told.
pub const CLIENT_INBOX: usize = 4 * 1024 * 1024;
