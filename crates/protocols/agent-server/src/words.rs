//! Words from a list that may grow: an enum of the known ones that keeps an unknown one as it came.
//!
//! A macro, because the form is repeated a dozen times and because the derived alternative answers a number
//! in such a place with the name of a Rust enum instead of "expected a string".

use schemars::{Schema, json_schema};
use serde_json::json;

/// Declares an enum of words with an `Other(String)` variant, its text, and how it is read and written.
macro_rules! open_words {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident { $( $(#[doc = $word_doc:literal])+ $variant:ident = $word:literal, )+ }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $(#[doc = $word_doc])+ $variant, )+
            /// A word this version does not know.
            Other(String),
        }

        impl $name {
            /// The words this version knows.
            pub const KNOWN: &[&str] = &[$($word),+];

            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $word, )+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $( $word => Self::$variant, )+
                    _ => Self::Other(word),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::words::schema(concat!($($doc, "\n"),+), &[$( ($word, concat!($($word_doc, "\n"),+)), )+])
            }
        }
    };
}

/// The schema of a list that may grow: the known words, each with its meaning, and any other text.
pub(crate) fn schema(doc: &str, words: &[(&str, &str)]) -> Schema {
    let known = words
        .iter()
        .map(|(word, doc)| json!({ "type": "string", "const": word, "description": description(doc) }));
    let other = json!({ "type": "string", "description": "A word this version does not know." });
    let all: Vec<_> = known.chain([other]).collect();
    json_schema!({ "description": description(doc), "anyOf": all })
}

/// The text of doc comments as one paragraph.
fn description(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) use open_words;
