//! Whether something happened to a socket's file.
//!
//! Knows the file's directory, and nothing of who listens. What always holds: a change is noticed at once where the system
//! tells, and within [`TICK`] elsewhere.

use std::fs::Metadata;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::sync::Notify;

/// How often to look where nobody tells.
const TICK: Duration = Duration::from_millis(500);

/// Enough for several names at once.
const BUFFER: usize = 4096;

/// Looks at one file.
#[derive(Debug)]
pub(super) struct Watch {
    path: PathBuf,
    told: Option<Told>,
}

/// Which file it is; another one under the same name is another one. Numbers of files are given again, so that of a socket that
/// was made in the place of another is often the same: the time tells them apart.
pub(super) type Identity = Option<(u64, u64, (i64, i64))>;

/// What a thread tells that waits for the system to tell.
#[derive(Debug)]
struct Told {
    something: Arc<Notify>,
    /// Closed to end the thread.
    _wake: OwnedFd,
}

impl Watch {
    /// Begins. Where the system cannot tell, it is looked at from time to time.
    pub(super) fn new(path: &Path) -> Self {
        // Too many watches, or no directory: then it is looked at.
        Self { path: path.to_owned(), told: listen(path).ok() }
    }

    /// The file that is there now.
    pub(super) fn identity(&self) -> Identity {
        let of = |found: Metadata| (found.dev(), found.ino(), (found.ctime(), found.ctime_nsec()));
        self.path.metadata().ok().map(of)
    }

    /// Waits until the file is another one than this, or is there, or is gone.
    pub(super) async fn until_not(&self, known: Identity) {
        while self.identity() == known {
            match &self.told {
                // However much is told of, it is looked at now and then as well.
                Some(told) => drop(tokio::time::timeout(TICK, told.something.notified()).await),
                None => tokio::time::sleep(TICK).await,
            }
        }
    }
}

fn listen(path: &Path) -> io::Result<Told> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let flags = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::MOVED_TO;
    inotify::add_watch(&queue, directory, flags)?;
    let (woken, wake) = pipe_with(PipeFlags::CLOEXEC)?;
    let something = Arc::new(Notify::new());
    let teller = Arc::clone(&something);
    let tell = move || {
        while hear(&queue, &woken) {
            teller.notify_one();
        }
    };
    std::thread::Builder::new().name("watch".to_owned()).spawn(tell)?;
    Ok(Told { something, _wake: wake })
}

/// Waits until something is told; false once nobody wants to know any more.
fn hear(queue: &OwnedFd, woken: &OwnedFd) -> bool {
    let mut both = [PollFd::new(queue, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
    match poll(&mut both, None) {
        Ok(_) if !both[1].revents().is_empty() => return false,
        Ok(_) => {}
        Err(Errno::INTR) => return true,
        Err(_) => return false,
    }
    // Only that something was told matters.
    let mut buffer = [MaybeUninit::<u8>::uninit(); BUFFER];
    let mut reader = inotify::Reader::new(queue, &mut buffer);
    loop {
        match reader.next() {
            Ok(_) => {}
            Err(error) => return error == Errno::AGAIN || error == Errno::INTR,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    #[tokio::test]
    async fn a_file_that_comes_goes_and_is_replaced_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("console.sock");
        let watch = Watch::new(&path);
        assert!(watch.told.is_some());
        assert_eq!(watch.identity(), None);
        std::fs::write(&path, "").unwrap();
        watch.until_not(None).await;
        let first = watch.identity();
        std::fs::write(directory.path().join("other"), "").unwrap();
        std::fs::rename(directory.path().join("other"), &path).unwrap();
        watch.until_not(first).await;
        assert_ne!(watch.identity(), None);
        let second = watch.identity();
        std::fs::remove_file(&path).unwrap();
        watch.until_not(second).await;
        assert_eq!(watch.identity(), None);
    }

    #[tokio::test]
    async fn a_file_that_is_made_again_with_the_same_number_is_another_one() {
        let directory = tempfile::tempdir().unwrap();
        let (path, other) = (directory.path().join("console.sock"), directory.path().join("other"));
        std::fs::write(&path, "").unwrap();
        let watch = Watch::new(&path);
        let first = watch.identity();
        std::fs::hard_link(&path, &other).unwrap();
        // The system's clock for files goes on in steps.
        let began = Instant::now();
        while watch.identity() == first && began.elapsed() < PATIENCE {
            std::fs::remove_file(&path).unwrap();
            std::fs::hard_link(&other, &path).unwrap();
        }
        assert_eq!(watch.identity().map(|found| found.1), first.map(|found| found.1));
        assert!(tokio::time::timeout(PATIENCE, watch.until_not(first)).await.is_ok(), "it was not noticed");
    }

    #[tokio::test(start_paused = true)]
    async fn where_nobody_tells_it_is_looked_at() {
        let watch = Watch { path: "/nowhere/at/all".into(), told: None };
        let waited = tokio::time::timeout(TICK * 10, watch.until_not(None)).await;
        assert!(waited.is_err());
    }
}
