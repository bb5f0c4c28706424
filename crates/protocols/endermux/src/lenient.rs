//! Reading values as leniently as existing peers do, and no more leniently than that.
//!
//! Each function is a `deserialize_with`. What is refused here makes the whole message undecodable.
//! Integers outside 32 bits are refused; existing peers wrap them around, which helps nobody.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use crate::ColorLevel;

/// An integer: a number (its fraction is cut off) or text of one. `null` is refused.
pub(crate) fn int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    deserializer.deserialize_any(IntVisitor)
}

/// An integer, where absent differs from 0.
pub(crate) fn some_int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i32>, D::Error> {
    int(deserializer).map(Some)
}

/// An integer or `null`.
pub(crate) fn nullable_int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i32>, D::Error> {
    Ok(Option::<Int>::deserialize(deserializer)?.map(|Int(value)| value))
}

/// A list of integers, or `null` for none.
pub(crate) fn nullable_ints<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<i32>>, D::Error> {
    let list = Option::<Vec<Int>>::deserialize(deserializer)?;
    Ok(list.map(|list| list.into_iter().map(|Int(value)| value).collect()))
}

/// Text; a number or boolean counts as the text it is written with, `null` as empty.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(nullable_text(deserializer)?.unwrap_or_default())
}

/// Text or `null`.
pub(crate) fn nullable_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Text>::deserialize(deserializer)?.map(|Text(text)| text))
}

/// A list of text, or `null` for an empty one.
pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let list = nullable_texts(deserializer)?.unwrap_or_default();
    Ok(list.into_iter().map(Option::unwrap_or_default).collect())
}

/// A list of text whose members may be `null`, or `null`.
pub(crate) fn nullable_texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<Option<String>>>, D::Error> {
    let list = Option::<Vec<Option<Text>>>::deserialize(deserializer)?;
    Ok(list.map(|list| list.into_iter().map(|member| member.map(|Text(text)| text)).collect()))
}

/// A list of objects, or `null` for an empty one.
pub(crate) fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let list: Vec<Object<T>> = Option::deserialize(deserializer)?.unwrap_or_default();
    Ok(list.into_iter().map(|Object(value)| value).collect())
}

/// An object or `null`.
pub(crate) fn nullable_object<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.map(|Object(value)| value))
}

/// A request's id: text, a number, a boolean, or an array of one of these.
pub(crate) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    deserializer.deserialize_any(TextVisitor { unwrap: true })
}

/// A flag: a boolean, or text that is true when it says so in any case. `null` is refused.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    struct FlagVisitor;
    impl Visitor<'_> for FlagVisitor {
        type Value = bool;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a boolean")
        }
        fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
            Ok(value)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
            Ok(text.eq_ignore_ascii_case("true"))
        }
    }
    deserializer.deserialize_any(FlagVisitor)
}

/// A colour level; an unknown word, a number and `null` all count as none given.
pub(crate) fn color<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ColorLevel>, D::Error> {
    Ok(nullable_text(deserializer)?.and_then(|name| ColorLevel::from_name(&name)))
}

/// A map of objects that may be `null`.
pub(crate) fn object_map<'de, D, T>(deserializer: D) -> Result<Option<BTreeMap<String, Option<T>>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let found: Option<BTreeMap<String, Option<Object<T>>>> = map(deserializer)?;
    Ok(found.map(|map| map.into_iter().map(|(key, value)| (key, value.map(|Object(value)| value))).collect()))
}

/// A map of integers that may be `null`.
pub(crate) fn int_map<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, Option<i32>>>, D::Error> {
    let found: Option<BTreeMap<String, Option<Int>>> = map(deserializer)?;
    Ok(found.map(|map| map.into_iter().map(|(key, value)| (key, value.map(|Int(value)| value))).collect()))
}

/// A map: an object, an array of `[key, value]` pairs, or `null`. Of a key given twice the last counts.
fn map<'de, D, T>(deserializer: D) -> Result<Option<BTreeMap<String, T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::<Pairs<T>>::deserialize(deserializer)?.map(|Pairs(map)| map))
}

/// A struct that must be written as an object. (By itself serde also takes an array of the fields.)
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(fields)).map(Object)
            }
        }
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

struct Int(i32);

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        int(deserializer).map(Self)
    }
}

struct IntVisitor;

impl Visitor<'_> for IntVisitor {
    type Value = i32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 32-bit integer")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<i32, E> {
        i32::try_from(value).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<i32, E> {
        i32::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<i32, E> {
        let whole = value.trunc();
        if whole >= f64::from(i32::MIN) && whole <= f64::from(i32::MAX) {
            // Whole and inside the range: the conversion is exact.
            Ok(whole as i32)
        } else {
            Err(E::invalid_value(Unexpected::Float(value), &self))
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<i32, E> {
        text.parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }
}

struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor { unwrap: false }).map(Self)
    }
}

struct TextVisitor {
    /// Whether an array of one member stands for that member.
    unwrap: bool,
}

impl<'de> Visitor<'de> for TextVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<String, E> {
        Ok(text)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<String, E> {
        // Written as JSON writes it, so that `12.0` stays `12.0`.
        Ok(serde_json::Value::from(value).to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut members: A) -> Result<String, A::Error> {
        if !self.unwrap {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        let Some(Text(text)) = members.next_element()? else {
            return Err(A::Error::invalid_length(0, &"one member"));
        };
        match members.next_element::<Text>()? {
            None => Ok(text),
            Some(_) => Err(A::Error::invalid_length(2, &"one member")),
        }
    }
}

struct Pairs<T>(BTreeMap<String, T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PairsVisitor(PhantomData))
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array of [key, value] pairs")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Pairs<T>, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry()? {
            map.insert(key, value);
        }
        Ok(Pairs(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Pairs<T>, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((Text(key), value)) = pairs.next_element::<(Text, T)>()? {
            map.insert(key, value);
        }
        Ok(Pairs(map))
    }
}
