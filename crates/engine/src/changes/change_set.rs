//! Changes that were found to fit, in the order in which they are made.
//!
//! Files that go come first, the deepest first, and then the new contents: so a file can take the place of a
//! directory, and a directory that of a file. Invariant: nothing in it is a change to what already is.

use std::collections::{BTreeSet, HashSet};

use loggia_domain::FileState;
use loggia_tree::{Root, TreeError, TreePath};

use super::disk::{Found, MAX_FILE, is_directory, look};
use super::record::RecordedFile;
use super::wanted::{Conflict, Expect, NewContent, WantedChange};

/// Changes that fit.
pub(super) struct ChangeSet {
    pub(super) removals: Vec<Removal>,
    pub(super) writes: Vec<FileWrite>,
}

/// A file that is to go.
pub(super) struct Removal {
    pub(super) path: TreePath,
    pub(super) before: FileState,
    /// The place of one of its directories, if a file is to come there.
    pub(super) makes_room_for: Option<TreePath>,
}

/// A file that is to be something.
pub(super) struct FileWrite {
    pub(super) path: TreePath,
    pub(super) before: Option<FileState>,
    pub(super) after: FileState,
    pub(super) content: NewContent,
    /// Whether something has to go before it can even be put beside its place.
    pub(super) needs_room: bool,
}

/// Why changes make no set.
pub(super) enum Unfit {
    Conflicts(Vec<Conflict>),
    Unusable { path: TreePath, source: TreeError },
}

impl ChangeSet {
    /// Looks at every file. All conflicts are told, not only the first.
    pub(super) fn check(root: &Root, wanted: Vec<WantedChange>) -> Result<Self, Unfit> {
        let room = Room::of(&wanted);
        let mut set = Self { removals: Vec::new(), writes: Vec::new() };
        let mut conflicts = Vec::new();
        for WantedChange { path, expect, after } in wanted {
            if let Some(len) = after.as_ref().map(NewContent::len).filter(|len| *len > MAX_FILE) {
                let source = TreeError::TooLarge { path: path.clone(), len, limit: MAX_FILE };
                return Err(Unfit::Unusable { path, source });
            }
            let found = match look(root, &path) {
                // What a link hides now comes to light when the link goes.
                Ok(Found::BehindLink) if !room.is_made_above(&path) => {
                    let source = TreeError::ThroughLink { path: path.clone() };
                    return Err(Unfit::Unusable { path, source });
                }
                Ok(found) => found,
                Err(source) => return Err(Unfit::Unusable { path, source }),
            };
            let in_the_way = found == Found::Directory && after.is_some() && !room.is_made_at(&path);
            if in_the_way || !expect.is_met_by(&found) {
                conflicts.push(Conflict { path, found });
                continue;
            }
            let before = if let Found::File(state) = found { Some(state) } else { None };
            set.add(path, before, after, &room);
        }
        set.removals.sort_by(|one, other| other.path.cmp(&one.path));
        if conflicts.is_empty() { Ok(set) } else { Err(Unfit::Conflicts(conflicts)) }
    }

    fn add(&mut self, path: TreePath, before: Option<FileState>, after: Option<NewContent>, room: &Room) {
        match (before, after) {
            (None, None) => {}
            (Some(before), None) => {
                let makes_room_for = room.wanted_above(&path);
                self.removals.push(Removal { path, before, makes_room_for });
            }
            (before, Some(content)) => {
                let after = content.state(before.as_ref());
                let needs_room = room.is_made_above(&path) || room.is_made_at(&path);
                if before != Some(after) {
                    self.writes.push(FileWrite { path, before, after, content, needs_room });
                }
            }
        }
    }

    /// Looks again, after time has passed: everything must still be as it was.
    pub(super) fn check_again(&self, root: &Root) -> Result<(), Unfit> {
        let removals = self.removals.iter().map(|change| (&change.path, Some(change.before)));
        let writes = self.writes.iter().map(|change| (&change.path, change.before));
        let mut conflicts = Vec::new();
        for (path, before) in removals.chain(writes) {
            let found = look(root, path).map_err(|source| Unfit::Unusable { path: path.clone(), source })?;
            let expect = before.map_or(Expect::Absent, Expect::Exactly);
            if !expect.is_met_by(&found) {
                conflicts.push(Conflict { path: path.clone(), found });
            }
        }
        if conflicts.is_empty() { Ok(()) } else { Err(Unfit::Conflicts(conflicts)) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.removals.is_empty() && self.writes.is_empty()
    }

    /// The files in the order in which they are changed.
    pub(super) fn files(&self) -> Vec<RecordedFile> {
        let removals = self.removals.iter().map(|change| RecordedFile {
            path: change.path.clone(),
            before: Some(change.before),
            after: None,
        });
        let (late, early): (Vec<&FileWrite>, Vec<&FileWrite>) =
            self.writes.iter().partition(|change| change.needs_room);
        let writes = early.into_iter().chain(late).map(|change| RecordedFile {
            path: change.path.clone(),
            before: change.before,
            after: Some(change.after),
        });
        removals.chain(writes).collect()
    }

    /// The directories that are not there and have to be.
    pub(super) fn missing_directories(&self, root: &Root) -> Result<Vec<TreePath>, TreeError> {
        let mut present = HashSet::new();
        let mut missing = BTreeSet::new();
        for change in &self.writes {
            for directory in change.path.ancestors() {
                if present.contains(&directory) || missing.contains(&directory) {
                    break;
                }
                if is_directory(root, &directory)? {
                    present.insert(directory);
                    break;
                }
                missing.insert(directory);
            }
        }
        Ok(missing.into_iter().collect())
    }
}

/// Where files and directories take each other's place.
struct Room {
    /// Files that go.
    going: HashSet<TreePath>,
    /// Files that come.
    coming: HashSet<TreePath>,
    /// Directories that lose a file.
    losing: HashSet<TreePath>,
}

impl Room {
    fn of(wanted: &[WantedChange]) -> Self {
        let paths = |goes| {
            let chosen = wanted.iter().filter(move |change: &&WantedChange| change.after.is_none() == goes);
            chosen.map(|change| change.path.clone())
        };
        let losing = paths(true).flat_map(|path| path.ancestors().collect::<Vec<_>>()).collect();
        Self { going: paths(true).collect(), coming: paths(false).collect(), losing }
    }

    /// Whether a file goes that is now where a directory on the way to the path has to be.
    fn is_made_above(&self, path: &TreePath) -> bool {
        path.ancestors().any(|directory| self.going.contains(&directory))
    }

    /// Whether files go that are below the path, so that a directory there may become empty.
    fn is_made_at(&self, path: &TreePath) -> bool {
        self.losing.contains(path)
    }

    /// The place of a directory on the way to the path, if a file comes there.
    fn wanted_above(&self, path: &TreePath) -> Option<TreePath> {
        path.ancestors().find(|directory| self.coming.contains(directory))
    }
}
