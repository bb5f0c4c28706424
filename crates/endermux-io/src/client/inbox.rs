//! What waits for a client's owner to read it.
//!
//! Invariants: at most so many bytes of logs wait, the newest event excepted; dropped are the oldest, and the gap is told
//! where it is; a change of interactivity, an error and the end are never dropped; of several changes only the last waits.

use std::collections::VecDeque;

use loggia_protocol_endermux::Failure;

use super::Disconnect;
use crate::limits::FRAME_COST;

/// What a client hears without having asked.
#[derive(Debug)]
pub enum Event {
    /// Something was logged; the text is as the server sent it and may end within a line.
    Log(String),
    /// Logs are missing here, because they were not read in time.
    Skipped {
        /// So many messages.
        messages: u64,
    },
    /// Commands can be given from now on, or not.
    Interactivity(bool),
    /// The server reports an error that belongs to no request that waits.
    Error(Failure),
    /// The connection has ended; nothing follows.
    Closed(Disconnect),
}

/// Events in the order they came.
#[derive(Debug)]
pub(super) struct Inbox {
    limit: usize,
    events: VecDeque<Event>,
    bytes: usize,
}

impl Inbox {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, events: VecDeque::new(), bytes: 0 }
    }

    pub(super) fn push(&mut self, event: Event) {
        if let Event::Interactivity(_) = event {
            self.events.retain(|waiting| !matches!(waiting, Event::Interactivity(_)));
        }
        self.bytes += cost(&event);
        self.events.push_back(event);
        if self.bytes > self.limit {
            self.drop_oldest();
        }
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        self.bytes -= cost(&event);
        Some(event)
    }

    /// Drops half of what may wait at once, so that a flood does not look through the queue for every message.
    fn drop_oldest(&mut self) {
        let mut kept = VecDeque::with_capacity(self.events.len());
        let mut newest_first_bytes = 0;
        let mut missing = 0;
        for (index, event) in std::mem::take(&mut self.events).into_iter().rev().enumerate() {
            let droppable = match &event {
                Event::Log(_) | Event::Error(_) => index > 0,
                Event::Skipped { .. } => true,
                Event::Interactivity(_) | Event::Closed(_) => false,
            };
            newest_first_bytes += cost(&event);
            match event {
                Event::Skipped { messages } => missing += messages,
                _ if droppable && newest_first_bytes > self.limit / 2 => missing += 1,
                kept_event => kept.push_front(kept_event),
            }
        }
        // What is missing is older than every log that is kept.
        if missing > 0 {
            kept.push_front(Event::Skipped { messages: missing });
        }
        self.bytes = kept.iter().map(cost).sum();
        self.events = kept;
    }
}

fn cost(event: &Event) -> usize {
    match event {
        Event::Log(text) => text.len() + FRAME_COST,
        Event::Error(failure) => {
            failure.message.len() + failure.details.as_ref().map_or(0, String::len) + FRAME_COST
        }
        // Few of them ever wait, and they must not make others go.
        Event::Skipped { .. } | Event::Interactivity(_) | Event::Closed(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(inbox: &mut Inbox) -> String {
        let show = |event| match event {
            Event::Log(text) => text,
            Event::Skipped { messages } => format!("({messages})"),
            Event::Interactivity(on) => on.to_string(),
            Event::Error(failure) => failure.text(),
            Event::Closed(why) => why.to_string(),
        };
        std::iter::from_fn(|| inbox.pop()).map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn events_come_out_in_order() {
        let mut inbox = Inbox::new(1000);
        inbox.push(Event::Log("a".to_owned()));
        inbox.push(Event::Interactivity(true));
        inbox.push(Event::Log("b".to_owned()));
        inbox.push(Event::Closed(Disconnect::ByServer));
        assert_eq!(drain(&mut inbox), "a true b the server closed the connection");
        assert_eq!(inbox.bytes, 0);
    }

    #[test]
    fn the_oldest_logs_are_dropped_and_the_gap_is_told() {
        let mut inbox = Inbox::new(4 * (1 + FRAME_COST));
        inbox.push(Event::Interactivity(true));
        for text in ["a", "b", "c", "d", "e"] {
            inbox.push(Event::Log(text.to_owned()));
        }
        assert!(inbox.bytes <= inbox.limit);
        assert_eq!(drain(&mut inbox), "(3) true d e");
    }

    #[test]
    fn gaps_add_up_and_memory_is_bounded() {
        let mut inbox = Inbox::new(1000);
        for _ in 0..10_000 {
            inbox.push(Event::Log("0123456789".to_owned()));
            assert!(inbox.bytes <= inbox.limit);
        }
        let out = drain(&mut inbox);
        let kept = out.matches("0123456789").count();
        assert!(out.starts_with(&format!("({})", 10_000 - kept)), "{out}");
    }

    #[test]
    fn one_message_over_the_bound_is_kept() {
        let mut inbox = Inbox::new(10);
        inbox.push(Event::Log("long enough to be too much".to_owned()));
        assert_eq!(drain(&mut inbox), "long enough to be too much");
    }
}
