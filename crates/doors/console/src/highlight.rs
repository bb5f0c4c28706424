//! A line in colours while it is typed, by the table.
//!
//! Invariant: without its escape sequences the result is the line, character by character.

use loggia_protocol_endermux::ColorLevel;

use crate::paint::{Style, paint_exactly};
use crate::table::{self, COMMANDS, Kind, Need};
use crate::words::{Word, words};

/// The line for a terminal with these colours.
pub(crate) fn highlight(line: &str, level: ColorLevel) -> String {
    // What would drive a terminal is left as it is: it is the terminal's own.
    if level == ColorLevel::None || line.chars().any(|c| c.is_control() && c != '\n') {
        return line.to_owned();
    }
    let words = words(line);
    let mut pieces = Vec::new();
    let mut at = 0;
    for (word, style) in words.iter().zip(styles(&words)) {
        pieces.push((Style::Plain, &line[at..word.start]));
        pieces.push((style, &line[word.start..word.end]));
        at = word.end;
    }
    pieces.push((Style::Plain, &line[at..]));
    paint_exactly(&pieces, level)
}

fn styles(words: &[Word]) -> Vec<Style> {
    let texts = words.iter().map(|word| word.text.as_str());
    // A name that is not complete yet is not wrong yet.
    let begins = |command: &table::Command| {
        let parts = command.name.iter().zip(words);
        words.len() <= command.name.len()
            && parts.enumerate().all(|(place, (part, word))| {
                let word = if place == 0 { word.text.trim_start_matches('/') } else { word.text.as_str() };
                if place + 1 == words.len() { part.starts_with(word) } else { *part == word }
            })
    };
    let Some((command, taken)) = table::find(texts) else {
        let style = if COMMANDS.iter().any(begins) { Style::Plain } else { Style::Bad };
        return vec![style; words.len()];
    };
    let mut styles = vec![Style::Subject; taken];
    if words.len() > taken && COMMANDS.iter().any(begins) {
        styles.resize(words.len(), Style::Plain);
        return styles;
    }
    for (place, word) in words[taken..].iter().enumerate() {
        let argument = command.arguments.get(place).or(command.arguments.last());
        let beyond = place >= command.arguments.len();
        styles.push(match argument.map(|argument| (argument.need, argument.kind)) {
            Some((Need::Rest | Need::MaybeRest, _)) => Style::Plain,
            Some((Need::Flag, _)) if word.text.starts_with("--") => Style::Subject,
            Some((Need::Flag, _)) => number(&word.text),
            None => Style::Bad,
            Some(_) if beyond => Style::Bad,
            Some((_, Kind::Number)) => number(&word.text),
            Some((
                _,
                Kind::SessionOrNew
                | Kind::Question
                | Kind::Task
                | Kind::Plugin
                | Kind::Extension
                | Kind::Dialog
                | Kind::Window,
            )) => Style::Name,
            Some(_) => Style::Value,
        });
    }
    styles
}

fn number(text: &str) -> Style {
    let is_number = text.split(',').all(|number| number.parse::<usize>().is_ok_and(|number| number > 0));
    if is_number { Style::Value } else { Style::Bad }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The line with its styles in brackets.
    fn shown(line: &str) -> String {
        let mut shown = highlight(line, ColorLevel::Indexed16).replace("\u{1b}[0m", ")");
        for (code, mark) in [("1", "*("), ("36", "name("), ("95", "value("), ("91", "bad(")] {
            shown = shown.replace(&format!("\u{1b}[{code}m"), mark);
        }
        shown
    }

    #[test]
    fn words_are_coloured_by_what_they_are() {
        assert_eq!(shown("use 4f2a9c"), "*(use) name(4f2a9c)");
        assert_eq!(shown("approve  x --hunk 1 z"), "*(approve)  name(x) *(--hunk) value(1) bad(z)");
        assert_eq!(shown("log level debug"), "*(log) *(level) value(debug)");
        assert_eq!(shown("task finish ab merge"), "*(task) *(finish) name(ab) value(merge)");
        assert_eq!(shown("task note ab mind it"), "*(task) *(note) name(ab) mind it");
        assert_eq!(shown("plugin enable x y"), "*(plugin) *(enable) name(x) bad(y)");
        assert_eq!(shown("index build"), "*(index) *(build)");
        assert_eq!((shown("index bu"), shown("index x")), ("*(index) bu".into(), "*(index) bad(x)".into()));
        assert_eq!(shown("ask why use this?"), "*(ask) why use this?");
        assert_eq!(shown("cancel now"), "*(cancel) bad(now)");
        assert_eq!(shown("undo x"), "*(undo) bad(x)");
        assert_eq!(shown("xyz a"), "bad(xyz) bad(a)");
        assert_eq!(
            (shown("sess"), shown("log"), shown("log le")),
            ("sess".into(), "log".into(), "log le".into())
        );
    }

    #[test]
    fn without_colours_the_line_stays_as_it_is() {
        assert_eq!(highlight("use x", ColorLevel::None), "use x");
        assert_eq!(highlight("use \u{1b}[2J", ColorLevel::TrueColor), "use \u{1b}[2J");
    }

    proptest! {
        #[test]
        fn only_colours_are_added(line in "(use|approve|ask|log level)?[ a-z'\"\\\\é😀-]{0,20}") {
            let shown = highlight(&line, ColorLevel::TrueColor);
            prop_assert_eq!(crate::paint::clean(&shown).into_owned(), line);
        }
    }
}
