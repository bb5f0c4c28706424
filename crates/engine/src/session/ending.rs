//! How turns end, seen from their session.

use loggia_domain::{StoreError, TurnEnd};

use crate::session::actor::{Actor, CutCommand};
use crate::session::closing::closing;
use crate::session::state::Status;

impl Actor {
    /// Cuts the turn under way and closes it.
    pub(super) async fn end_turn(&mut self, end: TurnEnd) -> Result<(), StoreError> {
        // The model stops and a command is killed here, whatever they were doing.
        let cut_command = match self.turn.take() {
            Some(turn) => turn.stop().await,
            None => None,
        };
        self.waiting.clear();
        let turn = self.turn_id();
        let reply = self.handle.feed.running_reply().filter(|reply| Some(reply.turn) == turn);
        let events = closing(&self.state, end, reply);
        self.record(turn, events).await?;
        if let (Some((call, watch)), Some(turn)) = (cut_command, turn) {
            self.unsettled = Some(CutCommand { turn, call, watch });
        }
        self.handle.feed.rest();
        Ok(())
    }

    /// The turn's task has ended by itself. It has recorded its end, or says here what that is.
    pub(super) async fn turn_ended(&mut self, end: TurnEnd) -> Result<(), StoreError> {
        if self.state.turn.is_some() {
            self.end_turn(end).await?;
        }
        self.turn = None;
        self.handle.feed.rest();
        Ok(())
    }

    /// The session is to leave memory. A turn that waits for an answer waits on in the journal; any other is
    /// closed as interrupted.
    pub(super) async fn stop_turn(&mut self) -> Result<(), StoreError> {
        match self.state.status() {
            Status::Running => self.end_turn(TurnEnd::Interrupted).await,
            Status::Waiting | Status::Idle | Status::Closed => {
                self.turn = None;
                Ok(())
            }
        }
    }

    /// What a command did before it was cut belongs to its turn, so that it can be undone.
    pub(super) async fn settle_cut_command(&mut self) -> Result<(), StoreError> {
        let Some(CutCommand { turn, call, watch }) = self.unsettled.take() else { return Ok(()) };
        let found = watch.changes_of_killed(&self.shared.parts.store).await;
        let cut = self.state.cut.as_ref().filter(|(cut, _)| cut.id == turn);
        let needs_checkpoint = cut.is_some_and(|(cut, _)| cut.checkpoint.is_none());
        let events = found.events(call, needs_checkpoint);
        match events.is_empty() {
            true => Ok(()),
            false => self.record(Some(turn), events).await,
        }
    }
}
