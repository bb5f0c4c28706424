//! `[index]`: how code indexes are kept, and who makes vectors for them.
//!
//! Invariant: what a workspace says of these has no part in it; they decide who is sent the code.

use std::path::PathBuf;

use super::{Config, keys, policy};
use crate::daemon::indexes::IndexRules;

impl Config {
    /// How indexes are kept.
    pub(crate) fn index(&self) -> IndexRules {
        let said = |key| Some(self.said_everywhere(key)).filter(|text| !text.is_empty());
        IndexRules {
            auto: policy::switch(&self.everywhere, &keys::INDEX_AUTO),
            embedder: said(&keys::INDEX_EMBEDDER).map(str::to_owned),
            weights: said(&keys::INDEX_WEIGHTS).map(PathBuf::from),
            endpoints: self.endpoints_everywhere(),
        }
    }
}
