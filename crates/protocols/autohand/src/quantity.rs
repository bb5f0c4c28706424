//! Numbers and times as this protocol writes them.
//!
//! Invariant: a [`Quantity`] is finite, and a whole one is written without a fraction.

use serde::{Deserialize, Serialize};
use serde_json::Number;

/// A finite number that need not be whole: a share in percent, a duration.
///
/// What was read as `20` is written as `20`, not `20.0`; clients with whole-number fields would refuse the latter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quantity(Number);

/// The value is infinite or not a number, which JSON cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the number is not finite")]
pub struct NotFinite;

impl Quantity {
    /// The value as floating point.
    pub fn value(&self) -> f64 {
        // Numbers of JSON always have such a value; none is larger than `f64` can say.
        self.0.as_f64().unwrap_or_default()
    }
}

impl From<u64> for Quantity {
    fn from(whole: u64) -> Self {
        Self(whole.into())
    }
}

impl TryFrom<f64> for Quantity {
    type Error = NotFinite;

    fn try_from(value: f64) -> Result<Self, NotFinite> {
        /// Above this, floating point skips whole numbers, so a fraction-free text would claim too much.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.fract() == 0.0 && (0.0..=EXACT).contains(&value) {
            // Whole, not negative and within the exact range, as checked.
            return Ok(Self::from(value as u64));
        }
        Number::from_f64(value).map(Self).ok_or(NotFinite)
    }
}

/// A moment: ISO 8601 in UTC with milliseconds and `Z`, like `2026-01-31T08:15:30.250Z`.
///
/// It stays text: this crate has no clock, and what a peer wrote is handed on unchanged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub String);

impl From<&str> for Timestamp {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}
