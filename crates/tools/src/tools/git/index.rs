//! What git keeps track of: the files of a commit, and those of the index.
//!
//! What always holds: files are sorted by path, byte by byte, as both trees and indexes have them; no more than
//! [`MAX_FILES`] are taken from either, so a tree that holds itself many times over fills no memory.

use gix::ObjectId;
use gix::index::State;
use gix::index::entry::{Flags, Stage, Stat};
use gix::objs::tree::EntryKind;
use gix::objs::{Kind, TreeRefIter};
use loggia_domain::ToolError;
use loggia_tree::Meta;

use super::repository::{Git, failed};

/// How many files a repository may have: twice what the largest ones have.
const MAX_FILES: usize = 1_000_000;

/// How deep directories may be: paths are shorter than twice that.
const MAX_DEPTH: usize = 2048;

/// What kind of file git keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    File,
    Executable,
    Link,
    Submodule,
}

/// A file in a commit or in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) kind: FileKind,
    pub(super) id: ObjectId,
}

/// The index.
pub(super) struct Index {
    /// Every file, in every stage.
    pub(super) entries: Vec<IndexEntry>,
    /// When it was written: younger files must be looked into.
    written_ns: i128,
}

/// A file in the index.
pub(super) struct IndexEntry {
    pub(super) path: Vec<u8>,
    pub(super) stored: Stored,
    /// 0, or which side of a conflict it is: 1 is the base, 2 ours, 3 theirs.
    pub(super) stage: u8,
    /// Whether only its name was added.
    pub(super) is_intended: bool,
    /// Whether git does not look for it in the work tree.
    pub(super) is_assumed: bool,
    stat: Stat,
}

impl FileKind {
    /// As git writes it.
    pub(super) fn mode(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
        }
    }

    /// Whether a change between the two is one of content or permission only.
    pub(super) fn is_like(self, other: Self) -> bool {
        let is_file = |kind| matches!(kind, Self::File | Self::Executable);
        self == other || (is_file(self) && is_file(other))
    }
}

impl Git<'_> {
    /// The files of a tree.
    pub(super) fn tree_files(&self, tree: ObjectId) -> Result<Vec<(Vec<u8>, Stored)>, ToolError> {
        let mut files = Vec::new();
        self.collect(tree, &mut Vec::new(), 0, &mut files)?;
        Ok(files)
    }

    fn collect(
        &self,
        tree: ObjectId,
        path: &mut Vec<u8>,
        depth: usize,
        files: &mut Vec<(Vec<u8>, Stored)>,
    ) -> Result<(), ToolError> {
        let data = self.object(tree, Kind::Tree)?;
        for entry in TreeRefIter::from_bytes(&data, self.repository.object_hash()) {
            let entry = entry.map_err(failed)?;
            if files.len() >= MAX_FILES || depth >= MAX_DEPTH {
                return Err(ToolError::Failed(format!("git: the commit has over {MAX_FILES} files")));
            }
            let length = path.len();
            path.extend_from_slice(entry.filename);
            let kind = match entry.mode.kind() {
                EntryKind::Tree => None,
                EntryKind::Blob => Some(FileKind::File),
                EntryKind::BlobExecutable => Some(FileKind::Executable),
                EntryKind::Link => Some(FileKind::Link),
                EntryKind::Commit => Some(FileKind::Submodule),
            };
            match kind {
                Some(kind) => files.push((path.clone(), Stored { kind, id: entry.oid.to_owned() })),
                None => {
                    path.push(b'/');
                    self.collect(entry.oid.to_owned(), path, depth + 1, files)?;
                }
            }
            path.truncate(length);
        }
        Ok(())
    }

    /// Reads the index; an empty one if there is none yet.
    pub(super) fn index(&self) -> Result<Index, ToolError> {
        let index = self.repository.index_or_empty().map_err(failed)?;
        let state: &State = &index;
        if state.is_sparse() {
            let message = "the repository has a sparse index, which is not read; use git with run_command";
            return Err(ToolError::Failed(message.to_owned()));
        }
        if state.entries().len() > MAX_FILES {
            return Err(ToolError::Failed(format!("git: the index has over {MAX_FILES} files")));
        }
        let time = state.timestamp();
        let written_ns = i128::from(time.unix_seconds()) * 1_000_000_000 + i128::from(time.nanoseconds());
        let entries = state.entries().iter().map(|entry| IndexEntry::new(state, entry)).collect();
        Ok(Index { entries, written_ns })
    }
}

impl IndexEntry {
    fn new(state: &State, entry: &gix::index::Entry) -> Self {
        use gix::index::entry::Mode;
        let kind = match entry.mode {
            Mode::FILE_EXECUTABLE => FileKind::Executable,
            Mode::SYMLINK => FileKind::Link,
            Mode::COMMIT => FileKind::Submodule,
            _ => FileKind::File,
        };
        let stage = match entry.stage() {
            Stage::Unconflicted => 0,
            Stage::Base => 1,
            Stage::Ours => 2,
            Stage::Theirs => 3,
        };
        Self {
            path: entry.path(state).to_vec(),
            stored: Stored { kind, id: entry.id },
            stage,
            is_intended: entry.flags.contains(Flags::INTENT_TO_ADD),
            is_assumed: entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID),
            stat: entry.stat,
        }
    }
}

impl Index {
    /// Whether a file is surely as it was when it was added, by what the file system says of it.
    pub(super) fn is_untouched(&self, entry: &IndexEntry, meta: &Meta) -> bool {
        let nanoseconds = |time: gix::index::entry::stat::Time| {
            i128::from(time.secs) * 1_000_000_000 + i128::from(time.nsecs)
        };
        let modified = nanoseconds(entry.stat.mtime);
        // Changed in the same moment as the index was written, it could have been changed after that.
        modified < self.written_ns
            && modified == meta.modified_ns
            && nanoseconds(entry.stat.ctime) == meta.changed_ns
            && u64::from(entry.stat.size) == meta.len
            // The index keeps the lower half.
            && u64::from(entry.stat.ino) == meta.inode & u64::from(u32::MAX)
    }

    /// Whether a file is in the index, in any stage.
    pub(super) fn has(&self, path: &str) -> bool {
        self.entries.binary_search_by(|entry| entry.path.as_slice().cmp(path.as_bytes())).is_ok()
    }

    /// Whether a file below this directory is in the index; `directory` ends in a slash.
    pub(super) fn has_below(&self, directory: &str) -> bool {
        let prefix = directory.as_bytes();
        let first = self.entries.partition_point(|entry| entry.path.as_slice() < prefix);
        self.entries.get(first).is_some_and(|entry| entry.path.starts_with(prefix))
    }

    /// Whether a directory is a submodule; `directory` has no slash at its end.
    pub(super) fn is_submodule(&self, directory: &str) -> bool {
        let found = self.entries.binary_search_by(|entry| entry.path.as_slice().cmp(directory.as_bytes()));
        found.is_ok_and(|at| self.entries[at].stored.kind == FileKind::Submodule)
    }
}
