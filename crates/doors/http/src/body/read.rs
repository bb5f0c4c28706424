//! Reads a type out of JSON, and is strict about it.
//!
//! A reader for serde like that of `serde_json`, but for two things: a fault is told in our own words, and in the body of
//! a request a key that the type does not know is one. Messages of a stream may hold what we do not know yet; there
//! such a key is passed over, and named only if it looks like one that is missing.
//!
//! What always holds: the text was found to be JSON before, so what is left to find is whether it fits. Objects and
//! lists are gone through piece by piece, and each piece is looked at once for every type it is a part of. A value
//! that may be anything is no such part: it is read at once, however deep it is.

mod pieces;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde_json::{Number, Value};

use crate::body::fault::Fault;
use crate::body::read::pieces::{List, Object};

/// Reads a text that is known to be JSON.
pub(super) fn read<T: DeserializeOwned>(text: &str, strangers: Strangers) -> Result<T, Fault> {
    T::deserialize(Reader { text: text.trim_ascii(), strangers })
}

/// What becomes of keys that a type does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strangers {
    /// They are faults.
    Refused,
    /// They may mean something to somebody newer.
    PassedOver,
}

/// One JSON value as text, without white space around it.
#[derive(Debug, Clone, Copy)]
struct Reader<'de> {
    text: &'de str,
    strangers: Strangers,
}

impl<'de> Reader<'de> {
    /// What kind of value it is.
    fn kind(self) -> &'static str {
        match self.text.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "a list",
            Some(b'"') => "text",
            Some(b't' | b'f') => "true or false",
            Some(b'n') => "null",
            _ => "a number",
        }
    }

    fn must_be(self, wanted: &str) -> Fault {
        Fault::new(format!("must be {wanted}, and is {}", self.kind()))
    }

    fn text(self) -> Result<String, Fault> {
        serde_json::from_str(self.text).map_err(|_| match self.text.starts_with('"') {
            true => Fault::new("must be text, and holds half a character"),
            false => self.must_be("text"),
        })
    }

    fn number(self, wanted: &str) -> Result<Number, Fault> {
        serde_json::from_str(self.text).map_err(|_| self.must_be(wanted))
    }

    /// A whole number between two others. `1.0` is one, as JSON Schema has it.
    fn whole(self, least: i128, most: i128) -> Result<i128, Fault> {
        const WANTED: &str = "a whole number";
        /// Up to here every whole number is itself as a float.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let number = self.number(WANTED)?;
        let exact = number.as_u64().map(i128::from).or_else(|| number.as_i64().map(i128::from));
        let rounded = || {
            let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT)?;
            #[expect(clippy::cast_possible_truncation, reason = "whole, and far within the range")]
            let whole = float as i128;
            Some(whole)
        };
        match exact.or_else(rounded) {
            Some(whole) if (least..=most).contains(&whole) => Ok(whole),
            _ => Err(Fault::new(format!("must be {WANTED} from {least} to {most}"))),
        }
    }

    /// Goes through an object; with a list of names, no other key may be there.
    fn object<V: Visitor<'de>>(
        self,
        known: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if !self.text.starts_with('{') {
            return Err(self.must_be("an object"));
        }
        let object = Object { known, strangers: self.strangers, visitor };
        serde_json::Deserializer::from_str(self.text)
            .deserialize_map(object)
            .unwrap_or_else(|_| Err(broken()))
    }

    fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if !self.text.starts_with('[') {
            return Err(self.must_be("a list"));
        }
        serde_json::Deserializer::from_str(self.text)
            .deserialize_seq(List { strangers: self.strangers, visitor })
            .unwrap_or_else(|_| Err(broken()))
    }
}

/// What was JSON a moment ago is none: this cannot happen, and whoever sees it has found a fault of ours.
fn broken() -> Fault {
    Fault::new("cannot be read")
}

