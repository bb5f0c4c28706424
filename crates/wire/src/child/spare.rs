//! A keeper that is ready before it is needed.
//!
//! A program in namespaces of its own needs two keepers, one outside and one inside, and that is two starts of our
//! executable before the program's own. Whoever runs one command after another would wait for them every time. So
//! a [`Keeper`] may keep one such pair ready: made beside a program that takes its time, or when it has ended, and given
//! to the next one.
//!
//! Knows that a pair is waiting and whether it is still good, and tells it what the last program could reach, so that
//! it can prepare for another like it. Refuses to know what it will run: what the program may reach is told to the
//! keeper inside with the order, as to any other.
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

use super::confine::Confinement;
use super::spec::Keeper;

/// Commands of one task follow each other within seconds. Longer, and two processes would wait for nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// The place of the one that is ready.
#[derive(Debug, Default)]
pub(super) struct Spare(Mutex<Slot>);

#[derive(Debug, Default)]
struct Slot {
    ready: Option<Ready>,
    /// Whether one is being made.
    making: bool,
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

    /// Whether one is to be made: then nobody else makes one until it is [put](Self::put) here.
    fn is_wanted(&self) -> bool {
        let mut slot = self.slot();
        let wanted = slot.ready.is_none() && !slot.making;
        slot.making |= wanted;
        wanted
    }

    /// Takes the one that was made, if that worked.
    fn put(self: &Arc<Self>, made: Option<Ready>) {
        let number = {
            let mut slot = self.slot();
            slot.making = false;
            let Some(ready) = made else { return };
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
pub(super) fn prepare(keeper: &Keeper, word: u8, expected: &Arc<Confinement>) {
    let Some(spare) = keeper.spare.clone().filter(|spare| spare.is_wanted()) else { return };
    let (keeper, expected) = (keeper.clone(), expected.clone());
    // To start a program takes a millisecond, in which a thread can do nothing else.
    tokio::task::spawn_blocking(move || {
        let made = super::spawn::start_isolating_keeper(&keeper, word, Some(&expected));
        spare.put(made.inspect_err(|error| tracing::debug!(%error, "no keeper could be made ready")).ok());
    });
}

/// Whether nothing came over the socket and it is open: a keeper has nothing to say before its order, and one that is gone
/// closes it.
pub(super) fn is_silent(socket: &UnixStream) -> bool {
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
