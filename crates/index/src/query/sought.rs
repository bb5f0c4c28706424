//! Which pieces of a text have the words that are looked for.
//!
//! Knows words and lines. Most lines of a file have none of the words, and a search for all of them at once says so much
//! sooner than splitting the line would; only the others are split, so the answer is the same.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::chunks::Chunk;
use crate::rank::Wanted;
use crate::words::Words;

/// How many words, in all their forms, are looked for by a table: more make it large, and slow to build.
const TABLE_WORDS: usize = 512;

/// Words that are looked for, in all their forms.
pub(super) struct Sought<'w> {
    /// By form: the place of the word, and how much the form counts.
    worth: HashMap<&'w str, (usize, f32)>,
    words: usize,
    /// By the first byte of a word: how long those may be that are looked for, a bit each. Most words of a line are none.
    lengths: Box<[u64; 256]>,
    /// Finds the forms in lines of ASCII. Where a letter of another script may stand for one of them, it is not asked.
    finder: Option<AhoCorasick>,
}

impl<'w> Sought<'w> {
    pub(super) fn new(wanted: &'w [Wanted]) -> Self {
        let mut worth = HashMap::new();
        for (place, wanted) in wanted.iter().enumerate() {
            for (form, weight) in wanted.each() {
                worth.entry(form).or_insert((place, weight));
            }
        }
        let mut lengths = Box::new([0; 256]);
        for form in worth.keys() {
            lengths[first(form)] |= length(form);
        }
        // A few hundred words make a small table, which is several times as quick as following the letters.
        let kind = (worth.len() <= TABLE_WORDS).then_some(AhoCorasickKind::DFA);
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).kind(kind).build(worth.keys());
        // Without one every line is split.
        Self { worth, words: wanted.len(), lengths, finder: finder.ok() }
    }

    /// The pieces of a text, each with how much of what is wanted it has.
    pub(super) fn pieces(&self, text: &str, chunks: &[Chunk], rarity: &[f32]) -> Vec<(Chunk, f32)> {
        let mut words = Words::default();
        let mut scored = Vec::with_capacity(chunks.len());
        let mut counts = vec![0.0_f32; self.words];
        let mut rest = text;
        for chunk in chunks {
            let body = first_lines(&mut rest, (chunk.end_line - chunk.start_line) as usize + 1);
            counts.fill(0.0);
            self.each_line(body, |line| {
                words.split(line, |word| {
                    if self.lengths[first(word)] & length(word) == 0 {
                        return;
                    }
                    if let Some((place, weight)) = self.worth.get(word) {
                        counts[*place] += weight;
                    }
                });
            });
            // A word that is there often counts a little more than one that is there once.
            let score = counts.iter().zip(rarity).map(|(count, rarity)| rarity * count / (count + 0.5)).sum();
            scored.push((*chunk, score));
        }
        scored
    }

    /// Gives every line that may have one of the words.
    fn each_line<'t>(&self, body: &'t str, mut take: impl FnMut(&'t str)) {
        let Some(finder) = self.finder.as_ref().filter(|_| body.is_ascii()) else {
            return body.lines().for_each(take);
        };
        let mut rest = body;
        while let Some(found) = finder.find(rest) {
            let start = memchr::memrchr(b'\n', &rest.as_bytes()[..found.start()]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &rest.as_bytes()[found.end()..])
                .map_or(rest.len(), |at| found.end() + at);
            take(&rest[start..end]);
            rest = &rest[end..];
        }
    }
}

/// The first byte of a word.
fn first(word: &str) -> usize {
    word.bytes().next().map_or(0, usize::from)
}

/// The bit for the length of a word; the last one is for all that are longer.
fn length(word: &str) -> u64 {
    1 << word.len().min(63)
}

/// Takes so many lines from the beginning of a text.
fn first_lines<'t>(rest: &mut &'t str, count: usize) -> &'t str {
    let end = memchr::memchr_iter(b'\n', rest.as_bytes()).nth(count.saturating_sub(1));
    let (lines, after) = rest.split_at(end.map_or(rest.len(), |at| at + 1));
    *rest = after;
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        let wanted = ["read", "file"].map(|word| Wanted::plain(word.to_owned()));
        let mut lines = Vec::new();
        Sought::new(&wanted).each_line(text, |line| lines.push(line));
        lines
    }

    #[test]
    fn only_lines_that_may_have_a_word_are_split() {
        assert_eq!(lines("a\nreadFile(file)\n\nb\nREAD\nc"), ["readFile(file)", "READ"]);
        assert_eq!(lines("nothing\n"), Vec::<&str>::new());
        assert_eq!(lines("a\nähnlich\n"), ["a", "ähnlich"]);
    }

    #[test]
    fn lines_are_taken_from_the_beginning() {
        let mut rest = "a\nb\nc";
        assert_eq!(first_lines(&mut rest, 2), "a\nb\n");
        assert_eq!(first_lines(&mut rest, 2), "c");
        assert_eq!(first_lines(&mut rest, 1), "");
    }
}
