//! Whether the disk holds what an editor shows.
//!
//! Looks at regular files below the workspace's root and at nothing else: the path is a client's word.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use loggia_domain::ContentHash;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use crate::from_wire::Buffer;

/// What is larger is not compared; nobody edits such files by hand.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Gives the buffer back if the disk holds something else, or nothing, in its place.
pub(super) async fn differs(root: PathBuf, buffer: Buffer) -> Option<Buffer> {
    let compared = tokio::task::spawn_blocking(move || {
        let on_disk = hash(&root, &buffer.path);
        match on_disk {
            Ok(found) => (found != Some(buffer.hash)).then_some(buffer),
            // What cannot be compared is not claimed to differ.
            Err(error) => {
                tracing::debug!(%error, "an editor's file cannot be compared with the disk");
                None
            }
        }
    });
    compared.await.unwrap_or_default()
}

/// What a file holds; nothing if it is not there.
fn hash(root: &Path, path: &str) -> std::io::Result<Option<ContentHash>> {
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat2(CWD, root, directory, Mode::empty(), ResolveFlags::empty())?;
    // Not blocking, so that a named pipe does not hold us up before it is refused.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let file = match openat2(&root, path, flags, Mode::empty(), beneath) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > MAX_FILE {
        return Err(std::io::Error::other("not a regular file of a size people edit"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(Some(ContentHash::of(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(path: &str, content: &str) -> Buffer {
        Buffer { path: path.to_owned(), hash: ContentHash::of(content.as_bytes()) }
    }

    #[tokio::test]
    async fn only_files_below_the_root_are_compared() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("root");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.rs"), "saved").unwrap();
        std::fs::write(directory.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink(directory.path().join("secret"), root.join("link")).unwrap();
        let check =
            async |path: &str, content: &str| differs(root.clone(), buffer(path, content)).await.is_some();
        assert!(!check("src/a.rs", "saved").await);
        assert!(check("src/a.rs", "not saved").await);
        assert!(
            check("src/new.rs", "never saved").await,
            "a file that is not there yet has never been saved"
        );
        // What lies outside or is no file is never looked at, so nothing is said about it.
        assert!(!check("link", "x").await);
        assert!(!check("../secret", "x").await);
        assert!(!check("src", "x").await);
    }
}
