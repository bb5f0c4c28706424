//! Replacing a file whole or not at all.
//!
//! The new text is written beside the old one, synced and moved into place, and the move is synced too. The file is
//! its owner's only, and so is its directory if it is made here.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use tempfile::NamedTempFile;

/// Makes a file hold these bytes.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = parent.unwrap_or(Path::new("."));
    if !fs::exists(directory)? {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    // Made with mode 0600, and removed if we do not come to the end.
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
}
