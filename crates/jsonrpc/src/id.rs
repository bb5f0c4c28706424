//! Request ids, kept exactly as they came.
//!
//! Invariant: an id is written with the same bytes it was read with. Ids are compared by those bytes,
//! so `7` and `"7"` never meet; only [`RequestId::sequence`] looks at the value, for answers to our own calls.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// The id of one call.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RequestId(Repr);

/// Plain non-negative integers are by far the most common ids and need no allocation.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Number(u64),
    Raw(Box<str>),
}

impl RequestId {
    /// The id JSON writes as `null`.
    pub fn null() -> Self {
        Self(Repr::Raw("null".into()))
    }

    /// Keeps the id that was read.
    pub fn from_raw(raw: &RawValue) -> Self {
        let text = raw.get();
        match plain_integer(text) {
            Some(number) => Self(Repr::Number(number)),
            None => Self(Repr::Raw(text.into())),
        }
    }

    /// Whether the id is JSON's `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.0, Repr::Raw(text) if &**text == "null")
    }

    /// The number of a call in a sequence of integers, if the id can be one.
    ///
    /// Some peers read every number as floating point and answer `7.0` to call `7`; that is the same call.
    pub fn sequence(&self) -> Option<u64> {
        match &self.0 {
            Repr::Number(number) => Some(*number),
            Repr::Raw(text) => plain_integer(text.strip_suffix(".0")?),
        }
    }
}

/// Reads an integer only if writing it gives the same text again.
fn plain_integer(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let canonical = match bytes {
        [] => false,
        [b'0'] => true,
        [b'0', ..] => false,
        _ => bytes.iter().all(u8::is_ascii_digit),
    };
    if canonical { text.parse().ok() } else { None }
}

impl From<u64> for RequestId {
    fn from(number: u64) -> Self {
        Self(Repr::Number(number))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Number(number) => number.fmt(f),
            Repr::Raw(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Number(number) => serializer.serialize_u64(*number),
            Repr::Raw(text) => {
                let raw: &RawValue = serde_json::from_str(text).map_err(serde::ser::Error::custom)?;
                raw.serialize(serializer)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> RequestId {
        RequestId::from_raw(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn ids_are_written_as_they_came() {
        for text in [
            "7",
            "0",
            "-1",
            "7.0",
            "1e3",
            "\"7\"",
            "\"\\u0041\"",
            "null",
            "true",
            "[1]",
            "{\"a\": 1}",
            "18446744073709551615",
            "18446744073709551616",
            "1.50",
        ] {
            assert_eq!(serde_json::to_string(&id(text)).unwrap(), text);
            assert_eq!(id(text).to_string(), text);
        }
    }

    #[test]
    fn number_and_text_of_the_same_digits_differ() {
        assert_ne!(id("7"), id("\"7\""));
        assert_ne!(id("7"), id("7.0"));
        assert_eq!(id("7"), RequestId::from(7));
    }

    #[test]
    fn whole_number_floats_answer_our_integers() {
        assert_eq!(id("7.0").sequence(), Some(7));
        assert_eq!(id("7").sequence(), Some(7));
        assert_eq!(id("\"7\"").sequence(), None);
        assert_eq!(id("7.5").sequence(), None);
    }

    #[test]
    fn null_is_recognised() {
        assert!(id("null").is_null());
        assert!(!id("\"null\"").is_null());
        assert_eq!(id("null"), RequestId::null());
    }
}
