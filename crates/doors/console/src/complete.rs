//! How a half-typed line could go on, by the table.
//!
//! What is wanted at a place is found without asking anybody; what there is of it is looked up then.

use loggia_protocol_endermux::CandidateInfo;

use crate::door::Inner;
use crate::facts;
use crate::guest::Guest;
use crate::ids::{self, short};
use crate::log::LEVELS;
use crate::paint::{brief, clean};
use crate::table::{self, COMMANDS, Kind, Need};
use crate::words::{Word, quoted, words};

/// Candidates that are given; more are no help.
const MOST: usize = 100;

/// How much is said about a candidate.
const BRIEF: usize = 60;

/// The ways to end a task, and what each of them does.
pub(crate) const ENDINGS: [(&str, &str); 4] = [
    ("keep", "leave the work on its branch"),
    ("merge", "merge it into the branch it came from"),
    ("squash", "the same, as one commit"),
    ("propose", "propose it to where the task came from; that sends it away"),
];

/// What is wanted at a place of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The next word of a command's name, after those.
    Name(Vec<String>),
    /// A value.
    Value(Kind),
    /// A flag of this name.
    Flag(&'static str),
    /// Nothing that could be listed.
    Nothing,
}

/// What is wanted where the cursor is, and what of it is typed.
pub(crate) fn wanted(line: &str, at: usize) -> (Wanted, String) {
    let before: Vec<Word> = words(&line[..at]);
    let (done, typed) = match before.split_last() {
        Some((last, done)) if last.end == at => (done, last.text.clone()),
        _ => (before.as_slice(), String::new()),
    };
    let texts: Vec<&str> = done.iter().map(|word| word.text.as_str()).collect();
    let Some((command, taken)) = table::find(texts.iter().copied()) else {
        return (Wanted::Name(texts.iter().map(|text| (*text).to_owned()).collect()), typed);
    };
    let given = &texts[taken..];
    if given.is_empty() && table::longer(&texts).next().is_some() {
        return (Wanted::Name(texts.iter().map(|text| (*text).to_owned()).collect()), typed);
    }
    let last = command.arguments.last();
    let argument = command.arguments.get(given.len()).or(last.filter(|last| last.need == Need::Flag));
    let wanted = match argument {
        None => Wanted::Nothing,
        Some(argument) => match argument.need {
            Need::Flag => Wanted::Flag(argument.name),
            Need::One | Need::Maybe => Wanted::Value(argument.kind),
            Need::Rest | Need::MaybeRest => Wanted::Nothing,
        },
    };
    (wanted, typed)
}

/// How the line could go on.
pub(crate) async fn complete(door: &Inner, guest: &Guest, line: &str, at: usize) -> Vec<CandidateInfo> {
    let (wanted, typed) = wanted(line, at);
    let mut found = match wanted {
        Wanted::Nothing => Vec::new(),
        Wanted::Name(before) => names(&before, &typed),
        Wanted::Flag(name) => plain(&typed, [(name, "only these hunks")]),
        Wanted::Value(kind) => values(door, guest, kind, &typed).await,
    };
    found.truncate(MOST);
    found
}

async fn values(door: &Inner, guest: &Guest, kind: Kind, typed: &str) -> Vec<CandidateInfo> {
    match kind {
        Kind::Command => names(&[], typed),
        Kind::Level => plain(typed, LEVELS.iter().map(|(word, _)| (*word, ""))),
        Kind::SessionOrNew => {
            let sessions = door.latest(MOST).await.unwrap_or_default();
            let mut found = plain(typed, [("new", "begin a session")]);
            found.extend(sessions.iter().filter_map(|session| {
                let title = session.title.as_deref().unwrap_or("without a title");
                id_candidate(&session.id, typed, title)
            }));
            found
        }
        Kind::Question => {
            let waiting = door.board.waiting();
            waiting.iter().filter_map(|(id, _, about)| id_candidate(id, typed, about)).collect()
        }
        Kind::Model => {
            let names = door.model_names().await;
            plain(typed, names.iter().map(|name| (name.as_str(), "")))
        }
        Kind::Task => {
            let mut views = door.parts.engine.tasks().list(None).await.unwrap_or_default();
            views.retain(|view| !view.task.phase.is_over());
            let names: Vec<String> = views.iter().map(|view| view.id.to_string()).collect();
            let titles = views.iter().map(|view| view.task.start.item.title.as_str());
            plain(typed, names.iter().map(String::as_str).zip(titles))
        }
        Kind::Plugin => {
            let names = door.plugin_names(guest).await;
            plain(typed, names.iter().map(|name| (name.as_str(), "")))
        }
        Kind::Extension => {
            let names = door.extension_names(guest).await;
            plain(typed, names.iter().map(|name| (name.as_str(), "")))
        }
        Kind::Dialog => {
            let (dialogs, _) = door.parts.engine.dialogs().open();
            dialogs.iter().filter_map(|open| id_candidate(&open.id, typed, &open.guest)).collect()
        }
        Kind::Window => {
            let (_, windows) = door.parts.engine.dialogs().open();
            windows.iter().filter_map(|open| id_candidate(&open.id, typed, &open.title)).collect()
        }
        Kind::Format => plain(typed, [("hl7", ""), ("json", ""), ("yaml", ""), ("toml", "")]),
        Kind::Ending => plain(typed, ENDINGS),
        Kind::Directory => {
            let found = facts::directories(guest, typed).await;
            found.into_iter().map(|path| candidate(quoted(&path), path, "")).collect()
        }
        Kind::Number | Kind::Text => Vec::new(),
    }
}

