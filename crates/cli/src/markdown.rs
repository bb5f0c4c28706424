//! Markdown as it streams in, for a terminal.
//!
//! Text in, text out: pieces of any length go in, and what can be decided comes out at once, word by word. Held back is
//! only what may still turn out otherwise: the beginning of a line, a mark that waits for its partner, a table.
//!
//! Every line of the source is a line here, wrapped to the width that is given with each piece, so a window that changes
//! its size is followed. Without colours all marks stay as they were written: they are then all there is.
//!
//! What always holds: no character of the source is lost but marks, and how it was cut into pieces does not show.

mod block;
mod inline;
mod table;
mod wrap;

use anstyle::Style;

use block::{Begun, Block};
use wrap::Wrap;

use crate::paint::{ASIDE, BAD, CODE, GOOD, PLAIN, Paint, push_printable};

/// How far code is indented.
const CODE_INDENT: &str = "  ";

/// A renderer of one reply.
#[derive(Debug)]
pub(crate) struct Markdown {
    paint: Paint,
    /// What of the line was not decided yet.
    held: String,
    /// What the line turned out to be, once its beginning was seen.
    line: Option<Line>,
    /// The mark that ends the code we are in.
    fence: Option<Fence>,
    /// The rows of the table that we are in.
    table: Vec<String>,
    wrap: Wrap,
    /// The last character that was read in this line.
    last: Option<char>,
    /// Whether the last line was empty, or there was none.
    blank: bool,
}

/// A line of which the beginning is out.
#[derive(Debug, Clone, Copy)]
enum Line {
    /// Words in this style.
    Words(Style),
    /// Code in this style, as it is.
    Code(Style),
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    /// Whether lines are coloured by their first character.
    diff: bool,
}

impl Markdown {
    pub(crate) fn new(paint: Paint) -> Self {
        Self {
            paint,
            held: String::new(),
            line: None,
            fence: None,
            table: Vec::new(),
            wrap: Wrap::default(),
            last: None,
            blank: true,
        }
    }

    /// Whether the cursor is in the middle of a line.
    pub(crate) fn in_line(&self) -> bool {
        self.wrap.column() > 0
    }

    /// Takes a piece, and gives what can be shown of it.
    pub(crate) fn push(&mut self, piece: &str, width: usize) -> String {
        let mut out = String::new();
        let mut rest = piece;
        while let Some((line, more)) = rest.split_once('\n') {
            self.held.push_str(line.strip_suffix('\r').unwrap_or(line));
            self.end_line(width, &mut out);
            rest = more;
        }
        self.held.push_str(rest);
        self.advance(false, width, &mut out);
        out
    }

    /// Gives what was held back, and ends the last line.
    pub(crate) fn finish(&mut self, width: usize) -> String {
        let mut out = String::new();
        if !self.held.is_empty() || self.line.is_some() {
            self.end_line(width, &mut out);
        }
        self.end_table(width, &mut out);
        self.fence = None;
        out
    }

    fn end_line(&mut self, width: usize, out: &mut String) {
        self.advance(true, width, out);
        if self.line.take().is_some() {
            self.wrap.end_line(width, out);
        }
        self.held.clear();
        self.last = None;
    }

    /// Reads what is held as far as it can be decided.
    fn advance(&mut self, complete: bool, width: usize, out: &mut String) {
        if self.line.is_none() {
            match self.fence {
                Some(fence) => self.begin_code(fence, complete, out),
                None => self.begin(complete, width, out),
            }
        }
        match self.line {
            Some(Line::Words(style)) => self.words(style, complete, width, out),
            Some(Line::Code(style)) => {
                let mut text = String::new();
                self.held.drain(..).for_each(|character| push_printable(&mut text, character));
                out.push_str(&self.paint.text(style, text.as_str()));
                self.wrap.moved(&text);
            }
            None => {}
        }
    }

