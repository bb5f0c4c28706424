//! Ctrl-C, Ctrl-Z and the wish that we end, as whoever catches signals passes them on.
//!
//! The first Ctrl-C of a turn cancels it, the second one leaves. Ctrl-Z stops the process; whoever has changed the
//! terminal puts it back before, and takes it again when the process goes on.

use std::future::pending;

use tokio::sync::{mpsc, watch};

use crate::terminal;

/// How many wait to be noticed: two are all that mean something.
const WAITING: usize = 2;

/// Interrupts that come in.
#[derive(Debug)]
pub struct Interrupts {
    cancels: mpsc::Receiver<()>,
    suspends: mpsc::Receiver<()>,
    end: watch::Receiver<bool>,
    /// Whether the end was noticed.
    ended: bool,
}

/// Passes interrupts on. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Interrupter {
    cancels: mpsc::Sender<()>,
    suspends: mpsc::Sender<()>,
    end: watch::Sender<bool>,
}

/// What came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Ctrl-C.
    Cancel,
    /// Ctrl-Z.
    Suspend,
    /// We are to end, whatever is under way. It comes once.
    End,
}

impl Interrupts {
    /// A way to interrupt, and where it is noticed.
    pub fn channel() -> (Interrupter, Self) {
        let (cancel, cancels) = mpsc::channel(WAITING);
        let (suspend, suspends) = mpsc::channel(WAITING);
        let (ends, end) = watch::channel(false);
        let interrupter = Interrupter { cancels: cancel, suspends: suspend, end: ends };
        (interrupter, Self { cancels, suspends, end, ended: false })
    }

    /// Nobody ever interrupts.
    pub fn never() -> Self {
        Self::channel().1
    }

    /// The next one that means to stop what is under way. For whoever has not changed the terminal: Ctrl-Z stops the
    /// process at once.
    pub(crate) async fn next(&mut self) {
        while self.any().await == Interrupt::Suspend {
            terminal::stop();
        }
    }

    /// The next interrupt of any kind.
    pub(crate) async fn any(&mut self) -> Interrupt {
        tokio::select! {
            biased;
            () = noticed(&mut self.end, self.ended) => {
                self.ended = true;
                Interrupt::End
            }
            Some(()) = self.cancels.recv() => Interrupt::Cancel,
            Some(()) = self.suspends.recv() => Interrupt::Suspend,
            // Nobody can interrupt any more.
            else => pending().await,
        }
    }

    /// Whether we are to end, and it was noticed.
    pub(crate) fn are_over(&self) -> bool {
        self.ended
    }

    /// Forgets what nobody noticed: a new turn begins. A wish that we end is not forgotten.
    pub(crate) fn forget(&mut self) {
        while self.cancels.try_recv().is_ok() {}
        while self.suspends.try_recv().is_ok() {}
    }
}

impl Interrupter {
    /// Interrupts. What is already interrupted twice is not interrupted more.
    pub fn interrupt(&self) {
        // Full means that two wait to be noticed; closed, that nobody is there any more.
        let _ = self.cancels.try_send(());
    }

    /// Stops the process, once the terminal is as it was found.
    pub fn suspend(&self) {
        let _ = self.suspends.try_send(());
    }

    /// Ends what is under way.
    pub fn end(&self) {
        self.end.send_replace(true);
    }
}

/// Waits until it is true, if that is news; for ever if it cannot be any more.
async fn noticed(end: &mut watch::Receiver<bool>, is_old: bool) {
    if is_old || end.wait_for(|ends| *ends).await.is_err() {
        pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_is_noticed_once_and_not_forgotten() {
        let (interrupter, mut interrupts) = Interrupts::channel();
        interrupter.interrupt();
        interrupter.end();
        interrupts.forget();
        assert_eq!(interrupts.any().await, Interrupt::End);
        interrupter.interrupt();
        assert_eq!(interrupts.any().await, Interrupt::Cancel);
        drop(interrupter);
        let nothing = tokio::time::timeout(std::time::Duration::ZERO, interrupts.any()).await;
        assert!(nothing.is_err());
    }
}
