//! Ways of reading that forgive what scripts commonly get wrong: numbers where text is meant and the other way round,
//! `null` for nothing, one thing where a list is meant.
//!
//! Refuses to guess at meaning: what cannot be read this way is as if it had not been said. Only for what a reader can do
//! without; what is needed is read strictly, so that its absence is told.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// `null` as nothing.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Text, also of a number or a truth value.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(as_text(Value::deserialize(deserializer)?))
}

/// Texts, also of numbers, and of objects by their `name` or `id`; a single one is a list of one.
pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let named = |mut value: Value| {
        let inner = ["name", "id"].iter().find_map(|key| Some(value.get_mut(*key)?.take()));
        as_text(inner.unwrap_or(value))
    };
    Ok(as_list(Value::deserialize(deserializer)?).into_iter().filter_map(named).collect())
}

/// A whole number, also from text and from a number with a fraction.
pub(crate) fn number<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i64>,
{
    Ok(as_number(&Value::deserialize(deserializer)?).and_then(|number| T::try_from(number).ok()))
}

/// A whole number, or none of something.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(number(deserializer)?.unwrap_or_default())
}

/// Yes or no, if it is said.
pub(crate) fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_bool())
}

/// A value, if it can be read.
pub(crate) fn readable<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let value = Option::<Value>::deserialize(deserializer)?;
    Ok(value.and_then(|value| T::deserialize(value).ok()))
}

/// Those entries of a list that can be read.
pub(crate) fn readable_entries<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let entries = as_list(Value::deserialize(deserializer)?).into_iter();
    Ok(entries.filter_map(|entry| T::deserialize(entry).ok()).collect())
}

/// The text under a key of an object.
pub(crate) fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key).cloned().and_then(as_text)
}

/// The words in a list under a key of an object; nothing if there is no list.
pub(crate) fn words_of<T: DeserializeOwned>(value: &Value, key: &str) -> Option<Vec<T>> {
    let words = value.get(key)?.as_array()?.iter();
    Some(words.filter_map(|word| T::deserialize(word).ok()).collect())
}

pub(crate) fn as_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn as_list(value: Value) -> Vec<Value> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(entries) => entries,
        one => vec![one],
    }
}

pub(crate) fn as_number(value: &Value) -> Option<i64> {
    let whole = |number: f64| {
        let fits = number.is_finite() && number.abs() < MAX_EXACT;
        #[expect(clippy::cast_possible_truncation, reason = "fractions are cut off, and it fits")]
        fits.then_some(number as i64)
    };
    match value {
        Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok().or_else(|| whole(text.trim().parse().ok()?)),
        _ => None,
    }
}

/// Beyond this a number with a fraction is not exact any more.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
