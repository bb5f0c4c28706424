//! `help`: the table as text.

use super::Answer;
use crate::paint::{Painted, Style, brief};
use crate::read::nearest;
use crate::table::{COMMANDS, Command};
use crate::voice::{Refused, Status};

/// All commands, or those whose names begin with a word.
pub(super) fn help(word: Option<&str>) -> Answer {
    let Some(word) = word else { return Ok(all()) };
    let word = word.trim_start_matches('/');
    let found: Vec<_> =
        COMMANDS.iter().filter(|command| command.name[0] == word || command.typed() == word).collect();
    if found.is_empty() {
        let what = format!("there is no command `{}`", brief(word, 40));
        let near = nearest(&brief(word, 40), COMMANDS.iter().map(|command| command.name[0]));
        let hint =
            near.map_or("`help` lists the commands".to_owned(), |near| format!("did you mean `{near}`?"));
        return Err(Refused::new(Status::Usage, what).hint(hint));
    }
    let mut text = Painted::new();
    for command in found {
        text.append(Painted::of(Style::Aside, "usage: ").with(Style::Subject, command.usage()).line());
        text.append(Painted::new().plain(command.help).line());
        if !command.more.is_empty() {
            text.append(Painted::new().plain(command.more).line());
        }
    }
    Ok(text)
}

fn all() -> Painted {
    let widest = COMMANDS.iter().map(|command| command.usage().chars().count()).max().unwrap_or(0);
    let mut text = Painted::new();
    let line = |command: &Command| {
        let usage = command.usage();
        let gap = " ".repeat(widest - usage.chars().count() + 2);
        Painted::of(Style::Subject, usage).plain(gap).with(Style::Aside, command.help).line()
    };
    COMMANDS.iter().for_each(|command| text.append(line(command)));
    text
}

#[cfg(test)]
mod tests {
    use loggia_protocol_endermux::ColorLevel;

    use super::*;

    fn text(word: Option<&str>) -> String {
        match help(word) {
            Ok(text) => text.render(ColorLevel::None),
            Err(refused) => format!("{}: {}", refused.what, refused.hint),
        }
    }

    #[test]
    fn every_command_has_a_line() {
        let text = text(None);
        assert_eq!(text.lines().count(), COMMANDS.len());
        assert!(
            text.starts_with("help [COMMAND]                show the commands, or what one of them does\n"),
            "{text}"
        );
        assert!(text.contains("\napprove QUESTION [--hunk N…]  answer a question with yes"), "{text}");
    }

    #[test]
    fn one_command_is_told_in_full() {
        assert_eq!(text(Some("cancel")), "usage: cancel\nend the turn of the session in use\n");
        assert!(text(Some("log")).starts_with("usage: log level [LEVEL]\n"));
        assert_eq!(text(Some("log level")), text(Some("/log")));
        assert_eq!(text(Some("canel")), "there is no command `canel`: did you mean `cancel`?");
    }
}
