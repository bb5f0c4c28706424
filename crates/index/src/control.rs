//! Holding a build up, ending it, and telling how far it is.
//!
//! Knows numbers and flags; shared by whoever builds and whoever asks. Workers ask it before each file, so a build stops
//! within the time of one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use loggia_domain::{IndexControl, IndexProgress, IndexStep};

use crate::fault::Fault;

/// Shared by the builder, its workers and whoever asks.
#[derive(Debug, Default)]
pub(crate) struct Control {
    wish: Mutex<Wish>,
    changed: Condvar,
    step: Mutex<Option<(IndexStep, Instant, u64)>>,
    done: AtomicU64,
    /// So that workers need no lock while nobody wishes anything.
    is_asked: AtomicBool,
}

#[derive(Debug, Default, Clone, Copy)]
struct Wish {
    is_paused: bool,
    is_cancelled: bool,
}

impl Control {
    /// Takes a wish.
    pub(crate) fn wish(&self, control: IndexControl) {
        let mut wish = lock(&self.wish);
        match control {
            IndexControl::Pause => wish.is_paused = true,
            IndexControl::Resume => wish.is_paused = false,
            IndexControl::Cancel => *wish = Wish { is_paused: false, is_cancelled: true },
        }
        self.is_asked.store(wish.is_paused || wish.is_cancelled, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// A new build begins: what was wished of the last one is over, but a pause is not.
    pub(crate) fn begin(&self) {
        let mut wish = lock(&self.wish);
        wish.is_cancelled = false;
        self.is_asked.store(wish.is_paused, Ordering::Relaxed);
    }

    /// Begins a step of so many files.
    pub(crate) fn step(&self, step: IndexStep, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        *lock(&self.step) = Some((step, Instant::now(), total));
    }

    /// Nothing is under way any more.
    pub(crate) fn end(&self) {
        *lock(&self.step) = None;
        self.done.store(0, Ordering::Relaxed);
    }

    /// One file is done. Waits while the build is held up.
    pub(crate) fn tick(&self) -> Result<(), Fault> {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.check()
    }

    /// Waits while the build is held up.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if !self.is_asked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut wish = lock(&self.wish);
        while wish.is_paused && !wish.is_cancelled {
            wish = self.changed.wait(wish).unwrap_or_else(PoisonError::into_inner);
        }
        if wish.is_cancelled { Err(Fault::Cancelled) } else { Ok(()) }
    }

    /// How far the build is.
    pub(crate) fn progress(&self) -> Option<IndexProgress> {
        let (step, began, total) = (*lock(&self.step))?;
        let done = self.done.load(Ordering::Relaxed);
        let seconds = began.elapsed().as_secs_f64();
        let per_second = if seconds > 0.0 { done as f64 / seconds } else { 0.0 };
        let left = total.saturating_sub(done) as f64;
        Some(IndexProgress {
            step,
            done,
            total,
            per_second,
            seconds_left: (per_second > 0.0).then(|| left / per_second),
            is_paused: lock(&self.wish).is_paused,
        })
    }
}

/// A lock that was held by a thread that panicked guards values that are still whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
