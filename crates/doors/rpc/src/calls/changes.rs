//! `changesDecision`: what becomes of a batch.

use std::sync::Arc;

use loggia_domain::{ApprovalAnswer, Intent, Remember};
use loggia_engine::IntentError;
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_autohand::{ChangesDecisionParams, ChangesDecisionResult};
use loggia_wire::peer::Context;

use crate::calls::{aborted, refused};
use crate::door::Door;

/// What is said of a batch that cannot be decided about.
const STALE: &str = "there is no such batch, or it is decided about already";

pub(super) async fn decision(
    door: Arc<Door>,
    _: Context,
    params: ChangesDecisionParams,
) -> Result<ChangesDecisionResult, ErrorObject> {
    let choice = params.choice().map_err(ErrorObject::invalid_params)?;
    let place = door.place();
    let offered = {
        let teller = place.teller();
        let offer = teller.offer.as_ref().filter(|offer| offer.batch == params.batch_id);
        offer.map(|offer| {
            let patch = |id| teller.state.proposed.get(&id).map(AsRef::as_ref);
            (offer.approval, offer.scope(&choice, patch))
        })
    };
    let Some((approval, (scope, strangers))) = offered else {
        return Ok(ChangesDecisionResult::stale(STALE));
    };
    let answer = ApprovalAnswer { scope, remember: Remember::Once, comment: None };
    match place.seat.intend(Intent::Decide { approval, answer }).await {
        Ok(_) => {}
        Err(IntentError::AlreadyDecided { .. } | IntentError::UnknownApproval(_)) => {
            return Ok(ChangesDecisionResult::stale(STALE));
        }
        Err(error) => return Err(refused(&error)),
    }
    let decided = place.until(|teller| {
        let outcome = teller.outcome.as_ref().filter(|outcome| outcome.batch == params.batch_id)?;
        Some(outcome.result(strangers.clone()))
    });
    decided.await.ok_or_else(aborted)
}
