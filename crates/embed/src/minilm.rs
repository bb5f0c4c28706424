//! The model in this process: all-MiniLM-L6-v2.
//!
//! Knows its files, how they are fetched, and how texts become vectors with them. What always holds: files are looked at
//! before they are used. Files are known in every build; the model itself is only in those made with the feature `minilm`,
//! since what it computes with takes minutes more to build and makes the program some megabytes larger.

#[cfg(feature = "minilm")]
mod embedder;
#[cfg(feature = "minilm")]
mod model;
mod pip;
mod pull;
#[cfg(feature = "minilm")]
mod steps;
mod weights;

#[cfg(feature = "minilm")]
pub use embedder::MiniLm;
pub use pull::{PullError, Pulled, pull};
pub use weights::{WeightsError, check_weights};

/// Does what waits for files on a thread of its own.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => {
            std::panic::resume_unwind(error.try_into_panic().unwrap_or_else(|_| Box::new("cancelled")))
        }
    }
}
