//! Journals, read a stretch at a time, and what they amount to at some place.
//!
//! What an event is called on the wire depends on those before it. What they amount to is kept at a few places of each
//! journal that is being read, so that a page costs what it holds and not all that was before it.
//!
//! What always holds: no more is read than lies between the nearest place that is kept and the one that is wanted, and
//! what is kept stays within [`MAX_MARKS`] and [`MAX_BYTES`].

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{Event, Seq, SessionId};
use loggia_engine::{Engine, EngineError};

use crate::to_wire::Past;

/// Events read at a time.
pub(crate) const STEP: usize = 512;

/// How many places are kept in all: one or two for everybody who may be reading at the same time, and the ends of the
/// last turns of the sessions people are on.
const MAX_MARKS: usize = 512;

/// How much they may hold in all. Most take some hundred bytes; one in the middle of a large change holds the change.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Reads a stretch of a journal: all after one event and up to another.
pub(crate) async fn each(
    engine: &Engine,
    session: SessionId,
    after: Seq,
    through: Seq,
    mut see: impl FnMut(Event),
) -> Result<(), EngineError> {
    let mut after = after;
    while after < through {
        // Numbers rise, so there are no more events in between than numbers.
        let most = usize::try_from(through.0 - after.0).unwrap_or(STEP).min(STEP);
        let events = engine.events(session, after, most).await?;
        let Some(last) = events.last().map(|event| event.seq) else { break };
        events.into_iter().filter(|event| event.seq <= through).for_each(&mut see);
        after = last;
    }
    Ok(())
}

/// What journals amount to at some of their places.
#[derive(Debug, Default)]
pub(crate) struct Marks(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    marks: BTreeMap<(SessionId, Seq), Mark>,
    bytes: usize,
    /// How often something was looked up or kept.
    clock: u64,
}

#[derive(Debug)]
struct Mark {
    past: Arc<Past>,
    bytes: usize,
    used: u64,
}

impl Marks {
    /// What a journal amounts to after an event.
    pub(crate) async fn past(
        &self,
        engine: &Engine,
        session: SessionId,
        root: &Path,
        at: Seq,
    ) -> Result<Past, EngineError> {
        let (from, mut past) = match self.nearest(session, at) {
            Some((from, past)) => (from, Past::clone(&past)),
            None => (Seq(0), Past::new(root.to_owned())),
        };
        each(engine, session, from, at, |event| past.apply(&event)).await?;
        if at > from {
            self.keep(session, at, &past);
        }
        Ok(past)
    }

    /// Keeps what a journal amounts to after an event.
    pub(crate) fn keep(&self, session: SessionId, at: Seq, past: &Past) {
        let mut kept = self.kept();
        let used = kept.tick();
        if let Some(mark) = kept.marks.get_mut(&(session, at)) {
            mark.used = used;
            return;
        }
        let bytes = past.weight();
        if bytes > MAX_BYTES {
            return;
        }
        kept.marks.insert((session, at), Mark { past: Arc::new(past.clone()), bytes, used });
        kept.bytes += bytes;
        kept.make_room();
    }

    /// The last place that is kept up to an event.
    fn nearest(&self, session: SessionId, at: Seq) -> Option<(Seq, Arc<Past>)> {
        let mut kept = self.kept();
        let used = kept.tick();
        let ((_, seq), mark) = kept.marks.range_mut((session, Seq(0))..=(session, at)).next_back()?;
        mark.used = used;
        Some((*seq, Arc::clone(&mark.past)))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Lets go of what was not used for longest.
    fn make_room(&mut self) {
        while self.marks.len() > MAX_MARKS || self.bytes > MAX_BYTES {
            let oldest = self.marks.iter().min_by_key(|(_, mark)| mark.used).map(|(place, _)| *place);
            let Some(mark) = oldest.and_then(|place| self.marks.remove(&place)) else { return };
            self.bytes -= mark.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u8) -> SessionId {
        SessionId::from_bytes([number; 16])
    }

    #[test]
    fn the_nearest_place_before_is_found_and_never_another_sessions() {
        let marks = Marks::default();
        let past = Past::new("/root".into());
        for (number, seq) in [(1, 10), (1, 20), (2, 15)] {
            marks.keep(session(number), Seq(seq), &past);
        }
        let nearest = |number, seq| marks.nearest(session(number), Seq(seq)).map(|(seq, _)| seq.0);
        assert_eq!(nearest(1, 9), None);
        assert_eq!(nearest(1, 10), Some(10));
        assert_eq!(nearest(1, 19), Some(10));
        assert_eq!(nearest(1, 99), Some(20));
        assert_eq!(nearest(2, 14), None);
        assert_eq!(nearest(3, 99), None);
    }

    #[test]
    fn no_more_is_kept_than_fits_and_what_is_used_stays() {
        let marks = Marks::default();
        let past = Past::new("/root".into());
        for seq in 1..=3 * MAX_MARKS as u64 {
            marks.keep(session(1), Seq(seq), &past);
            marks.keep(session(2), Seq(1), &past);
        }
        let kept = marks.kept();
        assert_eq!(kept.marks.len(), MAX_MARKS);
        assert!(kept.marks.contains_key(&(session(2), Seq(1))));
        assert_eq!(kept.bytes, kept.marks.values().map(|mark| mark.bytes).sum::<usize>());
    }
}
