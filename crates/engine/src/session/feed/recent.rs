//! The newest events, kept at hand for those who are nearly up to date.

use std::collections::VecDeque;
use std::sync::Arc;

use loggia_domain::{Event, Passing, Seq};

/// Enough for one step of a turn; who is further behind reads pages of the journal, which costs little more.
const EVENTS: usize = 128;

/// Output of a command comes in pieces of some kilobytes; who is further behind gets it with the command's end.
const PASSING: usize = 256;

/// What is kept of it when a turn has ended.
const PASSING_AT_REST: usize = 8;

/// The newest events and what passed between them.
#[derive(Debug)]
pub(super) struct Recent {
    /// Every event after this one is in `events`.
    complete_after: Seq,
    last: Seq,
    events: VecDeque<Arc<Event>>,
    /// Each with the last event before it.
    passing: VecDeque<(Seq, Arc<Passing>)>,
    /// How many have passed in all, those that are gone included.
    passed: u64,
}

/// What comes after a position.
#[derive(Debug)]
pub(super) enum After {
    /// This event.
    Event(Arc<Event>),
    /// The journal knows.
    Journal,
    /// Nothing yet.
    Nothing,
}

impl Recent {
    pub(super) fn new(last: Seq) -> Self {
        Self { complete_after: last, last, events: VecDeque::new(), passing: VecDeque::new(), passed: 0 }
    }

    pub(super) fn last(&self) -> Seq {
        self.last
    }

    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    pub(super) fn push(&mut self, event: Arc<Event>) {
        if self.events.len() == EVENTS
            && let Some(gone) = self.events.pop_front()
        {
            self.complete_after = gone.seq;
        }
        self.last = event.seq;
        self.events.push_back(event);
    }

    pub(super) fn pass(&mut self, passing: Arc<Passing>) {
        if self.passing.len() == PASSING {
            self.passing.pop_front();
        }
        self.passing.push_back((self.last, passing));
        self.passed += 1;
    }

    pub(super) fn after(&self, seq: Seq) -> After {
        if seq >= self.last {
            return After::Nothing;
        }
        if seq < self.complete_after {
            return After::Journal;
        }
        let place = self.events.partition_point(|event| event.seq <= seq);
        self.events.get(place).map_or(After::Nothing, |event| After::Event(Arc::clone(event)))
    }

    /// The next passing thing after `heard` of them that belongs right after `seq`; and how many have been heard
    /// then. What belongs before `seq` is skipped: its end has been told.
    pub(super) fn passing_after(&self, mut heard: u64, seq: Seq) -> (u64, Option<Arc<Passing>>) {
        let gone = self.passed - self.passing.len() as u64;
        heard = heard.max(gone);
        loop {
            let place = usize::try_from(heard - gone).unwrap_or(usize::MAX);
            match self.passing.get(place) {
                Some((after, _)) if *after < seq => heard += 1,
                Some((after, passing)) if *after == seq => return (heard + 1, Some(Arc::clone(passing))),
                _ => return (heard, None),
            }
        }
    }

    pub(super) fn trim(&mut self) {
        self.complete_after = self.last;
        self.events = VecDeque::new();
        // The last few stay for those who are only a moment behind.
        let old = self.passing.len().saturating_sub(PASSING_AT_REST);
        self.passing.drain(..old);
        self.passing.shrink_to_fit();
    }
}
