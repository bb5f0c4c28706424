//! A client's place on a session.

use std::sync::Arc;

use loggia_domain::{Abilities, Accepted, CallId, Client, ClientId, Intent, PatchId, Seq, SessionId, Store};

use crate::error::IntentError;
use crate::session::feed::Subscription;
use crate::session::state::State;
use crate::session::{Command, SessionHandle};

/// What happens to a running turn when a client goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLeave {
    /// It goes on.
    #[default]
    Keep,
    /// It is cancelled, if nobody else who drives is there.
    Abort,
}

/// What was handed to clients that have gone before they reported on it. Whoever drives may report now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Orphans {
    /// Commands, by the calls that run them.
    pub commands: Vec<CallId>,
    /// Changes.
    pub patches: Vec<PatchId>,
    /// Who is on the session at that moment, in the order they came.
    pub there: Vec<Client>,
}

/// A client's place on a session. Dropping it is leaving.
pub struct Seat {
    handle: SessionHandle,
    client: ClientId,
    store: Arc<dyn Store>,
}

impl Seat {
    /// Takes a place; nothing if the session's task has just gone.
    pub(crate) async fn take(
        handle: SessionHandle,
        client: Client,
        on_leave: OnLeave,
        store: Arc<dyn Store>,
    ) -> Option<(Self, Arc<State>)> {
        // The seat is there first: if nobody waits for the answer any more, dropping it is leaving.
        let seat = Self { handle, client: client.id, store };
        let state = seat.handle.ask(|answer| Command::Join { client, on_leave, answer }).await?;
        Some((seat, state))
    }

    /// The session.
    pub fn session(&self) -> SessionId {
        self.handle.id
    }

    /// The client.
    pub fn client(&self) -> ClientId {
        self.client
    }

    /// Asks something of the session, and waits until it is stored.
    ///
    /// # Errors
    /// Why it came to nothing.
    pub async fn intend(&self, intent: Intent) -> Result<Accepted, IntentError> {
        use tokio::sync::mpsc::error::TrySendError;
        let (answer, answered) = tokio::sync::oneshot::channel();
        let command = Command::Intent { client: self.client, intent, answer };
        self.handle.commands.try_send(command).map_err(|error| match error {
            TrySendError::Full(_) => IntentError::Overloaded,
            TrySendError::Closed(_) => IntentError::Gone,
        })?;
        answered.await.unwrap_or(Err(IntentError::Gone))
    }

    /// Everything after an event, past and to come.
    pub fn subscribe(&self, after: Seq) -> Subscription {
        Subscription::new(Arc::clone(&self.handle.feed), Arc::clone(&self.store), self.handle.id, after)
    }

    /// The session's state now.
    ///
    /// # Errors
    /// If the session has gone.
    pub async fn state(&self) -> Result<Arc<State>, IntentError> {
        self.handle.ask(|answer| Command::State { answer }).await.ok_or(IntentError::Gone)
    }

    /// Who is on the session.
    ///
    /// # Errors
    /// If the session has gone.
    pub async fn clients(&self) -> Result<Vec<Client>, IntentError> {
        self.handle.ask(|answer| Command::Clients { answer }).await.ok_or(IntentError::Gone)
    }

    /// What was handed to clients that have gone since, and who is there to do it instead.
    ///
    /// # Errors
    /// If the session has gone.
    pub async fn orphans(&self) -> Result<Orphans, IntentError> {
        self.handle.ask(|answer| Command::Orphans { answer }).await.ok_or(IntentError::Gone)
    }

    /// Changes what this client can do for the session.
    ///
    /// # Errors
    /// If the session has gone.
    pub async fn set_abilities(&self, abilities: Abilities) -> Result<(), IntentError> {
        let command = Command::SetAbilities { client: self.client, abilities };
        self.handle.commands.send(command).await.map_err(|_| IntentError::Gone)
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat")
            .field("session", &self.handle.id)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.handle.departures.add(self.client);
    }
}
