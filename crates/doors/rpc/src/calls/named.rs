//! Parameters by name: the only ones this protocol has.
//!
//! JSON-RPC also knows them by place, and a struct can be read that way; what a place means would then hang on the order
//! of our fields.

use std::fmt;
use std::marker::PhantomData;

use loggia_jsonrpc::{Method, Order};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A method whose parameters are an object.
pub(super) struct Named<M>(PhantomData<M>);

impl<M: Method> Method for Named<M> {
    const NAME: &'static str = M::NAME;
    const ORDER: Order = M::ORDER;
    type Params = Object<M::Params>;
    type Result = M::Result;
}

/// What is written as an object.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for Fields<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}
