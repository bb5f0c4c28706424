//! Ctrl-C, as whoever catches signals passes it on.
//!
//! Knows no signals. The first interrupt of a turn cancels it, the second one leaves.

use tokio::sync::mpsc;

/// How many wait to be noticed: two are all that mean something.
const WAITING: usize = 2;

/// Interrupts that come in.
#[derive(Debug)]
pub struct Interrupts(mpsc::Receiver<()>);

/// Passes interrupts on. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Interrupter(mpsc::Sender<()>);

impl Interrupts {
    /// A way to interrupt, and where it is noticed.
    pub fn channel() -> (Interrupter, Self) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Interrupter(sender), Self(receiver))
    }

    /// Nobody ever interrupts.
    pub fn never() -> Self {
        Self::channel().1
    }

    /// The next interrupt.
    pub(crate) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Forgets what nobody noticed: a new turn begins.
    pub(crate) fn forget(&mut self) {
        while self.0.try_recv().is_ok() {}
    }
}

impl Interrupter {
    /// Interrupts. What is already interrupted twice is not interrupted more.
    pub fn interrupt(&self) {
        // Full means that two wait to be noticed; closed, that nobody is there any more.
        let _ = self.0.try_send(());
    }
}
