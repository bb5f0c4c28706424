//! Ways of reading that forgive what scripts commonly get wrong.

use serde::{Deserialize, Deserializer};

/// Reads `null` as the default: scripts write `null` for lists they do not fill.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
