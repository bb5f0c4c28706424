//! The cookie by which our own page is known.
//!
//! It holds a token of its own, which scripts cannot read and which ends by itself. Browsers add cookies to requests
//! by themselves, so one counts only where no other page can have caused the request.
//!
//! What always holds: with a cookie, whatever changes something and whatever opens a stream comes from our own page.

use std::time::Duration;

use axum::http::header::{COOKIE, UPGRADE};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};

/// From where a browser says a request comes, as seen from us.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Where the page asks. Browsers send cookies to every server of a host, whatever its port: those that have nothing
/// below this are not sent ours.
const PATH: &str = "/v1";

/// What a request's cookie is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie<'a> {
    /// There is none.
    Absent,
    /// A token, from our own page or from the address bar.
    Shown(&'a str),
    /// There is one, and another page may have caused the request.
    Doubtful,
}

/// From which page a request comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// It says nothing.
    Unknown,
    /// Our own.
    Own,
    /// Another one, which may ask with a token.
    Other,
}

impl<'a> Cookie<'a> {
    /// The cookie of a request to `host`.
    pub(crate) fn of(method: &Method, headers: &'a HeaderMap, host: &Authority, page: Page) -> Self {
        let Some(token) = find(headers, &name(host)) else { return Self::Absent };
        let looks_only = [Method::GET, Method::HEAD].contains(method) && !headers.contains_key(UPGRADE);
        let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
        let straight = matches!(site, None | Some(b"same-origin" | b"none"));
        match page {
            Page::Own => Self::Shown(token),
            Page::Unknown if looks_only && straight => Self::Shown(token),
            Page::Unknown | Page::Other => Self::Doubtful,
        }
    }
}

/// Sets the cookie.
pub(crate) fn set(host: &Authority, encrypted: bool, token: &str, lifetime: Duration) -> HeaderValue {
    let name = name(host);
    let secure = if encrypted { "; Secure" } else { "" };
    let age = lifetime.as_secs();
    let text = format!("{name}={token}; Path={PATH}; HttpOnly; SameSite=Strict; Max-Age={age}{secure}");
    HeaderValue::try_from(text).expect("a token and numbers have no control characters")
}

/// Takes the cookie away.
pub(crate) fn unset(host: &Authority) -> HeaderValue {
    set(host, false, "", Duration::ZERO)
}

/// Browsers keep cookies by host and not by port; two servers on one machine must not overwrite each other's.
fn name(host: &Authority) -> String {
    host.port_u16().map_or_else(|| "loggia".to_owned(), |port| format!("loggia-{port}"))
}

/// HTTP/2 may have several headers.
fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let pairs = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|pairs| pairs.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('=')).filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn cookie(method: Method, page: Page, more: &[(HeaderName, &'static str)]) -> String {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("other=1; loggia-80=wrong"));
        headers.append(COOKIE, HeaderValue::from_static("loggia-3199=abc; x=y"));
        for (name, value) in more {
            headers.append(name, HeaderValue::from_static(value));
        }
        format!("{:?}", Cookie::of(&method, &headers, &Authority::from_static("localhost:3199"), page))
    }

    #[test]
    fn our_own_page_is_known_by_its_cookie_whatever_it_asks() {
        for method in [Method::GET, Method::POST, Method::DELETE, Method::CONNECT] {
            assert_eq!(cookie(method, Page::Own, &[]), "Shown(\"abc\")");
        }
        assert_eq!(cookie(Method::GET, Page::Own, &[(UPGRADE, "websocket")]), "Shown(\"abc\")");
    }

    #[test]
    fn without_an_origin_a_cookie_is_only_good_for_looking() {
        assert_eq!(cookie(Method::GET, Page::Unknown, &[]), "Shown(\"abc\")");
        assert_eq!(cookie(Method::GET, Page::Unknown, &[(SEC_FETCH_SITE, "none")]), "Shown(\"abc\")");
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::CONNECT] {
            assert_eq!(cookie(method, Page::Unknown, &[]), "Doubtful");
        }
        assert_eq!(cookie(Method::GET, Page::Unknown, &[(UPGRADE, "websocket")]), "Doubtful");
        // Another port of the same machine is the same site, and not the same origin.
        for site in ["same-site", "cross-site"] {
            assert_eq!(cookie(Method::GET, Page::Unknown, &[(SEC_FETCH_SITE, site)]), "Doubtful", "{site}");
        }
    }

    #[test]
    fn a_listed_page_has_no_use_for_our_cookie() {
        assert_eq!(cookie(Method::GET, Page::Other, &[]), "Doubtful");
    }

    #[test]
    fn the_cookie_is_hidden_from_scripts_and_from_other_sites() {
        let host = Authority::from_static("127.0.0.1:3199");
        let set = set(&host, true, "abc", Duration::from_secs(60));
        assert_eq!(set, "loggia-3199=abc; Path=/v1; HttpOnly; SameSite=Strict; Max-Age=60; Secure");
        assert_eq!(
            unset(&Authority::from_static("desk")),
            "loggia=; Path=/v1; HttpOnly; SameSite=Strict; Max-Age=0"
        );
    }
}
