//! Opening the embedder that somebody chose.
//!
//! Knows which embedders there are; how they are named in a configuration, and where keys and addresses come from, is
//! known to whoever asks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loggia_domain::Embedder;

use crate::{EmbedError, Endpoint, EndpointSettings};

/// Who makes the vectors.
#[derive(Debug, Clone)]
pub enum Choice {
    /// The model in this process, all-MiniLM-L6-v2, whose files are in this directory.
    MiniLm(PathBuf),
    /// A model behind an endpoint.
    Endpoint(EndpointSettings),
}

/// Opens the embedder that was chosen. An endpoint is asked for one vector, which says how long its vectors are; the
/// files of the model in this process are checked and read.
///
/// # Errors
///
/// Why there is none.
pub async fn open(choice: Choice) -> Result<Arc<dyn Embedder>, EmbedError> {
    match choice {
        Choice::MiniLm(directory) => open_minilm(&directory).await,
        Choice::Endpoint(settings) => Ok(Arc::new(Endpoint::connect(settings).await?)),
    }
}

#[cfg(feature = "minilm")]
async fn open_minilm(directory: &Path) -> Result<Arc<dyn Embedder>, EmbedError> {
    Ok(Arc::new(crate::MiniLm::open(directory).await?))
}

#[cfg(not(feature = "minilm"))]
async fn open_minilm(_: &Path) -> Result<Arc<dyn Embedder>, EmbedError> {
    Err(EmbedError::NotBuiltIn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "minilm"))]
    #[tokio::test]
    async fn a_build_without_the_model_says_how_to_make_one_that_has_it() {
        let told = open(Choice::MiniLm("somewhere".into())).await.err().unwrap().to_string();
        assert_eq!(
            told,
            "this build has no model of its own; `cargo build --release -p loggia --features minilm` makes one that has"
        );
    }

    #[cfg(feature = "minilm")]
    #[tokio::test]
    async fn the_model_is_not_opened_without_its_files() {
        let empty = tempfile::tempdir().unwrap();
        let told = open(Choice::MiniLm(empty.path().to_owned())).await.err().unwrap();
        let missing = empty.path().join("model.safetensors");
        assert_eq!(
            told.to_string(),
            format!(
                "`{}` is not there; `loggia index pull` puts the right files in place",
                missing.display()
            )
        );
    }
}
