//! A line cut into words as a shell cuts it: white space separates, quotes and backslashes keep it.
//!
//! Invariants: words come in order and do not overlap; the raw text of a word is the line between its two ends, so that
//! replacing it replaces exactly what was typed. An unclosed quote goes to the end of the line.

use loggia_endermux_io::words::Parsed;

/// One word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Where it begins, as a byte offset.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// What it means: without quotes and backslashes.
    pub(crate) text: String,
    /// Whether a quote in it has no end.
    pub(crate) is_open: bool,
}

/// The words of a line.
pub(crate) fn words(line: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut rest = line.char_indices().peekable();
    while let Some((start, c)) = rest.peek().copied() {
        if c.is_whitespace() {
            rest.next();
            continue;
        }
        let (mut text, mut quote) = (String::new(), None);
        let mut end = line.len();
        while let Some((at, c)) = rest.peek().copied() {
            if quote.is_none() && c.is_whitespace() {
                end = at;
                break;
            }
            rest.next();
            match (quote, c) {
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), c) if c == open => quote = None,
                // Between single quotes a backslash is one; between double quotes it is, unless it is needed.
                (None, '\\') => text.extend(rest.next().map(|(_, c)| c)),
                (Some('"'), '\\') => match rest.next_if(|(_, c)| matches!(c, '"' | '\\')) {
                    Some((_, c)) => text.push(c),
                    None => text.push('\\'),
                },
                (_, c) => text.push(c),
            }
        }
        found.push(Word { start, end, text, is_open: quote.is_some() });
    }
    found
}

/// The same for clients: words as they were typed, and the one the cursor touches.
pub(crate) fn parsed(line: &str, at: usize) -> Parsed {
    let words = words(line);
    let touches = |word: &Word| (word.start..=word.end).contains(&at);
    let typed = |word: &Word| line[word.start..word.end].to_owned();
    let mut all: Vec<String> = words.iter().map(typed).collect();
    match words.iter().position(touches) {
        Some(index) => Parsed { word_cursor: at - words[index].start, words: all, index },
        None => {
            let index = words.iter().filter(|word| word.end < at).count();
            all.insert(index, String::new());
            Parsed { words: all, index, word_cursor: 0 }
        }
    }
}

/// A value as it has to be typed.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '\'' | '"' | '\\');
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(line: &str) -> Vec<String> {
        words(line).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn quotes_and_backslashes_keep_words_together() {
        assert_eq!(
            texts("  new  my\\ dir 'a  b' \"c \\\"d\\\"\" e'f'g "),
            ["new", "my dir", "a  b", "c \"d\"", "efg"]
        );
        assert_eq!(texts("'a\\b' \"c\\d\" ''"), ["a\\b", "c\\d", ""]);
        assert_eq!(texts(""), Vec::<String>::new());
    }

    #[test]
    fn an_open_quote_goes_to_the_end() {
        let found = words("new 'my dir ");
        assert_eq!((found[1].text.as_str(), found[1].is_open, found[1].end), ("my dir ", true, 12));
        assert!(!words("new 'x'")[1].is_open);
    }

    #[test]
    fn the_current_word_is_what_would_be_replaced() {
        let of = |text: &str| {
            let at = text.find('|').unwrap();
            let parsed = parsed(&text.replace('|', ""), at);
            (parsed.words.join("/"), parsed.index, parsed.word_cursor)
        };
        assert_eq!(of("new 'my d|ir' x"), ("new/'my dir'/x".to_owned(), 1, 5));
        assert_eq!(of("use |"), ("use/".to_owned(), 1, 0));
        assert_eq!(of("|"), (String::new(), 0, 0));
    }

    proptest! {
        #[test]
        fn words_are_in_order_and_the_cursor_is_in_one(line in "[ a'\"\\\\é😀]{0,20}", at in 0usize..24) {
            let found = words(&line);
            let mut last = 0;
            for word in &found {
                prop_assert!(word.start >= last && word.end > word.start && line.is_char_boundary(word.end));
                last = word.end;
            }
            let at = (0..=at.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap();
            let parsed = parsed(&line, at);
            prop_assert!(parsed.word_cursor <= parsed.word().len());
        }

        #[test]
        fn what_is_quoted_is_read_back(text in "[ a'\"\\\\é]{0,12}") {
            prop_assert_eq!(texts(&quoted(&text)), [text]);
        }
    }
}
