//! Words of code and prose, as they are indexed and looked for.
//!
//! Knows characters; refuses to know languages and files. One function makes the words of files and of queries alike.
//!
//! What always holds:
//! - a word is lower case; an identifier gives itself and, if it has several, its parts: `getUserName` and
//!   `get_user_name` both give `get`, `user` and `name`, and `sha256sum` gives `sha`, `256` and `sum`;
//! - every run of letters, digits and `_` of at least two characters is a word as a whole, so that a text that is only
//!   such characters lies within one word wherever it occurs; runs over [`MAX_WORD`] are the exception, and counted.

/// The longest word in bytes. Longer runs are encoded data; nobody types them.
pub(crate) const MAX_WORD: usize = 96;

/// What [`split`] could not give as words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unsaid {
    /// Runs over [`MAX_WORD`] bytes.
    pub(crate) long_runs: u32,
}

/// A buffer for the word that is being made, so that a file's words need one allocation.
#[derive(Debug, Default)]
pub(crate) struct Words {
    lower: String,
    bounds: Vec<usize>,
}

impl Words {
    /// Gives every word of a text, in order, whole identifiers before their parts.
    pub(crate) fn split(&mut self, text: &str, mut take: impl FnMut(&str)) -> Unsaid {
        let bytes = text.as_bytes();
        let mut unsaid = Unsaid::default();
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            while at < bytes.len() && CLASS[usize::from(bytes[at])] == Class::Word {
                at += 1;
            }
            if at < bytes.len() && bytes[at] >= 0x80 {
                at = end_of_run(text, at);
            }
            if at == start {
                at += char_len(bytes[at]);
                continue;
            }
            if at - start > MAX_WORD {
                unsaid.long_runs += 1;
            } else {
                self.identifier(&text[start..at], &mut take);
            }
        }
        unsaid
    }

    /// Gives one identifier and its parts.
    fn identifier(&mut self, run: &str, take: &mut impl FnMut(&str)) {
        if run.len() < 2 {
            return;
        }
        self.lower.clear();
        self.bounds.clear();
        if run.is_ascii() {
            self.ascii_bounds(run.as_bytes());
            self.lower.push_str(run);
            self.lower.make_ascii_lowercase();
        } else {
            self.char_bounds(run);
        }
        take(&self.lower);
        if self.bounds.len() <= 1 {
            return;
        }
        let ends = self.bounds.iter().skip(1).copied().chain([self.lower.len()]);
        for (start, end) in self.bounds.iter().copied().zip(ends) {
            let part = self.lower[start..end].trim_matches('_');
            // What is left of a name like `_name` is said once more, as people will ask for it.
            if part.len() > 1 && part.len() < self.lower.len() {
                take(part);
            }
        }
    }

    fn ascii_bounds(&mut self, run: &[u8]) {
        self.bounds.push(0);
        for at in 1..run.len() {
            let (before, here) = (run[at - 1], run[at]);
            let after = run.get(at + 1);
            let starts = before == b'_' && here != b'_'
                || here == b'_' && before != b'_'
                || here.is_ascii_uppercase() && !before.is_ascii_uppercase()
                || here.is_ascii_uppercase()
                    && before.is_ascii_uppercase()
                    && after.is_some_and(u8::is_ascii_lowercase)
                || here.is_ascii_digit() != before.is_ascii_digit();
            if starts && self.bounds.last() != Some(&at) {
                self.bounds.push(at);
            }
        }
    }

    /// The same for any script, over the lower-case text, whose length may differ.
    fn char_bounds(&mut self, run: &str) {
        let mut before: Option<char> = None;
        let mut chars = run.chars().peekable();
        while let Some(here) = chars.next() {
            let starts = before.is_none_or(|before| {
                (before == '_') != (here == '_')
                    || here.is_uppercase() && !before.is_uppercase()
                    || here.is_uppercase()
                        && before.is_uppercase()
                        && chars.peek().is_some_and(|after| after.is_lowercase())
                    || here.is_numeric() != before.is_numeric()
            });
            if starts {
                self.bounds.push(self.lower.len());
            }
            match here {
                // An old form of the letter that regular expressions take for an `s` without regard to case.
                'ſ' => self.lower.push('s'),
                _ => self.lower.extend(here.to_lowercase()),
            }
            before = Some(here);
        }
    }
}

/// The words of a text, each once, in the order of their first mention.
pub(crate) fn unique(text: &str) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut words = Vec::new();
    Words::default().split(text, |word| {
        if seen.insert(word.to_owned()) {
            words.push(word.to_owned());
        }
    });
    words
}

/// Whether a character belongs to a word.
pub(crate) fn is_word(char: char) -> bool {
    char == '_' || char.is_alphanumeric()
}

/// The end of the run of word characters that goes on, or does not, at `from`.
fn end_of_run(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    rest.find(|char| !is_word(char)).map_or(text.len(), |end| from + end)
}

const fn char_len(first: u8) -> usize {
    match first {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Other,
}

const CLASS: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' {
            table[byte] = Class::Word;
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut words = Vec::new();
        Words::default().split(text, |word| words.push(word.to_owned()));
        assert_eq!(words.join(" "), expected, "{text}");
    }

    #[test]
    fn identifiers_give_themselves_and_their_parts() {
        check("getUserName", "getusername get user name");
        check("get_user_name", "get_user_name get user name");
        check("HTTPServer", "httpserver http server");
        check("sha256sum", "sha256sum sha 256 sum");
        check("MAX_WORD", "max_word max word");
        check("_private", "_private private");
        check("__init__", "__init__ init");
        check("utf8", "utf8 utf");
        check("plain", "plain");
        check("x", "");
        check("a.b(cd, ef)", "cd ef");
    }

    #[test]
    fn other_scripts_have_words_too() {
        check("größeÄndern", "größeändern größe ändern");
        check("naïve café", "naïve café");
        check("名前 を", "名前 を");
        check("Straſse", "strasse");
        check("a→b bc", "bc");
        check("→", "");
        check("xé", "xé");
    }

    #[test]
    fn a_run_that_is_too_long_is_counted_and_left_out() {
        let mut words = Vec::new();
        let text = format!("ab {} cd", "z".repeat(MAX_WORD + 1));
        let unsaid = Words::default().split(&text, |word| words.push(word.to_owned()));
        assert_eq!((words.join(" ").as_str(), unsaid.long_runs), ("ab cd", 1));
    }
}
