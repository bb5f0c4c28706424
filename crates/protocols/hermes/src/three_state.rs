//! A property that can be left alone, removed or replaced.
//!
//! Invariant: with the field attribute
//! `#[serde(default, skip_serializing_if = "Override::is_inherit")]` a property is written exactly as it was read:
//! absent stays absent and `null` stays `null`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a schema override does to one property.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Override<T> {
    /// Absent: the value below stays.
    #[default]
    Inherit,
    /// `null`: the property has no value any more.
    Unset,
    /// A value: it takes the place of the one below.
    Replace(T),
}

impl<T> Override<T> {
    /// Whether the property is left alone, and so is not written.
    pub fn is_inherit(&self) -> bool {
        matches!(self, Self::Inherit)
    }

    /// The property's value over the one below.
    pub fn over(self, below: Option<T>) -> Option<T> {
        match self {
            Self::Inherit => below,
            Self::Unset => None,
            Self::Replace(value) => Some(value),
        }
    }
}

impl<T: Serialize> Serialize for Override<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Inherit | Self::Unset => serializer.serialize_none(),
            Self::Replace(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Override<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Option::deserialize(deserializer)? {
            None => Self::Unset,
            Some(value) => Self::Replace(value),
        })
    }
}
