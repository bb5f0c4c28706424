//! What hides secrets in text that people only read.
//!
//! What is carried out as it stands, a call's arguments above all, is stored and handed on so. Whoever only shows it
//! goes through here.

use std::fmt;
use std::sync::Arc;

use crate::engine::Engine;
use crate::secrets::Masker;

/// Whoever knows the secrets. Cheap to clone.
#[derive(Clone)]
pub struct Mask(Option<Arc<Masker>>);

impl Mask {
    /// Nobody: everything is shown.
    pub fn none() -> Self {
        Self(None)
    }

    /// The text without secrets.
    pub fn text(&self, text: &str) -> String {
        self.0.as_ref().map_or_else(|| text.to_owned(), |masker| masker.mask(text).into_owned())
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mask")
    }
}

impl Engine {
    /// What hides the secrets this engine knows.
    pub fn mask(&self) -> Mask {
        Mask(Some(Arc::clone(&self.shared.masker)))
    }
}
