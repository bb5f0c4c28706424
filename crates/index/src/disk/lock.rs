//! One owner at a time.
//!
//! The lock is the system's, on an open file: it goes when its process does, however that ends. What is written in
//! the file only serves to tell people who holds it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::fault::OpenError;

/// Holds an index's directory for this process.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take(directory: &Path) -> Result<Self, OpenError> {
        let path = directory.join("lock");
        let not_writable = |source| OpenError::NotWritable { path: path.clone(), source };
        std::fs::create_dir_all(directory).map_err(not_writable)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            // What is written would else end up where a link leads.
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)
            .map_err(not_writable)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => {
                let mut owner = String::new();
                // A file that cannot be read leaves the owner unknown; the lock is held all the same.
                let _ = file.read_to_string(&mut owner);
                return Err(OpenError::InUse { path, owner: owner.trim().parse().ok() });
            }
            Err(error) => return Err(not_writable(error.into())),
        }
        let note = (|| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        })();
        note.map_err(not_writable)?;
        Ok(Self { _file: file })
    }
}
