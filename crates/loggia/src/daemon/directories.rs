//! The directories of a daemon.
//!
//! Knows how long a socket's name may be, and who may look in. Invariant: a directory that was made or checked here is
//! ours, and nobody else can reach into it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::DaemonError;
use crate::config::places::Places;

/// The longest name of a socket. Linux takes 107 bytes, others a few less.
const MAX_SOCKET_PATH: usize = 100;

/// How much of a program's name the socket of its console is called after: names of sockets are short.
pub(crate) const MAX_WRAP_NAME: usize = 32;

/// The bytes of the longest name of a socket, which is that of a wrapped program.
const LONGEST_SOCKET: usize = "wrap-.sock".len() + MAX_WRAP_NAME;

/// Where a directory with a short name can always be made.
const SHORT_PLACE: &str = "/tmp";

/// Bytes of a hash that tell our directories apart.
const HASH_BYTES: usize = 8;

/// Only the owner gets in.
const PRIVATE: u32 = 0o700;

/// Where the sockets of a daemon are, and the lock that says that it runs.
#[derive(Debug)]
pub(crate) struct RuntimeDirectory(PathBuf);

impl RuntimeDirectory {
    /// The directory for these places; everybody who asks gets the same one.
    pub(crate) fn of(places: &Places) -> Self {
        Self(short(places.runtime(), rustix::process::geteuid().as_raw()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The socket of the http door.
    pub(crate) fn http_socket(&self) -> PathBuf {
        self.0.join("http.sock")
    }

    /// The socket of the rpc door.
    pub(crate) fn rpc_socket(&self) -> PathBuf {
        self.0.join("rpc.sock")
    }

    /// The socket of the console door.
    pub(crate) fn console_socket(&self) -> PathBuf {
        self.0.join("console.sock")
    }

    /// The socket of a program with a console of its own; the name has [`MAX_WRAP_NAME`] bytes at most.
    pub(crate) fn wrap_socket(&self, name: &str) -> PathBuf {
        self.0.join(format!("wrap-{name}.sock"))
    }

    /// Held by the daemon that runs.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.0.join("daemon.lock")
    }

    /// Held by whoever starts a daemon.
    pub(crate) fn start_lock_file(&self) -> PathBuf {
        self.0.join("start.lock")
    }

    /// Whether what is found there can be believed: a name in a place for all may be somebody else's.
    pub(crate) fn is_ours(&self) -> bool {
        let user = rustix::process::geteuid().as_raw();
        let found = fs::symlink_metadata(&self.0).and_then(|link| Ok((link, fs::metadata(&self.0)?)));
        found.is_ok_and(|(link, target)| judge(&[&link, &target], user) == Verdict::Private)
    }
}

/// The directory itself, or one with a short name that stands for it.
fn short(asked: &Path, user: u32) -> PathBuf {
    if asked.as_os_str().len() + "/".len() + LONGEST_SOCKET <= MAX_SOCKET_PATH {
        return asked.to_owned();
    }
    let digest = Sha256::digest(asked.as_os_str().as_bytes());
    let hash: String = digest.iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
    Path::new(SHORT_PLACE).join(format!("loggia-{user}-{hash}"))
}

/// Makes a directory that is ours alone, or makes sure that it is. One that is there already is never changed: it was
/// named by somebody, and may be anything.
pub(crate) fn make_private(path: &Path) -> Result<(), DaemonError> {
    let made = DirBuilder::new().recursive(true).mode(PRIVATE).create(path);
    let failed = |source| DaemonError::Directory { path: path.to_owned(), source };
    let found = made.and_then(|()| fs::symlink_metadata(path)).map_err(failed)?;
    // A link of our own is followed: people move their data elsewhere that way. Somebody else's is not.
    let target = fs::metadata(path).map_err(failed)?;
    match judge(&[&found, &target], rustix::process::geteuid().as_raw()) {
        Verdict::Private => Ok(()),
        Verdict::Foreign => {
            Err(failed(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to somebody else")))
        }
        Verdict::Open => Err(DaemonError::OpenDirectory { path: path.to_owned() }),
    }
}

/// Whose a directory is, and who can look into it.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Private,
    Foreign,
    Open,
}

/// Judges a path by all that is found there: a link and what it leads to, or twice the directory itself.
fn judge(found: &[&fs::Metadata], user: u32) -> Verdict {
    const OTHERS: u32 = 0o077;
    if found.iter().any(|found| found.uid() != user) {
        Verdict::Foreign
    } else if found.iter().any(|found| found.is_dir() && found.permissions().mode() & OTHERS != 0) {
        Verdict::Open
    } else {
        Verdict::Private
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_becomes_a_short_one_and_always_the_same() {
        let near = Path::new("/run/user/1000/loggia");
        assert_eq!(short(near, 1000), near);
        let far = PathBuf::from(format!("/home/{}/run", "x".repeat(100)));
        let found = short(&far, 1000);
        assert_eq!(short(&far, 1000), found);
        assert!(found.starts_with("/tmp"));
        assert_ne!(short(&far.join("other"), 1000), found);
        assert_ne!(short(&far, 1001), found);
    }

    #[test]
    fn every_socket_has_a_name_that_is_short_enough() {
        for length in 1..MAX_SOCKET_PATH {
            let asked = PathBuf::from(format!("/{}", "x".repeat(length)));
            let directory = RuntimeDirectory(short(&asked, u32::MAX));
            let longest = "n".repeat(MAX_WRAP_NAME);
            for socket in [
                directory.http_socket(),
                directory.rpc_socket(),
                directory.console_socket(),
                directory.wrap_socket(&longest),
            ] {
                assert!(socket.as_os_str().len() <= MAX_SOCKET_PATH, "{}", socket.display());
            }
        }
    }

    #[test]
    fn what_is_made_is_closed_to_others() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("a/b");
        make_private(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        make_private(&path).unwrap();
    }

    #[test]
    fn an_open_directory_is_refused_and_left_as_it_is() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("open");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(make_private(&path), Err(DaemonError::OpenDirectory { .. })));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn a_directory_of_somebody_else_is_told_apart() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("ours");
        make_private(&path).unwrap();
        let found = path.metadata().unwrap();
        assert_eq!(judge(&[&found, &found], found.uid()), Verdict::Private);
        assert_eq!(judge(&[&found, &found], found.uid() + 1), Verdict::Foreign);
    }
}
