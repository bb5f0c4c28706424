//! Words into lines.
//!
//! Knows columns and styles, no marks. A word is written when it is complete; a style lasts over words and is taken off at
//! the end of every line.

use anstyle::Style;

use crate::paint::{PLAIN, push_printable, width_of, width_of_char};

/// The longest word that is held back; a longer one is written in parts, and the terminal folds it.
const MAX_WORD_COLUMNS: usize = 160;

/// What a line begins with.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    /// With its style.
    pub(super) text: String,
    pub(super) columns: usize,
}

impl Mark {
    pub(super) fn plain(text: String) -> Self {
        Self { columns: width_of(&text), text }
    }
}

/// Where the cursor is and what waits to be written.
#[derive(Debug, Default)]
pub(super) struct Wrap {
    column: usize,
    /// What further lines begin with.
    hang: String,
    hang_columns: usize,
    /// The word so far, in pieces of one style.
    word: Vec<(Style, String)>,
    word_columns: usize,
    /// Spaces before it.
    spaces: usize,
    /// The style that is on.
    style: Style,
}

impl Wrap {
    /// Where the cursor is.
    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// Begins a line.
    pub(super) fn begin(&mut self, mark: Mark, hang: String, out: &mut String) {
        out.push_str(&mark.text);
        self.column = mark.columns;
        self.hang_columns = mark.columns.min(if hang.is_empty() { 0 } else { mark.columns });
        self.hang = hang;
        self.spaces = 0;
    }

    /// Something was written without wrapping.
    pub(super) fn moved(&mut self, text: &str) {
        self.column += width_of(text);
    }

    /// Takes text in a style.
    pub(super) fn text(&mut self, text: &str, style: Style, width: usize, out: &mut String) {
        for character in text.chars() {
            if character == ' ' || character == '\t' {
                self.write_word(width, out);
                self.spaces += 1;
                continue;
            }
            let columns = width_of_char(character);
            // Writing without spaces may be parted between any two of its characters.
            if columns > 1 || self.word_columns >= MAX_WORD_COLUMNS {
                self.write_word(width, out);
            }
            self.grow(character, style, columns);
            if columns > 1 {
                self.write_word(width, out);
            }
        }
    }

    /// Writes what waits and ends the line.
    pub(super) fn end_line(&mut self, width: usize, out: &mut String) {
        self.write_word(width, out);
        self.switch(PLAIN, out);
        out.push('\n');
        self.column = 0;
        self.spaces = 0;
    }

    fn grow(&mut self, character: char, style: Style, columns: usize) {
        if self.word.last().is_none_or(|(last, _)| *last != style) {
            self.word.push((style, String::new()));
        }
        if let Some((_, text)) = self.word.last_mut() {
            let before = text.len();
            push_printable(text, character);
            // What had to be spelt out is wider.
            self.word_columns +=
                if text.len() - before > character.len_utf8() { width_of(&text[before..]) } else { columns };
        }
    }

    fn write_word(&mut self, width: usize, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let fits = self.column + self.spaces + self.word_columns <= width;
        if !fits && self.column > self.hang_columns {
            self.switch(PLAIN, out);
            out.push('\n');
            out.push_str(&self.hang);
            self.column = self.hang_columns;
        } else {
            let first = self.word[0].0;
            if self.style != first {
                self.switch(PLAIN, out);
            }
            out.extend(std::iter::repeat_n(' ', self.spaces));
            self.column += self.spaces;
        }
        self.spaces = 0;
        for (style, text) in std::mem::take(&mut self.word) {
            self.switch(style, out);
            out.push_str(&text);
        }
        self.column += std::mem::take(&mut self.word_columns);
    }

    fn switch(&mut self, style: Style, out: &mut String) {
        if self.style == style {
            return;
        }
        out.push_str(&format!("{:#}{}", self.style, style));
        self.style = style;
    }
}
