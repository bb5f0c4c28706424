//! The words of a question that are worth searching for.
//!
//! What always holds: there are at most [`MAX_WORDS`], each once, and none has a line break.

use std::collections::HashSet;

/// How many words are searched for. Each is a walk through the workspace; longer questions say little more.
const MAX_WORDS: usize = 6;

/// How much of a question is looked at: it may hold a whole log.
const MAX_QUESTION: usize = 16 << 10;

/// The longest word that is searched for, in bytes: longer ones are data.
const MAX_WORD: usize = 80;

/// The shortest one, in characters, unless it is written like a name.
const MIN_CHARS: usize = 3;

/// Words that are in every question, and in every file.
const STOP_WORDS: &str = "\
    a about add after again all also always am an and another any are as at be because been before being below best \
    better between both but by can cannot change changed code come could did do does doing done down each else every \
    everything explain file files find first fix for found from get gets give go goes going got had has have having \
    he help her here him his how however i if implement in into is it its itself just keep know let like list look \
    made make makes many may me mean might more most much must my need needs never new next no nor not nothing now of \
    off on once one only or other our out over own part place please project put really repo repository right same \
    say see set she should show since so some something still such take tell than that the their them then there \
    these they thing things think this those through to too try two under until up us use used uses using very want \
    was way we well were what whats when where whether which while who whole why will with without work working works \
    would write you your";

/// A word to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// As it was written.
    text: String,
    /// As it is searched for.
    query: String,
}

impl Word {
    /// What is searched for. Without capital letters, the search ignores case.
    pub(super) fn query(&self) -> &str {
        &self.query
    }

    /// As it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn new(text: &str) -> Self {
        let query = match is_name(text) {
            // The file itself, whatever directory is named before it.
            true => text.rsplit('/').next().unwrap_or(text).to_owned(),
            false => singular(&text.to_lowercase()).to_owned(),
        };
        Self { text: text.to_owned(), query }
    }
}

/// The words of a question, those that say most first.
pub(super) fn of(question: &str) -> Vec<Word> {
    let question = &question[..question.floor_char_boundary(MAX_QUESTION)];
    let stop: HashSet<&str> = STOP_WORDS.split_whitespace().collect();
    let mut seen = HashSet::new();
    let tokens = question.split(|char: char| !is_part(char)).map(|token| token.trim_matches(is_mark));
    let mut words: Vec<Word> = tokens
        .filter(|token| !token.is_empty() && token.len() <= MAX_WORD)
        .filter(|token| is_name(token) || token.chars().count() >= MIN_CHARS)
        .filter(|token| !stop.contains(token.to_lowercase().as_str()))
        .filter(|token| token.chars().any(char::is_alphabetic))
        .map(Word::new)
        .filter(|word| seen.insert(word.query.to_lowercase()))
        .collect();
    // Names first, then long words; the order of the question among equals.
    words.sort_by_key(|word| (!is_name(&word.text), usize::MAX - word.query.chars().count().min(12)));
    words.truncate(MAX_WORDS);
    words
}

/// Whether it can be part of a word or of a name in code.
fn is_part(char: char) -> bool {
    char.is_alphanumeric() || is_mark(char) || char == '_'
}

/// Whether it joins the parts of a name, and says nothing at its ends.
fn is_mark(char: char) -> bool {
    matches!(char, '-' | '.' | '/' | ':')
}

/// Whether it is written like a name in code: `snake_case`, `camelCase`, `a::b`, `file.rs`, `HTTP2`.
fn is_name(token: &str) -> bool {
    let inner_capital = token.chars().skip(1).any(char::is_uppercase);
    let inner_mark = token.contains(['_', '.', '/', ':']);
    inner_capital || inner_mark || token.chars().any(|char| char.is_ascii_digit())
}

/// A plural finds its singular; both hold it.
fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > MIN_CHARS && !stem.ends_with(['s', 'u', 'i']) => stem,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries(question: &str) -> String {
        of(question).iter().map(Word::query).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn questions_leave_the_words_that_say_something() {
        assert_eq!(queries("Why does login fail?"), "login fail");
        assert_eq!(queries("Where are the users' passwords kept, please?"), "password user kept");
        assert_eq!(queries("what is it"), "");
        assert_eq!(queries("status, bus, class"), "status class bus");
    }

    #[test]
    fn names_are_kept_as_they_are_and_come_first() {
        assert_eq!(
            queries("explain parse_header in src/http/Parser.rs, and std::mem::take; HTTP2?"),
            "parse_header std::mem::take Parser.rs HTTP2"
        );
        assert_eq!(queries("getUserName getUserName getusername"), "getUserName");
    }

    #[test]
    fn long_questions_are_bounded() {
        let long = (0..50).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
        assert_eq!(of(&long).len(), MAX_WORDS);
        assert_eq!(of(&"x".repeat(1 << 20)), []);
        assert_eq!(queries("größe 100 --- …"), "größe");
    }
}
