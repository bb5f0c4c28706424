//! Where a command may find itself, while a line moves from directory to directory.
//!
//! Knows `cd` and its kin. Follows both outcomes of a `cd`, since a line may go on after one that failed.
//!
//! What always holds: a set is never empty, has no doubles and at most [`MAX_DIRECTORIES`] members.

use super::super::Place;
use super::super::paths::{Directory, Spot};
use super::word::{Certainty, Word};

/// With more possibilities than this, nothing is known.
const MAX_DIRECTORIES: usize = 8;

/// The directories a command may be in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Directories(Vec<Directory>);

/// The directories after a command, by how it ended.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) done: Directories,
    pub(super) failed: Directories,
}

impl Outcome {
    /// A command that stays where it is.
    pub(super) fn same(directories: &Directories) -> Self {
        Self { done: directories.clone(), failed: directories.clone() }
    }

    pub(super) fn either(self) -> Directories {
        self.done.or(self.failed)
    }
}

impl Directories {
    pub(super) fn only(directory: Directory) -> Self {
        Self(vec![directory])
    }

    pub(super) fn or(mut self, others: Self) -> Self {
        for directory in others.0 {
            if !self.0.contains(&directory) {
                self.0.push(directory);
            }
        }
        if self.0.len() > MAX_DIRECTORIES { Self::only(Directory::Unknown) } else { self }
    }

    pub(super) fn or_unknown(self) -> Self {
        self.or(Self::only(Directory::Unknown))
    }

    pub(super) fn to_vec(&self) -> Vec<Directory> {
        self.0.clone()
    }

    /// The absolute path, if there is only one possibility.
    pub(super) fn path(&self, place: &Place) -> Option<String> {
        match self.0.as_slice() {
            [Directory::Inside(directory)] if directory.is_empty() => {
                place.root.to_str().map(ToOwned::to_owned)
            }
            [Directory::Inside(directory)] => place.root.join(directory).to_str().map(ToOwned::to_owned),
            [Directory::Outside(directory)] => directory.to_str().map(ToOwned::to_owned),
            _ => None,
        }
    }

    /// Where these words lead, if they are a `cd`.
    pub(super) fn after(&self, words: &[Word], place: &Place) -> Option<Outcome> {
        let done = match super::program_name(words)? {
            "cd" | "chdir" | "pushd" => self.entered(&words[1..], place),
            "popd" => Self::only(Directory::Unknown),
            _ => return None,
        };
        Some(Outcome { done, failed: self.clone() })
    }

    fn entered(&self, arguments: &[Word], place: &Place) -> Self {
        let operand = arguments.iter().find(|word| !(word.text.starts_with('-') && word.text.len() > 1));
        let target = match operand {
            None => place.home.as_ref().and_then(|home| home.to_str()),
            Some(word) if word.text == "-" || word.certainty == Certainty::Glob => None,
            Some(word) => word.likely(),
        };
        let Some(target) = target else { return Self::only(Directory::Unknown) };
        let enter = |directory: &Directory| match place.locate_from(directory, target) {
            Some(Spot::Inside(path)) => Directory::Inside(path.into_owned()),
            Some(Spot::Outside(path)) => Directory::Outside(path),
            Some(Spot::Impossible(_)) | None => Directory::Unknown,
        };
        let mut entered = self.0.iter().map(enter).map(Self::only);
        let first = entered.next().unwrap_or_else(|| Self::only(Directory::Unknown));
        entered.fold(first, Self::or)
    }
}
