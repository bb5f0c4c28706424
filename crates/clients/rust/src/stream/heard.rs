//! What comes out of a stream.

use std::time::Duration;

use loggia_protocol_agent_server::{DecodeError, ServerInfo, ServerMessage, close};

/// Something a stream tells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Heard {
    /// The server is there, for the first time or again.
    Connected(ServerInfo),
    /// The connection is gone; it will be tried again. Nothing is lost but time.
    Disconnected {
        /// Why.
        why: Lost,
        /// When it is tried again.
        retry_in: Duration,
    },
    /// A message.
    Message(ServerMessage),
    /// A message nobody here can read: the server is newer, or wrong. The stream goes on.
    Unreadable(DecodeError),
}

/// Why a connection is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// It was cut.
    Cut,
    /// Nothing came for too long, not even an answer to a ping.
    Silent,
    /// The server stops, perhaps to start again.
    Stopping,
    /// Somebody stopped the server; nobody starts it again by itself.
    Stopped,
    /// The server gave us up because we did not read for too long.
    TooSlow,
    /// The server closed it, with this code.
    Closed(u16),
    /// It did not come back at the last try.
    StillGone,
}

impl Lost {
    /// What a close code means.
    pub(super) fn of_close(code: u16) -> Self {
        match code {
            close::GOING_AWAY => Self::Stopping,
            close::STOPPED => Self::Stopped,
            close::TOO_SLOW => Self::TooSlow,
            code => Self::Closed(code),
        }
    }
}
