//! The signals that end a daemon, or the agent of a client.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears what ends a daemon.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Option<Signal>,
}

impl Signals {
    /// Hears from now on; nothing else happens at a signal any more.
    pub(crate) fn listen() -> io::Result<Self> {
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt, hangup: None })
    }

    /// The same, and the end of the terminal. For who is nobody's service: `nohup` keeps that from a daemon.
    pub(crate) fn listen_with_hangup() -> io::Result<Self> {
        Ok(Self { hangup: Some(signal(SignalKind::hangup())?), ..Self::listen()? })
    }

    /// The name of the next one.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    pub(crate) async fn next(&mut self) -> &'static str {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = hangup => "SIGHUP",
        }
    }
}
