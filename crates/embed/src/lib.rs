//! Makes vectors of texts.
//!
//! Knows embedders: whoever fills [`loggia_domain::Embedder`] with vectors that mean something. That is an embedding
//! endpoint over HTTP, of a provider or of a server on this machine; or, where it is built in with the feature `minilm`, a
//! model in this process, whose files are fetched by [`pull`] and never by itself. Refuses to know what the vectors are
//! for, what is worth one, and where they are kept: that is the index's. It reads no configuration: it is handed a
//! [`Choice`]. Proxies for other machines are those of the environment.

mod choice;
mod endpoint;
mod fault;
mod minilm;
mod secret;

pub use choice::{Choice, open};
pub use endpoint::{Endpoint, EndpointSettings, Protocol};
pub use fault::EmbedError;
#[cfg(feature = "minilm")]
pub use minilm::MiniLm;
pub use minilm::{PullError, Pulled, WeightsError, check_weights, pull};
pub use secret::Secret;

/// At most so many texts go to a model at once: more wait longer for the first vector and need more memory, and are not
/// made much sooner.
pub const MAX_BATCH: usize = 8;
