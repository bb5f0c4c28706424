//! Images that go with instructions.
//!
//! Their bytes are blobs of the store under their hash, and only a short note of each is in the journal. So a session that
//! is loaded, forked or undone has them, and none of these has to carry them. An exported journal names them without
//! their bytes, as it names the contents of files: where it is imported elsewhere, models are told that they are
//! not there any more.

use loggia_domain::{Image, StoreError};

use crate::engine::Engine;

/// How many images an instruction may have: as many as the strictest provider takes in one request.
pub const MAX_IMAGES: usize = 100;

/// How many bytes the images of an instruction may have together, and those that a model is shown at once. Providers
/// refuse requests of some 30 to 50 megabytes, which base64 makes of this.
pub const MAX_IMAGES_BYTES: u64 = 32 << 20;

/// The longest name of an image and of its kind: those of files are shorter.
pub const MAX_IMAGE_NAME: usize = 256;

impl Engine {
    /// Keeps an image, to be named in an instruction. It is as it was when it is not.
    ///
    /// # Errors
    /// If the store cannot keep it.
    pub async fn keep_image(
        &self,
        media_type: impl Into<String>,
        name: Option<String>,
        bytes: Vec<u8>,
    ) -> Result<Image, StoreError> {
        let length = bytes.len() as u64;
        let hash = self.shared.parts.store.put_blob(bytes).await?;
        Ok(Image { hash, media_type: media_type.into(), bytes: length, name })
    }
}
