//! A connection's place on one session: the seat, and what the client has been told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loggia_domain::{Actor, ApprovalId, Door as Way, Intent, Role, Timestamp, Workspace};
use loggia_engine::{Seat, State, Subscription};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::tell::{Said, Teller};

/// A connection's place on one session.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) seat: Seat,
    pub(crate) workspace: Workspace,
    /// Whether the session was there before.
    pub(crate) resumed: bool,
    /// When the client came.
    pub(crate) began: Instant,
    /// Nothing more is told from here.
    pub(crate) stop: CancellationToken,
    teller: Mutex<Teller>,
    /// Taken by whoever tells.
    subscription: Mutex<Option<Subscription>>,
    /// How often something was told.
    told: watch::Sender<u64>,
    /// Questions with a time limit, and who to tell that the client has seen them.
    limited: Mutex<HashMap<ApprovalId, CancellationToken>>,
}

impl Place {
    pub(crate) fn new(
        seat: Seat,
        workspace: Workspace,
        teller: Teller,
        subscription: Subscription,
        resumed: bool,
        stop: CancellationToken,
    ) -> Self {
        Self {
            seat,
            workspace,
            resumed,
            began: Instant::now(),
            stop,
            teller: Mutex::new(teller),
            subscription: Mutex::new(Some(subscription)),
            told: watch::Sender::new(0),
            limited: Mutex::default(),
        }
    }