/// The words a command's name could go on with.
fn names(before: &[String], typed: &str) -> Vec<CandidateInfo> {
    let (slash, typed) = match typed.strip_prefix('/') {
        Some(rest) if before.is_empty() => ("/", rest),
        _ => ("", typed),
    };
    let first =
        |place: usize, word: &str| if place == 0 { word.trim_start_matches('/') == word } else { true };
    let fits = COMMANDS.iter().filter_map(|command| {
        let begins = command.name.iter().zip(before).enumerate().all(|(place, (part, word))| {
            *part == if first(place, word) { word.as_str() } else { word.trim_start_matches('/') }
        });
        let word = command.name.get(before.len()).filter(|word| begins && word.starts_with(typed))?;
        Some((*word, command.help))
    });
    let mut next: Vec<(&str, String)> = Vec::new();
    for (word, help) in fits {
        // Commands whose names begin alike stand side by side.
        match next.last_mut().filter(|(last, _)| *last == word) {
            Some((_, about)) => *about = format!("`help {word}` lists these commands"),
            None => next.push((word, help.to_owned())),
        }
    }
    let word =
        |(word, about): (&str, String)| candidate(format!("{slash}{word}"), format!("{slash}{word}"), &about);
    next.into_iter().map(word).collect()
}

fn plain<'a>(typed: &str, known: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<CandidateInfo> {
    let fits = known.into_iter().filter(|(word, _)| word.starts_with(typed));
    fits.map(|(word, about)| candidate(quoted(word), word.to_owned(), about)).collect()
}

/// An id in the form that was begun: its end, or the whole.
fn id_candidate(id: &impl ToString, typed: &str, about: &str) -> Option<CandidateInfo> {
    let end = short(id);
    if end.starts_with(typed) {
        return Some(candidate(end.clone(), end, about));
    }
    let whole = id.to_string();
    ids::is_meant(&whole, typed).then(|| candidate(whole.clone(), whole, about))
}

fn candidate(value: String, display: String, about: &str) -> CandidateInfo {
    let description = (!about.is_empty()).then(|| brief(about, BRIEF));
    CandidateInfo { value: clean(&value).into_owned(), display: clean(&display).into_owned(), description }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wanted where the bar is, and what was typed of it.
    fn at(text: &str) -> (Wanted, String) {
        wanted(&text.replace('|', ""), text.find('|').unwrap())
    }

    fn offered(text: &str) -> String {
        match at(text) {
            (Wanted::Name(before), typed) => {
                names(&before, &typed).into_iter().map(|found| found.value).collect::<Vec<_>>().join(" ")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_commands_name_goes_on_with_its_words() {
        assert_eq!(offered("se|"), "sessions search");
        assert_eq!(offered("u|nknown"), "use undo");
        assert_eq!(offered("log |"), "level");
        assert_eq!(offered("/mo|"), "/models /model");
        assert_eq!(offered("/log le|"), "level");
        assert_eq!(offered("nonsense |"), "");
        assert_eq!(offered("task re|"), "review redo resume");
        assert_eq!(offered("plugin |"), "enable disable validate");
        assert_eq!(offered("inde|"), "index");
        assert_eq!(offered("/index re|"), "rebuild resume");
        let offered = offered("|");
        let mut all: Vec<&str> = COMMANDS.iter().map(|command| command.name[0]).collect();
        all.dedup();
        assert_eq!(offered.split(' ').collect::<Vec<_>>(), all, "each of them once");
    }

    #[test]
    fn what_is_wanted_follows_from_the_table() {
        assert_eq!(at("use |"), (Wanted::Value(Kind::SessionOrNew), String::new()));
        assert_eq!(at("use 'a b|"), (Wanted::Value(Kind::SessionOrNew), "a b".to_owned()));
        assert_eq!(at("approve ab|cd"), (Wanted::Value(Kind::Question), "ab".to_owned()));
        assert_eq!(at("approve abcd --|"), (Wanted::Flag("--hunk"), "--".to_owned()));
        assert_eq!(at("log level d|"), (Wanted::Value(Kind::Level), "d".to_owned()));
        assert_eq!(at("help |"), (Wanted::Value(Kind::Command), String::new()));
        assert_eq!(at("new sr|"), (Wanted::Value(Kind::Directory), "sr".to_owned()));
        assert_eq!(at("task plan ab|"), (Wanted::Value(Kind::Task), "ab".to_owned()));
        assert_eq!(at("task finish abcd1234 |").0, Wanted::Value(Kind::Ending));
        assert_eq!(at("plugin enable |").0, Wanted::Value(Kind::Plugin));
        assert_eq!(at("task note abcd1234 wh|").0, Wanted::Nothing);
        assert_eq!(at("ask wh|").0, Wanted::Nothing);
        assert_eq!(at("cancel |").0, Wanted::Nothing);
        assert_eq!(at("index build |").0, Wanted::Nothing);
        assert_eq!(at("search wh|").0, Wanted::Nothing);
        assert_eq!(at("use|").0, Wanted::Name(Vec::new()));
    }

    #[test]
    fn an_id_goes_on_in_the_form_it_was_begun_in() {
        let id = "ses_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f";
        let value = |typed: &str| id_candidate(&id, typed, "x").map(|found| found.value);
        assert_eq!(value("").as_deref(), Some("8d9e0f"));
        assert_eq!(value("8d").as_deref(), Some("8d9e0f"));
        assert_eq!(value("ses_01").as_deref(), Some(id));
        assert_eq!(value("0192").as_deref(), Some(id));
        assert_eq!(value("77"), None);
    }
}
