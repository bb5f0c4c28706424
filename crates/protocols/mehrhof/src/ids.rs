//! Names the two sides give to things. All are opaque: nobody may read meaning out of them. Scripts often take them from
//! databases as numbers, which are read as the text they are written with; only a call is answered as it was written.

use std::fmt;

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::lenient::as_text;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match Value::deserialize(deserializer)? {
                    value @ (Value::String(_) | Value::Number(_)) => {
                        Ok(Self(as_text(value).unwrap_or_default()))
                    }
                    _ => Err(D::Error::custom("a text is needed")),
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    )*};
}

ids! {
    /// What `provider.parse` made of a reference; the name of a task in every later call to its provider.
    ReferenceId;
    /// The provider's internal name of a work unit. Not a [`ReferenceId`]: `provider.fetch` would not know it.
    WorkUnitId;
    /// One comment.
    CommentId;
    /// One attachment.
    AttachmentId;
}

/// One tool call of an agent, as the agent wrote it: one that counts its calls looks for the result under a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum ToolUseId {
    /// A text.
    Text(String),
    /// A number.
    Number(Number),
}

impl<'de> Deserialize<'de> for ToolUseId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Number(number) => Ok(Self::Number(number)),
            _ => Err(D::Error::custom("a text is needed")),
        }
    }
}

impl fmt::Display for ToolUseId {
    /// A number as it is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl From<String> for ToolUseId {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
