//! The `ERROR`s of a server whose handler is missing or failed.

use crate::{Failure, dispatch::Refusal};

/// Something a server's owner may provide. A missing one does not withdraw its capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// Completes words.
    Complete,
    /// Colours commands.
    Highlight,
    /// Cuts lines into words.
    Parse,
    /// Runs commands.
    Execute,
}

/// Why a hook gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookFault {
    /// There is none.
    Missing(Hook),
    /// Interactivity ended while the message was on its way to it.
    Unavailable,
    /// It failed, with this to say.
    Failed(Hook, String),
}

impl HookFault {
    /// The payload that tells the client, worded as existing servers word it.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Missing(Hook::Complete) => Failure::new("Completions are not supported"),
            Self::Missing(Hook::Highlight) => Failure::new("Syntax highlighting is not supported"),
            Self::Missing(Hook::Parse) => Failure::new("Parsing is not supported"),
            Self::Missing(Hook::Execute) => Failure::new("Command execution is not supported"),
            Self::Unavailable => Failure::new(Refusal::Unavailable.to_string()),
            Self::Failed(Hook::Complete, why) => detailed("Failed to get completions", why),
            Self::Failed(Hook::Parse, why) => detailed("Failed to parse command", why),
            Self::Failed(Hook::Execute, why) => detailed("Failed to execute command", why),
            // Existing servers put this one into the message and leave the details empty.
            Self::Failed(Hook::Highlight, why) => Failure::new(format!("Failed to highlight command: {why}")),
        }
    }
}

fn detailed(message: &str, details: &str) -> Failure {
    Failure { message: message.to_owned(), details: Some(details.to_owned()) }
}
