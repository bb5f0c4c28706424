//! A file's text in, everything the index keeps of it out.
//!
//! Knows in which order words, symbols and pieces are made; does no I/O. Each worker has one analyser, for its buffers.

use crate::chunks;
use crate::entry::{Entry, Stamp, is_test, now_ns};
use crate::facts::Facts;
use crate::fields::{self, FIELDS, Field, TEXT_FIELDS};
use crate::inspect::Text;
use crate::language::Language;
use crate::parse::Parser;
use crate::text::FileWords;
use crate::words::Words;

/// Makes entries of texts.
#[derive(Debug, Default)]
pub(crate) struct Analyser {
    words: Words,
    parser: Parser,
}

impl Analyser {
    /// The words of a file and its entry, without symbols.
    pub(crate) fn text(&mut self, path: &str, text: &Text, key: u64, words: &mut FileWords) -> Entry {
        words.clear();
        let language = Language::of(path, &text.text);
        let unsaid = fields::words_of(&mut self.words, path, &text.text, language, |field, word| {
            words.push(field, word);
        });
        let mut lengths = [0; FIELDS];
        lengths[..TEXT_FIELDS.len()].copy_from_slice(&words.counts);
        Entry {
            path: path.into(),
            key,
            hash: text.hash,
            stamp: Stamp::of(&text.meta, now_ns()),
            language,
            is_test: is_test(path),
            bytes: u32::try_from(text.text.len()).unwrap_or(u32::MAX),
            lengths,
            has_long_runs: unsaid.long_runs > 0,
            symbols: 0,
            chunks: 0,
            facts: None,
        }
    }

    /// The symbols and uses of a file. What the entry says of them is put right.
    pub(crate) fn facts(&mut self, text: &str, entry: &mut Entry) -> Facts {
        let mut facts = self.parser.facts(entry.language, text);
        facts.chunks = chunks::chunks(&entry.path, text, &facts);
        let mut names = 0;
        for symbol in &facts.symbols {
            self.words.split(&symbol.name, |_| names += 1);
        }
        entry.lengths[Field::Names as usize] = names;
        entry.symbols = u32::try_from(facts.symbols.len()).unwrap_or(u32::MAX);
        entry.chunks = u32::try_from(facts.chunks.len()).unwrap_or(u32::MAX);
        facts
    }
}
