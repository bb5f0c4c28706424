//! The five characters that separate the parts of a message, as its header names them.
//!
//! Invariant: they are five different punctuation characters of ASCII. So a delimiter is one byte of the text, no
//! part of another character, and no letter of an escape sequence.

use hl7_parser::message::Separators;
use thiserror::Error;

/// What separates the parts of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delimiters {
    pub(crate) field: u8,
    pub(crate) component: u8,
    pub(crate) repetition: u8,
    pub(crate) escape: u8,
    pub(crate) subcomponent: u8,
}

/// Why characters are no delimiters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum DelimitersError {
    #[error("`MSH` is not followed by five delimiters: usual are `|^~\\&`")]
    TooFew,
    #[error("`{0}` cannot be a delimiter: they are punctuation, and usual are `|^~\\&`")]
    NoPunctuation(char),
    #[error("the delimiter `{0}` is there twice: usual are `|^~\\&`")]
    Twice(char),
}

impl Delimiters {
    pub(crate) const USUAL: Self =
        Self { field: b'|', component: b'^', repetition: b'~', escape: b'\\', subcomponent: b'&' };

    /// Those that follow the name of the header.
    pub(crate) fn of_header(after_name: &str) -> Result<Self, DelimitersError> {
        let mut characters = after_name.chars().take_while(|character| !matches!(character, '\r' | '\n'));
        let field = characters.next().ok_or(DelimitersError::TooFew)?;
        // Newer versions of HL7 have a fifth one, which separates nothing.
        let encoding: String = characters.take_while(|character| *character != field).take(4).collect();
        Self::new(field, &encoding)
    }

    /// From the field's delimiter and the other four.
    pub(crate) fn new(field: char, encoding: &str) -> Result<Self, DelimitersError> {
        let mut all = [0; 5];
        let mut given = std::iter::once(field).chain(encoding.chars());
        for place in 0..all.len() {
            let character = given.next().ok_or(DelimitersError::TooFew)?;
            let byte = u8::try_from(character).ok().filter(u8::is_ascii_punctuation);
            let byte = byte.ok_or(DelimitersError::NoPunctuation(character))?;
            if all[..place].contains(&byte) {
                return Err(DelimitersError::Twice(character));
            }
            all[place] = byte;
        }
        let [field, component, repetition, escape, subcomponent] = all;
        Ok(Self { field, component, repetition, escape, subcomponent })
    }

    /// The same, for the parser of fields.
    pub(crate) fn separators(&self) -> Separators {
        Separators {
            field: self.field.into(),
            component: self.component.into(),
            subcomponent: self.subcomponent.into(),
            repetition: self.repetition.into(),
            escape: self.escape.into(),
            lenient_newlines: true,
        }
    }

    /// Whether a byte separates something, or begins an escape sequence.
    pub(crate) fn has(&self, byte: u8) -> bool {
        [self.field, self.component, self.repetition, self.escape, self.subcomponent].contains(&byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(after_name: &str, expected: Result<&str, DelimitersError>) {
        let found = Delimiters::of_header(after_name).map(|found| found.separators().to_string());
        assert_eq!(found, expected.map(str::to_owned), "{after_name:?}");
    }

    #[test]
    fn delimiters_are_read_from_the_header() {
        check("|^~\\&|APP", Ok("|^~\\&"));
        check("#!*?+#APP", Ok("#!*?+"));
        check("|^~\\&", Ok("|^~\\&"));
        check("|^~\\&#|APP", Ok("|^~\\&"));
    }

    #[test]
    fn what_cannot_separate_is_refused() {
        check("", Err(DelimitersError::TooFew));
        check("|^~|APP", Err(DelimitersError::TooFew));
        check("|^~\r&|", Err(DelimitersError::TooFew));
        check("|^~\\^|", Err(DelimitersError::Twice('^')));
        check("|^~\\a|", Err(DelimitersError::NoPunctuation('a')));
        check("|^~\\é|", Err(DelimitersError::NoPunctuation('é')));
        check("A^~\\&A", Err(DelimitersError::NoPunctuation('A')));
    }
}
