//! Keeps what files hold and what they are to hold, before any of them changes.

use loggia_tree::Root;

use super::apply::ApplyError;
use super::blobs::Blobs;
use super::change_set::ChangeSet;
use super::disk::{Found, read};
use super::wanted::{Conflict, NewContent};

/// How many contents are given to the store at once: they wait for the disk together.
const KEPT_AT_ONCE: usize = 32;

/// How many bytes are given to the store at once: they are in memory together.
const KEPT_BYTES: usize = 16 << 20;

/// Keeps both sides of every change. A file that is not what it was when it was checked is a conflict.
pub(super) fn keep(root: &Root, blobs: &dyn Blobs, set: &ChangeSet) -> Result<(), ApplyError> {
    let mut batch = Batch { blobs, contents: Vec::new(), bytes: 0 };
    let removals = set.removals.iter().map(|change| (&change.path, &change.before));
    let writes = set.writes.iter().filter_map(|change| Some((&change.path, change.before.as_ref()?)));
    for (path, before) in removals.chain(writes) {
        let (found, bytes) = read(root, path).map_err(|error| ApplyError::at(path, error))?;
        if found != Found::File(*before) {
            return Err(ApplyError::Conflict(vec![Conflict { path: path.clone(), found }]));
        }
        batch.add(bytes)?;
    }
    for change in &set.writes {
        match &change.content {
            NewContent::File { bytes, .. } => batch.add(bytes.clone())?,
            NewContent::Link { target } => batch.add(target.clone())?,
            NewContent::Kept(_) => {}
        }
    }
    batch.flush()
}

/// Contents on their way to the store.
struct Batch<'a> {
    blobs: &'a dyn Blobs,
    contents: Vec<Vec<u8>>,
    bytes: usize,
}

impl Batch<'_> {
    fn add(&mut self, content: Vec<u8>) -> Result<(), ApplyError> {
        self.bytes += content.len();
        self.contents.push(content);
        if self.contents.len() < KEPT_AT_ONCE && self.bytes < KEPT_BYTES {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), ApplyError> {
        self.bytes = 0;
        Ok(self.blobs.keep(std::mem::take(&mut self.contents))?)
    }
}
