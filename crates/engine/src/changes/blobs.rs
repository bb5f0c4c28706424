//! Where the bytes of changed files are kept.

use std::sync::Arc;

use futures_util::future::try_join_all;
use loggia_domain::{ContentHash, Store, StoreError};
use tokio::runtime::Handle;

/// Keeps bytes under their hash: what changes need of a [`Store`].
pub trait Blobs: Send + Sync {
    /// Keeps each of these; when it returns, they are on disk.
    ///
    /// # Errors
    /// The store's; some may be kept then, which does no harm.
    fn keep(&self, contents: Vec<Vec<u8>>) -> Result<(), StoreError>;

    /// Gives kept bytes back.
    ///
    /// # Errors
    /// The store's, also for bytes that are not kept.
    fn kept(&self, hash: ContentHash) -> Result<Vec<u8>, StoreError>;
}

/// Waits for the store, so it must be called on a thread of the runtime that may block.
impl Blobs for Arc<dyn Store> {
    /// All at once: each waits for the disk, and the disk is better at many.
    fn keep(&self, contents: Vec<Vec<u8>>) -> Result<(), StoreError> {
        let puts = contents.into_iter().map(|bytes| self.put_blob(bytes));
        Handle::current().block_on(try_join_all(puts)).map(drop)
    }

    fn kept(&self, hash: ContentHash) -> Result<Vec<u8>, StoreError> {
        Handle::current().block_on(self.blob(hash))
    }
}
