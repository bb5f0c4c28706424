//! A keeper that is ready before it is needed.
//!
//! A program in namespaces of its own needs two keepers, one outside and one inside, and that is two starts of our
//! executable before the program's own. Whoever runs one command after another would wait for them every time. So
//! a [`Keeper`] may keep one such pair ready: made when a program has started, given to the next one.
//!
//! Knows that a pair is waiting and whether it is still good. Refuses to know what it will run: what the program may
//! reach is told to the keeper inside with the order, as to any other.
//!
//! What always holds:
//! - there is at most one, and nobody gets one that another has used;
//! - one that has died, was made for other namespaces, or before something was mounted or unmounted, is not given;
//! - it leaves when nobody wanted it for [`PATIENCE`], and with us, however we go: its socket closes then.

use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use tokio::process::Child;

use super::spec::Keeper;

/// Commands of one task follow each other within seconds. Longer, and two processes would wait for nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// The place of the one that is ready.
#[derive(Debug, Default)]
pub(super) struct Spare(Mutex<Slot>);

#[derive(Debug, Default)]
struct Slot {
    ready: Option<Ready>,
    /// How many were put here, so that one which waits to be thrown away does not take its successor along.
    count: u64,
}

/// A keeper that waits for its order, and our end of its socket.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) process: Child,
    pub(super) socket: UnixStream,
    /// The word that told it which namespaces to make.
    word: u8,
    mounts: Mounts,
}

impl Ready {
    /// One that was just started and told `word`.
    pub(super) fn new(process: Child, socket: UnixStream, word: u8) -> Self {
        Self { process, socket, word, mounts: Mounts::now() }
    }

    fn is_good_for(&mut self, word: u8) -> bool {
        self.word == word
            && matches!(self.process.try_wait(), Ok(None))
            && is_silent(&self.socket)
            && self.mounts == Mounts::now()
    }

    /// Sends it away and waits until it is gone.
    pub(super) async fn dismiss(mut self) {
        drop(self.socket);
        if let Err(error) = self.process.wait().await {
            tracing::warn!(%error, "a keeper that was not needed cannot be reaped");
        }
    }
}

impl Spare {
    /// The one that is ready, if it makes the namespaces this word asks for.
    pub(super) fn take(&self, word: u8) -> Option<Ready> {
        let mut ready = self.slot().ready.take()?;
        if ready.is_good_for(word) {
            return Some(ready);
        }
        tokio::spawn(ready.dismiss());
        None
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the place, unless somebody was quicker.
    fn put(self: &Arc<Self>, ready: Ready) {
        let number = {
            let mut slot = self.slot();
            if slot.ready.is_some() {
                drop(slot);
                tokio::spawn(ready.dismiss());
                return;
            }
            slot.count += 1;
            slot.ready = Some(ready);
            slot.count
        };
        let place = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            let unwanted = place.upgrade().and_then(|place| {
                let mut slot = place.slot();
                if slot.count == number { slot.ready.take() } else { None }
            });
            if let Some(unwanted) = unwanted {
                unwanted.dismiss().await;
            }
        });
    }
}

/// Makes one ready for whoever comes next, if `keeper` keeps one. Nobody waits for this, so nobody is told when it
/// fails: the next program's own start tells what is wrong.
pub(super) fn prepare(keeper: &Keeper, word: u8) {
    let Some(spare) = &keeper.spare else { return };
    if spare.slot().ready.is_some() {
        return;
    }
    match super::spawn::start_isolating_keeper(keeper, word) {
        Ok(ready) => spare.put(ready),
        Err(error) => tracing::debug!(%error, "no keeper could be made ready"),
    }
}

/// Whether nothing came over the socket: a keeper has nothing to say before its order, and one that is gone closes it.
fn is_silent(socket: &UnixStream) -> bool {
    matches!(recv(socket, &mut [0_u8], RecvFlags::PEEK | RecvFlags::DONTWAIT), Err(Errno::AGAIN))
}

/// What is mounted where. Namespaces begin as a copy of ours, and where mounts are private, stay that.
#[derive(Debug, PartialEq, Eq)]
struct Mounts(Option<Vec<u8>>);

impl Mounts {
    fn now() -> Self {
        // Where it cannot be read, there are no namespaces either.
        Self(std::fs::read("/proc/self/mountinfo").ok())
    }
}
