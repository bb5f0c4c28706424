//! The task that owns a session.
//!
//! Everything that can happen to a session is listed in [`Woke`]; one thing is dealt with at a time.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    ApprovalAnswer, ApprovalScope, CallId, EventBody, NewEvent, Passing, Remember, SessionId, StoreError,
    Timestamp, TurnEnd, TurnId,
};
use tokio::sync::mpsc;

use crate::engine::Shared;
use crate::session::asks::Ask;
use crate::session::chronicle::Chronicle;
use crate::session::mask::masked;
use crate::session::running::{RunningTurn, Waiting};
use crate::session::seats::Seats;
use crate::session::state::{State, Status};
use crate::session::{Command, FeedClosed, SessionHandle};
use crate::workspace::{OpenWorkspace, Watch};

/// The task's own things.
pub(super) struct Actor {
    pub(super) id: SessionId,
    pub(super) shared: Arc<Shared>,
    pub(super) workspace: Arc<OpenWorkspace>,
    pub(super) handle: SessionHandle,
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) state: Arc<State>,
    pub(super) seats: Seats,
    pub(super) turn: Option<RunningTurn>,
    pub(super) waiting: Waiting,
    /// A command that was cut, and whose changes are still to be found.
    pub(super) unsettled: Option<CutCommand>,
    pub(super) chronicle: Chronicle,
}

/// A command that was cut.
pub(super) struct CutCommand {
    pub(super) turn: TurnId,
    pub(super) call: CallId,
    pub(super) watch: Watch,
}

/// Everything that can wake a session.
enum Woke {
    Command(Option<Command>),
    Asked(Ask),
    TurnEnded(TurnEnd),
    Left(Vec<loggia_domain::ClientId>),
    Expired,
    Idle,
    Stop,
}

impl Actor {
    /// Runs until the session is unloaded.
    pub(super) async fn run(mut self) {
        if let Err(error) = self.begin().await {
            return self.fail(&error);
        }
        loop {
            let done = match self.wait().await {
                Woke::Command(Some(Command::Close { why, condition, answer })) => {
                    // Whoever came before this is seen here; whoever comes after it finds the session gone.
                    let holds = condition.is_none_or(|it| it.0(&self.state, &self.seats.clients()));
                    if holds {
                        self.end(why).await;
                    }
                    let _ = answer.send(holds);
                    match holds {
                        true => return,
                        false => Ok(()),
                    }
                }
                Woke::Command(Some(command)) => self.command(command).await,
                Woke::Asked(ask) => self.asked(ask).await,
                Woke::TurnEnded(end) => self.turn_ended(end).await,
                Woke::Left(clients) => self.left(clients).await,
                Woke::Expired => self.expire().await,
                Woke::Stop => return self.end(FeedClosed::Stopping).await,
                Woke::Command(None) | Woke::Idle => {
                    if self.try_unload() {
                        return;
                    }
                    Ok(())
                }
            };
            // After whoever asked has been answered: looking at files takes its time.
            let done = match done {
                Ok(()) => self.follow_up().await,
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                return self.fail(&error);
            }
        }
    }

    /// What is left to do once something has been dealt with.
    async fn follow_up(&mut self) -> Result<(), StoreError> {
        self.settle_cut_command().await?;
        self.next_in_queue().await
    }

    /// A turn that waited for an answer when the session was loaded waits on.
    async fn begin(&mut self) -> Result<(), StoreError> {
        if self.state.turn.is_some() {
            self.spawn_turn();
        }
        Ok(())
    }

    async fn wait(&mut self) -> Woke {
        let expiry = self.state.pending.values().filter_map(|pending| pending.expires).min();
        let idle = self.may_unload();
        let unload_after = self.shared.settings.unload_after;
        let stop = self.shared.stop.clone();
        let departures = Arc::clone(&self.handle.departures);
        tokio::select! {
            biased;
            () = stop.cancelled() => Woke::Stop,
            ask = RunningTurn::next(&mut self.turn) => match ask {
                Ok(ask) => Woke::Asked(ask),
                Err(end) => Woke::TurnEnded(end),
            },
            command = self.commands.recv() => Woke::Command(command),
            gone = departures.wait() => Woke::Left(gone),
            () = until(expiry), if expiry.is_some() => Woke::Expired,
            () = tokio::time::sleep(unload_after), if idle => Woke::Idle,
        }
    }

