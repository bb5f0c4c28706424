//! What is asked for and not there, where a client can be told so without an error.

use std::sync::Arc;

use loggia_jsonrpc::{ErrorObject, NoParams};
use loggia_protocol_autohand::{
    AutomodeStatusResult, GetSupportedAgentsResult, GoalResult, ReloadPluginsResult, SuccessResult,
};
use loggia_wire::peer::Context;

use crate::door::Door;

/// There is one agent, and nothing to choose.
pub(super) async fn agents(
    _: Arc<Door>,
    _: Context,
    _: NoParams,
) -> Result<GetSupportedAgentsResult, ErrorObject> {
    Ok(GetSupportedAgentsResult::default())
}

/// All plugins of this protocol's kind, which are none, are loaded.
pub(super) async fn plugins(
    _: Arc<Door>,
    _: Context,
    _: NoParams,
) -> Result<ReloadPluginsResult, ErrorObject> {
    Ok(ReloadPluginsResult { success: true, reloaded_plugins: Vec::new() })
}

/// There are no tool servers, so nothing can be done to one.
pub(super) async fn servers(_: Arc<Door>, _: Context, _: NoParams) -> Result<SuccessResult, ErrorObject> {
    Ok(SuccessResult { success: false })
}

pub(super) async fn goal(_: Arc<Door>, _: Context, _: NoParams) -> Result<GoalResult, ErrorObject> {
    Ok(GoalResult { ok: false, message: Some("there are no goals here".to_owned()) })
}

pub(super) async fn automode(
    _: Arc<Door>,
    _: Context,
    _: NoParams,
) -> Result<AutomodeStatusResult, ErrorObject> {
    Ok(AutomodeStatusResult::default())
}
