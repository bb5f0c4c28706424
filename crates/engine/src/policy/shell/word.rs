//! Words: what a program is given after the shell has taken quotes and escapes away, and how sure that is.
//!
//! Knows nothing of how words are written; see `decode`.
//!
//! What always holds: a text has a [`HOLE`] only if the word is [`Certainty::Unknown`].

/// Stands for a part of a word that only a running shell knows. No argument can hold this character.
pub(crate) const HOLE: char = '\0';

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// What the program gets; a [`HOLE`] wherever that is not known.
    pub(crate) text: String,
    /// How sure that is.
    pub(crate) certainty: Certainty,
}

/// How sure a word's text is, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// The program gets this text.
    Known,
    /// The program gets the files this pattern matches, or the pattern.
    Glob,
    /// Some shells make this of it, in some settings.
    Guessed,
    /// Only a running shell knows: any number of words.
    Unknown,
}

impl Word {
    pub(crate) fn known(text: &str) -> Self {
        Self { text: text.to_owned(), certainty: Certainty::Known }
    }

    pub(crate) fn unknown() -> Self {
        Self { text: HOLE.to_string(), certainty: Certainty::Unknown }
    }

    /// The text, if it is certain.
    pub(crate) fn certain(&self) -> Option<&str> {
        (self.certainty == Certainty::Known).then_some(self.text.as_str())
    }

    /// The text, if it is certain or a good guess.
    pub(crate) fn likely(&self) -> Option<&str> {
        matches!(self.certainty, Certainty::Known | Certainty::Guessed).then_some(self.text.as_str())
    }

    /// Whether parts of the text may be patterns for file names.
    pub(crate) fn has_glob(&self) -> bool {
        self.certainty != Certainty::Known && self.text.contains(['*', '?', '['])
    }
}
