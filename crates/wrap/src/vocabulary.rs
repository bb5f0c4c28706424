//! What can be completed and which words are known: what was sent before, and a list of words.
//!
//! An entry of either is a line. It offers its next word where a line begins like it. Where none does, a word that has begun is
//! completed from words anywhere in what was sent, and from entries that are a single word.

use std::collections::BTreeMap;
use std::io;

use loggia_protocol_endermux::{CandidateInfo, ColorLevel};

use crate::history::History;

/// How many entries a list may have. Beyond, it is data.
const MAX_WORDS: usize = 10_000;

/// How many candidates are offered. Existing clients ask before they list more.
const MAX_CANDIDATES: usize = 100;

const SENT_BEFORE: &str = "sent before";

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    words: Vec<String>,
    history: History,
}

impl Vocabulary {
    pub(crate) fn new(words: impl IntoIterator<Item = String>, history: History) -> Self {
        let words = words.into_iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty());
        Self { words: words.take(MAX_WORDS).collect(), history }
    }

    /// Remembers a line that was sent.
    ///
    /// # Errors
    /// When it cannot be kept for the next time.
    pub(crate) fn remember(&mut self, line: &str) -> io::Result<()> {
        self.history.add(line)
    }

    /// How the word at a place could go on.
    pub(crate) fn complete(&self, line: &str, at: usize) -> Vec<CandidateInfo> {
        let before = &line[..at];
        let start = before
            .rfind(char::is_whitespace)
            .map_or(0, |space| space + before[space..].chars().next().map_or(0, char::len_utf8));
        let (context, begun) = before.split_at(start);
        let mut found: BTreeMap<&str, Option<&'static str>> = BTreeMap::new();
        for entry in &self.words {
            add(&mut found, next_word(entry, context), begun, None);
        }
        for entry in self.history.newest_first() {
            add(&mut found, next_word(entry, context), begun, Some(SENT_BEFORE));
        }
        if found.is_empty() && !begun.is_empty() {
            for entry in self.words.iter().filter(|entry| !entry.contains(char::is_whitespace)) {
                add(&mut found, Some(entry), begun, None);
            }
            for word in self.history.newest_first().flat_map(str::split_whitespace) {
                add(&mut found, Some(word), begun, Some(SENT_BEFORE));
            }
        }
        found.into_iter().map(|(word, about)| candidate(word, about)).collect()
    }

    /// The line with its first word coloured, if it is known.
    pub(crate) fn highlight(&self, line: &str, colours: ColorLevel) -> String {
        let first = line.split_whitespace().next().unwrap_or_default();
        let is_known = |entry: &str| entry.split_whitespace().next() == Some(first);
        let known = !first.is_empty()
            && colours != ColorLevel::None
            && (self.words.iter().any(|entry| is_known(entry)) || self.history.newest_first().any(is_known));
        if !known {
            return line.to_owned();
        }
        let (space, rest) = line.split_at(line.len() - line.trim_start().len());
        format!("{space}\u{1b}[32m{first}\u{1b}[m{}", &rest[first.len()..])
    }
}

/// The word that follows in an entry which begins like a line.
fn next_word<'a>(entry: &'a str, context: &str) -> Option<&'a str> {
    entry.strip_prefix(context)?.split(char::is_whitespace).next()
}

fn add<'a>(
    found: &mut BTreeMap<&'a str, Option<&'static str>>,
    word: Option<&'a str>,
    begun: &str,
    about: Option<&'static str>,
) {
    let Some(word) = word.filter(|word| !word.is_empty() && word.starts_with(begun)) else { return };
    if found.len() < MAX_CANDIDATES {
        found.entry(word).or_insert(about);
    }
}

fn candidate(word: &str, about: Option<&str>) -> CandidateInfo {
    CandidateInfo { value: word.to_owned(), display: word.to_owned(), description: about.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vocabulary() -> Vocabulary {
        let words =
            ["stop", "say", "alice", "gamemode creative", "gamemode survival", " "].map(str::to_owned);
        let mut vocabulary = Vocabulary::new(words, History::default());
        for line in ["say hello bob", "time set day", "time add 100"] {
            vocabulary.remember(line).unwrap();
        }
        vocabulary
    }

    fn completed(line: &str) -> String {
        let at = line.find('|').unwrap();
        let found = vocabulary().complete(&line.replace('|', ""), at);
        found.into_iter().map(|candidate| candidate.value).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_word_goes_on_as_in_the_list_or_as_it_was_sent_before() {
        assert_eq!(completed("s|"), "say stop");
        assert_eq!(completed("st|"), "stop");
        assert_eq!(completed("gamemode |"), "creative survival");
        assert_eq!(completed("gamemode s|"), "survival");
        assert_eq!(completed("time |"), "add set");
        assert_eq!(completed("time set |"), "day");
        assert_eq!(completed("kick b|"), "bob");
        assert_eq!(completed("kick al|"), "alice");
        assert_eq!(completed("kick |"), "");
        assert_eq!(completed("zzz|"), "");
        assert_eq!(completed("sto|p"), "stop");
    }

    #[test]
    fn the_start_of_a_line_offers_every_first_word() {
        assert_eq!(completed("|"), "alice gamemode say stop time");
    }

    #[test]
    fn where_a_candidate_comes_from_is_told() {
        let found = vocabulary().complete("ti", 2);
        assert_eq!(found[0].description.as_deref(), Some(SENT_BEFORE));
        assert_eq!(vocabulary().complete("st", 2)[0].description, None);
    }

    #[test]
    fn candidates_are_bounded() {
        let words = (0..5000).map(|number| format!("word{number}"));
        let vocabulary = Vocabulary::new(words, History::default());
        assert_eq!(vocabulary.complete("w", 1).len(), MAX_CANDIDATES);
    }

    #[test]
    fn a_known_first_word_is_coloured_where_there_are_colours() {
        let shown = |line, colours| vocabulary().highlight(line, colours).replace('\u{1b}', "␛");
        assert_eq!(shown(" say hi", ColorLevel::Indexed8), " ␛[32msay␛[m hi");
        assert_eq!(shown("sa hi", ColorLevel::Indexed8), "sa hi");
        assert_eq!(shown("time", ColorLevel::TrueColor), "␛[32mtime␛[m");
        assert_eq!(shown("say hi", ColorLevel::None), "say hi");
        assert_eq!(shown("", ColorLevel::Indexed8), "");
    }

    proptest! {
        #[test]
        fn every_candidate_begins_like_the_word(line in "[ satié]{0,10}", place in 0usize..20) {
            let at = line.floor_char_boundary(place);
            let begun = line[..at].rsplit(char::is_whitespace).next().unwrap_or("").to_owned();
            for candidate in vocabulary().complete(&line, at) {
                prop_assert!(candidate.value.starts_with(&begun));
            }
        }
    }
}