    /// Looks what kind of line begins outside of code.
    fn begin(&mut self, complete: bool, width: usize, out: &mut String) {
        let Some((block, taken)) = block::begin(&self.held, complete) else { return };
        if let Block::Row = block {
            let row = std::mem::take(&mut self.held);
            // One that grows without end is shown as it is.
            if self.table.len() >= table::MAX_ROWS {
                self.end_table(width, out);
            }
            self.table.push(row);
            return;
        }
        self.end_table(width, out);
        let begun = Begun { mark: self.held[..taken].to_owned(), paint: self.paint, width };
        self.held.drain(..taken);
        match block {
            Block::Blank => {
                // Several empty lines are one, and none comes first.
                if !self.blank {
                    out.push('\n');
                }
                self.blank = true;
                return;
            }
            Block::Rule => {
                out.push_str(&begun.rule());
                out.push('\n');
                self.held.clear();
            }
            Block::Fence { mark, length, diff } => {
                self.fence = Some(Fence { mark, length, diff });
                if !self.paint.color {
                    out.push_str(&begun.as_written());
                    out.push('\n');
                }
            }
            Block::Heading { level } => {
                let style = begun.heading(level);
                self.wrap.begin(begun.heading_mark(), String::new(), out);
                self.line = Some(Line::Words(style));
            }
            Block::Item => {
                let (mark, hang) = begun.item();
                self.wrap.begin(mark, hang, out);
                self.line = Some(Line::Words(PLAIN));
            }
            Block::Quote => {
                let mark = begun.quote();
                self.wrap.begin(mark.clone(), mark.text, out);
                self.line = Some(Line::Words(if self.paint.color { ASIDE } else { PLAIN }));
            }
            Block::Text { indent } => {
                let hang = " ".repeat(indent);
                self.wrap.begin(wrap::Mark::plain(hang.clone()), hang, out);
                self.line = Some(Line::Words(PLAIN));
            }
            Block::Row => {}
        }
        self.blank = false;
    }

    /// Looks whether a line of code is one, or the end of the code.
    fn begin_code(&mut self, fence: Fence, complete: bool, out: &mut String) {
        let text = self.held.trim_start_matches(' ');
        let marks = text.chars().take_while(|character| *character == fence.mark).count();
        let rest_is_empty = text[marks * fence.mark.len_utf8()..].trim().is_empty();
        if rest_is_empty && !complete {
            // It may be the end, or the beginning of a line.
            return;
        }
        if rest_is_empty && marks >= fence.length {
            if !self.paint.color {
                out.push_str(&crate::paint::printable(&self.held));
                out.push('\n');
            }
            self.held.clear();
            self.fence = None;
            return;
        }
        let style = match (fence.diff, self.held.chars().next()) {
            (true, Some('+')) => GOOD,
            (true, Some('-')) => BAD,
            (true, Some(' ')) => PLAIN,
            _ => CODE,
        };
        self.wrap.begin(
            wrap::Mark::plain(if self.paint.color { CODE_INDENT } else { "" }.to_owned()),
            String::new(),
            out,
        );
        self.line = Some(Line::Code(style));
        self.blank = false;
    }

    fn words(&mut self, style: Style, complete: bool, width: usize, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        let mut spans = Vec::new();
        let read = match self.paint.color {
            true => inline::read(&held, complete, style, self.last, &mut spans),
            false => {
                spans.push(inline::Span { style: PLAIN, text: held.clone() });
                held.len()
            }
        };
        self.last = held[..read].chars().next_back().or(self.last);
        for span in &spans {
            self.wrap.text(&span.text, span.style, width, out);
        }
        self.held = held[read..].to_owned();
    }

    fn end_table(&mut self, width: usize, out: &mut String) {
        let rows = std::mem::take(&mut self.table);
        if !rows.is_empty() {
            table::render(&rows, self.paint, width, out);
            self.blank = false;
        }
    }
}

#[cfg(test)]
mod tests;
