//! What a server's owner answers.

use std::future::Future;
use std::io;
use std::sync::Arc;

use loggia_protocol_endermux::{CandidateInfo, ColorLevel, Epoch, Hook, HookFault};
use tokio::net::UnixStream;

use super::output::Output;
use crate::words::Parsed;

/// Who a client is, for as long as the server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub(crate) u64);

impl std::fmt::Display for ClientId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A client that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    /// Who it is.
    pub id: ClientId,
    /// The process at the other end, where the system tells.
    pub process: Option<i32>,
    /// The transport it speaks.
    pub epoch: Epoch,
    /// Its colours.
    pub color_level: ColorLevel,
    /// Whether it may give commands; one that only listens does not offer that.
    pub commands: bool,
    /// Whether it gets logs.
    pub subscribed: bool,
}

/// Why a host gives no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// It never does.
    #[error("not supported")]
    Unsupported,
    /// It does not now.
    #[error("not available now")]
    Unavailable,
    /// Something went wrong; the client is told.
    #[error("{0}")]
    Failed(String),
}

impl HostError {
    pub(crate) fn fault(self, hook: Hook) -> HookFault {
        match self {
            Self::Unsupported => HookFault::Missing(hook),
            Self::Unavailable => HookFault::Unavailable,
            Self::Failed(why) => HookFault::Failed(hook, why),
        }
    }
}

/// What answers clients. Everything has a default, so that a host says only what it knows.
///
/// One client's requests come one after another, several clients' at the same time. Places in a line are byte offsets
/// between two characters. A panic ends the connection it happened on and no other.
pub trait Host: Send + Sync + 'static {
    /// Whether to talk to whoever connected to a socket. Nothing has been read yet, and a refusal says nothing.
    ///
    /// # Errors
    /// What the system says when it cannot tell; the connection is closed.
    fn admits(&self, _stream: &UnixStream) -> io::Result<bool> {
        Ok(true)
    }

    /// How the word at a place could go on: whole words, already filtered, since clients show all they get.
    fn complete(
        &self,
        _client: &Presence,
        _line: &str,
        _at: usize,
    ) -> impl Future<Output = Result<Vec<CandidateInfo>, HostError>> + Send {
        async { Err(HostError::Unsupported) }
    }

    /// The line with escape sequences for the client's colours, and otherwise the same characters. The default leaves
    /// it plain: an error would be shown to somebody at every key.
    fn highlight(
        &self,
        _client: &Presence,
        line: &str,
    ) -> impl Future<Output = Result<String, HostError>> + Send {
        let plain = line.to_owned();
        async { Ok(plain) }
    }

    /// The words of a line. The default cuts at white space.
    fn parse(
        &self,
        _client: &Presence,
        line: &str,
        at: usize,
    ) -> impl Future<Output = Result<Parsed, HostError>> + Send {
        let parsed = Parsed::by_spaces(line, at);
        async { Ok(parsed) }
    }

    /// Does something. The client's next request waits for the return, so whatever takes long is started here and goes on
    /// elsewhere, with `output`. A client that leaves does not stop it; the server's stop does. What an empty command means
    /// is the host's to say.
    fn execute(
        self: Arc<Self>,
        _client: Presence,
        _command: String,
        _output: Output,
    ) -> impl Future<Output = Result<(), HostError>> + Send {
        async { Err(HostError::Unsupported) }
    }
}
