//! The signals that end us, and with us the program.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears them.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Option<Signal>,
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// What Ctrl-C asks for.
    Interrupt,
    /// To end.
    Terminate,
}

impl Signals {
    /// Hears from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        let hangup = SignalKind::hangup();
        // `nohup` has it ignored, and whoever listens would undo that.
        let hangup = if is_ignored(hangup) { None } else { Some(signal(hangup)?) };
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup,
        })
    }

    /// The next one.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Asked {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Asked::Interrupt,
            _ = self.terminate.recv() => Asked::Terminate,
            _ = hangup => Asked::Terminate,
        }
    }
}

/// Whether whoever started us had a signal ignored, where the system tells.
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}
