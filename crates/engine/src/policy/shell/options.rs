//! Where a program's options end and its operands begin.
//!
//! Knows the common form of options. Refuses to guess: an option that is not listed has no known length, so there is
//! no answer then.

use super::word::Word;

/// The options a program takes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Options {
    /// Letters without a value.
    pub(super) flags: &'static str,
    /// Letters with a value, attached or in the next word.
    pub(super) valued: &'static str,
    /// Long options without a value, with their dashes.
    pub(super) long_flags: &'static [&'static str],
    /// Long options whose value may be the next word, with their dashes.
    pub(super) long_valued: &'static [&'static str],
}

impl Options {
    pub(super) const NONE: Self = Self { flags: "", valued: "", long_flags: &[], long_valued: &[] };

    /// The index of the first operand, which may be past the last word; nothing if that cannot be known.
    pub(super) fn end(&self, words: &[Word]) -> Option<usize> {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.certain()?;
            if text == "--" {
                return Some(at + 1);
            }
            if !text.starts_with('-') || text == "-" {
                return Some(at);
            }
            at += if text.starts_with("--") { self.long(text)? } else { self.cluster(text)? };
        }
        Some(words.len())
    }

    fn long(&self, text: &str) -> Option<usize> {
        let (name, has_value) = text.split_once('=').map_or((text, false), |(name, _)| (name, true));
        if self.long_valued.contains(&name) {
            Some(if has_value { 1 } else { 2 })
        } else {
            (!has_value && self.long_flags.contains(&name)).then_some(1)
        }
    }

    fn cluster(&self, text: &str) -> Option<usize> {
        let letters = &text[1..];
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                let attached = at + letter.len_utf8() < letters.len();
                return Some(if attached { 1 } else { 2 });
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_begin_after_known_options() {
        let options =
            Options { flags: "av", valued: "n", long_flags: &["--all"], long_valued: &["--number"] };
        let end = |line: &str| {
            let words: Vec<Word> = line.split(' ').map(Word::known).collect();
            options.end(&words)
        };
        assert_eq!(end("x"), Some(1));
        assert_eq!(end("x -a -vn 5 --all y"), Some(5));
        assert_eq!(end("x -n5 --number=5 --number 5 -- -y"), Some(6));
        assert_eq!(end("x -"), Some(1));
        assert_eq!(end("x -q y"), None);
        assert_eq!(end("x --other=1 y"), None);
    }
}
