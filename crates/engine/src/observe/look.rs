//! Going through a workspace's files.
//!
//! Knows walking and its errors; compares nothing. Invariant: whatever the walk comes across, or cannot look at,
//! is told to the caller; only a root that cannot be looked at ends it.

use std::sync::atomic::{AtomicBool, Ordering};

use loggia_tree::{IgnoreRules, Root, TreeError, TreePath, WalkOptions};

use super::MirrorError;
use super::manifest::Stat;

/// What the walk came across.
#[derive(Debug)]
pub(super) enum Seen<'a> {
    /// A file or link that is not ignored.
    File { path: &'a str, stat: Stat },
    /// Something ignored. A directory has no `stat` and is not entered.
    Ignored { path: &'a str, stat: Option<Stat> },
    /// A place that could not be looked at, with a text that is the same as long as the place is.
    Dark { path: Option<&'a str>, text: String },
}

/// Tells `each` everything that is below the root.
pub(super) fn look(
    root: &Root,
    stop: &AtomicBool,
    mut each: impl FnMut(Seen<'_>),
) -> Result<(), MirrorError> {
    // No limit: what is beyond our bounds is summed up and not kept, and the caller can stop us.
    let options = WalkOptions { rules: IgnoreRules::Mark, limit: usize::MAX, ..WalkOptions::default() };
    for found in root.walk(&options) {
        if stop.load(Ordering::Relaxed) {
            return Err(MirrorError::Stopped);
        }
        match found {
            Ok(found) if found.is_ignored => {
                each(Seen::Ignored { path: found.path.as_str(), stat: Stat::of(&found.meta) });
            }
            Ok(found) => {
                if let Some(stat) = Stat::of(&found.meta) {
                    each(Seen::File { path: found.path.as_str(), stat });
                }
            }
            Err(error) => match place_of(&error) {
                Some(place) if place.is_root() => return Err(MirrorError::Unreadable { source: error }),
                place => {
                    let text = describe(root, &error, place);
                    each(Seen::Dark { path: place.map(TreePath::as_str), text });
                }
            },
        }
    }
    Ok(())
}

/// The error and when the place last changed: files that come and go in it do show.
fn describe(root: &Root, error: &TreeError, place: Option<&TreePath>) -> String {
    let meta = place.and_then(|place| root.stat(place).ok().flatten());
    match meta {
        Some(meta) => format!("{error} {} {} {}", meta.inode, meta.modified_ns, meta.changed_ns),
        None => error.to_string(),
    }
}

/// The place that an error of a walk is about.
fn place_of(error: &TreeError) -> Option<&TreePath> {
    match error {
        TreeError::Outside { path, .. }
        | TreeError::ThroughLink { path }
        | TreeError::TooManyLinks { path }
        | TreeError::Swapped { path }
        | TreeError::HardLinked { path }
        | TreeError::Reserved { path }
        | TreeError::NotFound { path }
        | TreeError::NotAFile { path, .. }
        | TreeError::NotADirectory { path }
        | TreeError::NotALink { path, .. }
        | TreeError::TooLarge { path, .. }
        | TreeError::TooMany { path, .. }
        | TreeError::Io { path, .. } => Some(path),
        // The name itself is not known; its directory was looked at.
        _ => None,
    }
}
