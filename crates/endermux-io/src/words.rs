//! A line cut into words, with a cursor in one of them.
//!
//! Invariant: whatever the line and the cursor, the cursor lies inside the current word or at one of its ends; existing
//! clients fail otherwise.

use loggia_protocol_endermux::{ParseResponse, cursor};

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

    /// Reads what a server says. The word it names is the current one, wherever it stands among the others.
    pub(crate) fn read(response: ParseResponse) -> Self {
        let word_cursor = cursor::byte_offset(&response.word, response.word_cursor);
        let (mut words, word) = (response.words, response.word);
        let named =
            usize::try_from(response.word_index).ok().filter(|index| words.get(*index) == Some(&word));
        let index = named.unwrap_or_else(|| {
            words.push(word);
            words.len() - 1
        });
        Self { words, index, word_cursor }
    }

    /// The message that tells a client. `on_wire` is the cursor as the client counted it, which it gets back.
    pub(crate) fn response(self, line: String, on_wire: i32) -> ParseResponse {
        let word = self.word().to_owned();
        let word_cursor = cursor::utf16_cursor(&word, self.word_cursor);
        let word_index = i32::try_from(self.index).unwrap_or(i32::MAX);
        ParseResponse { word, word_cursor, word_index, words: self.words, line, cursor: on_wire }
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
