//! `/v1/pair`: a new client gets a token for a code that somebody reads to it.
//!
//! The token may prompt and decide, not change what the server is: for that an admin makes one by hand.

use axum::extract::{Request, State};
use axum::{Extension, Json};
use loggia_domain::Timestamp;
use loggia_protocol_agent_server::{
    PAIRING_CODE_LIFETIME, PairParams, PairResult, PairStartResult, ProblemType, Scope, Secret,
};

use crate::body;
use crate::peer::Peer;
use crate::problem::Problem;
use crate::rest::{Answer, Shared, tokens};
use crate::to_wire::moment::moment;

/// A code and a name. Whoever sends this is unknown yet, so little of it is held.
const MAX_BYTES: usize = 4 * 1024;

pub(crate) async fn start(State(inner): Shared) -> Answer<Json<PairStartResult>> {
    let code = inner.auth.pairing.start().map_err(|error| {
        tracing::error!(%error, "the system gives no random bytes");
        Problem::of(ProblemType::Unavailable, "the system gives no random bytes")
    })?;
    let lifetime = i64::try_from(PAIRING_CODE_LIFETIME.as_millis()).unwrap_or(i64::MAX);
    let expires_at = moment(Timestamp(Timestamp::now().0.saturating_add(lifetime)));
    Ok(Json(PairStartResult { code: Secret(code), expires_at }))
}

pub(crate) async fn redeem(
    State(inner): Shared,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Answer<Json<PairResult>> {
    let peer = peer.map(|Extension(peer)| peer);
    // Before anything is tried: whoever has to wait must not use up the tries of the one who has the code.
    inner.auth.check_patience(peer)?;
    let params: PairParams = body::read_json(request, MAX_BYTES).await?;
    // Before the code, which is good once: a bad name must not use it up.
    let checked = inner.auth.tokens.check(&params.client_name);
    checked.map_err(|error| tokens::refusal(&error, "/client_name"))?;
    if !inner.auth.pairing.redeem(&params.code.0) {
        return Err(inner
            .auth
            .refuse_with(peer, "this code is wrong, used up or too old; start pairing again"));
    }
    let (token, made) = tokens::make(inner, params.client_name, Scope::Drive, "/client_name").await?;
    Ok(Json(PairResult { token, scope: made.scope }))
}
