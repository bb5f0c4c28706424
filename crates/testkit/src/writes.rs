//! A writer that keeps every write apart from the others, or takes none.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

/// What was written, write by write. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Writes {
    written: Arc<Mutex<Vec<String>>>,
    closed: bool,
}

impl Writes {
    /// One whose reader has gone: every write fails, and is kept all the same.
    #[must_use]
    pub fn closed() -> Self {
        Self { closed: true, ..Self::default() }
    }

    /// Everything so far.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        self.written().clone()
    }

    /// How many writes hold this.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.written().iter().filter(|write| write.contains(text)).count()
    }

    fn written(&self) -> MutexGuard<'_, Vec<String>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncWrite for Writes {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.written().push(String::from_utf8_lossy(bytes).into_owned());
        Poll::Ready(match self.closed {
            true => Err(io::ErrorKind::BrokenPipe.into()),
            false => Ok(bytes.len()),
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
