//! Free-form JSON, JSON for comparing, and how deep JSON is.

use serde::{Deserialize, Serialize};

/// JSON that belongs to somebody else: tool arguments, plugin configuration, error data.
///
/// It is carried, not understood; whoever owns it parses it. This is the only place where a protocol
/// crate holds untyped JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
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

/// Writes JSON with its keys sorted and no spare white space, for comparing two texts.
///
/// # Errors
/// When the text is not JSON.
pub fn canonical(text: &str) -> Result<String, serde_json::Error> {
    let mut value: serde_json::Value = serde_json::from_str(text)?;
    value.sort_all_objects();
    serde_json::to_string(&value)
}

/// Whether objects and arrays in a JSON text nest deeper than `limit`.
///
/// Counts brackets outside strings, so it needs no memory and may be asked about anything, JSON or not. Readers
/// that keep a value as a tree ask before they read, because reading does not count levels of what it skips.
pub fn exceeds_depth(text: &str, limit: usize) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if in_string => {
                bytes.next();
            }
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_ignores_order_and_space() {
        assert_eq!(canonical("{\"b\":1, \"a\":{\"d\":2,\"c\":3}}").unwrap(), r#"{"a":{"c":3,"d":2},"b":1}"#);
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert!(exceeds_depth("[[]]", 1));
        assert!(!exceeds_depth("[[]]", 2));
        assert!(!exceeds_depth(r#"{"a":"[[[[\"[[[[\\"}"#, 1));
        assert!(exceeds_depth(r#"{"a":"\\"  ,"b":[]}"#, 1));
        assert!(!exceeds_depth("]]]]}}[]", 1));
        assert!(!exceeds_depth("\"\\", 0));
    }
}
