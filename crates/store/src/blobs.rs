//! Bytes under their hash, one file each.
//!
//! A file is written beside its place, synced and then moved there, so that whatever is under a name is whole.
//! What is read is hashed again: a blob that is not what its name says is an error, never an answer.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use loggia_domain::{BlobError, ContentHash, StoreError};
use sha2::{Digest, Sha256};

#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    directory: PathBuf,
}

impl Blobs {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Two levels, so that no directory grows too large.
    fn place(&self, hash: &ContentHash) -> PathBuf {
        let name = hash.to_string();
        self.directory.join(&name[..2]).join(&name[2..])
    }

    pub(crate) fn put(&self, bytes: &[u8]) -> Result<ContentHash, StoreError> {
        let hash = hash_of(bytes);
        let place = self.place(&hash);
        if !place.exists() {
            write_whole(&place, bytes).map_err(|error| unavailable(&error))?;
        }
        Ok(hash)
    }

    pub(crate) fn get(&self, hash: ContentHash) -> Result<Vec<u8>, StoreError> {
        let bytes = match fs::read(self.place(&hash)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StoreError::Blob { hash, fault: BlobError::Missing });
            }
            Err(error) => return Err(unavailable(&error)),
        };
        if hash_of(&bytes) != hash {
            return Err(StoreError::Blob { hash, fault: BlobError::Damaged });
        }
        Ok(bytes)
    }
}

fn hash_of(bytes: &[u8]) -> ContentHash {
    ContentHash(Sha256::digest(bytes).into())
}

fn write_whole(place: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let directory = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    // A name nobody else uses: two writers of the same bytes must not write into one file.
    let unique = loggia_domain::CheckpointId::new();
    let draft = directory.join(format!(".{unique}"));
    let written = (|| {
        let mut file = File::create_new(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, place)?;
        File::open(directory)?.sync_all()
    })();
    if written.is_err() {
        // The error of the write counts; a draft that stays is swept with its directory.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn unavailable(error: &std::io::Error) -> StoreError {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::Full,
        _ => StoreError::Unavailable(error.to_string()),
    }
}
