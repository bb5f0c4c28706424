//! Hosted providers, as people choose among them when they set one up.

use super::usual::USUAL;
use crate::EndpointKind;

/// A hosted provider that need not be configured, only given a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hosted {
    /// Its name: what stands before the colon of its models' names.
    pub name: &'static str,
    /// Which protocol it speaks.
    pub kind: EndpointKind,
    /// The variable that its own tools read its key from.
    pub key_variable: &'static str,
    /// The model to begin with, if one is known.
    pub model: Option<&'static str>,
}

impl Hosted {
    /// All of them, in the order in which a default is looked for.
    pub fn all() -> impl Iterator<Item = Self> {
        USUAL.iter().filter_map(|usual| {
            let key_variable = usual.key_variables.first()?;
            Some(Self { name: usual.name, kind: usual.kind, key_variable, model: usual.default_model })
        })
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|hosted| hosted.name == name)
    }
}
