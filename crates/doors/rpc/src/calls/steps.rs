//! `stepDecision`: whether a turn that is taken step by step goes on.

use std::sync::Arc;

use loggia_domain::Intent;
use loggia_engine::IntentError;
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_autohand::{StepDecisionParams, SuccessResult};
use loggia_wire::peer::Context;

use crate::calls::refused;
use crate::door::Door;

/// A step that nobody waits for any more is no error.
pub(super) async fn decision(
    door: Arc<Door>,
    _: Context,
    params: StepDecisionParams,
) -> Result<SuccessResult, ErrorObject> {
    let place = door.place();
    let step = place.teller().step(&params.step_id);
    let Some(step) = step else { return Ok(SuccessResult { success: false }) };
    match place.seat.intend(Intent::DecideStep { step, stop: params.stop }).await {
        Ok(_) => Ok(SuccessResult { success: true }),
        Err(IntentError::UnknownStep(_) | IntentError::Closed | IntentError::Gone) => {
            Ok(SuccessResult { success: false })
        }
        Err(error) => Err(refused(&error)),
    }
}
