//! Answers to dialogs, and windows that somebody closed.

use loggia_domain::{DialogAnswer, DialogBody, DialogId, WindowId};
use loggia_protocol_agent_server::{DialogResponse, ErrorBody, WindowClosed};

use crate::to_wire::invalid;

/// How many paths an answer may name: the engine's bound is lower.
const MAX_PATHS: usize = 4096;

/// Which dialog a response is about.
pub(crate) fn dialog_named(response: &DialogResponse) -> Result<DialogId, ErrorBody> {
    let id = response.dialog_id.0.parse();
    id.map_err(|error| invalid("/dialog_id", format!("{error}")))
}

/// What a response says about a dialog. Cancelling means something else for each.
pub(crate) fn dialog_answer(response: DialogResponse, body: &DialogBody) -> Result<DialogAnswer, ErrorBody> {
    let DialogResponse { acknowledged, confirmed, paths, cancelled, .. } = response;
    if let Some(paths) = &paths
        && paths.len() > MAX_PATHS
    {
        return Err(invalid("/paths", format!("at most {MAX_PATHS} paths")));
    }
    Ok(match (acknowledged, confirmed, paths, cancelled) {
        (Some(_), ..) => DialogAnswer::Seen,
        (_, Some(yes), ..) => DialogAnswer::Confirmed(yes),
        (_, _, Some(paths), _) => DialogAnswer::Chosen(Some(paths.into_iter().map(Into::into).collect())),
        (None, None, None, _) => match body {
            DialogBody::Message { .. } => DialogAnswer::Seen,
            DialogBody::Confirm { .. } => DialogAnswer::Confirmed(false),
            DialogBody::ChooseFiles { .. }
            | DialogBody::ChoosePlace { .. }
            | DialogBody::ChooseDirectory { .. } => DialogAnswer::Chosen(None),
        },
    })
}

/// Which window was closed.
pub(crate) fn window_named(closed: &WindowClosed) -> Result<WindowId, ErrorBody> {
    let id = closed.window_id.0.parse();
    id.map_err(|error| invalid("/window_id", format!("{error}")))
}
