//! Every file that is not ignored, sorted by path.

use std::borrow::Cow;
use std::collections::btree_map;
use std::iter::Peekable;

use loggia_domain::ToolError;
use loggia_tree::{Kind, TreeError, TreePath, Walk, WalkOptions};

use super::{View, refusal};
use crate::text::{Lines, counted};

/// A file on the way through the tree.
pub(crate) struct SeenFile<'v> {
    /// Where it is.
    pub(crate) path: TreePath,
    /// Whether it is a link; links are seen and not followed.
    pub(crate) is_link: bool,
    overlaid: Option<&'v [u8]>,
}

/// What a walk could not see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unseen {
    /// How many entries and directories could not be read.
    pub(crate) entries: usize,
    /// Whether there are more files than a walk takes.
    pub(crate) is_cut: bool,
}

/// A walk through the files as the call sees them.
pub(crate) struct Files<'v> {
    view: &'v View,
    disk: Peekable<Walk>,
    overlay: Peekable<btree_map::Iter<'v, String, Option<Vec<u8>>>>,
    unseen: Unseen,
}

impl View {
    /// Goes through the files that are not ignored and may be read.
    pub(crate) fn files(&self) -> Files<'_> {
        Files {
            view: self,
            disk: self.root.walk(&WalkOptions::default()).peekable(),
            overlay: self.context.overlay.iter().peekable(),
            unseen: Unseen::default(),
        }
    }

    /// The content of a file that was seen, of at most `limit` bytes.
    pub(crate) fn content<'v>(&'v self, file: &SeenFile<'v>, limit: u64) -> Result<Cow<'v, [u8]>, ToolError> {
        match file.overlaid {
            Some(bytes) if bytes.len() as u64 > limit => {
                let (path, len) = (file.path.clone(), bytes.len() as u64);
                Err(refusal(&TreeError::TooLarge { path, len, limit }))
            }
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => {
                let read = self.root.read(&file.path, limit).map_err(|error| refusal(&error))?;
                Ok(Cow::Owned(read.bytes))
            }
        }
    }
}

impl<'v> Files<'v> {
    /// The next file; nothing when there are no more.
    ///
    /// # Errors
    /// Only if nobody waits any more.
    pub(crate) fn next(&mut self) -> Result<Option<SeenFile<'v>>, ToolError> {
        loop {
            self.view.stop.check()?;
            let Some(found) = self.advance() else { return Ok(None) };
            if let Some(file) = found
                && self.view.may_read(file.path.as_str())
            {
                return Ok(Some(file));
            }
        }
    }

    /// What could not be seen so far.
    pub(crate) fn unseen(&self) -> Unseen {
        self.unseen
    }

    /// One step along both ways: an inner nothing for what is not there, could not be seen, or cannot be named.
    fn advance(&mut self) -> Option<Option<SeenFile<'v>>> {
        if let Some(Err(error)) = self.disk.peek() {
            match error {
                TreeError::TooMany { .. } => self.unseen.is_cut = true,
                _ => self.unseen.entries += 1,
            }
            self.disk.next();
            return Some(None);
        }
        let on_disk = self.disk.peek().and_then(|found| found.as_ref().ok()).map(|found| found.path.as_str());
        let overlaid = self.overlay.peek().map(|(path, _)| path.as_str());
        match (on_disk, overlaid) {
            (None, None) => None,
            (Some(disk), over) if over.is_none_or(|over| disk < over) => {
                let found = self.disk.next()?.ok()?;
                let is_link = found.meta.kind == Kind::Link;
                Some(Some(SeenFile { path: found.path, is_link, overlaid: None }))
            }
            (disk, over) => {
                if disk == over {
                    self.disk.next();
                }
                let (path, content) = self.overlay.next()?;
                let file = TreePath::parse(path).ok().zip(content.as_deref());
                Some(file.map(|(path, bytes)| SeenFile { path, is_link: false, overlaid: Some(bytes) }))
            }
        }
    }
}

impl Unseen {
    /// Says so, if anything could not be seen.
    pub(crate) fn note(self, output: &mut Lines) {
        if self.entries > 0 {
            output.note(&format!("{} could not be read", counted(self.entries, "place")));
        }
        if self.is_cut {
            output.note("there are too many files; not all were looked at");
        }
    }
}
