//! Reads a type out of a query.
//!
//! A key may be there once; one that the type does not know is passed over, since addresses pass through many hands.
//! Numbers are digits and nothing else.

use std::borrow::Cow;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};

use crate::ask::whole_number;
use crate::body::Fault;

/// Reads the part of an address after its question mark.
pub(super) fn read<T: DeserializeOwned>(query: &str) -> Result<T, Fault> {
    T::deserialize(Query(query))
}

struct Query<'a>(&'a str);

impl<'de> Deserializer<'de> for Query<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
        Err(Fault::new("a query is read as a list of names and values"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let pairs = form_urlencoded::parse(self.0.as_bytes());
        visitor.visit_map(Pairs { pairs, fields, seen: Vec::new(), value: None })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Pairs<'a> {
    pairs: form_urlencoded::Parse<'a>,
    fields: &'static [&'static str],
    seen: Vec<&'static str>,
    value: Option<Cow<'a, str>>,
}

impl<'de> MapAccess<'de> for Pairs<'_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        for (key, value) in self.pairs.by_ref() {
            let Some(name) = self.fields.iter().find(|name| **name == key) else { continue };
            if self.seen.contains(name) {
                return Err(Fault::new("is there twice").inside(name));
            }
            self.seen.push(name);
            self.value = Some(value);
            let name: StrDeserializer<'_, Fault> = name.into_deserializer();
            return seed.deserialize(name).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let name = self.seen.last().copied().unwrap_or_default();
        let value = self.value.take().unwrap_or_default();
        seed.deserialize(Text(&value)).map_err(|fault| fault.inside(name))
    }
}

/// The value of one key.
struct Text<'a>(&'a str);

impl<'de> Deserializer<'de> for Text<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_str(self.0)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let number = whole_number(self.0);
        visitor.visit_u64(number.ok_or_else(|| Fault::new("must be a whole number, in digits only"))?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Wanted {
        q: String,
        after: Option<u64>,
    }

    fn fault(query: &str) -> String {
        read::<Wanted>(query).unwrap_err().to_string()
    }

    #[test]
    fn names_and_values_are_read_and_what_is_not_known_is_passed_over() {
        let wanted = Wanted { q: "a b&c".to_owned(), after: Some(7) };
        assert_eq!(read::<Wanted>("q=a+b%26c&x=1&x=2&after=7").unwrap(), wanted);
        assert_eq!(read::<Wanted>("q").unwrap(), Wanted { q: String::new(), after: None });
    }

    #[test]
    fn what_cannot_be_read_is_told_in_plain_words() {
        assert_eq!(fault("after=1"), "`q` is missing");
        assert_eq!(fault("q=a&q=a"), "q: is there twice");
        for number in ["%2B1", "+1", "-1", "1.0", "0x1", "", " 1", "1e3", "18446744073709551616", "%D9%A1"] {
            let told = fault(&format!("q=a&after={number}"));
            assert_eq!(told, "after: must be a whole number, in digits only", "{number}");
        }
    }
}
