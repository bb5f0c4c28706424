//! Holding a build up, ending it, and telling how far it is.
//!
//! Knows numbers and flags; shared by whoever builds and whoever asks. Workers ask it before each file, so a build stops
//! within the time of one. What people wish is about builds and the making of vectors: that single files changed is taken
//! in whatever they wish, and only the end of the index ends it.

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
    /// Files done in this step.
    done: AtomicU64,
    /// Files done, and all, in the last step that had some: also when the build is over.
    last: Mutex<(u64, u64)>,
    /// So that workers need no lock while nobody wishes anything.
    is_asked: AtomicBool,
}

#[derive(Debug, Default, Clone, Copy)]
struct Wish {
    work: Work,
    is_paused: bool,
    is_cancelled: bool,
    is_closing: bool,
}

/// What is under way, and so what people's wishes mean.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Single changes, or nothing.
    #[default]
    Changes,
    /// The whole tree is looked at for changes: that can be ended, and is not held up.
    Look,
    /// A build.
    Build,
}

impl Wish {
    fn is_held_up(self) -> bool {
        self.work == Work::Build && self.is_paused
    }

    /// Whether whoever works has to look closer.
    fn is_asked(self) -> bool {
        self.is_closing || self.is_cancelled || self.is_held_up()
    }
}

impl Control {
    /// Takes a wish. A build that is not under way cannot be ended.
    pub(crate) fn wish(&self, control: IndexControl) {
        self.change(|wish| match control {
            IndexControl::Pause => wish.is_paused = true,
            IndexControl::Resume => wish.is_paused = false,
            IndexControl::Cancel => match wish.work {
                Work::Changes => {}
                Work::Look => wish.is_cancelled = true,
                Work::Build => (wish.is_paused, wish.is_cancelled) = (false, true),
            },
        });
    }

    /// Whether builds and the making of vectors are held up.
    pub(crate) fn is_paused(&self) -> bool {
        lock(&self.wish).is_paused
    }

    /// Some work begins: what was wished of the last one is over, but a pause is not.
    pub(crate) fn begin(&self, work: Work) {
        self.change(|wish| (wish.work, wish.is_cancelled) = (work, false));
        *lock(&self.last) = (0, 0);
        self.step(IndexStep::Walking, 0);
    }

    /// It is over.
    pub(crate) fn end(&self) {
        self.change(|wish| (wish.work, wish.is_cancelled) = (Work::Changes, false));
        self.count();
        *lock(&self.step) = None;
    }

    /// All work is to end.
    pub(crate) fn close(&self) {
        self.change(|wish| wish.is_closing = true);
    }

    fn change(&self, change: impl FnOnce(&mut Wish)) {
        let mut wish = lock(&self.wish);
        change(&mut wish);
        self.is_asked.store(wish.is_asked(), Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Begins a step of so many files. Of single changes nobody is told.
    pub(crate) fn step(&self, step: IndexStep, total: u64) {
        if lock(&self.wish).work != Work::Changes {
            self.count();
            self.done.store(0, Ordering::Relaxed);
            *lock(&self.step) = Some((step, Instant::now(), total));
        }
    }

    /// Keeps what was done in the step that is over.
    fn count(&self) {
        if let Some((_, _, total)) = *lock(&self.step)
            && total > 0
        {
            *lock(&self.last) = (self.done.load(Ordering::Relaxed), total);
        }
    }

    /// Files done by the running build or the last one, and all it had to do, in its last step that had some.
    pub(crate) fn done(&self) -> (u64, u64) {
        let running = self.progress().filter(|progress| progress.total > 0);
        running.map_or_else(|| *lock(&self.last), |progress| (progress.done, progress.total))
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
        loop {
            if wish.is_closing || wish.is_cancelled {
                return Err(Fault::Cancelled);
            }
            if !wish.is_held_up() {
                return Ok(());
            }
            wish = self.changed.wait(wish).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits while the making of vectors is held up.
    pub(crate) fn check_making(&self) -> Result<(), Fault> {
        let mut wish = lock(&self.wish);
        while wish.is_paused && !wish.is_closing {
            wish = self.changed.wait(wish).unwrap_or_else(PoisonError::into_inner);
        }
        if wish.is_closing { Err(Fault::Cancelled) } else { Ok(()) }
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
            is_paused: self.is_paused(),
        })
    }
}

/// A lock that was held by a thread that panicked guards values that are still whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
