//! Lines that are logged together: those that came with one read.

use std::borrow::Cow;
use std::sync::Arc;

use loggia_endermux_io::Log;
use loggia_protocol_endermux::ColorLevel;

use crate::level::Level;

/// Some lines; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Chunk(Arc<[Line]>);

#[derive(Debug)]
struct Line {
    text: String,
    level: Level,
    /// Where what tells the level ends.
    marked: usize,
}

impl Chunk {
    /// A program's lines; those that do not say how important they are get this level.
    pub(crate) fn of_program(lines: Vec<String>, usual: Level) -> Self {
        Self(lines.into_iter().map(|text| Line::new(text, usual)).collect())
    }

    /// A line of our own.
    pub(crate) fn own(level: Level, text: &str) -> Self {
        Self::of_program(vec![text.to_owned()], level)
    }
}

impl Line {
    fn new(text: String, usual: Level) -> Self {
        match Level::at_start_of(&text) {
            Some((level, marked)) => Self { text, level, marked },
            None if usual == Level::Info => Self { text, level: usual, marked: 0 },
            None => {
                let mark = format!("[{}]:", usual.name());
                Self { marked: mark.len(), text: format!("{mark} {text}"), level: usual }
            }
        }
    }

    fn add_to(&self, out: &mut String, colours: ColorLevel) {
        let (mark, rest) = self.text.split_at(self.marked);
        if colours == ColorLevel::None {
            out.push_str(&plain(mark));
            out.push_str(&plain(rest));
        } else {
            // As servers do that speak this protocol: only what is worth a look has a colour.
            let colour = match self.level {
                Level::Info => None,
                Level::Warn => Some("\u{1b}[33;1m"),
                Level::Error => Some("\u{1b}[31;1m"),
            };
            match colour.filter(|_| !mark.contains('\u{1b}')) {
                Some(colour) => out.extend([colour, mark, "\u{1b}[m"]),
                None => out.push_str(mark),
            }
            out.push_str(rest);
            if rest.contains('\u{1b}') {
                // A colour that was left on is not for the next line, which may be somebody else's.
                out.push_str("\u{1b}[m");
            }
        }
        out.push('\n');
    }
}

impl Log for Chunk {
    fn text(&self, colours: ColorLevel) -> Cow<'_, str> {
        let mut out = String::with_capacity(self.weight());
        for line in self.0.iter() {
            line.add_to(&mut out, colours);
        }
        Cow::Owned(out)
    }

    fn weight(&self) -> usize {
        self.0.iter().map(|line| line.text.len() + 1).sum()
    }
}

/// The text without colours. There are no other escape sequences in it.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\u{1b}');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, usual: Level, colours: ColorLevel) -> String {
        Chunk::of_program(vec![line.to_owned()], usual).text(colours).replace('\u{1b}', "␛")
    }

    #[test]
    fn what_is_worth_a_look_is_coloured_where_there_are_colours() {
        let line = "[12:00:00 WARN]: slow";
        assert_eq!(shown(line, Level::Info, ColorLevel::Indexed16), "␛[33;1m[12:00:00 WARN]:␛[m slow\n");
        assert_eq!(shown(line, Level::Info, ColorLevel::None), "[12:00:00 WARN]: slow\n");
        assert_eq!(shown("[x/INFO]: hi", Level::Error, ColorLevel::TrueColor), "[x/INFO]: hi\n");
    }

    #[test]
    fn a_line_without_a_level_gets_that_of_its_stream() {
        assert_eq!(shown("oops", Level::Error, ColorLevel::None), "[ERROR]: oops\n");
        assert_eq!(shown("oops", Level::Warn, ColorLevel::Indexed8), "␛[33;1m[WARN]:␛[m oops\n");
        assert_eq!(shown("fine", Level::Info, ColorLevel::Indexed8), "fine\n");
    }

    #[test]
    fn colours_of_the_program_end_with_their_line_and_go_where_there_are_none() {
        let line = "\u{1b}[31mred";
        assert_eq!(shown(line, Level::Info, ColorLevel::Indexed8), "␛[31mred␛[m\n");
        assert_eq!(shown("a\u{1b}[31mred\u{1b}[m b", Level::Info, ColorLevel::None), "ared b\n");
    }
}
