//! Who is on which session through this door, for all who want to know, and for the log.
//!
//! Only streams count: whoever makes a single request is not there. Nothing of it is kept.
//!
//! What always holds: whoever was told that somebody is there is told when they go. One who did not read while many
//! came and went is told the difference.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loggia_domain::{Client, ClientId, SessionId};
use loggia_protocol_agent_server::{self as wire, ServerMessage, SessionNotice};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

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
    presence: Arc<Presence>,
    visitor: Arc<Visitor>,
}

/// Somebody who wants to know who is there.
pub(super) struct Watch {
    presence: Arc<Presence>,
    news: broadcast::Receiver<News>,
    /// What is not told yet.
    waiting: VecDeque<News>,
    /// Those who were told to be there.
    told: BTreeMap<ClientId, Arc<Visitor>>,
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
    pub(super) fn announce(self: &Arc<Self>, session: SessionId, client: &Client) -> Announced {
        tracing::info!(%session, client = client.name, "client connected");
        let visitor = Arc::new(Visitor { session, client: client.id, name: client.name.clone() });
        let mut here = self.here();
        here.insert(client.id, Arc::clone(&visitor));
        self.tell(&visitor, true);
        drop(here);
        Announced { presence: Arc::clone(self), visitor }
    }

    /// Everybody who is there, and then who comes and goes.
    pub(super) fn watch(self: &Arc<Self>, about: About) -> Watch {
        let (waiting, told) = (VecDeque::new(), BTreeMap::new());
        let news = self.news.subscribe();
        let mut watch = Watch { presence: Arc::clone(self), news, waiting, told, about };
        watch.catch_up();
        watch
    }

    fn tell(&self, visitor: &Arc<Visitor>, is_there: bool) {
        // Nobody listening is no fault.
        let _ = self.news.send(News { visitor: Arc::clone(visitor), is_there });
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        tracing::info!(session = %self.visitor.session, client = self.visitor.name, "client left");
        let mut here = self.presence.here();
        here.remove(&self.visitor.client);
        self.presence.tell(&self.visitor, false);
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
                    Err(RecvError::Lagged(_)) => {
                        self.catch_up();
                        continue;
                    }
                    // The door has gone, and so will this stream.
                    Err(RecvError::Closed) => std::future::pending().await,
                },
            };
            if self.about.includes(&news.visitor) && self.is_news(&news) {
                return self.text(&news);
            }
        }
    }

    /// Looks who is there, and makes news of what was missed.
    fn catch_up(&mut self) {
        let here = self.presence.here();
        // Everything before this moment is in the list.
        self.news = self.presence.news.subscribe();
        let gone = self.told.values().filter(|visitor| !here.contains_key(&visitor.client));
        let gone = gone.map(|visitor| News { visitor: Arc::clone(visitor), is_there: false });
        let there = here.values().map(|visitor| News { visitor: Arc::clone(visitor), is_there: true });
        self.waiting = gone.chain(there).collect();
    }

    /// Takes note; whether it was not known.
    fn is_news(&mut self, News { visitor, is_there }: &News) -> bool {
        match is_there {
            true => self.told.insert(visitor.client, Arc::clone(visitor)).is_none(),
            false => self.told.remove(&visitor.client).is_some(),
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

#[cfg(test)]
mod tests {
    use loggia_domain::{Abilities, Door, Role};

    use super::*;

    fn client(number: usize) -> Client {
        let (id, name) = (ClientId::new(), format!("c{number}"));
        Client { id, name, door: Door::Http, role: Role::Watch, abilities: Abilities::default() }
    }

    #[tokio::test]
    async fn whoever_missed_many_is_told_who_is_left() {
        let presence = Arc::new(Presence::default());
        let session = SessionId::new();
        let mut watch = presence.watch(About::Everybody);
        let mut all: Vec<Announced> =
            (0..WAITING * 4).map(|number| presence.announce(session, &client(number))).collect();
        let mut there = std::collections::BTreeSet::new();
        for _ in 0..all.len() {
            let text = watch.next().await;
            assert!(there.insert(text.replace("joined", "left").replace("is here", "has gone")), "{text}");
        }
        let stays = all.pop().unwrap();
        all.clear();
        for _ in 0..there.len() - 1 {
            let text = watch.next().await;
            assert!(there.remove(&text), "{text}");
        }
        assert_eq!(there.len(), 1);
        drop(stays);
        assert!(there.remove(&watch.next().await));
    }
}
