//! Faults of one field, told with the way to it.

use std::borrow::Cow;
use std::fmt;

use serde::de::DeserializeOwned;

/// A value that does not fit, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    steps: Vec<Step>,
    message: Cow<'static, str>,
}

/// One step on the way from the root to a field.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

impl FieldError {
    /// A fault of the value as a whole.
    pub fn whole(message: impl Into<Cow<'static, str>>) -> Self {
        Self { steps: Vec::new(), message: message.into() }
    }

    /// A fault of one field of the value.
    pub fn at(key: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::whole(message).inside(key)
    }

    /// The same fault seen from an object that holds the value under `key`.
    #[must_use]
    pub fn inside(mut self, key: impl Into<String>) -> Self {
        self.steps.insert(0, Step::Key(key.into()));
        self
    }

    /// The same fault seen from an array that holds the value.
    #[must_use]
    pub fn inside_array(mut self, index: usize) -> Self {
        self.steps.insert(0, Step::Index(index));
        self
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The way to the field as people write it, like `context.files[2]`; empty for the root itself.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.steps {
            match step {
                Step::Key(key) if path.is_empty() => path.push_str(key),
                Step::Key(key) => path.extend([".", key]),
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }

    /// The way to the field as an RFC 6901 JSON pointer.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.steps {
            match step {
                Step::Key(key) => pointer.extend(["/", &key.replace('~', "~0").replace('/', "~1")]),
                Step::Index(index) => pointer.push_str(&format!("/{index}")),
            }
        }
        pointer
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path(), self.message)
        }
    }
}

impl std::error::Error for FieldError {}

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
    match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        // The value itself was fine; what followed it was not.
        Ok(_) => FieldError::whole(without_position(&error.to_string())),
        Err(located) => {
            let steps = located.path().iter().filter_map(|segment| match segment {
                serde_path_to_error::Segment::Seq { index } => Some(Step::Index(*index)),
                serde_path_to_error::Segment::Map { key } => Some(Step::Key(key.clone())),
                // The variant of an enum is not a step in the text.
                serde_path_to_error::Segment::Enum { .. } | serde_path_to_error::Segment::Unknown => None,
            });
            let steps = steps.collect();
            FieldError { steps, message: without_position(&located.inner().to_string()).into() }
        }
    }
}

/// The position counts from the start of the parameters, not of the message: it would mislead.
fn without_position(message: &str) -> String {
    message.rfind(" at line ").map_or(message, |end| &message[..end]).to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

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
        assert_eq!(error.path(), "inner[1].line");
        assert_eq!(error.pointer(), "/inner/1/line");
        assert_eq!(error.to_string(), "inner[1].line: invalid type: string \"x\", expected u32");
    }

    #[test]
    fn a_missing_field_is_named() {
        let error = decode::<Outer>("{}").unwrap_err();
        assert_eq!(error.to_string(), "missing field `inner`");
    }

    #[test]
    fn keys_that_look_like_paths_are_one_step() {
        let error = decode::<BTreeMap<String, u32>>(r#"{"src/a.rs[1]~":"x"}"#).unwrap_err();
        assert_eq!(error.pointer(), "/src~1a.rs[1]~0");
    }

    #[test]
    fn faults_can_be_seen_from_further_out() {
        let error = FieldError::at("name", "must not be empty").inside_array(2).inside("steps");
        assert_eq!(error.to_string(), "steps[2].name: must not be empty");
        assert_eq!(error.pointer(), "/steps/2/name");
        assert_eq!(FieldError::whole("broken").to_string(), "broken");
    }
}
