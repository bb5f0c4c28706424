//! Reading `null` as "not given" for fields whose type has a default.

use serde::{Deserialize, Deserializer};

/// Reads a value, or its default from `null`.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
