//! Reading a TOML table field by field, so that a fault is told with its line.
//!
//! Knows tables, lines and names that are nearly right. Refuses to know what a script means.
//! Invariant: a field that nobody asked for is a fault.

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, ValueDeserializer};

/// Below this likeness (1 is equal) a suggestion would be a guess.
const LIKENESS: f64 = 0.6;

/// Why a text is no script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ScriptError {
    /// The line with the fault, counted from 1.
    pub line: usize,
    /// What is wrong there, with the name of the field.
    pub reason: String,
}

/// A table that is being read.
pub(super) struct Fields<'t> {
    text: &'t str,
    /// What the table is, for messages: `a reply`.
    what: &'static str,
    /// Where it begins.
    start: usize,
    left: Vec<(Spanned<DeString<'t>>, Spanned<DeValue<'t>>)>,
    known: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    /// The fields of a whole text.
    pub(super) fn parse(text: &'t str, what: &'static str) -> Result<Self, ScriptError> {
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            fault(text, at, error.message())
        })?;
        Ok(Self::of(text, what, 0, table.into_inner()))
    }

    fn of(text: &'t str, what: &'static str, start: usize, table: DeTable<'t>) -> Self {
        Self { text, what, start, left: table.into_iter().collect(), known: Vec::new() }
    }

    /// A field's value, if it is there.
    pub(super) fn take<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Option<T>, ScriptError> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        let at = value.span().start;
        let read = T::deserialize(ValueDeserializer::from(value));
        let wrong = |error: toml::de::Error| {
            let at = error.span().map_or(at, |span| span.start);
            fault(self.text, at, &format!("`{name}`: {}", error.message()))
        };
        read.map(Some).map_err(wrong)
    }

    /// A field's value, which must be there.
    pub(super) fn need<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<T, ScriptError> {
        let found = self.take(name)?;
        found.ok_or_else(|| {
            let misspelt = self.left.iter().find(|(key, _)| likeness(key.get_ref(), name) >= LIKENESS);
            match misspelt {
                Some((key, _)) => self.unknown(key, name),
                None => self.fault(&format!("{} needs `{name}`", self.what)),
            }
        })
    }

    /// A field's value as a table of its own, if it is there.
    pub(super) fn table(
        &mut self,
        name: &'static str,
        what: &'static str,
    ) -> Result<Option<Self>, ScriptError> {
        self.raw(name).map(|value| self.inner(name, what, value)).transpose()
    }

    /// The tables of a list; none, if it is not there.
    pub(super) fn tables(
        &mut self,
        name: &'static str,
        what: &'static str,
    ) -> Result<Vec<Self>, ScriptError> {
        let Some(value) = self.raw(name) else { return Ok(Vec::new()) };
        let at = value.span().start;
        match value.into_inner() {
            DeValue::Array(items) => items.into_iter().map(|item| self.inner(name, what, item)).collect(),
            other => Err(self.mistyped(at, name, "a list", &other)),
        }
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<(), ScriptError> {
        let Some((key, _)) = self.left.first() else { return Ok(()) };
        let rated = self.known.iter().map(|known| (likeness(key.get_ref(), known), *known));
        let nearest = rated.max_by(|(left, _), (right, _)| left.total_cmp(right));
        match nearest {
            Some((likeness, nearest)) if likeness >= LIKENESS => Err(self.unknown(key, nearest)),
            _ => {
                let (name, known) = (key.get_ref(), self.known.join("`, `"));
                let reason = format!("there is no `{name}` in {}; there are `{known}`", self.what);
                Err(fault(self.text, key.span().start, &reason))
            }
        }
    }

    /// A fault of the table as a whole.
    pub(super) fn fault(&self, reason: &str) -> ScriptError {
        fault(self.text, self.start, reason)
    }

    fn unknown(&self, key: &Spanned<DeString<'_>>, nearest: &str) -> ScriptError {
        let reason = format!("there is no `{}` in {}; did you mean `{nearest}`?", key.get_ref(), self.what);
        fault(self.text, key.span().start, &reason)
    }

    fn raw(&mut self, name: &'static str) -> Option<Spanned<DeValue<'t>>> {
        self.known.push(name);
        let place = self.left.iter().position(|(key, _)| key.get_ref() == name)?;
        Some(self.left.remove(place).1)
    }

    fn inner(
        &self,
        name: &str,
        what: &'static str,
        value: Spanned<DeValue<'t>>,
    ) -> Result<Self, ScriptError> {
        let at = value.span().start;
        match value.into_inner() {
            DeValue::Table(table) => Ok(Self::of(self.text, what, at, table)),
            other => Err(self.mistyped(at, name, "a table", &other)),
        }
    }

    fn mistyped(&self, at: usize, name: &str, wanted: &str, found: &DeValue<'_>) -> ScriptError {
        fault(self.text, at, &format!("`{name}` must be {wanted}, not {}", found.type_str()))
    }
}

fn likeness(name: &str, known: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(name, known)
}

fn fault(text: &str, at: usize, reason: &str) -> ScriptError {
    let line = text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
    ScriptError { line, reason: reason.to_owned() }
}
