//! Lines folded between words, for what is written around the answer.
//!
//! Knows styles only as something that takes no room. Refuses to fold what has its own lines, as diffs and the output
//! of commands have: nobody calls it for them.

use crate::paint::width_of_char;

/// How far the further lines of a line with a mark are set in: the mark and its space.
const MARK_COLUMNS: usize = 2;

/// Text whose lines are at most so wide, if its words are. Further lines begin under the first word after the mark, or
/// under the line's own first word if it is set in.
pub(crate) fn fold(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        fold_line(line, width, &mut folded);
    }
    folded
}

fn fold_line(line: &str, width: usize, out: &mut String) {
    let hang = hang(line);
    let mut fold = Fold { out, width, hang, column: 0, spaces: 0, word: String::new(), word_columns: 0 };
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        match character {
            ' ' => {
                fold.write_word();
                fold.spaces += 1;
            }
            '\u{1b}' => {
                fold.word.push(character);
                for part in rest.by_ref() {
                    fold.word.push(part);
                    if part.is_ascii_alphabetic() {
                        break;
                    }
                }
            }
            character => {
                fold.word.push(character);
                fold.word_columns += width_of_char(character);
            }
        }
    }
    fold.write_word();
}

struct Fold<'o> {
    out: &'o mut String,
    width: usize,
    hang: usize,
    column: usize,
    /// Spaces before the word.
    spaces: usize,
    word: String,
    word_columns: usize,
}

impl Fold<'_> {
    fn write_word(&mut self) {
        let begins_line = self.column <= self.hang;
        if self.word_columns > 0 && !begins_line && self.column + self.spaces + self.word_columns > self.width
        {
            self.out.push('\n');
            self.column = self.hang;
            self.spaces = self.hang;
        } else if !self.word.is_empty() {
            self.column += self.spaces;
        }
        if self.word.is_empty() {
            return;
        }
        self.out.extend(std::iter::repeat_n(' ', std::mem::take(&mut self.spaces)));
        self.out.push_str(&self.word);
        self.column += std::mem::take(&mut self.word_columns);
        self.word.clear();
    }
}

/// How far further lines are set in.
fn hang(line: &str) -> usize {
    let mut plain = Plain(line.chars());
    match (plain.next(), plain.next()) {
        (Some(' '), Some(' ')) => 2 + plain.take_while(|character| *character == ' ').count(),
        (Some(' '), _) => 1,
        (Some(mark), Some(' ')) if !mark.is_alphanumeric() => MARK_COLUMNS,
        _ => 0,
    }
}

/// The characters of a line without its styles.
struct Plain<'t>(std::str::Chars<'t>);

impl Iterator for Plain<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            match self.0.next()? {
                '\u{1b}' => while self.0.next().is_some_and(|part| !part.is_ascii_alphabetic()) {},
                character => return Some(character),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_between_words() {
        assert_eq!(fold("one two three\nfour\n", 8), "one two\nthree\nfour\n");
        assert_eq!(fold("one two", 7), "one two");
        assert_eq!(fold("! one two three", 9), "! one two\n  three");
        assert_eq!(fold("    one two three", 11), "    one two\n    three");
        assert_eq!(fold("a  b", 20), "a  b");
        assert_eq!(fold("1 file changed", 8), "1 file\nchanged");
    }

    #[test]
    fn a_word_that_is_too_long_stays_whole() {
        assert_eq!(fold("at https://example.org/very/long ok", 10), "at\nhttps://example.org/very/long\nok");
        assert_eq!(fold("漢字 漢字", 6), "漢字\n漢字");
    }

    #[test]
    fn styles_take_no_room() {
        let (on, off) = ("\u{1b}[1m", "\u{1b}[0m");
        assert_eq!(
            fold(&format!("{on}?{off} {on}one two{off} three"), 9),
            format!("{on}?{off} {on}one two{off}\n  three")
        );
        assert_eq!(fold(&format!("{on}one two three{off}\n"), 8), format!("{on}one two\nthree{off}\n"));
    }
}
