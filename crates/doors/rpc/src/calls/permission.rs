//! Answers to questions.

use std::sync::Arc;

use loggia_domain::Intent;
use loggia_engine::IntentError;
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_autohand::{
    DirectoryAccessAcknowledgedParams, DirectoryAccessResponseParams, PermissionAcknowledgedParams,
    PermissionResponseParams, SuccessResult,
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
) -> Result<SuccessResult, ErrorObject> {
    let decision = params.resolve().map_err(ErrorObject::invalid_params)?;
    let place = door.place();
    let open = pending::approval(&params.request_id)
        .filter(|approval| place.teller().questions().contains(approval));
    let Some(approval) = open else { return Ok(NO) };
    let answer = pending::answer(decision);
    match place.seat.intend(Intent::Decide { approval, answer }).await {
        Ok(_) => Ok(YES),
        Err(
            IntentError::AlreadyDecided { .. }
            | IntentError::UnknownApproval(_)
            | IntentError::Closed
            | IntentError::Gone,
        ) => Ok(NO),
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
