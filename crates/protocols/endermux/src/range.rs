//! Ranges of versions and what two of them have in common.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{Epoch, lenient};

/// A range of versions, both ends included. The specification calls it `CapabilityVersionRange`; epochs 16 and 17 use
/// the same shape for the transport's own epochs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VersionRange {
    /// The lowest version, from 1.
    #[serde(deserialize_with = "lenient::int")]
    pub min: i32,
    /// The highest version.
    #[serde(deserialize_with = "lenient::int")]
    pub max: i32,
    /// Versions in between that are not supported. Epoch 15 has no such field; 16 and 17 always write it.
    #[serde(deserialize_with = "lenient::nullable_ints", skip_serializing_if = "Option::is_none")]
    pub exclude: Option<Vec<i32>>,
}

impl VersionRange {
    /// A range without gaps, in the form of an epoch.
    pub fn new(epoch: Epoch, min: i32, max: i32) -> Self {
        Self { min, max, exclude: epoch.has_ranges().then(Vec::new) }
    }

    /// The same range as a peer of this epoch understands it: for epoch 15 `exclude` is a field nobody knows.
    pub fn as_of(&self, epoch: Epoch) -> Self {
        let exclude = if epoch.has_ranges() { self.exclude.clone() } else { None };
        Self { exclude, ..*self }
    }

    /// Whether the range makes sense: from 1 up, not upside down, and excluding only what it contains.
    pub fn is_valid(&self) -> bool {
        self.min > 0
            && self.max >= self.min
            && self.excluded().iter().all(|version| (self.min..=self.max).contains(version))
    }

    /// Whether a version is supported.
    pub fn contains(&self, version: i32) -> bool {
        (self.min..=self.max).contains(&version) && !self.excluded().contains(&version)
    }

    /// The highest version both ranges support.
    ///
    /// Steps down at most once per excluded version, whatever the peer wrote.
    pub fn highest_common(&self, other: &Self) -> Option<i32> {
        let excluded: BTreeSet<i32> = self.excluded().iter().chain(other.excluded()).copied().collect();
        let lowest = self.min.max(other.min);
        let highest = self.max.min(other.max);
        (lowest..=highest).rev().find(|version| !excluded.contains(version))
    }

    fn excluded(&self) -> &[i32] {
        self.exclude.as_deref().unwrap_or_default()
    }
}
