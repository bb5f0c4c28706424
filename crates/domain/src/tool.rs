//! What becomes of tool calls.

use crate::ClientId;

/// Who does the work of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// The server.
    Server,
    /// A client, which reports back.
    Client(ClientId),
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolOutcome {
    /// It worked.
    Succeeded {
        /// What the model is told.
        output: String,
    },
    /// It ran and failed.
    Failed {
        /// What the model is told.
        message: String,
    },
    /// It was not allowed to run.
    Denied {
        /// What the model is told.
        reason: String,
    },
    /// The turn was cancelled first.
    Cancelled,
}

/// Which of a command's streams a piece of output is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}
