//! A line cut into words, with a cursor in one of them.
//!
//! Invariant: whatever the line and the cursor, the cursor lies inside the current word or at one of its ends; existing
//! clients fail otherwise.

use loggia_protocol_endermux::{ParseResponse, cursor};

/// What a server made of a line: the words around the cursor, and what to ask completions for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The words of the line as it was typed.
    pub parsed: Parsed,
    /// The line as the server wants to be asked about it; most give back what they got.
    pub line: String,
    /// The place in it, as a byte offset.
    pub at: usize,
}

/// A line cut into words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The words, in order. The current one is among them, even if it is empty.
    pub words: Vec<String>,
    /// Which word the cursor is in.
    pub index: usize,
    /// Where in that word, as a byte offset.
    pub word_cursor: usize,
}

impl Parsed {
    /// Words are what white space leaves; a cursor that touches none is in an empty word of its own.
    pub fn by_spaces(line: &str, at: usize) -> Self {
        let mut words = Vec::new();
        let mut current = None;
        let mut insert_at = 0;
        for (start, word) in pieces(line) {
            let end = start + word.len();
            if current.is_none() && (start..=end).contains(&at) {
                current = Some((words.len(), at - start));
            }
            if end < at {
                insert_at = words.len() + 1;
            }
            words.push(word.to_owned());
        }
        let (index, word_cursor) = current.unwrap_or_else(|| {
            words.insert(insert_at, String::new());
            (insert_at, 0)
        });
        Self { words, index, word_cursor }
    }

    /// The current word.
    pub fn word(&self) -> &str {
        self.words.get(self.index).map_or("", String::as_str)
    }

    /// The message that tells a client. `on_wire` is the cursor as the client counted it, which it gets back.
    pub(crate) fn response(self, line: String, on_wire: i32) -> ParseResponse {
        let word = self.word().to_owned();
        let word_cursor = cursor::utf16_cursor(&word, self.word_cursor);
        let word_index = i32::try_from(self.index).unwrap_or(i32::MAX);
        ParseResponse { word, word_cursor, word_index, words: self.words, line, cursor: on_wire }
    }
}

impl Reading {
    /// Without a server that reads lines: cut at white space, and asked about as it is.
    pub fn by_spaces(line: &str, at: usize) -> Self {
        Self { parsed: Parsed::by_spaces(line, at), line: line.to_owned(), at }
    }

    /// Reads what a server says. The word it names is the current one, wherever it stands among the others.
    pub(crate) fn of(response: ParseResponse) -> Self {
        let word_cursor = cursor::byte_offset(&response.word, response.word_cursor);
        let (mut words, word) = (response.words, response.word);
        let named =
            usize::try_from(response.word_index).ok().filter(|index| words.get(*index) == Some(&word));
        let index = named.unwrap_or_else(|| {
            words.push(word);
            words.len() - 1
        });
        let at = cursor::byte_offset(&response.line, response.cursor);
        Self { parsed: Parsed { words, index, word_cursor }, line: response.line, at }
    }
}

fn pieces(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let start_of = move |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
    line.split_whitespace().map(move |word| (start_of(word), word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The words with the current one in brackets and the cursor as a bar; the cursor's place is given as a bar, too.
    fn parsed(text: &str) -> String {
        let at = text.find('|').unwrap();
        let parsed = Parsed::by_spaces(&text.replace('|', ""), at);
        let show = |(index, word): (usize, &String)| {
            if index != parsed.index {
                return word.clone();
            }
            let (before, after) = word.split_at(parsed.word_cursor);
            format!("[{before}|{after}]")
        };
        parsed.words.iter().enumerate().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_current_word_is_the_one_the_cursor_touches() {
        assert_eq!(parsed("|"), "[|]");
        assert_eq!(parsed("say he|llo you"), "say [he|llo] you");
        assert_eq!(parsed("say| hello"), "[say|] hello");
        assert_eq!(parsed("say |hello"), "say [|hello]");
        assert_eq!(parsed("say |"), "say [|]");
        assert_eq!(parsed("say  |  hello"), "say [|] hello");
        assert_eq!(parsed("|  say"), "[|] say");
        assert_eq!(parsed("sag 😀é|"), "sag [😀é|]");
    }

    #[test]
    fn the_answer_counts_utf16_units_and_gives_the_cursor_back() {
        let answer = Parsed::by_spaces("say 😀é", 8).response("say 😀é".to_owned(), 5);
        assert_eq!((answer.word.as_str(), answer.word_cursor, answer.cursor), ("😀é", 2, 5));
        assert_eq!((answer.word_index, answer.words.len()), (1, 2));
    }

    #[test]
    fn what_a_server_made_of_the_line_is_what_is_asked_about() {
        let response = ParseResponse {
            word: "😀b".to_owned(),
            word_cursor: 3,
            word_index: 7,
            words: vec!["say".to_owned()],
            line: "/say 😀b".to_owned(),
            cursor: 8,
        };
        let reading = Reading::of(response.clone());
        assert_eq!((reading.line.as_str(), reading.at), ("/say 😀b", "/say 😀b".len()));
        assert_eq!((reading.parsed.word(), reading.parsed.word_cursor), ("😀b", "😀b".len()));
        // A place that is not there is the nearest that is.
        let beyond = Reading::of(ParseResponse { cursor: 99, ..response.clone() });
        assert_eq!(beyond.at, beyond.line.len());
        assert_eq!(Reading::of(ParseResponse { cursor: -1, ..response }).at, 0);
    }

    proptest! {
        #[test]
        fn the_cursor_is_always_inside_the_current_word(line in "[ a-zé😀\t]{0,20}", cursor_on_wire in -3i32..30) {
            let at = cursor::byte_offset(&line, cursor_on_wire);
            let parsed = Parsed::by_spaces(&line, at);
            prop_assert!(parsed.word().is_char_boundary(parsed.word_cursor));
            prop_assert!(parsed.index < parsed.words.len());
        }
    }
}
