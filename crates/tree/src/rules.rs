//! Ignore rules: `.gitignore`, `.ignore` and `.git/info/exclude` of the directories on the way.
//!
//! Knows the rules' text and the paths they are asked about; opens nothing. What they mean follows git, and ripgrep
//! for `.ignore`: any `.ignore` on the way is stronger than any `.gitignore`, that is stronger than an `exclude`, and
//! among the same the nearest wins. A repository inside another does not hear the outer one's git rules.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The rules of one directory.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub(crate) ignore: Option<Gitignore>,
    pub(crate) gitignore: Option<Gitignore>,
    pub(crate) exclude: Option<Gitignore>,
    /// Whether a repository starts here.
    pub(crate) is_repository: bool,
}

/// Reads the text of a rules file. A line that is no pattern is passed over, as git does.
pub(crate) fn parse(bytes: &[u8]) -> Option<Gitignore> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// Whether an entry is ignored. `levels` are the directories on the way to it, the root first: the rules of each, and
/// the entry's path from there.
pub(crate) fn is_ignored<'a>(
    levels: impl DoubleEndedIterator<Item = (&'a Rules, &'a str)>,
    is_directory: bool,
) -> bool {
    let mut gitignore = None;
    let mut exclude = None;
    let mut in_repository = true;
    for (rules, path) in levels.rev() {
        let ask = |rules: &Option<Gitignore>| decide(rules.as_ref()?, path, is_directory);
        if let Some(ignored) = ask(&rules.ignore) {
            return ignored;
        }
        if in_repository {
            gitignore = gitignore.or_else(|| ask(&rules.gitignore));
            exclude = exclude.or_else(|| ask(&rules.exclude));
            in_repository = !rules.is_repository;
        }
    }
    gitignore.or(exclude).unwrap_or(false)
}

fn decide(rules: &Gitignore, path: &str, is_directory: bool) -> Option<bool> {
    match rules.matched(Path::new(path), is_directory) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}
