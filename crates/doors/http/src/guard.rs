//! What every request passes before its handler, and every answer after it.
//!
//! Knows hosts, origins, who is asking and what the endpoint needs; refuses to know what any endpoint does. The scopes
//! are those of the protocol's table, so a route cannot be served with another one.
//!
//! What always holds:
//! - a request under a foreign name or from a foreign page goes no further, whatever token it has;
//! - no handler runs for somebody unknown, but for the few endpoints that are open to all;
//! - every bad answer leaves as a problem with the path that was asked, and no answer is kept by caches.

mod host;
mod origin;
mod trace;
mod url;

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use loggia_protocol_agent_server::{ENDPOINTS, MAX_BODY_BYTES, ProblemType, Scope, Verb};
use tracing::Instrument;

use crate::auth::cookie::Cookie;
use crate::body;
use crate::door::Inner;
use crate::guard::origin::Origin;
use crate::peer::Peer;
use crate::problem::{PROBLEM_JSON, Problem};

/// Lets a request pass, or answers it.
pub(crate) async fn pass(State(inner): State<Arc<Inner>>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let span = trace::span(&method, route.as_ref());
    let mut origin = Origin::None;
    let response = match admit(&inner, &mut request, &mut origin) {
        Ok(()) if origin.is_preflight(&request) => origin.preflight(),
        Ok(()) => next.run(request).instrument(span.clone()).await,
        Err(problem) => problem.into_response(),
    };
    let mut response = as_problem(response, &uri);
    let is_wrong_method = response.status() == StatusCode::METHOD_NOT_ALLOWED;
    let headers = response.headers_mut();
    if is_wrong_method && let Some(allowed) = route.as_ref().and_then(|route| allowed(route.as_str())) {
        headers.entry(ALLOW).or_insert(allowed);
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    origin.allow(headers);
    let (status, time) = (response.status(), began.elapsed());
    inner.metrics.answered(status, time);
    trace::answered(&span, status);
    // The route alone: a path or a query may hold what is nobody's business, a token even.
    let route = route.as_ref().map_or("nowhere", MatchedPath::as_str);
    tracing::debug!(%method, route, status = status.as_u16(), us = time.as_micros(), "answered");
    response
}

/// What a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing.
    Nothing,
    /// This scope.
    Scope(Scope),
    /// To know who asks: the answer will be that there is nothing.
    Anybody,
}

fn admit(inner: &Inner, request: &mut Request, origin: &mut Origin) -> Result<(), Problem> {
    let peer = request.extensions().get::<Peer>().copied();
    let mut asked = None;
    // No page can make a browser talk to a Unix socket.
    if peer != Some(Peer::SameUser) {
        let host = host::check(request, &inner.settings.hosts)?;
        *origin = Origin::check(request, &host, &inner.settings.origins)?;
        request.extensions_mut().insert(host.clone());
        request.extensions_mut().insert(origin.page());
        asked = Some(host);
    }
    url::check(request.uri())?;
    body::check_encoding(request.headers())?;
    check_length(request)?;
    if origin.is_preflight(request) {
        return Ok(());
    }
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let needs = needs(request.method(), matched);
    if needs == Needs::Nothing {
        return Ok(());
    }
    let cookie = match &asked {
        Some(host) => Cookie::of(request.method(), request.headers(), host, origin.page()),
        None => Cookie::Absent,
    };
    let identity = inner.auth.identify(request.headers(), cookie, peer)?;
    match needs {
        Needs::Scope(scope) if identity.scope < scope => {
            let detail = format!("this needs a token with the scope `{}`", scope_name(scope));
            Err(Problem::of(ProblemType::Forbidden, detail))
        }
        _ => {
            request.extensions_mut().insert(identity);
            Ok(())
        }
    }
}

