//! Answers to questions.

use std::sync::Arc;

use loggia_engine::IntentError;
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_autohand::{
    Decision, DirectoryAccessAcknowledgedParams, DirectoryAccessResponseParams, PermissionAcknowledgedParams,
    PermissionResponseParams, PermissionResponseResult, SuccessResult,
};
use loggia_wire::peer::Context;

use crate::calls::refused;
use crate::door::Door;
use crate::pending;

const NO: SuccessResult = SuccessResult { success: false };
const YES: SuccessResult = SuccessResult { success: true };

pub(super) async fn response(
    door: Arc<Door>,
    _: Context,
    params: PermissionResponseParams,
) -> Result<PermissionResponseResult, ErrorObject> {
    let decision = params.resolve().map_err(ErrorObject::invalid_params)?;
    let is_alternative = matches!(decision, Decision::Alternative(_));
    let answered = |success| Ok(PermissionResponseResult { success, decision: None, error: None });
    let not_taken =
        |why: String| Ok(PermissionResponseResult { success: false, decision: None, error: Some(why) });
    let place = door.place();
    let open = pending::approval(&params.request_id)
        .filter(|approval| place.teller().questions().contains(approval));
    let Some(approval) = open else { return answered(false) };
    let lesser = place.teller().lesser(approval, &decision);
    let intent = pending::intent(&place.teller().state, &place.workspace.root, approval, decision);
    let intent = match intent {
        Ok(intent) => intent,
        Err(why) => return not_taken(why.to_string()),
    };
    match place.seat.intend(intent).await {
        Ok(_) => Ok(PermissionResponseResult { success: true, decision: lesser, error: None }),
        Err(
            IntentError::AlreadyDecided { .. }
            | IntentError::UnknownApproval(_)
            | IntentError::Closed
            | IntentError::Gone,
        ) => answered(false),
        Err(error @ IntentError::BadAnswer(_)) if is_alternative => not_taken(error.to_string()),
        Err(error) => Err(refused(&error)),
    }
}

pub(super) async fn acknowledged(
    door: Arc<Door>,
    _: Context,
    params: PermissionAcknowledgedParams,
) -> Result<SuccessResult, ErrorObject> {
    let place = door.place();
    let open = pending::approval(&params.request_id)
        .filter(|approval| place.teller().questions().contains(approval));
    let Some(approval) = open else { return Ok(NO) };
    place.seen(approval);
    Ok(YES)
}

/// Nobody is asked about directories here: a workspace is one directory, and stays it.
pub(super) async fn directory_response(
    _: Arc<Door>,
    _: Context,
    _: DirectoryAccessResponseParams,
) -> Result<SuccessResult, ErrorObject> {
    Ok(NO)
}

pub(super) async fn directory_acknowledged(
    _: Arc<Door>,
    _: Context,
    _: DirectoryAccessAcknowledgedParams,
) -> Result<SuccessResult, ErrorObject> {
    Ok(NO)
}
