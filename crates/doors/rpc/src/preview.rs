//! Batches of changes: offered to the client, and what became of them.
//!
//! Pure. Knows which change of a batch is which patch of the session, and what a decision means for the engine.
//! A change that does not fit keeps no other out.

use std::collections::BTreeMap;

use loggia_domain::{ApprovalId, ApprovalScope, Patch, PatchFailure, PatchId, TurnId};
use loggia_protocol_autohand::{
    ApplyError, BatchId, ChangeId, ChangesChoice, ChangesDecisionResult, SelectedHunks,
};

/// A batch that waits for its decision.
#[derive(Debug)]
pub(crate) struct Offer {
    /// As the client knows it.
    pub(crate) batch: BatchId,
    /// The turn that made it.
    pub(crate) turn: TurnId,
    /// The engine's question about it.
    pub(crate) approval: ApprovalId,
    /// Its changes.
    changes: Vec<(ChangeId, PatchId)>,
    settled: BTreeMap<PatchId, Result<(), PatchFailure>>,
}

/// What became of a batch.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Which.
    pub(crate) batch: BatchId,
    applied: u64,
    skipped: u64,
    errors: Vec<ApplyError>,
}

impl Offer {
    pub(crate) fn new(
        batch: BatchId,
        turn: TurnId,
        approval: ApprovalId,
        changes: Vec<(ChangeId, PatchId)>,
    ) -> Self {
        Self { batch, turn, approval, changes, settled: BTreeMap::new() }
    }

    /// Notes what became of one change.
    pub(crate) fn settle(&mut self, patch: PatchId, how: Result<(), PatchFailure>) {
        self.settled.insert(patch, how);
    }

    /// What a choice means, and what of it means nothing because no such change was offered.
    pub(crate) fn scope<'a>(
        &self,
        choice: &ChangesChoice,
        patch: impl Fn(PatchId) -> Option<&'a Patch>,
    ) -> (ApprovalScope, Vec<ApplyError>) {
        let ChangesChoice::AcceptSelected { changes, hunks } = choice else {
            let all = *choice == ChangesChoice::AcceptAll;
            return (if all { ApprovalScope::All } else { ApprovalScope::None }, Vec::new());
        };
        let named = hunks.iter().map(|selected| &selected.change_id).chain(changes);
        let strangers = named.filter(|change| self.patch(change).is_none()).map(unknown).collect();
        let in_part = |change: &ChangeId| hunks.iter().any(|selected| selected.change_id == *change);
        let whole = changes.iter().filter(|change| !in_part(change)).filter_map(|change| self.patch(change));
        if hunks.is_empty() {
            return (ApprovalScope::Patches(whole.collect()), strangers);
        }
        let every = |id: PatchId| (id, (0..patch(id).map_or(0, |patch| patch.hunks.len())).collect());
        let parts = hunks.iter().filter_map(|SelectedHunks { change_id, hunks }| {
            // A number too large for this machine is larger than any file's.
            let numbers = hunks.iter().map(|hunk| usize::try_from(*hunk).unwrap_or(usize::MAX));
            Some((self.patch(change_id)?, numbers.collect()))
        });
        (ApprovalScope::Hunks(whole.map(every).chain(parts).collect()), strangers)
    }

    fn patch(&self, change: &ChangeId) -> Option<PatchId> {
        self.changes.iter().find(|(known, _)| known == change).map(|(_, patch)| *patch)
    }
}

impl Outcome {
    pub(crate) fn of(offer: Offer) -> Self {
        let mut outcome = Self { batch: offer.batch, applied: 0, skipped: 0, errors: Vec::new() };
        for (change, patch) in &offer.changes {
            let failure = match offer.settled.get(patch) {
                Some(Ok(())) => {
                    outcome.applied += 1;
                    continue;
                }
                Some(Err(PatchFailure::Refused | PatchFailure::Superseded)) | None => {
                    outcome.skipped += 1;
                    continue;
                }
                Some(Err(failure)) => failure,
            };
            outcome.errors.push(ApplyError { change_id: change.clone(), error: why_not(failure) });
        }
        outcome
    }

    /// As the client is told, with what else was wrong.
    pub(crate) fn result(&self, strangers: Vec<ApplyError>) -> ChangesDecisionResult {
        let errors: Vec<ApplyError> = self.errors.iter().cloned().chain(strangers).collect();
        ChangesDecisionResult {
            success: errors.is_empty(),
            applied_count: self.applied,
            skipped_count: self.skipped,
            errors: (!errors.is_empty()).then_some(errors),
        }
    }
}

fn unknown(change: &ChangeId) -> ApplyError {
    ApplyError { change_id: change.clone(), error: "no such change was offered".to_owned() }
}

fn why_not(failure: &PatchFailure) -> String {
    match failure {
        PatchFailure::Conflict { .. } => "the file has changed since the change was proposed".to_owned(),
        PatchFailure::Withdrawn => "the turn ended before it was written".to_owned(),
        PatchFailure::Unwritable { message } => message.clone(),
        PatchFailure::Refused | PatchFailure::Superseded => "not taken".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(count: usize) -> (Offer, Vec<PatchId>) {
        let patches: Vec<PatchId> = (0..count).map(|_| PatchId::new()).collect();
        let named =
            patches.iter().enumerate().map(|(n, patch)| (ChangeId(format!("c{n}")), *patch)).collect();
        (Offer::new(BatchId::from("b"), TurnId::new(), ApprovalId::new(), named), patches)
    }

    #[test]
    fn a_selection_names_patches_and_what_was_never_offered() {
        let (offer, patches) = offer(2);
        let choice = ChangesChoice::AcceptSelected {
            changes: vec![ChangeId::from("c1"), ChangeId::from("else")],
            hunks: Vec::new(),
        };
        let (scope, strangers) = offer.scope(&choice, |_| None);
        assert_eq!(scope, ApprovalScope::Patches(vec![patches[1]]));
        assert_eq!(strangers.len(), 1);
        assert_eq!(offer.scope(&ChangesChoice::RejectAll, |_| None).0, ApprovalScope::None);
    }

    #[test]
    fn a_part_of_a_change_beats_the_whole_of_it() {
        let (offer, patches) = offer(1);
        let hunks = vec![SelectedHunks { change_id: ChangeId::from("c0"), hunks: vec![1] }];
        let choice = ChangesChoice::AcceptSelected { changes: vec![ChangeId::from("c0")], hunks };
        assert_eq!(offer.scope(&choice, |_| None).0, ApprovalScope::Hunks(vec![(patches[0], vec![1])]));
    }

    #[test]
    fn what_became_of_a_batch_is_counted() {
        let (mut offer, patches) = offer(3);
        offer.settle(patches[0], Ok(()));
        offer.settle(patches[1], Err(PatchFailure::Refused));
        let unwritable = PatchFailure::Unwritable { message: "disk full".to_owned() };
        offer.settle(patches[2], Err(unwritable));
        let result = Outcome::of(offer).result(Vec::new());
        assert_eq!((result.success, result.applied_count, result.skipped_count), (false, 1, 1));
        assert_eq!(result.errors.unwrap()[0].error, "disk full");
    }
}
