//! What is wrong with a value, in words for whoever wrote it.
//!
//! Types say what they want through serde's error trait; this is the one place that puts it into words of ours. No
//! name of a Rust type gets through.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

use crate::nearest;

/// A value that does not fit, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The way to it, from the inside out.
    steps: Vec<String>,
    message: String,
    /// The field whose absence it is.
    missing: Option<&'static str>,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { steps: Vec::new(), message: message.into(), missing: None }
    }

    /// A key or a word that is none of those we know.
    pub(crate) fn unknown(word: &str, known: &[&str]) -> Self {
        Self::new(format!("is not known here; {}", nearest::hint(word, known)))
    }

    /// The same fault, seen from what holds the value under this key or number.
    #[must_use]
    pub(crate) fn inside(mut self, step: &str) -> Self {
        self.steps.push(nearest::start(step));
        self
    }

    /// The same fault of an object in which there were keys that nobody knows: if one of them looks like the field
    /// that is missing, it is named.
    #[must_use]
    pub(crate) fn perhaps_meant_by(mut self, strangers: &[String]) -> Self {
        if let Some(missing) = self.missing.filter(|_| self.steps.is_empty())
            && let Some(meant) = strangers.iter().find(|stranger| nearest::is_near(stranger, missing))
        {
            self.message = format!("{}; is `{meant}` meant to be it?", self.message);
            self.missing = None;
        }
        self
    }

    /// Where it is, as an RFC 6901 JSON pointer.
    pub(crate) fn pointer(&self) -> String {
        let steps = self.steps.iter().rev();
        steps.map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
    }

    /// The way to it, from the inside out.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(String::as_str)
    }

    /// What is wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.steps.iter().rev() {
            write!(f, "{step}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// Types call these. What a reader can see by itself it says itself, so that little is left for the general words.
impl Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self::new("is of the wrong kind")
    }

    fn invalid_value(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self::new("cannot be this")
    }

    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Self::new("has the wrong length")
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::unknown(word, known)
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::unknown(field, known)
    }

    fn missing_field(field: &'static str) -> Self {
        Self { missing: Some(field), ..Self::new(format!("`{field}` is missing")) }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("`{field}` is there twice"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_points_at_its_place() {
        let fault = Fault::new("must be text").inside("a/b~c").inside("0").inside("rules");
        assert_eq!(fault.pointer(), "/rules/0/a~1b~0c");
        assert_eq!(fault.to_string(), "rules: 0: a/b~c: must be text");
        assert_eq!(Fault::new("must be an object").pointer(), "");
    }
}
