//! The id that ties an answer to its request: always text on the wire.

use serde::{Deserialize, Deserializer, Serialize};

use crate::lenient;

/// A request's id. Empty text is an id like any other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct RequestId(pub String);

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// Numbers and booleans are taken as the text they are written with, as existing peers take them; an array of one
/// stands for its member.
impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient::id(deserializer).map(Self)
    }
}
