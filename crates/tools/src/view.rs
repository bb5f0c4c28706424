//! The files as a call sees them: the disk, under the changes collected so far, as far as the policy lets it look.
//!
//! Knows the root, the overlay and the policy's filter; refuses to know what is done with the files. What always
//! holds: nothing is read but through the root; a path in the overlay is as if written there; listings and walks leave
//! out what may not be read; a link to what may not be read is not followed.

mod files;
mod listing;
mod nearest;

use std::borrow::Cow;
use std::sync::Arc;

use loggia_domain::{ToolContext, ToolError};
use loggia_tree::{Kind, Root, TreeError, TreePath};

use crate::call::Stop;

pub(crate) use listing::{Entry, EntryKind};

/// What a call may look at.
pub(crate) struct View {
    root: Arc<Root>,
    context: ToolContext,
    stop: Stop,
}

impl View {
    /// A view for one call.
    pub(crate) fn new(root: Arc<Root>, context: ToolContext, stop: Stop) -> Self {
        Self { root, context, stop }
    }

    /// The root, for what the overlay has no say in.
    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// Says whether anybody still waits.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Whether the policy lets a path be read.
    pub(crate) fn may_read(&self, path: &str) -> bool {
        (self.context.may_read)(path)
    }

    /// What the overlay has at a path: nothing if it has no say, an inner nothing if the file would be gone.
    pub(crate) fn overlaid(&self, path: &str) -> Option<Option<&[u8]>> {
        self.context.overlay.get(path).map(Option::as_deref)
    }

    /// A file's content, of at most `limit` bytes; nothing if it is not there.
    ///
    /// # Errors
    /// If it is no file, too large, or not to be read.
    pub(crate) fn read(&self, path: &TreePath, limit: u64) -> Result<Option<Cow<'_, [u8]>>, ToolError> {
        let real = match self.overlaid(path.as_str()) {
            Some(content) => return bounded(path, content, limit),
            None => self.real_path(path)?,
        };
        if let Some(content) = self.overlaid(real.as_str()) {
            return bounded(path, content, limit);
        }
        if self.has_overlaid_below(&real) {
            return Err(refusal(&TreeError::NotAFile { path: path.clone(), kind: Kind::Directory }));
        }
        match self.root.read(&real, limit) {
            Ok(file) => Ok(Some(Cow::Owned(file.bytes))),
            Err(TreeError::NotFound { .. }) => Ok(None),
            Err(error) => Err(refusal(&error)),
        }
    }

    /// What is at a path; nothing if nothing is. A link in the last place is told as a link.
    pub(crate) fn kind(&self, path: &TreePath) -> Result<Option<Kind>, ToolError> {
        if let Some(Some(_)) = self.overlaid(path.as_str()) {
            return Ok(Some(Kind::File));
        }
        if self.has_overlaid_below(path) {
            return Ok(Some(Kind::Directory));
        }
        if self.overlaid(path.as_str()).is_some() {
            return Ok(None);
        }
        let meta = self.root.stat(path).map_err(|error| refusal(&error))?;
        Ok(meta.map(|meta| meta.kind))
    }

    /// Where a path really leads. A link is followed only to what may be read.
    pub(crate) fn real_path(&self, path: &TreePath) -> Result<TreePath, ToolError> {
        let real = match self.root.real_path_of(path) {
            Ok(real) => real,
            // Below a file: nothing is there, which whoever looks will find out.
            Err(TreeError::NotADirectory { .. }) => return Ok(path.clone()),
            Err(error) => return Err(refusal(&error)),
        };
        if real != *path && !self.may_read(real.as_str()) {
            return Err(ToolError::Forbidden(format!(
                "`{path}` is a link to what the policy does not let be read"
            )));
        }
        Ok(real)
    }

    /// Whether the overlay makes a file below this path.
    pub(crate) fn has_overlaid_below(&self, path: &TreePath) -> bool {
        if path.is_root() {
            return false;
        }
        let prefix = format!("{path}/");
        let below =
            self.context.overlay.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
        below.into_iter().any(|(_, content)| content.is_some())
    }
}

/// The error for a call, of what the tree says.
pub(crate) fn refusal(error: &TreeError) -> ToolError {
    let text = match error {
        TreeError::NotAFile { path, kind: Kind::Directory } => {
            format!("`{path}` is a directory, not a file; see what is in it with list_directory")
        }
        other => other.to_string(),
    };
    if error.is_forbidden() { ToolError::Forbidden(text) } else { ToolError::Failed(text) }
}

fn bounded<'a>(
    path: &TreePath,
    content: Option<&'a [u8]>,
    limit: u64,
) -> Result<Option<Cow<'a, [u8]>>, ToolError> {
    let len = content.map_or(0, <[u8]>::len) as u64;
    if len > limit {
        return Err(refusal(&TreeError::TooLarge { path: path.clone(), len, limit }));
    }
    Ok(content.map(Cow::Borrowed))
}
