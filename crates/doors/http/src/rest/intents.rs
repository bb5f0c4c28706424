//! What can be asked of a session with one request: a name, another model, going on, stopping.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use loggia_domain::{Intent, SessionId};
use loggia_engine::OnLeave;
use loggia_protocol_agent_server as wire;
use wire::{RenameSessionParams, SessionModel};

use crate::ask::SessionPath;
use crate::body::Body;
use crate::door::Inner;
use crate::identity::Identity;
use crate::rest::{Answer, Shared, check_name, client, models, sessions};

pub(crate) async fn rename(
    State(inner): Shared,
    Extension(identity): Extension<Identity>,
    SessionPath(id): SessionPath,
    Body(params): Body<RenameSessionParams>,
) -> Answer<Json<wire::Session>> {
    check_name("/title", &params.title)?;
    intend(&inner, &identity, id, Intent::Rename { title: params.title }).await
}

/// The conversation goes on with another model, from its next step on.
pub(crate) async fn set_model(
    State(inner): Shared,
    Extension(identity): Extension<Identity>,
    SessionPath(id): SessionPath,
    Body(wanted): Body<SessionModel>,
) -> Answer<Json<wire::Session>> {
    let model = models::usable(&inner, &wanted, "").await?;
    intend(&inner, &identity, id, Intent::SetModel { model }).await
}

pub(crate) async fn go_on(
    State(inner): Shared,
    Extension(identity): Extension<Identity>,
    SessionPath(id): SessionPath,
) -> Answer<Json<wire::Session>> {
    intend(&inner, &identity, id, Intent::Continue).await
}

pub(crate) async fn cancel(
    State(inner): Shared,
    Extension(identity): Extension<Identity>,
    SessionPath(id): SessionPath,
) -> Answer<Json<wire::Session>> {
    intend(&inner, &identity, id, Intent::Cancel { reason: None }).await
}

/// Asks something of a session, and says how it is then.
async fn intend(
    inner: &Arc<Inner>,
    identity: &Identity,
    id: SessionId,
    intent: Intent,
) -> Answer<Json<wire::Session>> {
    let (seat, _) = inner.parts.engine.join(id, client(identity), OnLeave::Keep).await?;
    seat.intend(intent).await?;
    sessions::answer(inner, id).await
}
