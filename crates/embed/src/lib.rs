//! Makes vectors of texts.
//!
//! Knows embedders: whoever fills [`loggia_domain::Embedder`] with vectors that mean something. Today that is an
//! embedding endpoint over HTTP, of a provider or of a server on this machine. Refuses to know what the vectors are for,
//! what is worth one, and where they are kept: that is the index's. It reads no configuration: it is handed a [`Choice`]
//! and [`Extras`]. Proxies for other machines are those of the environment.

mod choice;
mod endpoint;
mod fault;
mod secret;

pub use choice::{Choice, Extras, NotAChoice, open};
pub use endpoint::{Endpoint, EndpointSettings, Protocol};
pub use fault::EmbedError;
pub use secret::Secret;

/// At most so many texts go to a model at once: more wait longer for the first vector and need more memory, and are not
/// made much sooner.
pub const MAX_BATCH: usize = 8;
