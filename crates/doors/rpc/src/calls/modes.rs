//! Switches: how much is asked, planning, preview, the model.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::Intent;
use loggia_jsonrpc::{ErrorObject, FieldError};
use loggia_protocol_autohand::{
    ApplyFlagSettingsParams, ApplyFlagSettingsResult, MaxThinkingTokensSetParams, MaxThinkingTokensSetResult,
    ModelSetParams, ModelSetResult, PermissionModeSetParams, PermissionModeSetResult, PlanModeSetParams,
    SetContextCompactParams, SetContextCompactResult, SuccessResult, YoloSetParams, YoloSetResult,
};
use loggia_wire::peer::Context;
use serde_json::Value;

use crate::approvals::Yolo;
use crate::calls::refused;
use crate::commands::set_model;
use crate::door::Door;
use crate::launch::MAX_NAME_BYTES;
use crate::thinking;

pub(super) async fn permission_mode(
    door: Arc<Door>,
    _: Context,
    params: PermissionModeSetParams,
) -> Result<PermissionModeSetResult, ErrorObject> {
    let before = door.wishes().approvals.clone();
    let previous_mode = before.mode();
    // Planning that was asked for by its own call goes on.
    let wanted = before.with_mode(params.mode);
    let success = wanted.is_some();
    if let Some(wanted) = wanted {
        door.wishes().approvals = wanted;
    }
    let current_mode = door.wishes().approvals.mode();
    Ok(PermissionModeSetResult { success, current_mode, previous_mode })
}

pub(super) async fn plan_mode(
    door: Arc<Door>,
    _: Context,
    params: PlanModeSetParams,
) -> Result<SuccessResult, ErrorObject> {
    let mut wishes = door.wishes();
    wishes.approvals = wishes.approvals.clone().planning(params.enabled);
    Ok(SuccessResult { success: true })
}

pub(super) async fn flag_settings(
    door: Arc<Door>,
    _: Context,
    params: ApplyFlagSettingsParams,
) -> Result<ApplyFlagSettingsResult, ErrorObject> {
    let Value::Object(settings) = &params.settings.0 else {
        return Err(ErrorObject::invalid_params(FieldError::at("settings", "must be an object")));
    };
    let mut applied_settings = Vec::new();
    if let Some(preview) = settings.get("previewMode") {
        let Value::Bool(preview) = preview else {
            let error = FieldError::at("previewMode", "must be true or false").inside("settings");
            return Err(ErrorObject::invalid_params(error));
        };
        door.wishes().preview = *preview;
        applied_settings.push("previewMode".to_owned());
    }
    Ok(ApplyFlagSettingsResult { success: true, applied_settings })
}

pub(super) async fn model(
    door: Arc<Door>,
    _: Context,
    params: ModelSetParams,
) -> Result<ModelSetResult, ErrorObject> {
    if let Some(long) = params.model.as_ref().filter(|name| name.len() > MAX_NAME_BYTES) {
        let why = format!("has {} bytes, and a model's name has at most {MAX_NAME_BYTES}", long.len());
        return Err(ErrorObject::invalid_params(FieldError::at("model", why)));
    }
    let place = door.place();
    // One client library writes its "none" as an empty name.
    let wanted = params.model.as_deref().filter(|name| !name.trim().is_empty());
    let set = set_model(&door, &place, wanted).await;
    if let Err(why) = &set {
        tracing::debug!(%why, "a model was not chosen");
    }
    let current_model = Some(place.teller().model.name.clone());
    Ok(ModelSetResult { success: set.is_ok(), current_model })
}

/// Sets how many tokens the model may think with, if it can be told; the answer says what is in force.
pub(super) async fn thinking_tokens(
    door: Arc<Door>,
    _: Context,
    params: MaxThinkingTokensSetParams,
) -> Result<MaxThinkingTokensSetResult, ErrorObject> {
    let place = door.place();
    let wanted = thinking::of_tokens(params.max_thinking_tokens);
    let success = place.teller().model.thinking.takes(wanted);
    if success {
        let set = Intent::SetThinking { thinking: Some(wanted) };
        place.seat.intend(set).await.map_err(|error| refused(&error))?;
        place.until(|teller| (teller.state.thinking == Some(wanted)).then_some(())).await;
    }
    let (_, current_max_thinking_tokens) = thinking::told(place.teller().thinking());
    Ok(MaxThinkingTokensSetResult { success, current_max_thinking_tokens })
}

/// Long conversations are always shortened when they have to be; the answer says what is in force.
pub(super) async fn context_compact(
    _: Arc<Door>,
    _: Context,
    _: SetContextCompactParams,
) -> Result<SetContextCompactResult, ErrorObject> {
    Ok(SetContextCompactResult { enabled: true })
}

pub(super) async fn yolo(
    door: Arc<Door>,
    _: Context,
    params: YoloSetParams,
) -> Result<YoloSetResult, ErrorObject> {
    if door.is_closing() {
        return Ok(YoloSetResult { success: false, expires_in: None });
    }
    let pattern = params.pattern.trim();
    // An empty pattern takes every standing yes back, also that of the mode.
    if pattern.is_empty() {
        let mut wishes = door.wishes();
        wishes.approvals = wishes.approvals.clone().interactive();
        return Ok(YoloSetResult { success: true, expires_in: None });
    }
    let yolo = Yolo::parse(Some(pattern))
        .map_err(|error| ErrorObject::invalid_params(FieldError::at("pattern", error.to_string())))?;
    let expires_in = params.timeout_seconds;
    let mut wishes = door.wishes();
    wishes.approvals = wishes.approvals.clone().with_yolo(Some(yolo), expires_in.map(Duration::from_secs));
    Ok(YoloSetResult { success: true, expires_in })
}
