//! Keys.
//!
//! Knows how to keep a key out of sight. What always holds: a key is in no `Debug`, and a text that went through
//! [`Secret::scrub`] does not hold it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What stands where a key was.
const MASK: &str = "[key]";

/// A shorter text is no key, and replacing it would make a puzzle of every message.
const SHORTEST_SCRUBBED: usize = 4;

/// A key, or another text that nobody may see.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// A secret with this text, without the blanks around it.
    pub fn new(text: &str) -> Self {
        Self(Arc::from(text.trim()))
    }

    /// The text itself, for the request that carries it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text without this secret in it.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.0.len() < SHORTEST_SCRUBBED || !text.contains(&*self.0) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.replace(&*self.0, MASK))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_in_no_debug_and_no_scrubbed_text() {
        let secret = Secret::new(" sk-very-secret\n");
        assert_eq!(secret.expose(), "sk-very-secret");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(secret.scrub("bad key: sk-very-secret!"), "bad key: [key]!");
        assert_eq!(Secret::new("").scrub("as it was"), "as it was");
    }
}
