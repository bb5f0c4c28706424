//! `/v1/page`: a browser gets in, finds out as whom, and leaves.
//!
//! What always holds: a page's secret travels in a cookie that scripts cannot read, never in a body; and it is given
//! only to a page of our own.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{ORIGIN, SET_COOKIE};
use axum::http::uri::Authority;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use loggia_domain::Timestamp;
use loggia_protocol_agent_server::{
    PAGE_CODE_LIFETIME, PAGE_LIFETIME, PageCode, PageCodeParams, PageSession, PageSessionParams, ProblemType,
    Scope, Secret,
};

use crate::auth::cookie::{self, Page};
use crate::auth::secret;
use crate::body::{self, MaybeBody};
use crate::door::Inner;
use crate::identity::{Identity, Proof};
use crate::peer::Peer;
use crate::problem::Problem;
use crate::rest::{Answer, Shared, blocking, tokens};
use crate::to_wire::moment::moment;

/// A code and a name. Whoever sends this is unknown yet, so little of it is held.
const MAX_BYTES: usize = 4 * 1024;

/// What a browser is called that gives no name.
const NAMELESS: &str = "page";

pub(crate) async fn code(
    State(inner): Shared,
    MaybeBody(params): MaybeBody<PageCodeParams>,
) -> Answer<Json<PageCode>> {
    let code = inner.auth.once.start(params.scope.unwrap_or(Scope::Drive)).map_err(|error| {
        tracing::error!(%error, "the system gives no random bytes");
        Problem::of(ProblemType::Unavailable, "the system gives no random bytes")
    })?;
    Ok(Json(PageCode { code: Secret(code), expires_at: moment(after(PAGE_CODE_LIFETIME)) }))
}

pub(crate) async fn open(
    State(inner): Shared,
    peer: Option<Extension<Peer>>,
    host: Option<Extension<Authority>>,
    page: Option<Extension<Page>>,
    request: Request,
) -> Answer<Response> {
    let origin = request.headers().get(ORIGIN).cloned();
    let params: PageSessionParams = body::read_json(request, MAX_BYTES).await?;
    let (Some(Extension(host)), Some(Extension(Page::Own)), Some(origin)) = (host, page, origin) else {
        let detail = "a cookie is for our own page; programs send `authorization: Bearer TOKEN`";
        return Err(Problem::of(ProblemType::Forbidden, detail));
    };
    let name = params.client_name.unwrap_or_else(|| NAMELESS.to_owned());
    // Before the code, which is good once: a bad name must not use it up.
    inner.auth.tokens.check(&name).map_err(|error| tokens::refusal(&error, "/client_name"))?;
    let peer = peer.map(|Extension(peer)| peer);
    let Some(scope) = redeem(&inner, peer, &params.code.0)? else {
        return Err(inner.auth.refuse_with(peer, "this code is wrong, used up or too old; get another one"));
    };
    let expires = after(PAGE_LIFETIME);
    let made = blocking(move || inner.auth.tokens.create_page(&name, scope, expires)).await?;
    let (token, made) = made.map_err(|error| tokens::refusal(&error, "/client_name"))?;
    // The browser that stores the cookie is the one that says how it came here.
    let encrypted = origin.as_bytes().starts_with(b"https:");
    let cookie = cookie::set(&host, encrypted, &token.0, PAGE_LIFETIME);
    let session = PageSession { name: made.name.clone(), scope, expires_at: Some(moment(expires)) };
    Ok(([(SET_COOKIE, cookie)], Json(session)).into_response())
}

pub(crate) async fn who(State(inner): Shared, Extension(identity): Extension<Identity>) -> Json<PageSession> {
    let expires_at = inner.auth.tokens.expires(&identity.proof).map(moment);
    Json(PageSession { name: identity.name, scope: identity.scope, expires_at })
}

/// Ends what a page may do. A token that somebody made to last is none of a page's, and stays; so does whoever needs
/// none.
pub(crate) async fn end(
    State(inner): Shared,
    Extension(identity): Extension<Identity>,
    host: Option<Extension<Authority>>,
) -> Answer<Response> {
    let (Some(_), Proof::Token(id)) = (inner.auth.tokens.expires(&identity.proof), identity.proof) else {
        let detail = "this ends what a page's cookie allows, and you came without one; a token is ended with \
                      `DELETE /v1/tokens/{token_id}`";
        return Err(Problem::of(ProblemType::Conflict, detail));
    };
    let ended = blocking(move || inner.auth.tokens.revoke(&id)).await?;
    ended.map_err(|error| tokens::unusable(&error))?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Some(Extension(host)) = host {
        response.headers_mut().insert(SET_COOKIE, cookie::unset(&host));
    }
    Ok(response)
}

/// What a code grants. Those that people type pair a device, which may drive.
fn redeem(inner: &Inner, peer: Option<Peer>, code: &str) -> Result<Option<Scope>, Problem> {
    if secret::is_page_code(code) {
        // Nobody can guess one, so whoever has one may be let in at once.
        return Ok(inner.auth.once.redeem(code));
    }
    // As in pairing: whoever has to wait must not use up the tries of the one who has the code.
    inner.auth.check_patience(peer)?;
    Ok(inner.auth.pairing.redeem(code).then_some(Scope::Drive))
}

fn after(time: std::time::Duration) -> Timestamp {
    let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    Timestamp(Timestamp::now().0.saturating_add(time))
}
