//! A place for something that is opened and closed by one at a time.
//!
//! Knows nothing of what it is. What always holds: while somebody opens or closes it, nobody else does, and whoever wants
//! to waits until that is over, also if it failed; looking never waits for that.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A place for something.
pub(super) struct Place<T> {
    stage: Mutex<Stage<T>>,
    settled: Condvar,
}

enum Stage<T> {
    Closed,
    Open(T),
    /// Somebody opens or closes it.
    Held,
}

impl<T> Place<T> {
    /// One with nothing in it.
    pub(super) fn new() -> Self {
        Self { stage: Mutex::new(Stage::Closed), settled: Condvar::new() }
    }

    fn stage(&self) -> MutexGuard<'_, Stage<T>> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what is open, for a few lines.
    pub(super) fn look<R>(&self, look: impl FnOnce(Option<&mut T>) -> R) -> R {
        match &mut *self.stage() {
            Stage::Open(open) => look(Some(open)),
            Stage::Closed | Stage::Held => look(None),
        }
    }

    /// Takes the place, to open or close what belongs there. Blocks until nobody else has taken it.
    pub(super) fn hold(&self) -> Hold<'_, T> {
        let is_held = |stage: &mut Stage<T>| matches!(stage, Stage::Held);
        let stage = self.settled.wait_while(self.stage(), is_held);
        self.held(&mut stage.unwrap_or_else(PoisonError::into_inner))
    }

    /// The same only if something is open and this is true of it; without waiting.
    pub(super) fn hold_if(&self, is_meant: impl FnOnce(&T) -> bool) -> Option<Hold<'_, T>> {
        let mut stage = self.stage();
        let is_meant = matches!(&*stage, Stage::Open(open) if is_meant(open));
        is_meant.then(|| self.held(&mut stage))
    }

    fn held(&self, stage: &mut Stage<T>) -> Hold<'_, T> {
        let content = match std::mem::replace(stage, Stage::Held) {
            Stage::Open(open) => Some(open),
            Stage::Closed | Stage::Held => None,
        };
        Hold { place: self, content }
    }
}

/// A place that somebody has taken. When it is dropped, whatever is in it is open, and the next one may take it.
pub(super) struct Hold<'p, T> {
    place: &'p Place<T>,
    /// What is open, or is to be.
    pub(super) content: Option<T>,
}

impl<T> Drop for Hold<'_, T> {
    fn drop(&mut self) {
        *self.place.stage() = self.content.take().map_or(Stage::Closed, Stage::Open);
        self.place.settled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn whoever_opens_waits_for_whoever_closes_and_whoever_looks_does_not() {
        let place = Place::new();
        place.hold().content = Some(1);
        let (told, hear) = mpsc::channel();
        std::thread::scope(|scope| {
            let mut closing = place.hold_if(|open| *open == 1).unwrap();
            closing.content = None;
            assert_eq!(place.look(|open| open.map(|open| *open)), None);
            assert!(place.hold_if(|_| true).is_none());
            let opening = scope.spawn(|| {
                let mut hold = place.hold();
                told.send("taken").unwrap();
                assert_eq!(hold.content, None, "it was closed before");
                hold.content = Some(2);
            });
            // Time enough for whoever would not wait.
            assert!(hear.recv_timeout(Duration::from_millis(50)).is_err());
            drop(closing);
            opening.join().unwrap();
        });
        assert_eq!(place.look(|open| open.map(|open| *open)), Some(2));
    }

    #[test]
    fn what_is_not_closed_after_all_and_what_fails_leave_the_place_to_others() {
        let place = Place::new();
        place.hold().content = Some(1);
        drop(place.hold());
        assert_eq!(place.look(|open| open.map(|open| *open)), Some(1));
        let failing = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            place.hold().content = None;
            let _hold = place.hold();
            panic!("it cannot be opened");
        }));
        assert!(failing.is_err());
        assert!(place.hold().content.is_none());
    }
}
