//! Keys.
//!
//! What always holds: a key is in no `Debug`, and a text that went through [`Secret::scrub`] does not hold it.

use std::fmt;
use std::sync::Arc;

/// A shorter text is no key, and replacing it would make a puzzle of every message.
const SHORTEST_SCRUBBED: usize = 4;

/// A key that nobody may see.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// A secret with this text, without the blanks around it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Arc::from(text.trim()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_SCRUBBED { text.to_owned() } else { text.replace(&*self.0, "[key]") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