    async fn command(&mut self, command: Command) -> Result<(), StoreError> {
        match command {
            Command::Join { client, on_leave, answer } => {
                self.seats.join(client.clone(), on_leave);
                self.handle.presence.set_clients(self.seats.clients().len());
                self.handle.feed.pass(Passing::ClientJoined { client });
                let _ = answer.send(Arc::clone(&self.state));
                Ok(())
            }
            Command::SetAbilities { client, abilities } => {
                self.seats.set_abilities(client, abilities);
                self.auto_approve().await
            }
            Command::Intent { client, intent, answer } => {
                let done = self.intent(client, intent).await;
                // Whoever asked may have gone; what was asked is done all the same.
                let _ = answer.send(done);
                match self.turn.is_none() && self.state.turn.is_some() {
                    // Its task is gone and its end could not be stored: only loading it again helps.
                    true => Err(StoreError::Unavailable("a turn could not be closed".to_owned())),
                    false => Ok(()),
                }
            }
            Command::Record { bodies, answer } => {
                let _ = answer.send(self.record(None, bodies).await);
                Ok(())
            }
            Command::Work { instruction, step, by, answer } => {
                let _ = answer.send(self.work(*instruction, step, by).await);
                Ok(())
            }
            Command::State { answer } => {
                self.handle.shown.set(&self.state);
                let _ = answer.send(Arc::clone(&self.state));
                Ok(())
            }
            Command::Clients { answer } => {
                let _ = answer.send(self.seats.clients());
                Ok(())
            }
            Command::Orphans { answer } => {
                let _ = answer.send(self.orphans());
                Ok(())
            }
            // Handled where the loop can end.
            Command::Close { .. } => Ok(()),
        }
    }

    /// Stores facts and tells of them. All or none; on an error nothing has happened.
    pub(super) async fn record(
        &mut self,
        turn: Option<TurnId>,
        bodies: Vec<EventBody>,
    ) -> Result<(), StoreError> {
        let at = Timestamp::now();
        let masker = &self.shared.masker;
        let event = |body| NewEvent { at, turn, body: masked(masker, body) };
        let events = bodies.into_iter().map(event).collect();
        let stored = self.shared.parts.store.append(self.id, events).await?;
        // Else the state would be copied for the sake of somebody who looked once.
        self.handle.shown.clear();
        let state = Arc::make_mut(&mut self.state);
        for event in &stored {
            self.chronicle.note(event);
            state.apply(event);
            self.shared.counters.count(&event.body);
        }
        self.handle.presence.set_status(self.state.status());
        self.handle.feed.publish(stored.into_iter().map(Arc::new));
        Ok(())
    }

    /// The policy's time for a question is over.
    async fn expire(&mut self) -> Result<(), StoreError> {
        let now = Timestamp::now();
        let late =
            self.state.pending.iter().filter(|(_, pending)| pending.expires.is_some_and(|at| at <= now));
        let late: Vec<_> = late.map(|(approval, _)| *approval).collect();
        for approval in late {
            let answer = ApprovalAnswer {
                scope: ApprovalScope::None,
                remember: Remember::Once,
                comment: Some("nobody answered in time".to_owned()),
            };
            self.decide(approval, answer, loggia_domain::Actor::Policy).await?;
        }
        Ok(())
    }

    /// Leaves memory, unless somebody has just come.
    fn try_unload(&mut self) -> bool {
        let unloads = self.may_unload() && self.shared.forget_session(self.id, &mut self.commands);
        if unloads {
            self.handle.shown.clear();
            self.handle.feed.close(FeedClosed::Unloaded);
        }
        unloads
    }

    /// A turn that waits for an answer does nothing else, and waits as well in the journal: whoever loads the
    /// session next finds the question. Unless somebody must see to it that it expires.
    fn may_unload(&self) -> bool {
        let quiet = match self.state.status() {
            Status::Idle | Status::Closed => self.turn.is_none(),
            Status::Waiting => self.state.pending.values().all(|pending| pending.expires.is_none()),
            Status::Running => false,
        };
        quiet && self.seats.is_empty()
    }

    /// Closes what runs and leaves memory.
    async fn end(&mut self, why: FeedClosed) {
        let mut closed = self.stop_turn().await;
        if closed.is_ok() {
            closed = self.settle_cut_command().await;
        }
        if let Err(error) = closed {
            self.report(&error);
        }
        self.leave(why);
    }

    fn leave(&mut self, why: FeedClosed) {
        self.handle.shown.clear();
        self.shared.forget_session_now(self.id);
        self.commands.close();
        self.handle.feed.close(why);
    }

    /// The journal cannot be written. What it holds is the truth; loading it again is the way back.
    fn fail(&mut self, error: &StoreError) {
        self.report(error);
        self.turn = None;
        self.leave(FeedClosed::Store(error.to_string()));
    }

    fn report(&self, error: &StoreError) {
        tracing::error!(session = %self.id, %error, "a session cannot go on");
    }
}

/// Waits for a point in time.
async fn until(at: Option<Timestamp>) {
    let Some(at) = at else { return std::future::pending().await };
    let left = at.0.saturating_sub(Timestamp::now().0).max(0).cast_unsigned();
    tokio::time::sleep(Duration::from_millis(left)).await;
}
