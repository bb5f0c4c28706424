//! JSON that belongs to somebody else, kept as text.

/// JSON text: tool arguments and the like. Carried here, parsed by whoever owns it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonText(pub String);

impl JsonText {
    /// `{}`.
    pub fn empty_object() -> Self {
        Self("{}".to_owned())
    }
}
