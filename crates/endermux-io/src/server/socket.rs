//! A Unix socket in the file system that belongs to us.
//!
//! Invariants: only its owner may connect, from the first moment; whoever sees the file can connect; a socket somebody answers on is never replaced, and
//! neither is a file of another kind; what is removed at the end is the file that was made here, and no other.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use tokio::net::{UnixListener, UnixSocket, UnixStream};

/// How many connections may wait to be accepted: more than may be served, so that a burst is told so by being closed.
const BACKLOG: u32 = 128;

/// How often to try again while somebody else is binding in the same directory, which takes a moment.
const LOCK_TRIES: u32 = 50;

/// How long to wait between these tries.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A listener on a socket file; the file goes when this is dropped.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
    /// Device and inode of the file. They stay ours while the listener is open, so they cannot name another file.
    identity: (u64, u64),
    pub(super) listener: UnixListener,
}

/// Why a socket could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// A server answers on it.
    #[error("somebody already listens on `{}`", path.display())]
    Taken {
        /// Where.
        path: PathBuf,
    },
    /// There is something that is no socket.
    #[error("`{}` is in the way: it is no socket", path.display())]
    InTheWay {
        /// Where.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("cannot listen on `{}`", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Socket {
    /// Listens at a path, which is replaced if it is a socket that nobody answers on any more.
    ///
    /// # Errors
    /// [`BindError`] when somebody else has the path, or the system refuses.
    pub async fn bind(path: impl Into<PathBuf>) -> Result<Self, BindError> {
        let path = path.into();
        let failed = |source| BindError::Io { path: path.clone(), source };
        // A file may be given a name that is too long to connect to.
        SocketAddr::from_pathname(&path).map_err(failed)?;
        // Two that find the same dead socket must not remove each other's new one.
        let _lock = lock_directory(&path).await.map_err(failed)?;
        clear(&path).await?;
        // Those who watch for the file connect as soon as they see it, so it comes into sight when it listens.
        let hidden = path.with_file_name(format!(".{:x}", std::process::id()));
        let listener = listen(&hidden).map_err(failed)?;
        let made = fs::symlink_metadata(&hidden).map_err(failed)?;
        fs::rename(&hidden, &path).map_err(failed)?;
        Ok(Self { identity: (made.dev(), made.ino()), listener, path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let is_ours =
            fs::symlink_metadata(&self.path).is_ok_and(|found| (found.dev(), found.ino()) == self.identity);
        if is_ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "the socket stays");
        }
    }
}

/// Held until the file is closed. It is the directory's, so that nothing is left behind.
async fn lock_directory(path: &Path) -> io::Result<File> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = File::open(parent.unwrap_or(Path::new(".")))?;
    for _ in 0..LOCK_TRIES {
        match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => tokio::time::sleep(LOCK_PAUSE).await,
            locked => return locked.map(|()| directory).map_err(io::Error::from),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "somebody else keeps the directory locked"))
}

/// Removes a socket nobody answers on.
async fn clear(path: &Path) -> Result<(), BindError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err(BindError::InTheWay { path: path.to_owned() });
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        // Whoever cannot take us now, or not us, is there all the same.
        _ => return Err(BindError::Taken { path: path.to_owned() }),
    }
    fs::remove_file(path).map_err(|source| BindError::Io { path: path.to_owned(), source })
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    // One of our number may have been killed here.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let socket = UnixSocket::new_stream()?;
    let owner_only = Mode::RUSR | Mode::WUSR;
    // Linux gives the file the mode of the socket, so that there is no moment in which others could connect; elsewhere
    // this may fail, and the mode is set after the fact.
    let _ = fchmod(&socket, owner_only);
    socket.bind(path)?;
    rustix::fs::chmod(path, owner_only)?;
    socket.listen(BACKLOG)
}
