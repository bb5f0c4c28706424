//! What a session tells: its events, the running reply and what is passing, to any number of subscribers.
//!
//! Knows what was published and where each subscriber is. Refuses to know who subscribers are or how they send
//! what they hear.
//!
//! Nothing is queued per subscriber. Each keeps a position: the last event it was given, and how far it has read
//! of the one shared buffer that holds the running reply. One that falls behind reads from the journal, and finds
//! the pieces of the reply merged; one that never reads costs its position.
//!
//! What always holds:
//! - a subscriber is given every event after the one it named, in order, each once, only after it was stored;
//! - text of a reply is given after the events before it and before the event that ends it, in order and without
//!   a gap; one who joins late gets the text so far as its first piece. Who has been given a piece is given all of
//!   them; who was too far behind for the first gets the whole with the event that ends the reply;
//! - what is passing is given between the events it happened between, or not at all to one who is behind.

mod recent;
mod subscription;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{Event, EventBody, MessageId, Passing, RunningReply, Seq, TurnId};
use tokio::sync::Notify;

pub use subscription::{FeedClosed, ReplyPiece, Subscription, Told};

use crate::session::feed::recent::Recent;

/// The publishing side.
#[derive(Debug)]
pub(crate) struct Feed {
    now: Mutex<Now>,
    /// How often something was told: who has looked and waits knows by it whether it has missed anything. It
    /// changes under the lock and is read without.
    changes: AtomicU64,
    changed: Notify,
}

#[derive(Debug)]
struct Now {
    recent: Recent,
    reply: Option<Reply>,
    closed: Option<FeedClosed>,
}

/// The reply that is being written, or the last one that was.
#[derive(Debug)]
struct Reply {
    turn: TurnId,
    message: MessageId,
    /// The last event before it began.
    after: Seq,
    /// The event that ended it.
    ended: Option<Seq>,
    text: String,
    thought: String,
}

impl Feed {
    pub(crate) fn new(last: Seq) -> Arc<Self> {
        let now = Now { recent: Recent::new(last), reply: None, closed: None };
        Arc::new(Self { now: Mutex::new(now), changes: AtomicU64::new(0), changed: Notify::new() })
    }

    /// Nothing that holds the lock can panic between two changes that belong together.
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes everybody who waits for what has just been told.
    fn tell(&self, now: MutexGuard<'_, Now>) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        drop(now);
        self.changed.notify_waiters();
    }

    /// Waits until more has been told than when somebody looked. Who looks first and then waits, instead of the
    /// other way round, does not pay for waiting when there is something. May end too early: whoever is woken looks.
    async fn told_more_than(&self, changes: u64) {
        let changed = self.changed.notified();
        tokio::pin!(changed);
        // From here on whatever is told wakes us; what came between the look and here is seen by its count.
        changed.as_mut().enable();
        // One order of all four steps, ours and the teller's (count, wake), so that not both sides look too early.
        if self.changes.load(Ordering::SeqCst) == changes {
            changed.await;
        }
    }

    /// Tells of events that are stored.
    pub(crate) fn publish(&self, events: impl IntoIterator<Item = Arc<Event>>) {
        let mut now = self.now();
        for event in events {
            if let (EventBody::MessageEnded { message, .. }, Some(reply)) = (&event.body, &mut now.reply)
                && reply.message == message.id
            {
                reply.ended = Some(event.seq);
            }
            now.recent.push(event);
        }
        self.tell(now);
    }

    /// Tells of something that is not kept.
    pub(crate) fn pass(&self, passing: Passing) {
        let mut now = self.now();
        now.recent.pass(Arc::new(passing));
        self.tell(now);
    }

    /// Begins a reply.
    pub(crate) fn begin_reply(&self, turn: TurnId, message: MessageId) {
        let mut now = self.now();
        let after = now.recent.last();
        let (text, thought) = (String::new(), String::new());
        now.reply = Some(Reply { turn, message, after, ended: None, text, thought });
        now.recent.pass(Arc::new(Passing::MessageStarted { message }));
        self.tell(now);
    }

    /// Adds to the running reply.
    pub(crate) fn add_text(&self, piece: &str) {
        self.add(|reply| reply.text.push_str(piece));
    }

    /// Adds to what the model thinks aloud.
    pub(crate) fn add_thought(&self, piece: &str) {
        self.add(|reply| reply.thought.push_str(piece));
    }

    fn add(&self, change: impl FnOnce(&mut Reply)) {
        let mut now = self.now();
        let Some(reply) = now.reply.as_mut().filter(|reply| reply.ended.is_none()) else { return };
        change(reply);
        self.tell(now);
    }

    /// The running reply as it is now.
    pub(crate) fn running_reply(&self) -> Option<RunningReply> {
        let now = self.now();
        let reply = now.reply.as_ref().filter(|reply| reply.ended.is_none())?;
        Some(RunningReply {
            turn: reply.turn,
            message: reply.message,
            text: reply.text.clone(),
            thought: reply.thought.clone(),
        })
    }

    /// The last event that was told, or the last one before any was.
    pub(crate) fn last(&self) -> Seq {
        self.now().recent.last()
    }

    /// How long the running reply is: what changes when there is something to keep.
    pub(crate) fn reply_length(&self) -> usize {
        self.now().reply.as_ref().map_or(0, |reply| reply.text.len() + reply.thought.len())
    }

    /// Lets go of what only those who are behind would read: the journal has it.
    pub(crate) fn rest(&self) {
        self.now().recent.trim();
    }

    /// Ends every subscription, once its subscriber has heard what was published before.
    pub(crate) fn close(&self, why: FeedClosed) {
        let mut now = self.now();
        now.closed.get_or_insert(why);
        self.tell(now);
    }
}