    /// What the client has been told, and by that what the session is.
    pub(crate) fn teller(&self) -> MutexGuard<'_, Teller> {
        self.teller.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take_subscription(&self) -> Option<Subscription> {
        self.subscription.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Says that something more was told.
    pub(crate) fn has_told(&self) {
        self.told.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Waits until what was told has come to something; nothing if no more will be told.
    pub(crate) async fn until<T>(&self, mut reached: impl FnMut(&mut Teller) -> Option<T>) -> Option<T> {
        let mut told = self.told.subscribe();
        loop {
            if let Some(found) = reached(&mut self.teller()) {
                return Some(found);
            }
            tokio::select! {
                changed = told.changed() => changed.ok()?,
                () = self.stop.cancelled() => return reached(&mut self.teller()),
            }
        }
    }

    /// Leaves the turn under way: ends it if it is this client's to end, and waits for that, but not for ever.
    pub(crate) async fn leave_turn(self: &Arc<Self>, patience: Duration) {
        let place = Arc::clone(self);
        // On its own: a session that is slow to hear of it hears of it late, and not never.
        let aborting = tokio::spawn(async move { place.abort_own_turn().await });
        if tokio::time::timeout(patience, aborting).await.is_err() {
            tracing::warn!(session = %self.seat.session(), "a turn did not end in time and is left");
        }
    }

    /// Ends the turn under way if it is this client's to end: begun through this door, with nobody else there who drives.
    /// Returns when its end has been told.
    async fn abort_own_turn(&self) {
        // As the session knows it: its turn may not have been told yet. A session that is gone has none.
        let Ok(state) = self.seat.state().await else { return };
        let by = state.turn.as_ref().map(|turn| &turn.by);
        if !matches!(by, Some(Actor::Client { door: Way::Rpc, .. })) {
            return;
        }
        let Ok(clients) = self.seat.clients().await else { return };
        let me = self.seat.client();
        if clients.iter().any(|client| client.id != me && client.role >= Role::Drive) {
            return;
        }
        let reason = Some("the client left".to_owned());
        if let Ok(cancelled) = self.seat.intend(Intent::Cancel { reason }).await {
            self.until(|teller| (teller.state.last_seq >= cancelled.seq).then_some(())).await;
        }
    }

    /// What ends everything that is being told.
    pub(crate) fn fall_silent(&self) -> Said {
        let mut said = Said::default();
        self.teller().fall_silent(Timestamp::now(), &mut said);
        said
    }

    /// Counts a question's time from now on; the token says that the client has seen it.
    pub(crate) fn limit(&self, approval: ApprovalId) -> CancellationToken {
        let seen = CancellationToken::new();
        self.limited().insert(approval, seen.clone());
        seen
    }

    /// The client has seen a question.
    pub(crate) fn seen(&self, approval: ApprovalId) {
        if let Some(seen) = self.limited().get(&approval) {
            seen.cancel();
        }
    }

    /// A question's time no longer counts.
    pub(crate) fn unlimited(&self, approval: ApprovalId) {
        self.limited().remove(&approval);
    }

    fn limited(&self) -> MutexGuard<'_, HashMap<ApprovalId, CancellationToken>> {
        self.limited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether nothing was ever said in a session. One that was named is meant to stay as well.
pub(crate) fn has_no_words(state: &State) -> bool {
    state.title.is_none()
        && state.beginning.is_none()
        && state.turn.is_none()
        && state.queue.is_empty()
        && state.history.items().is_empty()
}

/// Keeps a claim on the place for a turn until it is known what became of the prompt.
pub(crate) struct Claimed(Option<Arc<Place>>);

impl Claimed {
    /// Takes the place for a turn; nothing if it is taken.
    pub(crate) fn take(place: &Arc<Place>) -> Option<Self> {
        place.teller().place.claim().then(|| Self(Some(Arc::clone(place))))
    }

    /// The prompt became a turn: the place is free again when that ends. Says whether it was called off meanwhile.
    pub(crate) fn became(mut self, turn: Option<loggia_domain::TurnId>) -> bool {
        self.0.take().is_some_and(|place| place.teller().place.became(turn))
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        if let Some(place) = self.0.take() {
            let mut teller = place.teller();
            teller.place.release();
            teller.preface.clear();
            drop(teller);
            place.has_told();
        }
    }
}

#[cfg(test)]
mod tests {
    use loggia_domain::Abilities;
    use loggia_tests::{World, WorldBuilder, prompt};

    use super::*;
    use crate::door::{Door, Parts};
    use crate::launch::Launch;

    async fn world(script: &str) -> World {
        WorldBuilder::new("/bin/false").start(script).await
    }

    fn client(name: &str) -> loggia_domain::Client {
        loggia_tests::client(name, Role::Drive, Abilities::default())
    }

    async fn door(world: &World) -> Arc<Door> {
        let parts = Parts { engine: world.engine.clone(), models: Arc::clone(&world.catalogue) };
        Door::start(parts, Ok(Launch::new(world.root()))).await.unwrap()
    }

    /// A session that answers too late for the one who leaves still hears that its turn is to end.
    #[tokio::test]
    async fn a_turn_that_is_not_waited_for_is_aborted_all_the_same() {
        let world = world("[[reply]]\nparts = [{ text = \"So far\" }, { hang = true }]").await;
        let place = door(&world).await.place();
        let mut player = world.join(place.seat.session(), "alice", Role::Watch, Abilities::default()).await;
        place.seat.intend(prompt("Go")).await.unwrap();
        player.until_reply().await;
        // Begun, and dropped before it is done: what a time-out that is over does.
        tokio::select! {
            biased;
            () = place.leave_turn(Duration::from_secs(60)) => {}
            () = std::future::ready(()) => {}
        }
        player.until_done().await;
        assert!(place.seat.state().await.unwrap().turn.is_none());
    }

    /// Somebody who comes while the one who opened it goes keeps the session, or finds that there is none.
    #[tokio::test]
    async fn a_session_is_discarded_only_while_nobody_else_is_there() {
        let world = world("[[reply]]\nparts = [{ text = \"ok\" }]").await;
        let door = door(&world).await;
        let place = door.place();
        let player = world.join(place.seat.session(), "alice", Role::Watch, Abilities::default()).await;
        door.discard(&place).await;
        assert!(!player.state().await.closed);
        drop(player);
        for _ in 0..32 {
            let place = self::door(&world).await;
            let (session, client) = (place.place().seat.session(), client("bob"));
            let leaving = place.place();
            let (joined, ()) = tokio::join!(
                world.engine.join(session, client, loggia_engine::OnLeave::Keep),
                place.discard(&leaving)
            );
            match joined {
                Ok((seat, _)) => drop(seat.state().await.expect("whoever is on a session keeps it")),
                Err(error) => assert!(error.to_string().contains("there is no session"), "{error}"),
            }
        }
    }
}
