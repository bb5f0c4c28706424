//! Reading the envelope: which of the three kinds of message is this, and what does it carry?
//!
//! Parameters and results stay unread text here. A message is sorted by which fields are present, never
//! by trying types until one fits, so that a refusal can say what was missing.
//!
//! Precedence for odd messages: `error` wins, then `result`, then `method`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Dialect, ErrorObject, NullId, RequestId, Version, codes};

/// One frame's worth of JSON-RPC.
#[derive(Debug)]
pub enum Body<'a> {
    /// A single message.
    One(Incoming<'a>),
    /// A non-empty array of messages, each still to be read with [`Body::member`].
    Batch(Vec<&'a RawValue>),
}

/// A message, sorted.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// A call that expects an answer.
    Request {
        /// To be echoed.
        id: RequestId,
        /// Whose parameters these are.
        method: Cow<'a, str>,
        /// Unread parameters; absent stays absent.
        params: Option<&'a RawValue>,
    },
    /// A call that expects none.
    Notification {
        /// Whose parameters these are.
        method: Cow<'a, str>,
        /// Unread parameters.
        params: Option<&'a RawValue>,
    },
    /// An answer to a call.
    Response {
        /// The call it names, if it names one.
        id: Option<RequestId>,
        /// The unread result, or the error.
        outcome: Result<&'a RawValue, ErrorObject>,
    },
    /// JSON of no such shape.
    Invalid(Invalid),
}

/// Well-formed JSON that is not a message, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// A string, number, array member of the wrong kind…
    #[error("a message must be a JSON object")]
    NotAnObject,
    /// `[]`.
    #[error("a batch must have at least one member")]
    EmptyBatch,
    /// An array where the protocol has no batches.
    #[error("this protocol has no batches")]
    BatchRefused,
    /// More members than the reader takes.
    #[error("the batch has too many members")]
    BatchTooLong,
    /// `jsonrpc` is absent or something else than `"2.0"`.
    #[error("`jsonrpc` must be \"2.0\"")]
    Version,
    /// None of `method`, `result` and `error` is there.
    #[error("`method` is missing")]
    NoMethod,
    /// `method` is not text.
    #[error("`method` must be a string")]
    MethodNotText,
    /// `id` is null where that is not allowed.
    #[error("`id` must not be null")]
    NullId,
}

impl Invalid {
    /// The −32600 that tells the peer.
    pub fn to_error(self) -> ErrorObject {
        ErrorObject::new(codes::INVALID_REQUEST, format!("Invalid Request: {self}"))
    }
}

/// The text is not JSON at all.
#[derive(Debug, thiserror::Error)]
#[error("Parse error: {0}")]
pub struct ReadError(#[source] serde_json::Error);

impl ReadError {
    /// The −32700 that tells the peer.
    pub fn to_error(&self) -> ErrorObject {
        ErrorObject::new(codes::PARSE_ERROR, self.to_string())
    }
}

/// Reads one frame.
///
/// # Errors
/// [`ReadError`] when the bytes are not one JSON text.
pub fn read<'a>(bytes: &'a [u8], dialect: &Dialect) -> Result<Body<'a>, ReadError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => {
            let fields: Fields<'a> = serde_json::from_slice(bytes).map_err(ReadError)?;
            Ok(Body::One(fields.sort(dialect)))
        }
        Some(b'[') => {
            let members: Vec<&'a RawValue> = serde_json::from_slice(bytes).map_err(ReadError)?;
            Ok(match (members.is_empty(), dialect.batches) {
                (_, crate::Batches::Refused) => Body::One(Incoming::Invalid(Invalid::BatchRefused)),
                (true, _) => Body::One(Incoming::Invalid(Invalid::EmptyBatch)),
                (false, _) => Body::Batch(members),
            })
        }
        _ => {
            serde_json::from_slice::<IgnoredAny>(bytes).map_err(ReadError)?;
            Ok(Body::One(Incoming::Invalid(Invalid::NotAnObject)))
        }
    }
}

impl<'a> Body<'a> {
    /// Reads one member of a batch; its text is known to be JSON.
    pub fn member(raw: &'a RawValue, dialect: &Dialect) -> Incoming<'a> {
        match serde_json::from_str::<Fields<'a>>(raw.get()) {
            Ok(fields) => fields.sort(dialect),
            Err(_) => Incoming::Invalid(Invalid::NotAnObject),
        }
    }
}

/// The envelope's fields as they came. A key given twice counts with its last value, as in JavaScript.
#[derive(Default)]
struct Fields<'a> {
    version_is_2: bool,
    id: Option<&'a RawValue>,
    method: Option<Result<Cow<'a, str>, ()>>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'a> Fields<'a> {
    fn sort(self, dialect: &Dialect) -> Incoming<'a> {
        if !self.version_is_2 && dialect.version == Version::Required {
            return Incoming::Invalid(Invalid::Version);
        }
        // `"error": null` beside a result is how some peers say "no error".
        let error =
            self.error.filter(|raw| raw.get() != "null" || (self.result.is_none() && self.method.is_none()));
        if let Some(error) = error {
            return Incoming::Response { id: answered(self.id), outcome: Err(ErrorObject::from_raw(error)) };
        }
        if let Some(result) = self.result {
            return Incoming::Response { id: answered(self.id), outcome: Ok(result) };
        }
        let method = match self.method {
            Some(Ok(method)) => method,
            Some(Err(())) => return Incoming::Invalid(Invalid::MethodNotText),
            None => return Incoming::Invalid(Invalid::NoMethod),
        };
        match self.id {
            None => Incoming::Notification { method, params: self.params },
            Some(raw) if raw.get() == "null" && dialect.null_id == NullId::Invalid => {
                Incoming::Invalid(Invalid::NullId)
            }
            Some(raw) => Incoming::Request { id: RequestId::from_raw(raw), method, params: self.params },
        }
    }
}

