//! What a caller wants of a file, and what it takes for granted.
//!
//! Several wishes for one file are one: the last content, if each was made for what the one before it leaves.

use std::collections::BTreeMap;

use loggia_domain::{ContentHash, FileState};
use loggia_tree::TreePath;

use super::disk::Found;

/// A change somebody wants made to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedChange {
    /// The file. No part of the path before the last is a link.
    pub path: TreePath,
    /// What it must be for the change to fit.
    pub expect: Expect,
    /// What it is to be; nothing if it is to go.
    pub after: Option<NewContent>,
}

/// What a file must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Not there.
    Absent,
    /// A file that holds this; its permissions do not matter.
    Hash(ContentHash),
    /// Exactly this.
    Exactly(FileState),
}

/// What a file is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewContent {
    /// A file.
    File {
        /// What it holds.
        bytes: Vec<u8>,
        /// Its permission bits; if not said, those it has, or `0644` for a new one.
        mode: Option<u32>,
    },
    /// A symbolic link.
    Link {
        /// Where it points.
        target: Vec<u8>,
    },
    /// What it once was, from what was kept of it.
    Kept(FileState),
}

/// A file that is not what a change was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The file.
    pub path: TreePath,
    /// What is there.
    pub found: Found,
}

/// The permission bits of a new file.
const NEW_FILE: u32 = 0o644;

impl Expect {
    pub(super) fn is_met_by(&self, found: &Found) -> bool {
        match self {
            Self::Absent => found.is(None),
            Self::Hash(hash) => matches!(found, Found::File(state) if state.hash == *hash && !state.is_link),
            Self::Exactly(state) => found.is(Some(state)),
        }
    }
}

impl NewContent {
    /// How many bytes are given; those that are kept were counted when they were.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::File { bytes, .. } => bytes.len() as u64,
            Self::Link { target } => target.len() as u64,
            Self::Kept(_) => 0,
        }
    }

    /// What the file becomes, given what it is.
    pub(super) fn state(&self, before: Option<&FileState>) -> FileState {
        match self {
            Self::File { bytes, mode } => {
                // A link has no permissions of its own to hand on.
                let kept = before.filter(|state| !state.is_link).map(|state| state.mode);
                let mode = mode.or(kept).unwrap_or(NEW_FILE);
                FileState { hash: ContentHash::of(bytes), mode, is_link: false }
            }
            Self::Link { target } => FileState { hash: ContentHash::of(target), mode: 0o777, is_link: true },
            Self::Kept(state) => *state,
        }
    }
}

/// One wish per file, in the order of their paths.
///
/// # Errors
/// A wish that was made for something else than the one before it leaves.
pub(super) fn merge(changes: Vec<WantedChange>) -> Result<Vec<WantedChange>, Conflict> {
    let mut merged: BTreeMap<TreePath, WantedChange> = BTreeMap::new();
    for change in changes {
        match merged.get_mut(&change.path) {
            None => {
                merged.insert(change.path.clone(), change);
            }
            Some(earlier) => follow(earlier, change)?,
        }
    }
    Ok(merged.into_values().collect())
}

fn follow(earlier: &mut WantedChange, mut later: WantedChange) -> Result<(), Conflict> {
    let leaves = match &earlier.after {
        None => Found::Nothing,
        Some(content) => {
            // Permissions that the earlier wish leaves open are met by whatever the later one expects.
            let open = match &later.expect {
                Expect::Exactly(state) => Some(*state),
                Expect::Absent | Expect::Hash(_) => None,
            };
            Found::File(content.state(open.as_ref()))
        }
    };
    if !later.expect.is_met_by(&leaves) {
        return Err(Conflict { path: later.path, found: leaves });
    }
    if let (Some(NewContent::File { mode: said, .. }), Some(NewContent::File { mode: mode @ None, .. })) =
        (&earlier.after, &mut later.after)
    {
        *mode = *said;
    }
    earlier.after = later.after;
    Ok(())
}
