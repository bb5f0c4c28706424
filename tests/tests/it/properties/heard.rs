//! What one subscriber was told, checked as it comes.
//!
//! What must hold: events come one after the other without a gap or a repeat; the pieces of a reply join each other;
//! and once the beginning of a reply was told, its pieces together are exactly the reply when its end is told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use loggia_domain::{Event, EventBody, MessageId, Seq};
use loggia_engine::{Subscription, Told};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// What one subscriber was told.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    after: Seq,
    pub(super) events: Vec<Arc<Event>>,
    /// The text and the thoughts of each reply, as far as they were told piece by piece.
    replies: BTreeMap<MessageId, (String, String)>,
    wrong: Option<String>,
}

impl Heard {
    pub(super) fn after(after: Seq) -> Self {
        Self { after, events: Vec::new(), replies: BTreeMap::new(), wrong: None }
    }

    pub(super) fn last(&self) -> Seq {
        self.events.last().map_or(self.after, |event| event.seq)
    }

    pub(super) fn take(&mut self, told: &Told) {
        if let Err(wrong) = self.check(told) {
            self.wrong.get_or_insert(wrong);
        }
    }

    fn check(&mut self, told: &Told) -> Result<(), String> {
        match told {
            Told::Passing(_) => Ok(()),
            Told::Reply(piece) => {
                let (text, thought) = self.replies.entry(piece.message).or_default();
                let joins = text.len() == piece.offset;
                text.push_str(&piece.text);
                thought.push_str(&piece.thought);
                match joins && !(piece.text.is_empty() && piece.thought.is_empty()) {
                    true => Ok(()),
                    false => Err(format!("{piece:?} does not join `{text}`")),
                }
            }
            Told::Event(event) => {
                let last = self.last();
                self.events.push(Arc::clone(event));
                if event.seq.0 != last.0 + 1 {
                    return Err(format!("{} came after {}", event.seq.0, last.0));
                }
                let EventBody::MessageEnded { message, .. } = &event.body else { return Ok(()) };
                let Some((text, thought)) = self.replies.get(&message.id) else { return Ok(()) };
                match *text == message.text && *thought == message.thought.clone().unwrap_or_default() {
                    true => Ok(()),
                    false => Err(format!("`{text}` and `{thought}` were told of {message:?}")),
                }
            }
        }
    }

    /// That it was told what the journal says, as far as it has come.
    pub(super) fn agrees(&self, journal: &[Event]) -> Result<(), String> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        for event in &self.events {
            let place = usize::try_from(event.seq.0 - 1).unwrap();
            if journal.get(place) != Some(event) {
                return Err(format!("told {event:?}, but the journal has {:?}", journal.get(place)));
            }
        }
        Ok(())
    }
}

/// Somebody who hears.
#[derive(Debug)]
pub(super) enum Listener {
    /// At once, in a task of its own.
    Eager { heard: Arc<Mutex<Heard>>, position: watch::Receiver<u64>, task: AbortHandle },
    /// When it is made to.
    Lazy { heard: Heard, subscription: Subscription },
}

impl Listener {
    pub(super) fn eager(mut subscription: Subscription) -> Self {
        let heard = Arc::new(Mutex::new(Heard::after(subscription.position())));
        let (sender, position) = watch::channel(subscription.position().0);
        let hearing = Arc::clone(&heard);
        let task = tokio::spawn(async move {
            while let Ok(told) = subscription.next().await {
                hearing.lock().unwrap().take(&told);
                sender.send_replace(subscription.position().0);
            }
        });
        Self::Eager { heard, position, task: task.abort_handle() }
    }

    pub(super) fn lazy(subscription: Subscription) -> Self {
        Self::Lazy { heard: Heard::after(subscription.position()), subscription }
    }

    /// Hears up to so many things more, but waits for nothing after this event.
    pub(super) async fn hear(&mut self, most: usize, last: Seq) {
        let Self::Lazy { heard, subscription } = self else { return };
        for _ in 0..most {
            if subscription.position() >= last {
                return;
            }
            heard.take(&subscription.next().await.unwrap());
        }
    }

    /// Hears everything up to an event.
    pub(super) async fn catch_up(&mut self, last: Seq) {
        match self {
            Self::Eager { position, .. } => {
                drop(position.wait_for(|position| *position >= last.0).await.unwrap());
            }
            Self::Lazy { .. } => self.hear(usize::MAX, last).await,
        }
    }

    /// What it was told so far.
    pub(super) fn heard(&self) -> Heard {
        match self {
            Self::Eager { heard, .. } => heard.lock().unwrap().clone(),
            Self::Lazy { heard, .. } => heard.clone(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Eager { task, .. } = self {
            task.abort();
        }
    }
}
