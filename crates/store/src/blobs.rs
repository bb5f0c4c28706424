//! Bytes under their hash, one file each.
//!
//! A file is written in a directory for drafts, synced and then moved to its place, so that whatever is under a name
//! is whole. What is read is hashed again: a blob that is not what its name says is an error, never an answer.
//! Drafts that a crash left behind are removed when the store is opened.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use loggia_domain::{BlobError, CheckpointId, ContentHash, StoreError};

#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    directory: PathBuf,
}

impl Blobs {
    pub(crate) fn open(directory: PathBuf) -> Self {
        let blobs = Self { directory };
        match fs::remove_dir_all(blobs.drafts()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            // They only take room.
            Err(error) => tracing::warn!(%error, "drafts of blobs cannot be removed"),
        }
        blobs
    }

    fn drafts(&self) -> PathBuf {
        self.directory.join("drafts")
    }

    /// Two levels, so that no directory grows too large.
    fn place(&self, hash: &ContentHash) -> PathBuf {
        let name = hash.to_string();
        self.directory.join(&name[..2]).join(&name[2..])
    }

    pub(crate) fn put(&self, bytes: &[u8]) -> Result<ContentHash, StoreError> {
        let hash = ContentHash::of(bytes);
        let place = self.place(&hash);
        // A damaged one is replaced.
        if fs::read(&place).ok().is_none_or(|there| there != bytes) {
            self.write_whole(&place, bytes).map_err(|error| sort(&error))?;
        }
        Ok(hash)
    }

    pub(crate) fn get(&self, hash: ContentHash) -> Result<Vec<u8>, StoreError> {
        let bytes = match fs::read(self.place(&hash)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(StoreError::Blob { hash, fault: BlobError::Missing });
            }
            Err(error) => return Err(sort(&error)),
        };
        if ContentHash::of(&bytes) != hash {
            return Err(StoreError::Blob { hash, fault: BlobError::Damaged });
        }
        Ok(bytes)
    }

    fn write_whole(&self, place: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let drafts = self.drafts();
        fs::create_dir_all(&drafts)?;
        // A name nobody else uses: two writers of the same bytes must not write into one file.
        let draft = drafts.join(CheckpointId::new().to_string());
        let written = write_synced(&draft, bytes).and_then(|()| move_synced(&draft, place));
        if written.is_err() {
            // The error of the write counts; a draft that stays is removed with the others.
            let _ = fs::remove_file(&draft);
        }
        written
    }
}

fn write_synced(draft: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create_new(draft)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Moves a file and does not return before its new name is on disk.
fn move_synced(draft: &Path, place: &Path) -> std::io::Result<()> {
    let directory = place.parent().unwrap_or(Path::new("."));
    match fs::create_dir(directory) {
        // The new directory has a name of its own to be kept.
        Ok(()) => File::open(directory.parent().unwrap_or(Path::new(".")))?.sync_all()?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    fs::rename(draft, place)?;
    File::open(directory)?.sync_all()
}

fn sort(error: &std::io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full,
        _ => StoreError::Unavailable(error.to_string()),
    }
}
