//! Where files' bytes come from: the workspace itself and the copies of it.
//!
//! Knows how to read one file so that its bytes and its `stat` belong together, and how to find bytes again.
//! Decides nothing about changes. Invariant: bytes that are given out have the hash that was asked for.

use std::io;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use loggia_domain::{ContentHash, FileState};
use loggia_tree::{Kind, Root, TreeError, TreePath};

use super::bounds::{ATTEMPTS, Bounds, CLOCK_SLACK};
use super::copies::Copies;
use super::manifest::{Entry, Stat};

/// The workspace's files and the copies of them.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) root: Arc<Root>,
    pub(super) copies: Copies,
    pub(super) bounds: Bounds,
}

/// What a file is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be kept. What cannot be kept is not read.
    Keep,
    /// To know what it holds. It is kept as well if there is room.
    Compare,
}

/// What is at a path now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Now {
    There(Stat),
    /// Nothing, or a directory: no file in any case.
    Gone,
    /// It cannot be told, or it is nothing that we could describe.
    Unclear,
}

impl Source {
    /// Reads a file whose `stat` was just seen. Nothing if it is gone; without a hash if it is not to be read, or
    /// cannot be, or never stands still. Fails only if a copy that must be kept cannot be written.
    pub(super) fn examine(
        &self,
        path: &Arc<str>,
        mut stat: Stat,
        purpose: Purpose,
    ) -> io::Result<Option<Entry>> {
        let unread = |stat| Ok(Some(Entry { path: Arc::clone(path), stat, hash: None, is_racy: false }));
        let Ok(tree_path) = TreePath::parse(path) else { return unread(stat) };
        for _ in 0..ATTEMPTS {
            if !self.is_wanted(stat.len, purpose) {
                break;
            }
            let clock = now_ns();
            let bytes = self.read(&tree_path, stat.is_link);
            match self.now_after_reading(&tree_path, &stat) {
                Now::There(now) if now == stat => {}
                // It changed, or it was a link to another file: what was read may be a mixture.
                Now::There(now) => {
                    stat = now;
                    continue;
                }
                Now::Gone => return Ok(None),
                Now::Unclear => break,
            }
            let bytes = match bytes {
                Ok(bytes) => bytes,
                Err(error) => {
                    tracing::debug!(%error, "a file is not mirrored");
                    break;
                }
            };
            let hash = ContentHash::of(&bytes);
            match self.copies.put(hash, &bytes) {
                Err(error) if purpose == Purpose::Keep => return Err(error),
                Err(error) => tracing::debug!(%error, "a changed file is not mirrored"),
                Ok(_) => {}
            }
            let is_racy = stat.changed_ns >= clock - slack_ns();
            return Ok(Some(Entry { path: Arc::clone(path), stat, hash: Some(hash), is_racy }));
        }
        unread(stat)
    }

    /// Bytes that a file had or has, from the copies or, if it still has them, from the file.
    pub(super) fn bytes(&self, path: &str, state: FileState) -> Option<Vec<u8>> {
        self.copies.get(state.hash).or_else(|| {
            let bytes = self.read(&TreePath::parse(path).ok()?, state.is_link).ok()?;
            (ContentHash::of(&bytes) == state.hash).then_some(bytes)
        })
    }

    /// What is at a path, for which only files and links of the tree itself count, not what a link on the way
    /// leads to.
    pub(super) fn now(&self, path: &TreePath) -> Now {
        let meta = match self.root.stat(path) {
            Ok(Some(meta)) => meta,
            Ok(None) => return Now::Gone,
            Err(error) => return now_by(&error),
        };
        let stat = match (Stat::of(&meta), meta.kind) {
            (Some(stat), _) => stat,
            (None, Kind::Directory) => return Now::Gone,
            (None, _) => return Now::Unclear,
        };
        let parent = path.parent().unwrap_or_default();
        match self.root.real_path_of(&parent) {
            Ok(real) if real == parent => Now::There(stat),
            Ok(_) => Now::Gone,
            Err(error) => now_by(&error),
        }
    }

    /// The same, with less work if it is what it was: the same file did not get there by a link.
    fn now_after_reading(&self, path: &TreePath, stat: &Stat) -> Now {
        match self.root.stat(path) {
            Ok(Some(meta)) if Stat::of(&meta).as_ref() == Some(stat) => Now::There(*stat),
            _ => self.now(path),
        }
    }

    fn read(&self, path: &TreePath, is_link: bool) -> Result<Vec<u8>, TreeError> {
        match is_link {
            true => self.root.read_link(path),
            false => self.root.read(path, self.bounds.file_bytes).map(|file| file.bytes),
        }
    }

    fn is_wanted(&self, len: u64, purpose: Purpose) -> bool {
        let limit = self.bounds.file_bytes;
        match purpose {
            Purpose::Compare => len <= limit,
            Purpose::Keep => len <= limit.min(self.copies.room()),
        }
    }
}

/// The time, in nanoseconds since 1970.
pub(super) fn now_ns() -> i128 {
    let whole = |duration: std::time::Duration| duration.as_nanos().cast_signed();
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => whole(after),
        Err(before) => -whole(before.duration()),
    }
}

/// [`CLOCK_SLACK`] in nanoseconds.
pub(super) const fn slack_ns() -> i128 {
    CLOCK_SLACK.as_nanos().cast_signed()
}

fn now_by(error: &TreeError) -> Now {
    match error {
        // A link or a file took the place of a directory on the way.
        TreeError::NotFound { .. }
        | TreeError::NotADirectory { .. }
        | TreeError::Outside { .. }
        | TreeError::ThroughLink { .. }
        | TreeError::TooManyLinks { .. } => Now::Gone,
        _ => Now::Unclear,
    }
}
