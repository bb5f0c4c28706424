//! What the client says, heard from the moment this process runs.
//!
//! Until the daemon is found, what comes is kept, so that a client which closes its side is noticed. From then on it is
//! carried. What always holds: at most [`BUFFER`] bytes are kept; whoever gets them back has the rest to read.

use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

use super::{BUFFER, Heard, wait};

/// The thread that hears the client.
#[derive(Debug)]
pub(super) struct Input {
    thread: JoinHandle<Vec<u8>>,
    found: Sender<UnixStream>,
    /// Dropped to wake the thread.
    wake: UnixStream,
}

impl Input {
    /// Starts to hear. Learns how the client frames, and tells when it has closed its side.
    pub(super) fn start(has_headers: Arc<AtomicBool>, tell: mpsc::Sender<Heard>) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        let (found, daemon) = channel();
        let thread = thread::spawn(move || hear(&woken, &daemon, &has_headers, &tell));
        Ok(Self { thread, found, wake })
    }

    /// Carries everything to the daemon from here on.
    pub(super) fn connect(self, daemon: UnixStream) {
        // The thread waits for it, or has panicked, and then nothing is carried.
        let _ = self.found.send(daemon);
        drop(self.wake);
    }

    /// What was kept; nothing more is read.
    pub(super) fn give_back(self) -> Vec<u8> {
        drop((self.found, self.wake));
        self.thread.join().unwrap_or_default()
    }
}

fn hear(
    woken: &UnixStream,
    found: &Receiver<UnixStream>,
    has_headers: &AtomicBool,
    tell: &mpsc::Sender<Heard>,
) -> Vec<u8> {
    let mut kept = Vec::new();
    let is_over = keep(&mut kept, woken, tell);
    let Ok(daemon) = found.recv() else { return kept };
    carry(&daemon, kept, is_over, has_headers);
    // Whoever hears this may have left: then the process ends.
    let _ = tell.blocking_send(Heard::InputOver { said: true });
    Vec::new()
}

/// Keeps what comes until the daemon is found, or is not; whether the client has closed its side.
fn keep(kept: &mut Vec<u8>, woken: &UnixStream, tell: &mpsc::Sender<Heard>) -> bool {
    let stdin = rustix::stdio::stdin();
    let mut buffer = vec![0; BUFFER];
    let mut is_over = false;
    loop {
        let mut both = [PollFd::new(woken, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
        let takes = !is_over && kept.len() < BUFFER;
        let polled = if takes { &mut both[..] } else { &mut both[..1] };
        match poll(polled, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => {
                tracing::debug!(%error, "input cannot be waited for");
                return is_over;
            }
        }
        if !polled[0].revents().is_empty() {
            return is_over;
        }
        let room = BUFFER - kept.len();
        match rustix::io::read(stdin, &mut buffer[..room]) {
            Ok(length @ 1..) => kept.extend_from_slice(&buffer[..length]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => {
                is_over = true;
                let _ = tell.blocking_send(Heard::InputOver { said: !kept.is_empty() });
            }
        }
    }
}

/// From the client to the daemon, until the client closes its side.
fn carry(mut daemon: &UnixStream, kept: Vec<u8>, is_over: bool, has_headers: &AtomicBool) {
    let stdin = rustix::stdio::stdin();
    let (mut length, mut buffer) = (kept.len(), kept);
    buffer.resize(BUFFER, 0);
    let mut looked = false;
    loop {
        let bytes = &buffer[..length];
        if !looked && let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            // As the door tells them apart: no JSON begins with this letter.
            has_headers.store(matches!(first, b'C' | b'c'), Relaxed);
            looked = true;
        }
        // A daemon that has gone is noticed by what it no longer says.
        if daemon.write_all(bytes).is_err() || is_over {
            break;
        }
        length = match rustix::io::read(stdin, &mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if wait(error, stdin, PollFlags::IN) => 0,
            Err(error) => {
                tracing::debug!(%error, "input cannot be read any more");
                break;
            }
        };
    }
    let _ = daemon.shutdown(Shutdown::Write);
}
