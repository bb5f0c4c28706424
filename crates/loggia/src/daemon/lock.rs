//! One daemon at a time.
//!
//! The lock is the system's, on an open file: it goes when its process does, however that ends. What is written in the
//! file tells others whom to ask. The file itself stays: whoever removed it could remove another one's.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::DaemonError;

/// How often the lock is tried. Somebody who only looks whether we are there holds it for an instant.
const TRIES: u32 = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// How often, if whoever holds it says nothing any more: it is leaving, and gives back much memory first.
const TRIES_WHILE_LEAVING: u32 = 250;

/// Far more than a record needs.
const MAX_RECORD_BYTES: u64 = 16 * 1024;

/// What a daemon tells about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Its process; 0 if it does not say.
    pub(crate) pid: u32,
    /// Where it listens, once it does.
    #[serde(default)]
    pub(crate) url: Option<String>,
    /// Where its own command line reaches it, once it does.
    #[serde(default)]
    pub(crate) http_socket: Option<String>,
    /// Where clients of the rpc door reach it, once they do.
    #[serde(default)]
    pub(crate) rpc_socket: Option<String>,
    /// Where consoles reach it, once they do.
    #[serde(default)]
    pub(crate) console_socket: Option<String>,
    /// Whether it leaves when nobody needs it.
    #[serde(default)]
    pub(crate) auto: bool,
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.pid, self.place()) {
            (0, _) => f.write_str("it does not say which process it is"),
            (pid, Some(place)) => write!(f, "process {pid} at {place}"),
            (pid, None) => write!(f, "process {pid}, which is not ready yet"),
        }
    }
}

impl Record {
    /// Where it is, once it is ready: its address, or the socket of one that has none.
    pub(crate) fn place(&self) -> Option<&str> {
        self.url.as_deref().or(self.http_socket.as_deref())
    }
}

/// Held by the daemon that runs.
#[derive(Debug)]
pub(crate) struct DaemonLock {
    path: PathBuf,
    file: File,
}

impl DaemonLock {
    /// Takes the lock for this process.
    pub(crate) fn take(path: &Path) -> Result<Self, DaemonError> {
        let failed = |source| DaemonError::Lock { path: path.to_owned(), source };
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let mut file = file.map_err(failed)?;
        let mut tries = 1;
        while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if error != Errno::WOULDBLOCK {
                return Err(failed(error.into()));
            }
            let holder = read(&mut file);
            if tries >= if holder.pid == 0 { TRIES_WHILE_LEAVING } else { TRIES } {
                return Err(DaemonError::Running(holder));
            }
            tries += 1;
            std::thread::sleep(BETWEEN_TRIES);
        }
        let mut lock = Self { path: path.to_owned(), file };
        lock.write(&Record { pid: std::process::id(), ..Record::default() })?;
        Ok(lock)
    }

    /// Tells others whom to ask.
    pub(crate) fn write(&mut self, record: &Record) -> Result<(), DaemonError> {
        let text = serde_json::to_string(record).map_err(io::Error::other);
        let written = text.and_then(|text| {
            self.file.set_len(0)?;
            self.file.rewind()?;
            writeln!(self.file, "{text}")
        });
        written.map_err(|source| DaemonError::Lock { path: self.path.clone(), source })
    }

    /// Says nothing any more. The lock itself goes with the process and not before: what else the process holds, as the
    /// store, is free only then.
    pub(crate) fn leave(self) {
        if let Err(error) = self.file.set_len(0) {
            tracing::debug!(%error, "the lock's record stays");
        }
        std::mem::forget(self.file);
    }
}

/// Held by whoever starts a daemon, so that others wait for it instead of starting another.
#[derive(Debug)]
pub(crate) struct StartLock(#[expect(dead_code, reason = "held until it is dropped")] File);

impl StartLock {
    /// Waits for it. It goes with its process, so nobody waits for one that has gone.
    pub(crate) fn wait(path: &Path) -> Result<Self, DaemonError> {
        let failed = |source| DaemonError::Lock { path: path.to_owned(), source };
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = file.map_err(failed)?;
        loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(error) if error == Errno::INTR => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
    }
}

/// The daemon that holds a lock, if one does.
pub(crate) fn holder(path: &Path) -> Result<Option<Record>, DaemonError> {
    let failed = |source| DaemonError::Lock { path: path.to_owned(), source };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(None),
        Err(error) if error == Errno::WOULDBLOCK => Ok(Some(read(&mut file))),
        Err(error) => Err(failed(error.into())),
    }
}

/// What is written in the file; nothing of it is needed to know that the lock is held.
fn read(file: &mut File) -> Record {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(MAX_RECORD_BYTES).read_to_string(&mut text));
    read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_was_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("daemon.lock");
        assert_eq!(holder(&path).unwrap(), None);
        let mut first = DaemonLock::take(&path).unwrap();
        let url = Some("http://127.0.0.1:1".to_owned());
        let record = Record { pid: std::process::id(), url, ..Record::default() };
        first.write(&record).unwrap();
        let refused = DaemonLock::take(&path).unwrap_err().to_string();
        let pid = std::process::id();
        assert_eq!(refused, format!("a daemon is running already: process {pid} at http://127.0.0.1:1"));
        assert_eq!(holder(&path).unwrap(), Some(record));
        drop(first);
        assert_eq!(holder(&path).unwrap(), None, "what is still written there is nobody's");
        DaemonLock::take(&path).unwrap();
    }

    #[test]
    fn whoever_leaves_holds_the_lock_until_its_process_ends() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("daemon.lock");
        DaemonLock::take(&path).unwrap().leave();
        assert_eq!(holder(&path).unwrap(), Some(Record::default()));
    }
}
