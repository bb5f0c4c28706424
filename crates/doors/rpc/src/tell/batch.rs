//! Changes that are collected: shown one by one, offered together, and what became of them.

use loggia_domain::{ApprovalId, FileChange, Patch, PatchFailure, PatchId, Timestamp, TurnId};
use loggia_engine::changes::{Selected, select};
use loggia_protocol_autohand as wire;

use crate::preview::{Offer, Outcome};
use crate::tell::moment::moment;
use crate::tell::said::Said;
use crate::tell::turn::Closing;
use crate::tell::{Teller, names};

impl Teller {
    /// Whether what a change is made to has to be looked up before the change is told.
    pub(crate) fn shows_changes(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.batch.is_some())
    }

    /// What a file holds that a change is made to.
    pub(crate) fn look_up(&mut self, patch: PatchId, base: Vec<u8>) {
        if let Some(turn) = &mut self.turn {
            turn.bases.insert(patch, base);
        }
    }

    pub(super) fn collected(&mut self, id: PatchId, at: Timestamp, said: &mut Said) {
        let Some(patch) = self.state.proposed.get(&id).cloned() else { return };
        self.start_tool(patch.call, at, said);
        let Some(turn) = &mut self.turn else { return };
        let Some(batch) = turn.batch.clone() else { return };
        // A later change to a file takes the place of an earlier one, and its name.
        let known =
            turn.changes.iter().find(|(path, _)| *path == patch.path).map(|(_, change)| change.clone());
        let change = known.unwrap_or_else(|| {
            let change = wire::ChangeId(format!("change_{}_{}", batch.0, turn.changes.len() + 1));
            turn.changes.push((patch.path.clone(), change.clone()));
            change
        });
        let base = turn.bases.remove(&id).unwrap_or_default();
        let tool_name = turn.calls.get(&patch.call).map(|call| call.call.name.clone()).unwrap_or_default();
        said.say::<wire::ChangesBatchUpdate>(&wire::ChangesBatchUpdateParams {
            batch_id: batch,
            change: wire::ProposedChange {
                id: change,
                file_path: patch.path.clone(),
                change_type: names::change_type(patch.kind),
                proposed_content: proposed(&patch, &base),
                original_content: String::from_utf8_lossy(&base).into_owned(),
                description: patch.rationale.clone(),
                tool_id: wire::ToolId(patch.call.to_string()),
                tool_name,
            },
            timestamp: moment(at),
        });
    }

    /// The collection is complete. For the client the turn is over; the engine keeps it open for the decision.
    pub(super) fn offered(&mut self, approval: ApprovalId, at: Timestamp, said: &mut Said) {
        let Some(turn) = &self.turn else { return };
        let Some(batch) = turn.batch.clone() else { return };
        let patches = self.state.batch.iter().flat_map(|batch| &batch.patches);
        let named = patches.filter_map(|id| {
            let patch = self.state.proposed.get(id)?;
            let (_, change) = turn.changes.iter().find(|(path, _)| *path == patch.path)?;
            Some((change.clone(), *id))
        });
        self.offer = Some(Offer::new(batch, turn.id, approval, named.collect()));
        let usage = self.state.turn.as_ref().map(|turn| turn.usage).unwrap_or_default();
        self.close_turn(&Closing::completed(usage), at, said);
    }

    pub(super) fn applied(
        &mut self,
        id: PatchId,
        change: Option<&FileChange>,
        at: Timestamp,
        said: &mut Said,
    ) {
        let Some(offer) = &mut self.offer else { return };
        offer.settle(id, Ok(()));
        if let (Some(patch), Some(change)) = (self.state.proposed.get(&id), change) {
            said.say::<wire::HookFileModified>(&wire::HookFileModifiedParams {
                file_path: change.path.clone(),
                change_type: names::change_type(change.kind()),
                tool_id: wire::ToolId(patch.call.to_string()),
                timestamp: moment(at),
            });
        }
    }

    pub(super) fn dropped(&mut self, id: PatchId, failure: &PatchFailure) {
        if let Some(offer) = &mut self.offer {
            offer.settle(id, Err(failure.clone()));
        }
    }

    /// The turn whose changes were offered is over.
    pub(super) fn end_offer(&mut self, turn: TurnId) {
        if let Some(offer) = self.offer.take_if(|offer| offer.turn == turn) {
            self.outcome = Some(Outcome::of(offer));
        }
    }
}

/// What a file would hold; nothing if it would be gone, or is not what the change was made for any more.
fn proposed(patch: &Patch, base: &[u8]) -> String {
    match select(patch, base, None) {
        Ok(Selected::Content(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
        Ok(Selected::Deleted) | Err(_) => String::new(),
    }
}
