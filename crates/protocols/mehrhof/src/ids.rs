//! Names the two sides give to things. All are opaque text: nobody may read meaning out of them. Scripts often take
//! them from databases as numbers, which are read as the text they are written with.

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// One tool call of an agent.
    ToolUseId;
}