/// Tells who sends too much before they send it.
fn check_length(request: &Request) -> Result<(), Problem> {
    let length =
        request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let limit = u64::try_from(MAX_BODY_BYTES).unwrap_or(u64::MAX);
    if length.is_some_and(|length| length > limit) { Err(body::too_large(MAX_BODY_BYTES)) } else { Ok(()) }
}

fn needs(method: &Method, matched: Option<&str>) -> Needs {
    let Some(path) = matched else { return Needs::Anybody };
    // One that was forgotten in the table is for nobody but those who may do everything.
    if ENDPOINTS.iter().all(|endpoint| endpoint.path != path) {
        return Needs::Scope(Scope::Admin);
    }
    let mut there = ENDPOINTS.iter().filter(|endpoint| endpoint.path == path).peekable();
    let is_open = there.peek().is_some_and(|endpoint| endpoint.scope.is_none());
    match there.find(|endpoint| is_method(endpoint.verb, method)) {
        Some(endpoint) => endpoint.scope.map_or(Needs::Nothing, Needs::Scope),
        None if is_open => Needs::Nothing,
        None => Needs::Anybody,
    }
}

fn is_method(verb: Verb, method: &Method) -> bool {
    match verb {
        Verb::Get => method == Method::GET || method == Method::HEAD,
        Verb::Post => method == Method::POST,
        Verb::Put => method == Method::PUT,
        Verb::Delete => method == Method::DELETE,
        // HTTP/2 opens a WebSocket with `CONNECT`. `HEAD` is served by whoever serves `GET`.
        Verb::WebSocket => method == Method::GET || method == Method::HEAD || method == Method::CONNECT,
    }
}

/// The methods of a path, for those who used another one.
fn allowed(path: &str) -> Option<HeaderValue> {
    let there = ENDPOINTS.iter().filter(|endpoint| endpoint.path == path);
    let mut methods: Vec<&str> = there
        .flat_map(|endpoint| match endpoint.verb {
            Verb::Get => &["GET", "HEAD"][..],
            Verb::Post => &["POST"],
            Verb::Put => &["PUT"],
            Verb::Delete => &["DELETE"],
            Verb::WebSocket => &["CONNECT", "GET"],
        })
        .copied()
        .collect();
    methods.sort_unstable();
    HeaderValue::from_str(&methods.join(",")).ok().filter(|allowed| !allowed.is_empty())
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read",
        Scope::Drive => "drive",
        Scope::Admin => "admin",
    }
}

/// Makes a bad answer a problem, whoever gave it, and says about which path.
fn as_problem(mut response: Response, uri: &Uri) -> Response {
    let status = response.status();
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        return problem.about(uri.path()).into_response();
    }
    let is_bad = status.is_client_error() || status.is_server_error();
    if !is_bad || response.headers().get(CONTENT_TYPE) == Some(&PROBLEM_JSON) {
        return response;
    }
    let problem = Problem::bare(status, status.canonical_reason().unwrap_or("refused")).about(uri.path());
    let mut answer = problem.into_response();
    for (name, value) in response.headers() {
        if name != CONTENT_TYPE && name != CONTENT_LENGTH {
            answer.headers_mut().append(name, value.clone());
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_those_of_the_table() {
        assert_eq!(needs(&Method::GET, Some("/v1/health")), Needs::Nothing);
        assert_eq!(needs(&Method::POST, Some("/v1/health")), Needs::Nothing);
        assert_eq!(needs(&Method::HEAD, Some("/v1/tokens")), Needs::Scope(Scope::Admin));
        assert_eq!(needs(&Method::GET, Some("/v1/sessions")), Needs::Scope(Scope::Read));
        assert_eq!(needs(&Method::POST, Some("/v1/sessions")), Needs::Scope(Scope::Drive));
        assert_eq!(needs(&Method::PATCH, Some("/v1/sessions")), Needs::Anybody);
        assert_eq!(needs(&Method::GET, None), Needs::Anybody);
        assert_eq!(needs(&Method::GET, Some("/v1/forgotten")), Needs::Scope(Scope::Admin));
    }
}
