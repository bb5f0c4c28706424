//! A value of a tree, and where it stands in its text.
//!
//! Invariant: two values are equal if they say the same; where they stand makes no difference.

use std::ops::Range;

/// A value.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    /// Where it stands in the text it was read from.
    pub(crate) range: Range<usize>,
    /// Whether it stands there only as another name for what stands elsewhere.
    pub(crate) is_alias: bool,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A value of a map.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) key_range: Range<usize>,
    pub(crate) node: Node,
}

impl Node {
    /// A value that stands nowhere yet.
    pub(crate) fn new(value: Value) -> Self {
        Self { value, range: 0..0, is_alias: false }
    }

    pub(crate) fn null() -> Self {
        Self::new(Value::Null)
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::new(Value::Text(text.into()))
    }

    pub(crate) fn map(entries: Vec<Entry>) -> Self {
        Self::new(Value::Map(entries))
    }

    /// The value under a key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Node> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// It as text, if it is no list and no map. Nothing is empty.
    pub(crate) fn scalar(&self) -> Option<String> {
        match &self.value {
            Value::Null => Some(String::new()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(text) | Value::Text(text) => Some(text.clone()),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Whether it says the same, with the keys of maps in any order.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::List(one), Value::List(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.says_the_same(other))
            }
            (Value::Map(one), Value::Map(entries)) => {
                let same = |entry: &Entry| {
                    other.entry(&entry.key).is_some_and(|node| entry.node.says_the_same(node))
                };
                one.len() == entries.len() && one.iter().all(same)
            }
            (one, other) => one == other,
        }
    }

    /// What it is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a truth value",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "an object",
        }
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Entry {
    /// An entry that stands nowhere yet.
    pub(crate) fn new(key: impl Into<String>, node: Node) -> Self {
        Self { key: key.into(), key_range: 0..0, node }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (&self.key, &self.node) == (&other.key, &other.node)
    }
}
