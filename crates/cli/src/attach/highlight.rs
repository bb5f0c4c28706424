//! Colours of the line that is typed, as the server says.
//!
//! The editor draws at once with what is known and asks for the rest; when the answer comes, it draws again. What always
//! holds: what is drawn has the characters of the line and no others, whatever the server says.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_endermux_io::Client;
use loggia_endermux_io::terminal::harmless;
use nu_ansi_term::{Color, Style};
use reedline::{Highlighter, StyledText};
use tokio::sync::watch;

/// How many lines are remembered: those that were typed a moment ago.
const REMEMBERED: usize = 64;

/// Longer lines stay plain.
const MAX_LINE: usize = 8 * 1024;

type Pieces = Vec<(Style, String)>;

/// Where lines and their colours lie.
#[derive(Debug, Default)]
pub(super) struct Palette {
    wanted: watch::Sender<String>,
    known: Mutex<VecDeque<(String, Pieces)>>,
    /// What was drawn last, and where its cursor is.
    drawn: Mutex<(String, usize)>,
}

impl Palette {
    /// Asks, for as long as it is polled, and tells when there is something to draw. Only the newest line counts.
    pub(super) async fn serve(&self, client: watch::Receiver<Option<Client>>, draw: impl Fn()) {
        let mut wanted = self.wanted.subscribe();
        while wanted.changed().await.is_ok() {
            let line = wanted.borrow_and_update().clone();
            let Some(client) = client.borrow().clone() else { continue };
            // A server that does not colour leaves lines plain; so does one that takes too long.
            let Ok(text) = client.highlight(&line).await else { continue };
            let Some(pieces) = pieces(&text, &line) else { continue };
            let mut known = lock(&self.known);
            known.retain(|(other, _)| *other != line);
            known.push_front((line, pieces));
            known.truncate(REMEMBERED);
            drop(known);
            draw();
        }
    }

    /// Another server may see it otherwise.
    pub(super) fn forget(&self) {
        lock(&self.known).clear();
    }

    /// What was drawn last, and where its cursor is.
    pub(super) fn drawn(&self) -> (String, usize) {
        lock(&self.drawn).clone()
    }

    /// What is known of a line, and whether that is all of it.
    fn look_up(&self, line: &str) -> (Pieces, bool) {
        let known = lock(&self.known);
        let fits = known.iter().filter(|(other, _)| line.starts_with(other.as_str()));
        match fits.max_by_key(|(other, _)| other.len()) {
            None => (vec![(Style::new(), line.to_owned())], false),
            Some((other, pieces)) if other.len() == line.len() => (pieces.clone(), true),
            Some((other, pieces)) => {
                let mut pieces = pieces.clone();
                pieces.push((Style::new(), line[other.len()..].to_owned()));
                (pieces, false)
            }
        }
    }
}

/// The editor's side.
pub(super) struct Colors {
    pub(super) palette: Arc<Palette>,
    /// Without colours nobody is asked.
    pub(super) color: bool,
}

impl Highlighter for Colors {
    fn highlight(&self, line: &str, cursor: usize) -> StyledText {
        *lock(&self.palette.drawn) = (line.to_owned(), cursor);
        let mut text = StyledText::new();
        if !self.color || line.is_empty() || line.len() > MAX_LINE {
            text.push((Style::new(), line.to_owned()));
            return text;
        }
        let (pieces, all) = self.palette.look_up(line);
        if !all {
            self.palette.wanted.send_replace(line.to_owned());
        }
        text.buffer = pieces;
        text
    }
}

/// A coloured text as pieces; nothing if its characters are not those of the line.
fn pieces(text: &str, line: &str) -> Option<Pieces> {
    let text = harmless(text);
    let mut pieces = Pieces::new();
    let (mut style, mut rest) = (Style::new(), &*text);
    while !rest.is_empty() {
        let at = rest.find('\u{1b}').unwrap_or(rest.len());
        if at > 0 {
            pieces.push((style, rest[..at].to_owned()));
        }
        rest = &rest[at..];
        if let Some(sequence) = rest.strip_prefix("\u{1b}[") {
            let (parameters, after) = sequence.split_once('m')?;
            style = styled(style, parameters);
            rest = after;
        }
    }
    let same = pieces.iter().map(|(_, text)| text.as_str()).collect::<String>() == line;
    same.then_some(pieces)
}

