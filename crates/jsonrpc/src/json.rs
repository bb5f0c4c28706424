//! Free-form JSON, and decoding that can say which field was wrong.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// JSON that belongs to somebody else: tool arguments, plugin configuration, error data.
///
/// It is carried, not understood; whoever owns it parses it. This is the only place where a protocol
/// crate holds untyped JSON.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(pub serde_json::Value);

impl Json {
    /// An empty object.
    pub fn object() -> Self {
        Self(serde_json::Value::Object(serde_json::Map::new()))
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self(value)
    }
}

/// A value that does not fit its type, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct FieldError {
    /// Path of the field from the value's root, like `context.selection.startLine`; empty for the root itself.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl FieldError {
    /// The path as an RFC 6901 JSON pointer.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for part in
            self.path.split(['.', '[']).map(|part| part.trim_end_matches(']')).filter(|p| !p.is_empty())
        {
            pointer.push('/');
            pointer.push_str(&part.replace('~', "~0").replace('/', "~1"));
        }
        pointer
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// Reads a value; on failure says which field was wrong.
///
/// The path is looked for only after a failure, so good input pays nothing for it.
///
/// # Errors
/// [`FieldError`] when the text is not JSON or does not fit `T`.
pub fn decode<T: DeserializeOwned>(text: &str) -> Result<T, FieldError> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) => Err(locate::<T>(text, &error)),
    }
}

fn locate<T: DeserializeOwned>(text: &str, error: &serde_json::Error) -> FieldError {
    let mut reader = serde_json::Deserializer::from_str(text);
    let (path, message) = match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Ok(_) => (String::new(), error.to_string()),
        Err(located) => (located.path().to_string(), located.inner().to_string()),
    };
    let path = if path == "." { String::new() } else { path };
    // The position counts from the start of the parameters, not of the message: it would mislead.
    let message = match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    };
    FieldError { path, message }
}

/// Writes JSON with its keys sorted and no spare white space, for comparing two texts.
///
/// # Errors
/// When the text is not JSON.
pub fn canonical(text: &str) -> Result<String, serde_json::Error> {
    let mut value: serde_json::Value = serde_json::from_str(text)?;
    value.sort_all_objects();
    serde_json::to_string(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        inner: Vec<Inner>,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        line: u32,
    }

    #[test]
    fn a_wrong_field_is_named_with_its_path() {
        let error = decode::<Outer>(r#"{"inner":[{"line":1},{"line":"x"}]}"#).unwrap_err();
        assert_eq!(error.path, "inner[1].line");
        assert_eq!(error.pointer(), "/inner/1/line");
        assert_eq!(error.to_string(), "inner[1].line: invalid type: string \"x\", expected u32");
    }

    #[test]
    fn a_missing_field_is_named() {
        let error = decode::<Outer>("{}").unwrap_err();
        assert_eq!(error.to_string(), "missing field `inner`");
    }

    #[test]
    fn canonical_text_ignores_order_and_space() {
        assert_eq!(canonical("{\"b\":1, \"a\":{\"d\":2,\"c\":3}}").unwrap(), r#"{"a":{"c":3,"d":2},"b":1}"#);
    }
}
