//! Removing whole trees.
//!
//! Knows `rm -r` and its kin. Wiping the workspace, the home directory or the system is forbidden; wiping something
//! that is not known is asked.

use super::super::Place;
use super::super::paths::Spot;
use super::super::shell::{Command, HOLE, Word};
use super::commands::Objection;

/// What stands against a command that removes or changes whole trees.
pub(super) fn objection(command: &Command, place: &Place) -> Option<Objection> {
    let arguments = command.arguments();
    let (what, reach) = match command.name()? {
        "rm" => ("removing", reach(arguments, "rR")),
        "chmod" | "chown" | "chgrp" => ("changing", reach(arguments, "R")),
        "find" if wipes(arguments) => ("removing", Reach::Tree),
        _ => return None,
    };
    if reach == Reach::Files {
        return None;
    }
    let mut targets = arguments.iter().filter(|word| word.text == "-" || !word.text.starts_with('-'));
    targets.find_map(|word| against(what, reach, word, command, place))
}

/// How far a command reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To the files it names.
    Files,
    /// To everything below them, if a word that is not known says so.
    PerhapsTree,
    /// To everything below them.
    Tree,
}

fn reach(arguments: &[Word], letters: &str) -> Reach {
    let options = || arguments.iter().take_while(|word| word.text != "--");
    let is_recursive = options().any(|word| {
        let text = word.text.as_str();
        let is_long = text.starts_with("--") && text.len() > 3 && "--recursive".starts_with(text);
        is_long || text.starts_with('-') && !text.starts_with("--") && text.contains(|c| letters.contains(c))
    });
    if is_recursive {
        Reach::Tree
    } else if options().any(|word| word.text.starts_with([HOLE, '-']) && word.text.contains(HOLE)) {
        Reach::PerhapsTree
    } else {
        Reach::Files
    }
}

/// `find . -delete` without a condition.
fn wipes(arguments: &[Word]) -> bool {
    let harmless = ["-delete", "-depth", "-mindepth", "-print", "-xdev", "-mount", "-H", "-L", "-P"];
    arguments.iter().any(|word| word.text == "-delete")
        && arguments
            .iter()
            .filter(|word| word.text.starts_with('-'))
            .all(|word| harmless.contains(&word.text.as_str()))
}

fn against(what: &str, reach: Reach, word: &Word, command: &Command, place: &Place) -> Option<Objection> {
    let shown = word.text.replace(HOLE, "…");
    // Everything in a directory is the directory.
    let base = whole_directory(word);
    let mut unknown = base.contains(HOLE);
    for directory in &command.directories {
        match place.locate_from(directory, base) {
            Some(Spot::Impossible(_)) | None => unknown = true,
            // Making the whole workspace executable is unwise and can be undone.
            Some(Spot::Inside(path)) if what == "changing" && path.is_empty() => {}
            Some(spot) if place.is_precious(&spot) => {
                let why = format!(
                    "{what} everything below `{shown}` would take the workspace, the home directory or the system"
                );
                let is_sure = reach == Reach::Tree;
                return Some(if is_sure { Objection::Forbidden(why) } else { Objection::Doubtful(why) });
            }
            Some(_) => {}
        }
    }
    (unknown && reach == Reach::Tree).then(|| {
        Objection::Doubtful(format!("{what} everything below `{shown}`, and it is not known what that is"))
    })
}

/// The directory whose whole contents a pattern matches, or the word itself.
fn whole_directory(word: &Word) -> &str {
    let text = word.text.as_str();
    if !word.has_glob() {
        return text;
    }
    let says_nothing = |part: &str| {
        let mut in_brackets = false;
        part.chars().all(|c| {
            let inside = in_brackets;
            in_brackets = c == '[' || in_brackets && c != ']';
            inside || "*?.[]{},".contains(c)
        })
    };
    let mut base = text;
    while let Some((directory, last)) = base.rsplit_once('/') {
        if !says_nothing(last) || matches!(last, "." | "..") {
            break;
        }
        base = if directory.is_empty() { "/" } else { directory };
        if base == "/" {
            break;
        }
    }
    if says_nothing(base) && base.contains(['*', '?', '[']) { "." } else { base }
}
