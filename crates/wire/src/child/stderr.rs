//! A program's stderr: drained always, logged line by line, its end kept.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use tokio::io::AsyncRead;
use tokio_util::codec::FramedRead;

use super::spec::StderrListener;
use crate::framing::{Inbound, Lines};

/// What fits on a screen under an error message.
const TAIL_LINES: usize = 40;
/// Longer lines are data, not talk; they are skipped.
const MAX_LINE: usize = 8 * 1024;

/// The last lines a program wrote to its stderr.
#[derive(Debug, Clone, Default)]
pub struct StderrTail(Arc<Mutex<VecDeque<String>>>);

impl StderrTail {
    fn lock(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lines, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.lock().iter().cloned().collect()
    }

    fn push(&self, line: String) {
        let mut lines = self.lock();
        if lines.len() == TAIL_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// Reads until the program and everybody who inherited its stderr have closed it.
pub(super) async fn drain<R: AsyncRead + Unpin>(
    name: String,
    stderr: R,
    tail: StderrTail,
    mut listener: Option<StderrListener>,
) {
    let mut lines = FramedRead::new(stderr, Lines::new(MAX_LINE));
    while let Some(line) = lines.next().await {
        let line = match line {
            Ok(Inbound::Frame(line)) => String::from_utf8_lossy(&line).into_owned(),
            Ok(Inbound::Refused(error)) => format!("[{error}]"),
            Err(error) => {
                tracing::debug!(child = %name, %error, "stderr cannot be read");
                return;
            }
        };
        tracing::debug!(target: "child", child = %name, "{line}");
        // A listener that panics is not asked again; the program must not feel it.
        if let Some(hear) = &listener
            && std::panic::catch_unwind(AssertUnwindSafe(|| hear(&line))).is_err()
        {
            tracing::error!(child = %name, "the listener of its stderr panicked");
            listener = None;
        }
        tail.push(line);
    }
}