macro_rules! whole_numbers {
    ($($method:ident $visit:ident $type:ty,)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            let whole = self.whole(<$type>::MIN.into(), <$type>::MAX.into())?;
            visitor.$visit(<$type>::try_from(whole).expect("between the smallest and the largest"))
        }
    )+};
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.text.as_bytes().first() {
            // Whoever takes anything takes everything in it: piece by piece would be once more for every level.
            Some(b'{' | b'[') => {
                let value: Value = serde_json::from_str(self.text).map_err(|_| broken())?;
                value.deserialize_any(visitor).map_err(|error| Fault::new(error.to_string()))
            }
            Some(b'"') => visitor.visit_string(self.text()?),
            Some(b't' | b'f') => visitor.visit_bool(self.text == "true"),
            Some(b'n') => visitor.visit_unit(),
            _ => {
                let number = self.number("a number")?;
                match (number.as_u64(), number.as_i64(), number.as_f64()) {
                    (Some(number), ..) => visitor.visit_u64(number),
                    (None, Some(number), _) => visitor.visit_i64(number),
                    (None, None, Some(number)) => visitor.visit_f64(number),
                    (None, None, None) => Err(broken()),
                }
            }
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.text {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(self.must_be("true or false")),
        }
    }

    whole_numbers! {
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_f64(self.number("a number")?.as_f64().ok_or_else(broken)?)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_string(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.text == "null" { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.list(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.object(None, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.object(Some(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let word = self.text()?;
        if !words.contains(&word.as_str()) {
            return Err(Fault::unknown(&word, words));
        }
        // A word stands alone: no list of ours has values with something in them.
        let word: StrDeserializer<'_, Fault> = word.as_str().into_deserializer();
        visitor.visit_enum(word)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        i128 u128 bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Order {
        name: String,
        #[serde(default)]
        count: Option<u32>,
        #[serde(default)]
        price: Option<f64>,
        #[serde(default)]
        parts: Vec<Part>,
        #[serde(default)]
        notes: BTreeMap<String, bool>,
        #[serde(default)]
        rest: serde_json::Value,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Part {
        size: Size,
        #[serde(default)]
        offset: i8,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Size {
        Small,
        VeryLarge,
    }

    fn fault(text: &str) -> String {
        let fault = read::<Order>(text, Strangers::Refused).unwrap_err();
        format!("{} | {}", fault.pointer(), fault.message())
    }

    #[test]
    fn what_fits_is_read() {
        let text = r#" { "name" : "a\u0062" , "count": 2.0, "price": 3,
            "parts": [ {"size":"very_large","offset":-3}, {"size":"small"} ],
            "notes": {"any key": true}, "rest": {"x": [1, -2, 0.5, null, "y", {}]} } "#;
        let order: Order = read(text, Strangers::Refused).unwrap();
        assert_eq!((order.name.as_str(), order.count, order.price), ("ab", Some(2), Some(3.0)));
        let parts: Vec<_> = order.parts.iter().map(|part| (part.size, part.offset)).collect();
        assert_eq!(parts, [(Size::VeryLarge, -3), (Size::Small, 0)]);
        assert_eq!(order.notes, BTreeMap::from([("any key".to_owned(), true)]));
        assert_eq!(order.rest, serde_json::json!({"x": [1, -2, 0.5, null, "y", {}]}));
        let short: Order = read(r#"{"name":"","count":null}"#, Strangers::Refused).unwrap();
        assert_eq!((short.count, short.rest), (None, serde_json::Value::Null));
    }

    #[test]
    fn what_does_not_fit_is_told_in_plain_words() {
        for (text, told) in [
            ("[]", " | must be an object, and is a list"),
            ("null", " | must be an object, and is null"),
            ("{}", " | `name` is missing"),
            (r#"{"name":{}}"#, "/name | must be text, and is an object"),
            (r#"{"name":null}"#, "/name | must be text, and is null"),
            (r#"{"name":"","count":"2"}"#, "/count | must be a whole number, and is text"),
            (r#"{"name":"","count":-1}"#, "/count | must be a whole number from 0 to 4294967295"),
            (r#"{"name":"","count":1.5}"#, "/count | must be a whole number from 0 to 4294967295"),
            (r#"{"name":"","price":true}"#, "/price | must be a number, and is true or false"),
            (r#"{"name":"","parts":{}}"#, "/parts | must be a list, and is an object"),
            (r#"{"name":"","parts":[{"size":"small"},7]}"#, "/parts/1 | must be an object, and is a number"),
            (
                r#"{"name":"","parts":[{"size":"very-large"}]}"#,
                "/parts/0/size | is not known here; did you mean `very_large`?",
            ),
            (r#"{"name":"","parts":[{"size":1}]}"#, "/parts/0/size | must be text, and is a number"),
            (
                r#"{"name":"","parts":[{"size":"small","offset":128}]}"#,
                "/parts/0/offset | must be a whole number from -128 to 127",
            ),
            (r#"{"name":"","notes":{"a":1}}"#, "/notes/a | must be true or false, and is a number"),
        ] {
            assert_eq!(fault(text), told, "{text}");
        }
    }

    #[test]
    fn a_key_nobody_knows_is_a_fault_wherever_it_stands() {
        assert_eq!(fault(r#"{"name":"","cuont":1}"#), "/cuont | is not known here; did you mean `count`?");
        assert_eq!(
            fault(r#"{"name":"","parts":[{"size":"small","colour":{}}],"late":1}"#),
            "/parts/0/colour | is not known here; there are `size`, `offset`"
        );
    }

    #[test]
    fn a_stranger_that_is_passed_over_is_named_if_it_looks_like_what_is_missing() {
        let fault = |text: &str| {
            let fault = read::<Order>(text, Strangers::PassedOver).unwrap_err();
            format!("{} | {}", fault.pointer(), fault.message())
        };
        assert_eq!(fault(r#"{"nmae":"","x":1}"#), " | `name` is missing; is `nmae` meant to be it?");
        assert_eq!(fault(r#"{"colour":"","x":1}"#), " | `name` is missing");
        assert_eq!(
            fault(r#"{"name":"","nmae":1,"parts":[{"seize":"small"}]}"#),
            "/parts/0 | `size` is missing; is `seize` meant to be it?"
        );
        let order: Order = read(r#"{"name":"a","colour":{"x":[1]}}"#, Strangers::PassedOver).unwrap();
        assert_eq!(order.name, "a");
    }

    #[test]
    fn half_a_character_is_told_as_such() {
        let fault = read::<Order>(r#"{"name":"\ud800"}"#, Strangers::PassedOver).unwrap_err();
        assert_eq!(fault.to_string(), "name: must be text, and holds half a character");
    }
}
