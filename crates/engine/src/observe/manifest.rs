//! What a workspace's files were at one moment.
//!
//! Knows names, `stat`s and hashes, and how they are written to disk; reads no file of the workspace itself.
//! Invariants: entries are sorted by path and each path is there once; what cannot be read back whole, by its
//! version, its length and its checksum, is no manifest.

mod code;

use std::collections::HashSet;
use std::sync::Arc;

use loggia_domain::{ContentHash, FileState};
use loggia_tree::{Kind, Meta};

/// A workspace's files at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// When looking began, in nanoseconds since 1970.
    pub(super) started_ns: i128,
    /// The files that are known one by one.
    pub(super) entries: Vec<Entry>,
    /// What was there and is not among the entries because it was ignored.
    pub(super) ignored: Ignored,
    /// What is beyond the bound.
    pub(super) rest: Rest,
}

/// One file or symbolic link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: Arc<str>,
    pub(super) stat: Stat,
    /// The hash of its bytes; nothing if they were not read.
    pub(super) hash: Option<ContentHash>,
    /// Whether it may have changed since without a trace in its `stat`.
    pub(super) is_racy: bool,
}

/// What tells that a file was not touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) is_link: bool,
    pub(super) len: u64,
    pub(super) mode: u32,
    pub(super) inode: u64,
    pub(super) modified_ns: i128,
    pub(super) changed_ns: i128,
}

/// Names of what was not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ignored {
    pub(super) files: HashSet<Arc<str>>,
    pub(super) directories: HashSet<Arc<str>>,
    /// Whether there were more than could be kept.
    pub(super) is_cut: bool,
}

/// Files that are known together only: how many, and a sum over their paths and `stat`s in any order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) count: u64,
    pub(super) sum: u128,
}

impl Manifest {
    /// Where a path is among the entries.
    pub(super) fn position(&self, path: &str) -> Option<usize> {
        self.entries.binary_search_by(|entry| (*entry.path).cmp(path)).ok()
    }

    /// A path's entry.
    pub(super) fn get(&self, path: &str) -> Option<&Entry> {
        self.position(path).map(|index| &self.entries[index])
    }

    /// Sets the entries, in any order.
    pub(super) fn set_entries(&mut self, mut entries: Vec<Entry>) {
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        entries.dedup_by(|a, b| a.path == b.path);
        self.entries = entries;
    }

    /// Whether both say the same, whenever they were made.
    pub(super) fn is_same_but_for_time(&self, other: &Self) -> bool {
        self.entries == other.entries && self.ignored == other.ignored && self.rest == other.rest
    }

    /// The hashes of all entries.
    pub(super) fn hashes(&self) -> impl Iterator<Item = ContentHash> {
        self.entries.iter().filter_map(|entry| entry.hash)
    }
}

impl Entry {
    /// Whether the file is certainly what it was.
    pub(super) fn is_unchanged(&self, stat: &Stat) -> bool {
        !self.is_racy && self.stat == *stat
    }

    /// What undoing needs to know of it, if its bytes were read.
    pub(super) fn state(&self) -> Option<FileState> {
        let hash = self.hash?;
        Some(FileState { hash, mode: self.stat.mode, is_link: self.stat.is_link })
    }
}

impl Stat {
    /// The part of a file's description that we keep; nothing for what is neither file nor link.
    pub(super) fn of(meta: &Meta) -> Option<Self> {
        let is_link = match meta.kind {
            Kind::File => false,
            Kind::Link => true,
            Kind::Directory | Kind::Other => return None,
        };
        Some(Self {
            is_link,
            len: meta.len,
            mode: meta.mode,
            inode: meta.inode,
            modified_ns: meta.modified_ns,
            changed_ns: meta.changed_ns,
        })
    }
}

impl Ignored {
    /// Adds a file, if there is room for it.
    pub(super) fn add_file(&mut self, path: &str, limit: usize) {
        if self.has_room(limit) {
            self.files.insert(path.into());
        }
    }

    /// Adds a directory that was not entered, if there is room for it.
    pub(super) fn add_directory(&mut self, path: &str, limit: usize) {
        if self.has_room(limit) {
            self.directories.insert(path.into());
        }
    }

    /// Whether a path is one of the files or inside one of the directories. What took the place of an ignored
    /// directory is neither.
    pub(super) fn covers(&self, path: &str) -> bool {
        let mut directories = path.match_indices('/').map(|(end, _)| &path[..end]);
        self.files.contains(path) || directories.any(|directory| self.directories.contains(directory))
    }

    fn has_room(&mut self, limit: usize) -> bool {
        self.is_cut |= self.files.len() + self.directories.len() >= limit;
        !self.is_cut
    }
}

impl Rest {
    /// Adds a file.
    pub(super) fn add(&mut self, path: &str, stat: &Stat) {
        self.count += 1;
        self.add_to_sum(&code::encode_one(path, stat));
    }

    /// Adds a place that could not be looked at. It is no file, so that it does not count as one.
    pub(super) fn add_dark(&mut self, place: &str) {
        self.add_to_sum(place.as_bytes());
    }

    /// How many changed at least.
    pub(super) fn changes_since(&self, before: &Self) -> u64 {
        match self == before {
            true => 0,
            false => self.count.abs_diff(before.count).max(1),
        }
    }

    fn add_to_sum(&mut self, bytes: &[u8]) {
        let hash = ContentHash::of(bytes).0;
        let (start, _) = hash.split_first_chunk().expect("a hash has 32 bytes");
        self.sum = self.sum.wrapping_add(u128::from_le_bytes(*start));
    }
}
