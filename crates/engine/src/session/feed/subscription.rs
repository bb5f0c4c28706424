//! One subscriber's position, and what comes next there.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use loggia_domain::{Event, EventBody, MessageId, Passing, Seq, SessionId, Store, StoreError, TurnId};

use crate::session::feed::recent::After;
use crate::session::feed::{Feed, Now, Reply};

/// How much of the journal is read at a time for one who is behind.
const PAGE: usize = 256;

/// What a subscriber hears.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// A stored fact.
    Event(Arc<Event>),
    /// More of the running reply.
    Reply(ReplyPiece),
    /// Something that is not kept.
    Passing(Arc<Passing>),
}

/// More of the running reply: what has come since the last piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyPiece {
    /// The turn.
    pub turn: TurnId,
    /// The reply.
    pub message: MessageId,
    /// More text.
    pub text: String,
    /// More of what the model thinks aloud.
    pub thought: String,
    /// How long the text was before, in bytes.
    pub offset: usize,
}

/// Why nothing more will be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedClosed {
    /// The session was deleted.
    #[error("the session was deleted")]
    Deleted,
    /// The engine stops.
    #[error("the engine stops")]
    Stopping,
    /// Nobody had a place on the session any more, so it left memory. Whoever joins again hears what follows.
    #[error("the session has left memory; join it again")]
    Unloaded,
    /// The journal cannot be written or read.
    #[error("the journal does not answer: {0}")]
    Store(String),
}

/// A subscriber's place in what a session tells.
#[derive(Debug)]
pub struct Subscription {
    feed: Arc<Feed>,
    pages: Pages,
    position: Seq,
    heard: u64,
    reply: Option<ReplyPosition>,
    /// The end of a reply, held until its last piece has been given.
    held: Option<Arc<Event>>,
}

#[derive(Debug, Clone, Copy)]
struct ReplyPosition {
    message: MessageId,
    text: usize,
    thought: usize,
}

impl Subscription {
    pub(crate) fn new(feed: Arc<Feed>, store: Arc<dyn Store>, session: SessionId, after: Seq) -> Self {
        let (heard, last) = {
            let now = feed.now();
            (now.recent.passed(), now.recent.last())
        };
        let pages = Pages { store, session, read: VecDeque::new() };
        // A place that has not come yet is the newest one: nothing after it may be missed.
        Self { feed, pages, position: after.min(last), heard, reply: None, held: None }
    }

    /// The last event this subscriber was given.
    pub fn position(&self) -> Seq {
        self.position
    }

    /// What comes next. Losing the future loses nothing.
    ///
    /// # Errors
    /// When nothing more will come.
    pub async fn next(&mut self) -> Result<Told, FeedClosed> {
        loop {
            match self.look() {
                Look::Told(told) => return Ok(told),
                Look::Journal(last) => self.turn_page(last).await?,
                Look::Closed(why) => return Err(why),
                Look::Nothing(changes) => self.feed.told_more_than(changes).await,
            }
        }
    }

    /// What is there already, without waiting and without reading the journal.
    pub fn try_next(&mut self) -> Option<Told> {
        match self.look() {
            Look::Told(told) => Some(told),
            Look::Journal(_) | Look::Closed(_) | Look::Nothing(_) => None,
        }
    }

    fn look(&mut self) -> Look {
        if let Some(event) = self.held.take() {
            return Look::Told(self.give(event));
        }
        if let Some(event) = self.pages.read.pop_front() {
            return Look::Told(self.take(event));
        }
        let now = self.feed.now();
        if let Some(piece) = more_of_reply(&now, self.position, &mut self.reply) {
            return Look::Told(Told::Reply(piece));
        }
        let (heard, passing) = now.recent.passing_after(self.heard, self.position);
        self.heard = heard;
        if let Some(passing) = passing {
            return Look::Told(Told::Passing(passing));
        }
        let event = match (now.recent.after(self.position), &now.closed) {
            (After::Event(event), _) => event,
            (After::Journal, _) => return Look::Journal(now.recent.last()),
            (After::Nothing, Some(why)) => return Look::Closed(why.clone()),
            (After::Nothing, None) => return Look::Nothing(self.feed.changes.load(Ordering::SeqCst)),
        };
        drop(now);
        Look::Told(self.take(event))
    }

    /// The next event, or what is left of the reply it ends.
    fn take(&mut self, event: Arc<Event>) -> Told {
        match self.rest_of_reply(&event) {
            Some(piece) => {
                self.held = Some(event);
                Told::Reply(piece)
            }
            None => self.give(event),
        }
    }

    fn give(&mut self, event: Arc<Event>) -> Told {
        self.position = event.seq;
        Told::Event(event)
    }

    /// What one who fell behind in the middle of a reply has not been given of it, when the buffer has moved on.
    fn rest_of_reply(&mut self, event: &Event) -> Option<ReplyPiece> {
        let EventBody::MessageEnded { message, .. } = &event.body else { return None };
        let seen = self.reply.take().filter(|seen| seen.message == message.id)?;
        let thought = message.thought.as_deref().unwrap_or_default();
        let piece = ReplyPiece {
            turn: event.turn?,
            message: message.id,
            text: message.text.get(seen.text..)?.to_owned(),
            thought: thought.get(seen.thought..)?.to_owned(),
            offset: seen.text,
        };
        (!piece.text.is_empty() || !piece.thought.is_empty()).then_some(piece)
    }

    /// Reads the next page of the journal, up to what has been published.
    async fn turn_page(&mut self, last: Seq) -> Result<(), FeedClosed> {
        let page = self.pages.store.events(self.pages.session, self.position, PAGE).await;
        let events = page.map_err(|error| match error {
            StoreError::NoSuchSession(_) => FeedClosed::Deleted,
            error => FeedClosed::Store(error.to_string()),
        })?;
        if events.is_empty() {
            return Err(FeedClosed::Store("events are missing from the journal".to_owned()));
        }
        self.pages.read.extend(events.into_iter().filter(|event| event.seq <= last).map(Arc::new));
        Ok(())
    }
}

/// Text a subscriber has not seen, if it has seen all that came before and not yet the end.
fn more_of_reply(now: &Now, position: Seq, seen: &mut Option<ReplyPosition>) -> Option<ReplyPiece> {
    let reply = now.reply.as_ref().filter(|reply| position >= reply.after)?;
    if reply.ended.is_some_and(|end| position >= end) {
        return None;
    }
    let before = seen.filter(|seen| seen.message == reply.message);
    let (text, thought) = before.map_or((0, 0), |seen| (seen.text, seen.thought));
    if text == reply.text.len() && thought == reply.thought.len() {
        return None;
    }
    *seen = Some(reply.end());
    Some(ReplyPiece {
        turn: reply.turn,
        message: reply.message,
        text: reply.text[text..].to_owned(),
        thought: reply.thought[thought..].to_owned(),
        offset: text,
    })
}

enum Look {
    Told(Told),
    /// Behind; everything up to this event has been published.
    Journal(Seq),
    Closed(FeedClosed),
    /// Nothing; so often had something been told then.
    Nothing(u64),
}

/// Events read from the journal and not given yet.
struct Pages {
    store: Arc<dyn Store>,
    session: SessionId,
    read: VecDeque<Arc<Event>>,
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages").field("session", &self.session).field("read", &self.read.len()).finish()
    }
}

impl Reply {
    fn end(&self) -> ReplyPosition {
        ReplyPosition { message: self.message, text: self.text.len(), thought: self.thought.len() }
    }
}
