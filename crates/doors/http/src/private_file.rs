//! Files that only their owner may read, replaced whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// No file of ours here comes near it: a thousand tokens take a quarter.
const MAX_BYTES: u64 = 1 << 20;

/// Makes a file hold this text.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let beside = path.with_extension("new");
    // What a crash left there may belong to anybody; the new one is ours from its first moment.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    File::open(directory)?.sync_all()
}

/// What a file holds; nothing if there is none. One that others may read is made private first.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        tracing::warn!(path = %path.display(), "others could read this file; it is private now");
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    let mut text = String::new();
    io::Read::read_to_string(&mut io::Read::take(file, MAX_BYTES), &mut text)?;
    Ok(Some(text))
}
