//! `reset` and `session.attach`: another session on the same connection.

use std::sync::Arc;
use std::time::Duration;

use loggia_jsonrpc::{ErrorObject, NoParams};
use loggia_protocol_autohand::{
    ResetResult, SessionAttachParams, SessionAttachResult, SessionEndReason, SessionType,
};
use loggia_wire::peer::{Context, Peer};
use tokio::sync::OwnedMutexGuard;

use crate::calls::{aborted, busy};
use crate::door::Door;
use crate::place::Place;
use crate::{life, pump};

/// How long a turn may take to end before its session is left without it. Clients that abort wait two seconds.
const PATIENCE: Duration = Duration::from_millis(1500);

pub(super) async fn reset(
    door: Arc<Door>,
    context: Context,
    _: NoParams,
) -> Result<ResetResult, ErrorObject> {
    if door.is_closing() {
        return Err(aborted());
    }
    let old = door.place();
    old.leave_turn(PATIENCE).await;
    let place = door.open(old.workspace.clone()).await.map_err(ErrorObject::internal)?;
    let held = door.hold().await;
    let how = (SessionEndReason::Clear, SessionType::Clear);
    let place = change(&door, &context.peer, &old, place, how).await;
    drop(held);
    door.discard(&old).await;
    let session_id = place.teller().session_id();
    Ok(ResetResult { session_id })
}

/// Moves the connection from one session to another, and says so.
async fn change(
    door: &Arc<Door>,
    peer: &Peer,
    old: &Place,
    new: Place,
    (end, begin): (SessionEndReason, SessionType),
) -> Arc<Place> {
    let mut said = old.fall_silent();
    said.notices.push(life::end(old, end));
    said.notices.extend(life::begin(&new, begin));
    old.stop.cancel();
    door.set_place(new);
    let place = door.place();
    pump::send(peer, &said.notices).await;
    pump::start(door, Arc::clone(&place), peer.clone());
    place
}

/// Goes on with a session there is. What is under way there is told after the answer.
pub(super) async fn attach(
    door: Arc<Door>,
    context: Context,
    params: SessionAttachParams,
) -> (Result<SessionAttachResult, ErrorObject>, Option<OwnedMutexGuard<()>>) {
    let old = door.place();
    if door.is_closing() {
        return (Err(aborted()), None);
    }
    if old.teller().place.is_taken() {
        return (Err(busy()), None);
    }
    let failed = |error: String| SessionAttachResult {
        success: false,
        session_id: None,
        workspace_root: None,
        message_count: None,
        error: Some(error),
    };
    let id = match params.session_id.0.parse() {
        Ok(id) => id,
        Err(_) => return (Ok(failed(format!("there is no session `{}`", params.session_id.0))), None),
    };
    if id == old.seat.session() {
        return (Ok(attached(&old)), None);
    }
    let place = match door.resume(id).await {
        Ok(place) => place,
        Err(error) => return (Ok(failed(error.to_string())), None),
    };
    old.leave_turn(PATIENCE).await;
    let held = door.hold().await;
    let how = (SessionEndReason::Quit, SessionType::Resume);
    let place = change(&door, &context.peer, &old, place, how).await;
    door.discard(&old).await;
    (Ok(attached(&place)), Some(held))
}

fn attached(place: &Place) -> SessionAttachResult {
    let teller = place.teller();
    SessionAttachResult {
        success: true,
        session_id: Some(teller.session_id()),
        workspace_root: Some(place.workspace.root.display().to_string()),
        message_count: Some(teller.state.history.items().len() as u64),
        error: None,
    }
}
