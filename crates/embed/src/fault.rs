//! What can go wrong with an embedder.
//!
//! What always holds: no message holds a key.

use loggia_domain::EmbedderError;

use crate::WeightsError;

/// Why there is no embedder, or no vectors from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The address is none, or names a user.
    #[error("`{0}` is no address of an embedding endpoint; it looks like `https://host/v1`, without a user")]
    Address(String),
    /// The HTTP client cannot be made.
    #[error("cannot set up HTTP: {0}")]
    SetUp(String),
    /// Nobody answers.
    #[error("`{0}` cannot be reached: {1}")]
    Unreachable(String, String),
    /// It takes too long.
    #[error("`{0}` does not answer in time")]
    Silent(String),
    /// It answers with a failure.
    #[error("`{address}` answers with {status}: {words}")]
    Refused {
        /// Who.
        address: String,
        /// The HTTP status.
        status: u16,
        /// What it said, shortened.
        words: String,
    },
    /// It answers with something else than vectors.
    #[error("`{0}` does not answer with vectors: {1}")]
    BadAnswer(String, String),
    /// `minilm` was chosen, and this program was built without it.
    #[error(
        "this build has no model of its own; `cargo build --release -p loggia --features minilm` makes one that has"
    )]
    NotBuiltIn,
    /// The files of `minilm` are not in place.
    #[error("{0}; `loggia index pull` puts the right files in place")]
    Weights(#[from] WeightsError),
    /// The model in this process fails.
    #[error("the model in this process fails: {0}")]
    Model(String),
}

impl From<EmbedError> for EmbedderError {
    fn from(error: EmbedError) -> Self {
        Self::Unavailable(error.to_string())
    }
}
