//! Objects and lists, piece by piece.
//!
//! The pieces are cut out by `serde_json`, whose own faults would be in its own words. So the outcome of ours is carried
//! through it as a value, and whatever is left after a fault is passed over.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::body::fault::Fault;
use crate::body::read::{Reader, Strangers, broken};
use crate::nearest;

/// How many keys that nobody knows are remembered, in case one was mistyped.
const MAX_STRANGERS: usize = 16;

/// An object, for a type's visitor.
pub(super) struct Object<V> {
    /// The keys that may be there; any if there is no list.
    pub(super) known: Option<&'static [&'static str]>,
    pub(super) strangers: Strangers,
    pub(super) visitor: V,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Object<V> {
    type Value = Result<V::Value, Fault>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let (known, strangers) = (self.known, self.strangers);
        let mut passed_over = Vec::new();
        let pieces =
            Fields { fields: &mut fields, known, strangers, passed_over: &mut passed_over, current: None };
        let seen = self.visitor.visit_map(pieces);
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(seen.map_err(|fault| fault.perhaps_meant_by(&passed_over)))
    }
}

struct Fields<'a, 'de, A> {
    fields: &'a mut A,
    known: Option<&'static [&'static str]>,
    strangers: Strangers,
    passed_over: &'a mut Vec<String>,
    /// The field whose key was given out.
    current: Option<(String, &'de RawValue)>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<'_, 'de, A> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        // Both at once: a fault in between would leave half a field behind.
        while let Some((key, value)) = self.fields.next_entry::<String, &RawValue>().map_err(|_| broken())? {
            if let Some(known) = self.known.filter(|known| !known.contains(&key.as_str())) {
                match self.strangers {
                    Strangers::Refused => return Err(Fault::unknown(&key, known).inside(&key)),
                    Strangers::PassedOver if self.passed_over.len() < MAX_STRANGERS => {
                        self.passed_over.push(nearest::start(&key));
                    }
                    Strangers::PassedOver => {}
                }
                continue;
            }
            let name: StrDeserializer<'_, Fault> = key.as_str().into_deserializer();
            let name = seed.deserialize(name)?;
            self.current = Some((key, value));
            return Ok(Some(name));
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let (key, value) = self.current.take().ok_or_else(broken)?;
        let reader = Reader { text: value.get(), strangers: self.strangers };
        seed.deserialize(reader).map_err(|fault| fault.inside(&key))
    }
}

/// A list, for a type's visitor.
pub(super) struct List<V> {
    pub(super) strangers: Strangers,
    pub(super) visitor: V,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for List<V> {
    type Value = Result<V::Value, Fault>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let seen = self.visitor.visit_seq(Items { items: &mut items, strangers: self.strangers, next: 0 });
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(seen)
    }
}

struct Items<'a, A> {
    items: &'a mut A,
    strangers: Strangers,
    next: usize,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Items<'_, A> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(value) = self.items.next_element::<&RawValue>().map_err(|_| broken())? else {
            return Ok(None);
        };
        let index = self.next;
        self.next += 1;
        let reader = Reader { text: value.get(), strangers: self.strangers };
        seed.deserialize(reader).map(Some).map_err(|fault| fault.inside(&index.to_string()))
    }
}
