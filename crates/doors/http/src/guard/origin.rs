//! From which page a request comes.
//!
//! Browsers say so in `origin`; programs that are no browsers say nothing. Our own page and the origins the settings
//! list may ask, and only those are told that they may read the answer. There is no wildcard.
//!
//! Our own page has our name, our port and our scheme: whoever can pretend to be `http://NAME` on a network is not
//! `https://NAME`. A proxy that takes TLS off says so in `x-forwarded-proto`, which no page can send from elsewhere
//! without being refused first.

use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use loggia_protocol_agent_server::ProblemType;

use crate::auth::cookie::Page;
use crate::peer::Scheme;
use crate::problem::Problem;

/// What a proxy was asked by.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Where a request that may pass comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// From a program, or from a browser that does not say.
    None,
    /// From our own page.
    Own,
    /// From a page the settings list.
    Listed(HeaderValue),
}

impl Origin {
    /// The origin of a request to `host`, if it may ask.
    pub(super) fn check(request: &Request, host: &Authority, listed: &[String]) -> Result<Self, Problem> {
        let Some(value) = request.headers().get(ORIGIN) else { return Ok(Self::None) };
        let origin = value.to_str().unwrap_or_default();
        let is_own = |(from, name): (&str, &str)| {
            name.eq_ignore_ascii_case(host.as_str()) && schemes(request).contains(&from)
        };
        if origin.split_once("://").is_some_and(is_own) {
            return Ok(Self::Own);
        }
        if listed.iter().any(|listed| listed.trim_end_matches('/').eq_ignore_ascii_case(origin)) {
            return Ok(Self::Listed(value.clone()));
        }
        Err(Problem::of(ProblemType::Forbidden, refusal(origin)))
    }

    /// The same, for cookies.
    pub(super) fn page(&self) -> Page {
        match self {
            Self::None => Page::Unknown,
            Self::Own => Page::Own,
            Self::Listed(_) => Page::Other,
        }
    }

    /// Whether a browser only asks if it may ask.
    pub(super) fn is_preflight(&self, request: &Request) -> bool {
        matches!(self, Self::Listed(_))
            && request.method() == Method::OPTIONS
            && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
    }

    /// The answer to that.
    pub(super) fn preflight(&self) -> Response {
        let mut response = StatusCode::NO_CONTENT.into_response();
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PUT, DELETE"));
        let allowed = HeaderValue::from_static("authorization, content-type, if-match");
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        response
    }

    /// Tells the browser that the page may read the answer.
    pub(super) fn allow(self, headers: &mut HeaderMap) {
        if let Self::Listed(origin) = self {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.append(VARY, HeaderValue::from_static("origin"));
        }
    }
}

/// The schemes our own page can have come by.
fn schemes(request: &Request) -> &'static [&'static str] {
    let forwarded = request.headers().get(FORWARDED_PROTO).map(HeaderValue::as_bytes);
    match (request.extensions().get::<Scheme>(), forwarded) {
        (Some(Scheme::Https), _) | (Some(Scheme::Http), Some(b"https")) => &["https"],
        (Some(Scheme::Http), _) => &["http"],
        // Whoever serves the router in their own way knows.
        (None, _) => &["http", "https"],
    }
}

/// Why, and what would let the page ask.
fn refusal(origin: &str) -> String {
    /// As much as can be the name of a host.
    const SHOWN: usize = 300;
    if !origin.contains("://") || origin.len() > SHOWN {
        return "pages without an address of their own may not ask this server".to_owned();
    }
    format!(
        "pages of `{origin}` may not ask this server; to let them, add `{origin}` to the setting \
         `server.origins` and start it again"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_over(scheme: Option<Scheme>, origin: &str, forwarded: &str) -> Result<Origin, Problem> {
        let request = Request::builder().header(ORIGIN, origin).header(FORWARDED_PROTO, forwarded);
        let mut request = request.body(axum::body::Body::empty()).unwrap();
        if let Some(scheme) = scheme {
            request.extensions_mut().insert(scheme);
        }
        let host = Authority::from_static("localhost:3199");
        Origin::check(&request, &host, &["https://editor.example".to_owned()])
    }

    fn check(origin: &str) -> Result<Origin, Problem> {
        check_over(None, origin, "")
    }

    #[test]
    fn our_own_page_came_as_the_connection_did() {
        let (plain, encrypted) = ("http://localhost:3199", "https://localhost:3199");
        let is_own = |scheme, origin, forwarded| check_over(Some(scheme), origin, forwarded).is_ok();
        assert!(is_own(Scheme::Http, plain, "") && !is_own(Scheme::Http, encrypted, ""));
        assert!(is_own(Scheme::Https, encrypted, "") && !is_own(Scheme::Https, plain, ""));
        // Behind a proxy that took TLS off. Nothing puts it on for a page that came without.
        assert!(is_own(Scheme::Http, encrypted, "https") && !is_own(Scheme::Http, plain, "https"));
        assert!(!is_own(Scheme::Https, plain, "http"));
    }

    #[test]
    fn our_own_page_and_listed_ones_may_ask() {
        assert_eq!(check("http://localhost:3199").unwrap(), Origin::Own);
        assert_eq!(check("https://localhost:3199").unwrap(), Origin::Own);
        assert!(matches!(check("https://editor.example").unwrap(), Origin::Listed(_)));
        for origin in [
            "null",
            "http://localhost",
            "http://localhost:8080",
            "http://evil.example",
            "http://editor.example",
            "https://editor.example.evil",
            "",
        ] {
            assert!(check(origin).is_err(), "{origin}");
        }
    }
}
