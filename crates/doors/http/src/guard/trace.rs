//! Requests as spans for whoever collects them.
//!
//! They hold the method, the route and the status. Refuses to know paths, queries and bodies: these may hold what is
//! nobody's business.

use axum::extract::MatchedPath;
use axum::http::{Method, StatusCode};
use tracing::field::Empty;
use tracing::{Span, info_span};

/// A request. Without a collector it costs nothing.
pub(super) fn span(method: &Method, route: Option<&MatchedPath>) -> Span {
    let route = route.map_or("nowhere", MatchedPath::as_str);
    let method = known(method);
    info_span!(
        parent: None,
        "http request",
        otel.name = %format_args!("{method} {route}"),
        otel.kind = "server",
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        otel.status_code = Empty,
    )
}

/// What came of it.
pub(super) fn answered(span: &Span, status: StatusCode) {
    // With a sign: else a collector gets a text.
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}

/// Methods that are none of the usual ones are the sender's words, and not ours to pass on.
fn known(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        "PATCH" => "PATCH",
        "CONNECT" => "CONNECT",
        _ => "_OTHER",
    }
}
