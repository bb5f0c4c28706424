//! A question as words that are looked for.
//!
//! Knows which words of a question carry nothing, in which forms words occur, and what in a question looks like a name
//! or a path. Knows no file.

use crate::rank::Wanted;
use crate::words::{self, is_word};

/// How many words of a question count: a page of prose has no more that matter.
const MAX_WORDS: usize = 48;

/// Words that are in every question and say nothing about code.
const EMPTY: [&str; 96] = [
    "the", "and", "for", "with", "that", "this", "from", "into", "are", "was", "were", "has", "have", "had",
    "not", "but", "all", "any", "can", "does", "did", "how", "what", "where", "when", "why", "who", "which",
    "there", "then", "than", "its", "it", "is", "in", "on", "of", "to", "at", "by", "as", "an", "or", "if",
    "be", "do", "we", "you", "our", "your", "their", "they", "them", "he", "she", "his", "her", "my", "me",
    "us", "so", "no", "yes", "up", "out", "about", "over", "under", "please", "should", "would", "could",
    "will", "must", "may", "also", "just", "only", "more", "most", "some", "such", "each", "every", "other",
    "these", "those", "here", "now", "make", "sure", "want", "need", "code", "file", "files",
];

/// What a question looks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) wanted: Vec<Wanted>,
    /// Names as they would be written in code.
    pub(crate) names: Vec<String>,
    /// What may be a path or the end of one.
    pub(crate) paths: Vec<String>,
}

/// Reads a question.
pub(crate) fn parse(text: &str, forms_weight: f32) -> Parsed {
    let all = words::unique(text);
    let said: Vec<&String> = all.iter().filter(|word| !EMPTY.contains(&word.as_str())).collect();
    // A question of nothing but such words means them.
    let words: Vec<&String> = if said.is_empty() { all.iter().collect() } else { said };
    let wanted = words.into_iter().take(MAX_WORDS).map(|word| {
        let forms = if forms_weight > 0.0 { forms(word) } else { Vec::new() };
        let forms = forms.into_iter().filter(|form| !all.contains(form)).map(|form| (form, forms_weight));
        Wanted { word: word.clone(), forms: forms.collect(), weight: 1.0 }
    });
    Parsed { wanted: wanted.collect(), names: names(text), paths: paths(text) }
}

/// What looks like a name of code: in backticks, or with capitals or underscores inside.
fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut take = |name: &str| {
        if name.len() > 1 && !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    };
    for (place, quoted) in text.split('`').enumerate() {
        for name in quoted.split(|char: char| !is_word(char)).filter(|name| !name.is_empty()) {
            let inner = name.trim_matches('_');
            let has_underscore = inner.contains('_');
            let has_hump =
                inner.chars().zip(inner.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
            if place % 2 == 1 || has_underscore || has_hump {
                take(name);
            }
        }
    }
    names
}

/// What looks like a path.
fn paths(text: &str) -> Vec<String> {
    let is_path = |char: char| is_word(char) || matches!(char, '/' | '.' | '-' | '+' | '@');
    let words = text.split(|char: char| !is_path(char)).map(|word| word.trim_matches(['.', '/', '-', '@']));
    let looks = |word: &&str| {
        let has_ending = word.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && (1..=5).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric)
        });
        word.len() > 2 && (word.contains('/') || has_ending)
    };
    words.filter(looks).map(str::to_owned).collect()
}

/// Other forms of an English word, as far as they can be made without a dictionary.
pub(crate) fn forms(word: &str) -> Vec<String> {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    let stem = stem(word);
    let mut forms = Vec::new();
    let mut add = |form: String| {
        if form != word && form.len() > 2 && !forms.contains(&form) {
            forms.push(form);
        }
    };
    add(stem.to_owned());
    for ending in ["s", "es", "e", "ed", "d", "ing", "er", "ers", "or", "ion", "ions", "ment", "y"] {
        add(format!("{stem}{ending}"));
    }
    if let Some(start) = stem.strip_suffix('y') {
        add(format!("{start}ies"));
        add(format!("{start}ied"));
    }
    if let [.., a, b] = stem.as_bytes()
        && a == b
    {
        add(stem[..stem.len() - 1].to_owned());
    }
    if let Some(last) = stem.chars().last() {
        add(format!("{stem}{last}ing"));
        add(format!("{stem}{last}ed"));
    }
    forms
}

/// A word without its ending.
fn stem(word: &str) -> &str {
    for ending in
        ["ings", "ing", "ers", "er", "ies", "ied", "ed", "es", "s", "ions", "ion", "ments", "ment", "e"]
    {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 2) {
            let bytes = stem.as_bytes();
            let doubled = bytes.len() > 3
                && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
                && !matches!(bytes[bytes.len() - 1], b's' | b'l' | b'e')
                && ending.starts_with(['i', 'e']);
            return if doubled { &stem[..stem.len() - 1] } else { stem };
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_lose_empty_words_and_keep_names_and_paths() {
        let parsed = parse("How does `open` in src/store.rs call UserStore and read_file?", 0.0);
        let words: Vec<&str> = parsed.wanted.iter().map(|wanted| wanted.word.as_str()).collect();
        assert_eq!(words, ["open", "src", "store", "rs", "call", "userstore", "user", "read_file", "read"]);
        assert_eq!(parsed.names, ["open", "UserStore", "read_file"]);
        assert_eq!(parsed.paths, ["src/store.rs"]);
        assert_eq!(parse("how is it", 0.0).wanted.len(), 3);
    }

    #[test]
    fn words_have_forms() {
        let has = |word: &str, form: &str| assert!(forms(word).contains(&form.to_owned()), "{word} {form}");
        has("indexes", "index");
        has("index", "indexing");
        has("retries", "retry");
        has("stopped", "stop");
        has("cancelled", "cancel");
        has("parsing", "parse");
        has("parser", "parse");
        has("called", "calls");
        assert_eq!(forms("abc"), Vec::<String>::new());
        assert_eq!(forms("read_file"), Vec::<String>::new());
    }
}
