//! Who is on which session through this door, for all who want to know, and for the log.
//!
//! Only streams count: whoever makes a single request is not there. Nothing of it is kept; one who does not read for
//! long misses what passed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{Client, ClientId, SessionId};
use loggia_protocol_agent_server::{self as wire, ServerMessage, SessionNotice};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::door::Inner;
use crate::to_wire::presence;

/// What may wait for one who does not read: more people than come and go in the time a screen takes.
const WAITING: usize = 64;

/// Who is on which session.
#[derive(Debug)]
pub(super) struct Presence {
    /// Changes and what is told of them happen under this lock, so that nobody who looks misses one.
    here: Mutex<BTreeMap<ClientId, Arc<Visitor>>>,
    news: broadcast::Sender<News>,
}

#[derive(Debug)]
struct Visitor {
    session: SessionId,
    client: ClientId,
    name: String,
}

#[derive(Debug, Clone)]
struct News {
    visitor: Arc<Visitor>,
    is_there: bool,
}

/// A client that is there. Dropping it is leaving.
pub(super) struct Announced {
    inner: Arc<Inner>,
    visitor: Arc<Visitor>,
}

/// Somebody who wants to know who is there.
pub(super) struct Watch {
    news: broadcast::Receiver<News>,
    /// Those who were there when it began, and are not told of yet.
    waiting: VecDeque<News>,
    about: About,
}

/// Of whom one wants to know.
#[derive(Debug, Clone, Copy)]
pub(super) enum About {
    /// Everybody, on any session.
    Everybody,
    /// Those on this session, but for this client itself.
    Others(SessionId, ClientId),
}

impl Default for Presence {
    fn default() -> Self {
        Self { here: Mutex::default(), news: broadcast::Sender::new(WAITING) }
    }
}

impl Presence {
    fn here(&self) -> MutexGuard<'_, BTreeMap<ClientId, Arc<Visitor>>> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody is on a session from here on.
    pub(super) fn announce(inner: &Arc<Inner>, session: SessionId, client: &Client) -> Announced {
        let visitor = Arc::new(Visitor { session, client: client.id, name: client.name.clone() });
        tracing::info!(%session, client = client.name, "client connected");
        let presence = inner.streams.presence();
        let mut here = presence.here();
        here.insert(client.id, Arc::clone(&visitor));
        presence.tell(&visitor, true);
        drop(here);
        Announced { inner: Arc::clone(inner), visitor }
    }

    /// Everybody who is there, and then who comes and goes.
    pub(super) fn watch(&self, about: About) -> Watch {
        let here = self.here();
        let news = self.news.subscribe();
        let there = |visitor: &Arc<Visitor>| News { visitor: Arc::clone(visitor), is_there: true };
        let waiting = here.values().filter(|visitor| about.includes(visitor)).map(there).collect();
        Watch { news, waiting, about }
    }

    fn tell(&self, visitor: &Arc<Visitor>, is_there: bool) {
        // Nobody listening is no fault.
        let _ = self.news.send(News { visitor: Arc::clone(visitor), is_there });
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        tracing::info!(session = %self.visitor.session, client = self.visitor.name, "client left");
        let presence = self.inner.streams.presence();
        let mut here = presence.here();
        here.remove(&self.visitor.client);
        presence.tell(&self.visitor, false);
    }
}

impl About {
    fn includes(self, visitor: &Visitor) -> bool {
        match self {
            Self::Everybody => true,
            Self::Others(session, own) => visitor.session == session && visitor.client != own,
        }
    }
}

impl Watch {
    /// Who is there, came or went, as the text of a message. Losing the future loses nothing.
    pub(super) async fn next(&mut self) -> String {
        loop {
            let news = match self.waiting.pop_front() {
                Some(news) => news,
                None => match self.news.recv().await {
                    Ok(news) => news,
                    Err(RecvError::Lagged(_)) => continue,
                    // The door has gone, and so will this stream.
                    Err(RecvError::Closed) => std::future::pending().await,
                },
            };
            if self.about.includes(&news.visitor) {
                return self.text(&news);
            }
        }
    }

    fn text(&self, News { visitor, is_there }: &News) -> String {
        let session_id = match self.about {
            About::Everybody => Some(wire::SessionId(visitor.session.to_string())),
            About::Others(..) => None,
        };
        let notice = SessionNotice { session_id, ..presence(&visitor.name, *is_there) };
        ServerMessage::SessionNotice(notice).encode()
    }
}
