//! Pictures that go with an instruction.
//!
//! Judges kind and size from the text alone, before anything is decoded; decoding is the receiver's work.

use serde::{Deserialize, Serialize};

use crate::limits::{IMAGE_MIME_TYPES, MAX_IMAGE_BYTES};

/// A picture in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageAttachment {
    /// The picture in base64.
    pub data: String,
    /// Its kind; see [`IMAGE_MIME_TYPES`].
    pub mime_type: String,
    /// Its name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// Why a picture is left out. The turn goes on without it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageFault {
    /// Not one of the kinds the protocol lists.
    #[error("`{mime_type}` is not a supported image type; supported are png, jpeg, gif and webp")]
    Type {
        /// What the client said it is.
        mime_type: String,
    },
    /// Too large once decoded.
    #[error("the image has {bytes} bytes; the limit is {MAX_IMAGE_BYTES}")]
    TooLarge {
        /// Its size after base64 is undone.
        bytes: usize,
    },
}

impl ImageAttachment {
    /// The base64 text without the `data:…;base64,` that some clients put before it.
    pub fn payload(&self) -> &str {
        match self.data.strip_prefix("data:").and_then(|rest| rest.split_once(',')) {
            Some((_, payload)) => payload,
            None => &self.data,
        }
    }

    /// The picture's size in bytes once base64 is undone.
    pub fn decoded_size(&self) -> usize {
        let digits = self.payload().trim_end_matches('=').len();
        digits / 4 * 3 + (digits % 4) * 3 / 4
    }

    /// Whether the picture may be used.
    ///
    /// # Errors
    /// [`ImageFault`] that says why not.
    pub fn check(&self) -> Result<(), ImageFault> {
        if !IMAGE_MIME_TYPES.contains(&self.mime_type.as_str()) {
            return Err(ImageFault::Type { mime_type: self.mime_type.clone() });
        }
        let bytes = self.decoded_size();
        if bytes > MAX_IMAGE_BYTES {
            return Err(ImageFault::TooLarge { bytes });
        }
        Ok(())
    }
}