/// A style with what a sequence changes in it.
fn styled(mut style: Style, parameters: &str) -> Style {
    let mut numbers = parameters.split([';', ':']).map(|number| number.parse::<u8>().unwrap_or(0));
    while let Some(number) = numbers.next() {
        match number {
            0 => style = Style::new(),
            1 => style.is_bold = true,
            2 => style.is_dimmed = true,
            3 => style.is_italic = true,
            4 => style.is_underline = true,
            7 => style.is_reverse = true,
            9 => style.is_strikethrough = true,
            22 => (style.is_bold, style.is_dimmed) = (false, false),
            30..=37 => style.foreground = Some(Color::Fixed(number - 30)),
            38 => style.foreground = extended(&mut numbers),
            39 => style.foreground = None,
            40..=47 => style.background = Some(Color::Fixed(number - 40)),
            48 => style.background = extended(&mut numbers),
            49 => style.background = None,
            90..=97 => style.foreground = Some(Color::Fixed(number - 90 + 8)),
            100..=107 => style.background = Some(Color::Fixed(number - 100 + 8)),
            _ => {}
        }
    }
    style
}

fn extended(numbers: &mut impl Iterator<Item = u8>) -> Option<Color> {
    match numbers.next()? {
        5 => numbers.next().map(Color::Fixed),
        2 => Some(Color::Rgb(numbers.next()?, numbers.next()?, numbers.next()?)),
        _ => None,
    }
}

/// What is locked is whole after every step, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[(Style, String)]) -> String {
        let show = |(style, text): &(Style, String)| match style {
            style if *style == Style::new() => text.clone(),
            Style { foreground: Some(color), is_bold, .. } => {
                format!("<{color:?}{}>{text}", if *is_bold { " bold" } else { "" })
            }
            _ => format!("<?>{text}"),
        };
        pieces.iter().map(show).collect()
    }

    #[test]
    fn colours_are_read_and_the_characters_stay() {
        let text = "say \u{1b}[36mal\u{1b}[1;38;5;200mex\u{1b}[0m é\u{1b}[38;2;1;2;3m!";
        let read = pieces(text, "say alex é!").unwrap();
        assert_eq!(shown(&read), "say <Fixed(6)>al<Fixed(200) bold>ex é<Rgb(1, 2, 3)>!");
        assert_eq!(shown(&pieces("\u{1b}[91mx", "x").unwrap()), "<Fixed(9)>x");
    }

    #[test]
    fn other_characters_than_the_lines_are_not_drawn() {
        assert!(pieces("say more", "say").is_none());
        assert!(pieces("say\u{1b}[2J", "say").is_some(), "what drives the terminal is gone, the rest fits");
        assert!(pieces("", "say").is_none());
    }

    #[test]
    fn while_the_answer_is_awaited_the_longest_known_beginning_is_drawn() {
        let palette = Arc::new(Palette::default());
        for known in ["s", "say"] {
            let line = pieces(&format!("\u{1b}[3{}m{known}", known.len()), known).unwrap();
            lock(&palette.known).push_front((known.to_owned(), line));
        }
        let colors = Colors { palette: Arc::clone(&palette), color: true };
        let mut wanted = palette.wanted.subscribe();
        wanted.mark_unchanged();
        assert_eq!(shown(&colors.highlight("say hi", 6).buffer), "<Fixed(3)>say hi");
        assert!(wanted.has_changed().unwrap());
        assert_eq!(*wanted.borrow_and_update(), "say hi");
        assert_eq!(shown(&colors.highlight("say", 3).buffer), "<Fixed(3)>say");
        assert!(!wanted.has_changed().unwrap(), "it is known");
        assert_eq!(palette.drawn(), ("say".to_owned(), 3));
    }
}
