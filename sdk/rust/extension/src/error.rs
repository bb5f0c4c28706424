//! Why a host did not do what it was asked.

use loggia_jsonrpc::ErrorObject;

/// What commands and events give.
pub type Outcome = Result<(), HostError>;

/// Why a host did not do what it was asked, or why an extension's own code gives up.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HostError {
    /// The host refused. Switch on the code; the message is for people.
    #[error("{0}")]
    Refused(ErrorObject),
    /// The host has gone, or told us to leave. Let it pass.
    #[error("the host has gone")]
    Gone,
    /// The host answered something else than the method promises.
    #[error("the host's answer has the wrong shape: {0}")]
    WrongShape(String),
    /// Something of the extension's own.
    #[error("{0}")]
    Own(String),
}

impl HostError {
    /// Something of the extension's own.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Own(message.into())
    }

    /// The code of a refusal.
    pub fn code(&self) -> Option<i64> {
        match self {
            Self::Refused(error) => Some(error.code),
            _ => None,
        }
    }
}

impl From<std::io::Error> for HostError {
    fn from(error: std::io::Error) -> Self {
        Self::new(error.to_string())
    }
}