/// An answer to nobody has no id or a null one; both name no call.
fn answered(id: Option<&RawValue>) -> Option<RequestId> {
    id.map(RequestId::from_raw).filter(|id| !id.is_null())
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields::default();
        while let Some(Text(key)) = map.next_key()? {
            match &*key {
                "jsonrpc" => fields.version_is_2 = map.next_value::<&RawValue>()?.get() == "\"2.0\"",
                "id" => fields.id = Some(map.next_value()?),
                "method" => {
                    let raw: &'de RawValue = map.next_value()?;
                    fields.method =
                        Some(serde_json::from_str(raw.get()).map(|Text(name)| name).map_err(drop));
                }
                "params" => fields.params = Some(map.next_value()?),
                "result" => fields.result = Some(map.next_value()?),
                "error" => fields.error = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }
}

/// Text, borrowed where it holds no escapes. (`Cow<str>` by itself always copies.)
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts a text and says in one line what it became.
    fn sorted_by(text: &str, dialect: &Dialect) -> String {
        match read(text.as_bytes(), dialect) {
            Err(_) => "not JSON".to_owned(),
            Ok(Body::Batch(members)) => format!("batch of {}", members.len()),
            Ok(Body::One(message)) => match message {
                Incoming::Request { id, method, params } => {
                    format!("request {id} {method} {}", params.map_or("-", RawValue::get))
                }
                Incoming::Notification { method, params } => {
                    format!("notification {method} {}", params.map_or("-", RawValue::get))
                }
                Incoming::Response { id, outcome } => {
                    let id = id.map_or("-".to_owned(), |id| id.to_string());
                    match outcome {
                        Ok(result) => format!("result {id} {}", result.get()),
                        Err(error) => format!("error {id} {error}"),
                    }
                }
                Incoming::Invalid(why) => format!("invalid: {why}"),
            },
        }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(sorted_by(text, &Dialect::STANDARD), expected, "for {text}");
    }

    #[test]
    fn the_three_kinds_are_told_apart_by_their_fields() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}"#, r#"request 1 a {"x":1}"#);
        check(r#"{"jsonrpc":"2.0","method":"a"}"#, "notification a -");
        check(r#"{"jsonrpc":"2.0","id":"q","result":null}"#, r#"result "q" null"#);
        check(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"m"}}"#, "error 2 m (-1)");
    }

    #[test]
    fn odd_messages_follow_the_precedence() {
        check(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}"#, "error 1 m (1)");
        check(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#, "result 1 1");
        check(r#"{"jsonrpc":"2.0","id":1,"result":1,"method":"x"}"#, "result 1 1");
        check(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#, "error - m (-32700)");
    }

    #[test]
    fn wrong_shapes_say_what_is_wrong() {
        check("7", "invalid: a message must be a JSON object");
        check("\"text\"", "invalid: a message must be a JSON object");
        check("[]", "invalid: a batch must have at least one member");
        check(r#"{"id":1,"method":"a"}"#, "invalid: `jsonrpc` must be \"2.0\"");
        check(r#"{"jsonrpc":2.0,"id":1,"method":"a"}"#, "invalid: `jsonrpc` must be \"2.0\"");
        check(r#"{"jsonrpc":"2.0","id":1}"#, "invalid: `method` is missing");
        check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "invalid: `method` must be a string");
        check("{", "not JSON");
        check("", "not JSON");
        check("{} {}", "not JSON");
    }

    #[test]
    fn null_ids_and_batches_depend_on_the_dialect() {
        let strict = Dialect {
            null_id: NullId::Invalid,
            batches: crate::Batches::Refused,
            version: Version::Optional,
            ..Dialect::STANDARD
        };
        let call = r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#;
        check(call, "request null a -");
        assert_eq!(sorted_by(call, &strict), "invalid: `id` must not be null");
        check("[1]", "batch of 1");
        assert_eq!(sorted_by("[1]", &strict), "invalid: this protocol has no batches");
        assert_eq!(sorted_by(r#"{"method":"a"}"#, &strict), "notification a -");
    }

    #[test]
    fn repeated_keys_count_with_their_last_value() {
        check(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}"#, "request 2 b -");
    }

    #[test]
    fn escapes_in_names_and_a_byte_order_mark_are_read() {
        check("\u{feff}{\"jsonrpc\":\"2.0\",\"met\\u0068od\":\"\\u0061\"}", "notification a -");
    }

    #[test]
    fn deep_nesting_is_skipped_without_recursion() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","method":"a","params":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(sorted_by(&deep, &Dialect::STANDARD).starts_with("notification a [["));
    }
}
