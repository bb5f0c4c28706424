//! Who is on a session.

use std::sync::{Mutex, PoisonError};

use loggia_domain::{Abilities, Actor, Client, ClientId, Role};
use tokio::sync::Notify;

use crate::session::seat::OnLeave;

/// Everybody on a session, in the order they came.
#[derive(Debug, Default)]
pub(super) struct Seats {
    seats: Vec<(Client, OnLeave)>,
}

impl Seats {
    pub(super) fn join(&mut self, client: Client, on_leave: OnLeave) {
        self.seats.push((client, on_leave));
    }

    pub(super) fn leave(&mut self, id: ClientId) -> Option<(Client, OnLeave)> {
        let place = self.seats.iter().position(|(client, _)| client.id == id)?;
        Some(self.seats.remove(place))
    }

    pub(super) fn set_abilities(&mut self, id: ClientId, abilities: Abilities) {
        if let Some((client, _)) = self.seats.iter_mut().find(|(client, _)| client.id == id) {
            client.abilities = abilities;
        }
    }

    pub(super) fn get(&self, id: ClientId) -> Option<&Client> {
        self.seats.iter().map(|(client, _)| client).find(|client| client.id == id)
    }

    /// The client behind an actor, if it is still here.
    pub(super) fn behind(&self, actor: &Actor) -> Option<&Client> {
        match actor {
            Actor::Client { id, .. } => self.get(*id),
            Actor::Policy | Actor::Engine => None,
        }
    }

    pub(super) fn clients(&self) -> Vec<Client> {
        self.seats.iter().map(|(client, _)| client.clone()).collect()
    }

    pub(super) fn is_there(&self, id: ClientId) -> bool {
        self.get(id).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    pub(super) fn anyone_drives(&self) -> bool {
        self.seats.iter().any(|(client, _)| client.role >= Role::Drive)
    }
}

/// Those who have left and whom the session's task has not heard of yet. A seat that is dropped cannot wait for
/// room in a queue; this list can hold no more than there were seats.
#[derive(Debug, Default)]
pub(crate) struct Departures {
    gone: Mutex<Vec<ClientId>>,
    news: Notify,
}

impl Departures {
    pub(super) fn add(&self, id: ClientId) {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        self.news.notify_one();
    }

    pub(super) async fn wait(&self) -> Vec<ClientId> {
        loop {
            let gone = std::mem::take(&mut *self.gone.lock().unwrap_or_else(PoisonError::into_inner));
            if !gone.is_empty() {
                return gone;
            }
            self.news.notified().await;
        }
    }
}
