//! How extensions fail, in words.

use std::path::PathBuf;
use std::time::Duration;

use loggia_jsonrpc::ErrorObject;
use loggia_wire::child::SpawnError;
use loggia_wire::framing::FrameError;
use loggia_wire::peer::{CallError, CloseReason};

use crate::entry::EntryError;

/// Why an extension does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// Its settings name nothing that could be started.
    #[error("it cannot be started: {0}")]
    Entry(#[source] EntryError),
    /// The directory for its data cannot be made.
    #[error("its data directory cannot be made: {0}")]
    NoDirectory(#[source] std::io::Error),
    /// Where it is to run is no directory.
    #[error("it cannot be started: its `cwd` is `{}`, and there is no such directory", .0.display())]
    NoPlace(PathBuf),
    /// Starting it failed.
    #[error("it cannot be started: {}", with_causes(.0))]
    NotStarted(#[source] SpawnError),
    /// It did not answer the handshake in time.
    #[error("it did not answer `initialize` within {} s and was killed", .0.as_secs_f32())]
    Silent(Duration),
    /// It answered the handshake with an error.
    #[error("it refused `initialize`: {0}")]
    Refused(ErrorObject),
    /// Its answer to the handshake is not one.
    #[error("its answer to `initialize` has the wrong shape: {0}")]
    WrongShape(String),
    /// It ended.
    #[error("it ended with {0}")]
    Ended(String),
    /// It does not keep to the framing.
    #[error("its output cannot be read any further ({0}) and it was killed")]
    Broken(String),
    /// It does not read.
    #[error("{0}, and it was killed")]
    GivenUp(String),
    /// We are stopping.
    #[error("it is being stopped")]
    Stopping,
}

/// Words that tell an error and what caused it.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

impl Fault {
    /// Why a handshake failed, if it did not because the extension is gone.
    pub(crate) fn of_handshake(error: CallError) -> Result<Self, CloseReason> {
        Ok(match error {
            CallError::Answered(error) => Self::Refused(error),
            CallError::TimedOut { limit, .. } => Self::Silent(limit),
            CallError::WrongShape { error, .. } => Self::WrongShape(error.to_string()),
            CallError::Closed { reason, .. } => return Err(reason),
            CallError::Overloaded { .. } | CallError::Unsendable { .. } => Self::GivenUp(error.to_string()),
        })
    }

    /// Why a connection is no more, if that says it all.
    pub(crate) fn of_connection(reason: &CloseReason) -> Option<Self> {
        match reason {
            CloseReason::Broken(error) => match &**error {
                // A stream that ends in the middle is that of a process that is going.
                FrameError::Io { .. } | FrameError::Truncated { .. } | FrameError::TruncatedHeader => None,
                error => Some(Self::Broken(error.to_string())),
            },
            CloseReason::Stalled => Some(Self::GivenUp("it does not read what it is sent".to_owned())),
            CloseReason::EndOfStream | CloseReason::NotWritable(_) | CloseReason::Local => None,
        }
    }
}
