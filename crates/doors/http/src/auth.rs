//! Who is asking.
//!
//! Knows tokens, cookies, codes and how often somebody was wrong; refuses to know what is asked. Which scope an endpoint needs
//! is the guard's affair.
//!
//! What always holds: no token, an unknown one and a revoked one get the same answer; a wrong one costs its sender
//! patience; a right one always gets in, so that nobody can lock out others on the same machine.

pub(crate) mod cookie;
pub(crate) mod failures;
pub(crate) mod once;
pub(crate) mod pairing;
pub(crate) mod secret;
pub(crate) mod tokens;

use std::num::NonZeroU64;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use loggia_domain::Timestamp;
use loggia_protocol_agent_server::{BEARER_SUBPROTOCOL_PREFIX, ProblemType, Scope};

use crate::auth::cookie::Cookie;
use crate::auth::failures::Failures;
use crate::auth::once::OnceCodes;
use crate::auth::pairing::Pairing;
use crate::auth::tokens::{Shown, TokenError, Tokens};
use crate::identity::{Identity, Proof};
use crate::peer::Peer;
use crate::problem::Problem;

/// Everything that tells who is asking.
#[derive(Debug)]
pub(crate) struct Auth {
    pub(crate) tokens: Tokens,
    pub(crate) pairing: Pairing,
    pub(crate) once: OnceCodes,
    pub(crate) failures: Failures,
}

impl Auth {
    /// With the tokens kept in this directory.
    pub(crate) fn open(data: &std::path::Path) -> Result<Self, TokenError> {
        let tokens = Tokens::open(data)?;
        let (pairing, once) = (Pairing::default(), OnceCodes::default());
        Ok(Self { tokens, pairing, once, failures: Failures::default() })
    }

    /// Who is asking. A token counts before a cookie, which browsers add by themselves, and before the connection it
    /// came over: whoever shows one wants to be its bearer. What a browser keeps in its cookie is no token elsewhere.
    pub(crate) fn identify(
        &self,
        headers: &HeaderMap,
        cookie: Cookie<'_>,
        peer: Option<Peer>,
    ) -> Result<Identity, Problem> {
        let bearer = |token, shown| self.tokens.bearer(token, shown).ok_or_else(|| self.refuse(peer));
        match (presented(headers), cookie, peer) {
            (Presented::Token(token), _, _) => bearer(token, Shown::Openly),
            (Presented::Nothing, Cookie::Shown(token), _) => bearer(token, Shown::InCookie),
            (Presented::Garbled, _, _) => Err(self.refuse(peer)),
            (Presented::Nothing, Cookie::Doubtful, _) => {
                Err(Problem::of(ProblemType::Forbidden, "a cookie counts only for our own page"))
            }
            (Presented::Nothing, Cookie::Absent, Some(Peer::SameUser)) => {
                Ok(Identity { name: "local".to_owned(), scope: Scope::Admin, proof: Proof::SameUser })
            }
            (Presented::Nothing, Cookie::Absent, _) => Err(unauthorized()),
        }
    }

    /// Ends when whoever showed this may no longer be there: it was revoked, or its time is over.
    pub(crate) async fn until_gone(&self, proof: &Proof) {
        let revoked = self.tokens.until_revoked(proof);
        let Some(expires) = self.tokens.expires(proof) else { return revoked.cancelled().await };
        let left = u64::try_from(expires.0.saturating_sub(Timestamp::now().0)).unwrap_or(0);
        tokio::select! {
            () = revoked.cancelled() => {}
            () = tokio::time::sleep(Duration::from_millis(left)) => {}
        }
    }

    /// The answer to a wrong token.
    pub(crate) fn refuse(&self, peer: Option<Peer>) -> Problem {
        self.refuse_with(peer, HOW_TO)
    }

    /// The answer to whatever is wrong, in these words.
    pub(crate) fn refuse_with(&self, peer: Option<Peer>, detail: &str) -> Problem {
        match self.failures.blame(peer) {
            None => {
                // Whoever tries too often is answered otherwise: this cannot fill a disk.
                tracing::info!(peer = peer.map(tracing::field::display), "authentication refused");
                Problem::of(ProblemType::Unauthorized, detail)
            }
            Some(wait) => wait_first(wait),
        }
    }

    /// Refuses whoever was wrong too often and has to wait, without looking at what they try now.
    pub(crate) fn check_patience(&self, peer: Option<Peer>) -> Result<(), Problem> {
        self.failures.wait(peer).map_or(Ok(()), |wait| Err(wait_first(wait)))
    }
}

/// How to be let in.
const HOW_TO: &str =
    "send `authorization: Bearer TOKEN`; the first token is in the file `token` in the data directory";

fn wait_first(wait: NonZeroU64) -> Problem {
    let detail = format!("too many wrong tries from your address; wait {wait} s");
    Problem::of(ProblemType::RateLimited, detail).retry_after(wait)
}

fn unauthorized() -> Problem {
    Problem::of(ProblemType::Unauthorized, HOW_TO)
}

/// What a request shows for a token.
#[derive(Debug, PartialEq, Eq)]
enum Presented<'a> {
    Nothing,
    Token(&'a str),
    /// Something that can be no token.
    Garbled,
}

fn presented(headers: &HeaderMap) -> Presented<'_> {
    let mut shown = headers.get_all(AUTHORIZATION).iter();
    match (shown.next(), shown.next()) {
        (None, _) => subprotocol(headers),
        (Some(value), None) => {
            let text = value.to_str().ok().and_then(|text| text.split_once(' '));
            match text {
                Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
                    Presented::Token(token.trim())
                }
                _ => Presented::Garbled,
            }
        }
        (Some(_), Some(_)) => Presented::Garbled,
    }
}

/// Browsers cannot set headers on a WebSocket; there the token is one of the subprotocols.
fn subprotocol(headers: &HeaderMap) -> Presented<'_> {
    let upgrades =
        headers.get(UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
    if !upgrades {
        return Presented::Nothing;
    }
    let names = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let mut tokens = names
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().strip_prefix(BEARER_SUBPROTOCOL_PREFIX));
    match (tokens.next(), tokens.next()) {
        (None, _) => Presented::Nothing,
        (Some(token), None) => Presented::Token(token),
        (Some(_), Some(_)) => Presented::Garbled,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_token_is_read_from_its_header() {
        assert_eq!(presented(&headers(&[])), Presented::Nothing);
        assert_eq!(presented(&headers(&[(AUTHORIZATION, "Bearer abc")])), Presented::Token("abc"));
        assert_eq!(presented(&headers(&[(AUTHORIZATION, "bearer  abc ")])), Presented::Token("abc"));
        for value in ["abc", "Basic abc", ""] {
            assert_eq!(presented(&headers(&[(AUTHORIZATION, value)])), Presented::Garbled, "{value}");
        }
        let two = headers(&[(AUTHORIZATION, "Bearer a"), (AUTHORIZATION, "Bearer b")]);
        assert_eq!(presented(&two), Presented::Garbled);
    }

    #[test]
    fn a_browser_shows_its_token_as_a_subprotocol_of_a_websocket() {
        let offer = (SEC_WEBSOCKET_PROTOCOL, "loggia.v1, bearer.abc");
        assert_eq!(presented(&headers(&[(UPGRADE, "WebSocket"), offer.clone()])), Presented::Token("abc"));
        assert_eq!(presented(&headers(&[offer])), Presented::Nothing);
        let two = (SEC_WEBSOCKET_PROTOCOL, "bearer.a, bearer.b");
        assert_eq!(presented(&headers(&[(UPGRADE, "websocket"), two])), Presented::Garbled);
    }
}
