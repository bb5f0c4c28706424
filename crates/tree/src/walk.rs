//! Going through a tree, file by file.
//!
//! Links are never followed and `.git` is never entered. Nothing is held open between two steps; each directory is
//! opened from the root again, without links, so one that was swapped meanwhile is refused and not entered.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use ignore::gitignore::Gitignore;
use rustix::fs::{AtFlags, statat};

use crate::directory::{Entry, entries};
use crate::error::TreeError;
use crate::handle::Handle;
use crate::meta::{Kind, Meta};
use crate::path::TreePath;
use crate::read::read_file;
use crate::root::{HardLinkRule, Root};
use crate::rules::{self, Rules};

/// How many files one walk finds at most, unless told otherwise: more is no project but a disk.
pub const MAX_FOUND: usize = 1_000_000;
/// How long a file of ignore rules may be: real ones have some kilobytes.
const MAX_RULES: u64 = 1 << 20;

/// Where and how to walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkOptions {
    /// The directory, or the one file, to start from, through links that stay inside. It is taken even if rules
    /// ignore it; in `.git` nothing is found.
    pub start: TreePath,
    /// Whether ignore rules count.
    pub rules: IgnoreRules,
    /// How many files to find at most; then comes [`TreeError::TooMany`] and the end.
    pub limit: usize,
}

/// Whether ignore rules count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IgnoreRules {
    /// `.gitignore`, `.ignore` and `.git/info/exclude` do.
    #[default]
    Honour,
    /// They do, and what they ignore is found as well, marked. An ignored directory is not entered.
    Mark,
    /// None do.
    Skip,
}

/// A file or a link that a walk came across.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: TreePath,
    /// What is known of it: its kind is a file or a link, or a directory that is ignored.
    pub meta: Meta,
    /// Whether a rule ignores it. Never, unless the walk marks what is ignored.
    pub is_ignored: bool,
}

/// A walk under way: files and links, sorted by path. Errors are about one entry or directory; the walk goes on.
#[derive(Debug)]
pub struct Walk {
    handle: Arc<Handle>,
    hard_links: HardLinkRule,
    rules: IgnoreRules,
    /// How many more may be found.
    room: usize,
    limit: usize,
    start: TreePath,
    has_started: bool,
    /// The directories on the way, the root first.
    levels: Vec<Level>,
    errors: VecDeque<TreeError>,
}

/// One directory on the way.
#[derive(Debug)]
struct Level {
    path: TreePath,
    rules: Rules,
    /// What is still to look at. Nothing in the directories above the start.
    ahead: std::vec::IntoIter<Entry>,
}

impl Default for WalkOptions {
    fn default() -> WalkOptions {
        WalkOptions { start: TreePath::root(), rules: IgnoreRules::default(), limit: MAX_FOUND }
    }
}

impl Root {
    /// Goes through the files that are not ignored, sorted by path; hidden ones are included, `.git` never is.
    #[must_use]
    pub fn walk(&self, options: &WalkOptions) -> Walk {
        Walk {
            handle: Arc::clone(&self.handle),
            hard_links: self.hard_links(),
            rules: options.rules,
            room: options.limit,
            limit: options.limit,
            start: options.start.clone(),
            has_started: false,
            levels: Vec::new(),
            errors: VecDeque::new(),
        }
    }
}

impl Iterator for Walk {
    type Item = Result<Found, TreeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.has_started {
            self.has_started = true;
            if let Some(item) = self.begin().transpose() {
                return Some(item);
            }
        }
        loop {
            if let Some(error) = self.errors.pop_front() {
                return Some(Err(error));
            }
            let level = self.levels.last_mut()?;
            let Some(entry) = level.ahead.next() else {
                self.levels.pop();
                continue;
            };
            if let Some(item) = self.visit(&entry).transpose() {
                return Some(item);
            }
        }
    }
}

impl Walk {
    /// Goes to the start, through links that stay inside. A file there is all that is found.
    fn begin(&mut self) -> Result<Option<Found>, TreeError> {
        let start = self.handle.real_path(&self.start)?;
        if start.parts().any(|part| part == ".git") {
            return Ok(None);
        }
        if !start.is_root() {
            let Some(stat) = self.handle.parent(&start)?.stat(&start)? else {
                return Err(TreeError::NotFound { path: start });
            };
            match Kind::of(&stat) {
                Kind::Directory => {}
                Kind::File => {
                    return Ok(Some(Found { path: start, meta: Meta::of(&stat), is_ignored: false }));
                }
                Kind::Link => return Err(TreeError::Swapped { path: start }),
                kind @ Kind::Other => return Err(TreeError::NotAFile { path: start, kind }),
            }
        }
        if self.rules != IgnoreRules::Skip {
            let above: Vec<_> = start.ancestors().collect();
            for path in above.into_iter().rev() {
                let rules = self.load(&path, &self.handle.directory(&path)?);
                self.levels.push(Level { path, rules, ahead: Vec::new().into_iter() });
            }
        }
        self.enter(start)?;
        Ok(None)
    }

