//! One owner at a time.
//!
//! The lock is the system's, on an open file: it goes when its process does, however that ends. What is written in
//! the file only serves to tell people who holds it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::OpenError;

/// How often the lock is tried: a process that ends gives back what it holds one by one.
const TRIES: u32 = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Holds a store's directory for this process.
#[derive(Debug)]
pub(crate) struct StoreLock {
    _file: File,
}

impl StoreLock {
    pub(crate) fn take(path: &Path) -> Result<Self, OpenError> {
        let not_writable = |source| OpenError::NotWritable { path: path.to_owned(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(not_writable)?;
        let mut taken = flock(&file, FlockOperation::NonBlockingLockExclusive);
        for _ in 1..TRIES {
            if taken != Err(rustix::io::Errno::WOULDBLOCK) {
                break;
            }
            std::thread::sleep(BETWEEN_TRIES);
            taken = flock(&file, FlockOperation::NonBlockingLockExclusive);
        }
        match taken {
            Ok(()) => {}
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => {
                let mut owner = String::new();
                // A file that cannot be read leaves the owner unknown; the lock is held all the same.
                let _ = file.read_to_string(&mut owner);
                return Err(OpenError::InUse { path: path.to_owned(), owner: owner.trim().parse().ok() });
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
