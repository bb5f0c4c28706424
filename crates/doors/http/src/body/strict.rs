//! JSON in which every key of an object is there once and every string is text.
//!
//! Two readers of a body with the same key twice may see different bodies; so nobody gets to read one. Keeps nothing of
//! what it reads but the keys of the objects it is in.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Any JSON, read and dropped.
pub(super) struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_str<E>(self, _: &str) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Strict, A::Error> {
        while items.next_element::<Strict>()?.is_some() {}
        Ok(Strict)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Strict, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            if seen.insert(key) {
                fields.next_value::<Strict>()?;
            } else {
                // Raised as the value's fault, so that the pointer names the key.
                fields.next_value_seed(Twice)?;
            }
        }
        Ok(Strict)
    }
}

/// The value of a key that was there before.
struct Twice;

impl<'de> DeserializeSeed<'de> for Twice {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, _: D) -> Result<(), D::Error> {
        Err(D::Error::custom("this key is there twice"))
    }
}

#[cfg(test)]
mod tests {
    use loggia_jsonrpc::decode;

    use super::*;

    fn fault(text: &str) -> Option<String> {
        decode::<Strict>(text).err().map(|error| format!("{} | {}", error.pointer(), error.message()))
    }

    #[test]
    fn a_key_that_is_there_twice_is_pointed_at() {
        assert_eq!(
            fault(r#"{"a":{"b":[{"c":1,"c":2}]}}"#).as_deref(),
            Some("/a/b/0/c | this key is there twice")
        );
        assert_eq!(fault(r#"{"a":1,"\u0061":2}"#).as_deref(), Some("/a | this key is there twice"));
    }

    #[test]
    fn ordinary_json_passes() {
        assert_eq!(fault(r#"{"a":[1,-2,3.5,true,null,"x"],"b":{"a":{}}}"#), None);
    }

    #[test]
    fn half_a_character_is_no_text() {
        for text in [r#"{"a":"\ud800"}"#, r#"{"a":"\udc00\ud800"}"#, r#"{"\ud800":1}"#, "{\"a\":\"\u{0}\"}"] {
            assert!(fault(text).is_some(), "{text}");
        }
    }
}