    /// Looks at one entry of the directory we are in.
    fn visit(&mut self, entry: &Entry) -> Result<Option<Found>, TreeError> {
        let kind = entry.kind();
        if entry.name == b".git" || kind == Kind::Other {
            return Ok(None);
        }
        let Some(level) = self.levels.last() else { return Ok(None) };
        let path = level.path.entry(&entry.name).ok_or_else(|| TreeError::Unnameable {
            directory: level.path.clone(),
            shown: String::from_utf8_lossy(&entry.name).into_owned(),
        })?;
        if self.is_ignored(&path, kind) {
            let is_wanted = self.rules == IgnoreRules::Mark;
            return Ok(is_wanted.then(|| Found { path, meta: Meta::of(&entry.stat), is_ignored: true }));
        }
        if kind == Kind::Directory {
            return match self.enter(path) {
                // It went away meanwhile, and what was in it.
                Ok(()) | Err(TreeError::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            };
        }
        if self.room == 0 {
            self.levels.clear();
            return Err(TreeError::TooMany { path: self.start.clone(), limit: self.limit });
        }
        self.room -= 1;
        Ok(Some(Found { path, meta: Meta::of(&entry.stat), is_ignored: false }))
    }

    fn is_ignored(&self, path: &TreePath, kind: Kind) -> bool {
        let levels = self.levels.iter().map(|level| {
            let from = if level.path.is_root() { 0 } else { level.path.as_str().len() + 1 };
            (&level.rules, &path.as_str()[from..])
        });
        rules::is_ignored(levels, kind == Kind::Directory)
    }

    /// Goes down into a directory.
    fn enter(&mut self, path: TreePath) -> Result<(), TreeError> {
        let directory = self.handle.directory(&path)?;
        let mut ahead = entries(&directory, b".", &path)?;
        // So that whole paths are sorted: `a.b` comes before `a/b`, and `a` the directory stands for `a/`.
        ahead.sort_unstable_by(|a, b| sorted_as(a).cmp(sorted_as(b)));
        let rules = match self.rules {
            IgnoreRules::Honour | IgnoreRules::Mark => self.load(&path, &directory),
            IgnoreRules::Skip => Rules::default(),
        };
        self.levels.push(Level { path, rules, ahead: ahead.into_iter() });
        Ok(())
    }

    /// The rules of a directory that no link leads to.
    pub(crate) fn rules_of(&mut self, path: &TreePath) -> Result<Rules, TreeError> {
        let directory = self.handle.directory(path)?;
        let rules = self.load(path, &directory);
        // A file of rules that cannot be read counts as empty, as it does in a walk.
        self.errors.clear();
        Ok(rules)
    }

    /// The rules of a directory.
    fn load(&mut self, path: &TreePath, directory: &OwnedFd) -> Rules {
        let repository = kind_of(directory, ".git");
        let exclude = match path.join(".git/info") {
            Ok(info) if repository == Some(Kind::Directory) => match self.handle.directory(&info) {
                Ok(directory) => self.load_file(&directory, "exclude", &info),
                // A repository needs no such directory, and we follow no link to one.
                Err(_) => None,
            },
            _ => None,
        };
        Rules {
            ignore: self.load_file(directory, ".ignore", path),
            gitignore: self.load_file(directory, ".gitignore", path),
            exclude,
            is_repository: repository.is_some(),
        }
    }

    /// One file of rules. If it cannot be read, that is told and it counts as empty.
    fn load_file(&mut self, directory: &OwnedFd, name: &str, path: &TreePath) -> Option<Gitignore> {
        // Like git, only a real file is believed.
        if kind_of(directory, name) != Some(Kind::File) {
            return None;
        }
        let path = path.join(name).ok()?;
        match read_file(directory, name.as_bytes(), &path, MAX_RULES, self.hard_links) {
            Ok(file) => rules::parse(&file.bytes),
            Err(TreeError::NotFound { .. }) => None,
            Err(error) => {
                self.errors.push_back(error);
                None
            }
        }
    }
}

fn kind_of(directory: &OwnedFd, name: &str) -> Option<Kind> {
    statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| Kind::of(&stat))
}

/// A directory's name is compared with its slash.
fn sorted_as(entry: &Entry) -> impl Iterator<Item = u8> {
    let slash = (entry.kind() == Kind::Directory).then_some(b'/');
    entry.name.iter().copied().chain(slash)
}
