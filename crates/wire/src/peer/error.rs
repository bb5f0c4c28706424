//! How calls fail and why connections end.

use std::sync::Arc;
use std::time::Duration;

use loggia_jsonrpc::{ErrorObject, FieldError};

use crate::framing::FrameError;

/// Why a connection ended.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CloseReason {
    /// The peer closed its side.
    #[error("the peer closed the stream")]
    EndOfStream,
    /// The stream could not be read any further.
    #[error("the stream is broken: {0}")]
    Broken(Arc<FrameError>),
    /// The peer does not take what we write.
    #[error("the peer cannot be written to: {0}")]
    NotWritable(Arc<std::io::Error>),
    /// The reader waited for room and nothing moved.
    #[error("nothing moved for too long: both sides wait for the other to read, or a handler is stuck")]
    Stalled,
    /// This side ended the connection.
    #[error("the connection was closed on this side")]
    Local,
}

/// How a call fails.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The peer answered with an error.
    #[error("{0}")]
    Answered(ErrorObject),
    /// No answer came in time; a late one will be counted and dropped.
    #[error("no answer to `{method}` within {limit:?}")]
    TimedOut {
        /// What was called.
        method: &'static str,
        /// How long it waited.
        limit: Duration,
    },
    /// The connection ended first.
    #[error("no answer to `{method}`: {reason}")]
    Closed {
        /// What was called.
        method: &'static str,
        /// Why the connection ended.
        reason: CloseReason,
    },
    /// The peer does not read; nothing was sent.
    #[error("`{method}` was not sent: too much is waiting for the peer to read")]
    Overloaded {
        /// What was called.
        method: &'static str,
    },
    /// The parameters cannot be sent; nothing was.
    #[error("the parameters of `{method}` cannot be sent: {reason}")]
    Unsendable {
        /// What was called.
        method: &'static str,
        /// Why.
        reason: String,
    },
    /// The answer is not what the method promises.
    #[error("the answer to `{method}` has the wrong shape: {error}")]
    WrongShape {
        /// What was called.
        method: &'static str,
        /// Where and how.
        error: FieldError,
    },
}

/// How telling a peer something fails.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    /// The connection has ended.
    #[error("not sent: {0}")]
    Closed(CloseReason),
    /// The message cannot be written.
    #[error("cannot be sent: {0}")]
    Unsendable(String),
}
