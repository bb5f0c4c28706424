//! A store that can die: from a chosen write on, nothing more is written and nobody is answered, as when the process
//! is killed there.
//!
//! A process that is about to die may still keep a blob or remove a session; nobody misses or minds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use loggia_domain::{BoxFuture, Event, NewEvent, RunningReply, SessionId, Store, StoreError};
use loggia_tests::Between;
use tokio::sync::watch;

/// What makes a store die.
pub(super) struct Fuse {
    /// How many writes to a journal are left.
    left: AtomicI64,
    /// Whether the last one still reaches the disk.
    stored: AtomicBool,
    dead: watch::Sender<bool>,
}

impl Fuse {
    pub(super) fn new() -> Arc<Self> {
        let (left, stored) = (AtomicI64::new(i64::MAX), AtomicBool::new(false));
        Arc::new(Self { left, stored, dead: watch::Sender::new(false) })
    }

    /// Dies with the write that comes after so many others.
    pub(super) fn arm(&self, after: i64, stored: bool) {
        self.stored.store(stored, Ordering::SeqCst);
        self.left.store(after, Ordering::SeqCst);
    }

    /// Dies now.
    pub(super) fn die(&self) {
        self.dead.send_replace(true);
    }

    /// Waits until it has died.
    pub(super) async fn dead(&self) {
        let mut dead = self.dead.subscribe();
        drop(dead.wait_for(|dead| *dead).await);
    }

    fn is_dead(&self) -> bool {
        *self.dead.borrow()
    }
}

impl Between for Fuse {
    fn append<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Vec<Event>, StoreError>> {
        Box::pin(async move {
            if self.is_dead() {
                return std::future::pending().await;
            }
            if self.left.fetch_sub(1, Ordering::SeqCst) > 1 {
                return below.append(session, events).await;
            }
            if self.stored.load(Ordering::SeqCst) {
                below.append(session, events).await?;
            }
            self.die();
            std::future::pending().await
        })
    }

    fn keep_reply<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
        reply: RunningReply,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        match self.is_dead() {
            true => Box::pin(std::future::pending()),
            false => below.keep_reply(session, reply),
        }
    }
}
