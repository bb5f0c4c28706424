//! From which page a request comes.
//!
//! Browsers say so in `origin`; programs that are no browsers say nothing. Our own page and the origins the settings
//! list may ask, and only those are told that they may read the answer. There is no wildcard.

use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use loggia_protocol_agent_server::ProblemType;

use crate::auth::cookie::Page;
use crate::problem::Problem;

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
    pub(super) fn check(headers: &HeaderMap, host: &Authority, listed: &[String]) -> Result<Self, Problem> {
        let Some(value) = headers.get(ORIGIN) else { return Ok(Self::None) };
        let origin = value.to_str().unwrap_or_default();
        let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if own.is_some_and(|own| own.eq_ignore_ascii_case(host.as_str())) {
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

/// Why, and what would let the page ask.
fn refusal(origin: &str) -> String {
    /// As much as can be the name of a host.
    const SHOWN: usize = 300;
    if !origin.contains("://") || origin.len() > SHOWN {
        return "pages without an address of their own may not ask this server".to_owned();
    }
    format!(
        "pages of `{origin}` may not ask this server; to let them, add `\"{origin}\"` to the setting \
         `server.origins` and start it again"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(origin: &'static str) -> Result<Origin, Problem> {
        let headers = HeaderMap::from_iter([(ORIGIN, HeaderValue::from_static(origin))]);
        let host = Authority::from_static("localhost:3199");
        Origin::check(&headers, &host, &["https://editor.example".to_owned()])
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
