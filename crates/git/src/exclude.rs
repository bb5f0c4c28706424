//! Having something ignored in this copy of the repository and in no other.
//!
//! What always holds: the file is replaced whole, keeps what is in it, and gets a line at most once. Nothing outside
//! the repository's own directory is written, wherever a link in it leads.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use loggia_domain::RepositoryError;

use crate::place::Place;

/// People write some lines into it; one this large is something else.
const MAX_FILE: u64 = 1024 * 1024;

/// Has a path, relative to the directory that was asked for, ignored in all trees.
pub(crate) fn exclude(place: &Place, pattern: &str) -> Result<(), RepositoryError> {
    let line = line_for(place, pattern)?;
    let info = place.common.join("info");
    add(&info, &line).map_err(|error| {
        RepositoryError::Failed(format!("`{}` cannot be changed: {error}", info.join("exclude").display()))
    })
}

/// The line that means this path and no other.
fn line_for(place: &Place, pattern: &str) -> Result<Vec<u8>, RepositoryError> {
    let is_odd = pattern.trim() != pattern || pattern.is_empty() || pattern.contains(['\0', '\n', '\r']);
    if is_odd || pattern.starts_with(['#', '!', '/']) {
        let pattern = pattern.escape_debug();
        return Err(RepositoryError::Failed(format!("`{pattern}` is nothing that can be ignored")));
    }
    // A directory below the tree's root is a part of the pattern, and its own characters mean themselves.
    let below = place.asked.strip_prefix(&place.top).unwrap_or(Path::new(""));
    let mut line = Vec::new();
    for part in below {
        line.push(b'/');
        for byte in part.as_encoded_bytes() {
            if b"*?[\\ ".contains(byte) {
                line.push(b'\\');
            }
            if *byte == b'\n' {
                return Err(RepositoryError::Failed(
                    "a directory with a line's end cannot be told".to_owned(),
                ));
            }
            line.push(*byte);
        }
    }
    if !line.is_empty() {
        line.push(b'/');
    }
    line.extend_from_slice(pattern.as_bytes());
    Ok(line)
}

fn add(info: &Path, line: &[u8]) -> std::io::Result<()> {
    match fs::create_dir(info) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if !info.symlink_metadata()?.is_dir() {
        return Err(std::io::Error::other("`info` is no directory"));
    }
    let file = info.join("exclude");
    let (mut text, permissions) = match fs::File::open(&file) {
        Ok(open) => {
            let found = open.metadata()?;
            let mut text = Vec::new();
            if !found.is_file() || open.take(MAX_FILE + 1).read_to_end(&mut text)? as u64 > MAX_FILE {
                return Err(std::io::Error::other("it is no file of usual size"));
            }
            (text, Some(found.permissions()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => (Vec::new(), None),
        Err(error) => return Err(error),
    };
    if text
        .split(|byte| *byte == b'\n')
        .any(|existing| existing.strip_suffix(b"\r").unwrap_or(existing) == line)
    {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text.extend_from_slice(line);
    text.push(b'\n');
    let mut new = tempfile::NamedTempFile::new_in(info)?;
    new.write_all(&text)?;
    if let Some(permissions) = permissions {
        new.as_file().set_permissions(permissions)?;
    }
    new.as_file().sync_all()?;
    new.persist(&file).map_err(|error| error.error)?;
    Ok(())
}
