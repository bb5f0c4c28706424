//! What has no place in an address: a token.
//!
//! Addresses end up in logs, histories and referrers. A token there is refused even if it is right, so that nobody gets
//! used to it.

use axum::http::Uri;

use crate::auth::secret::TOKEN_PREFIX;
use crate::problem::Problem;

/// Query keys under which people try it.
const KEYS: [&str; 6] = ["token", "access_token", "auth_token", "bearer", "api_key", "authorization"];

pub(super) fn check(uri: &Uri) -> Result<(), Problem> {
    let query = uri.query().unwrap_or_default();
    let mut keys = query.split('&').map(|pair| pair.split_once('=').map_or(pair, |(key, _)| key));
    let named = keys.any(|key| KEYS.iter().any(|known| key.eq_ignore_ascii_case(known)));
    if named || has_token(query) || has_token(uri.path()) {
        return Err(Problem::bad_request(
            "a token does not belong in an address, where logs keep it; send `authorization: Bearer TOKEN`, or from a \
             browser's WebSocket the subprotocol `bearer.TOKEN`; revoke this one if it was real",
        ));
    }
    Ok(())
}

/// Whether there is something like a token in a text. Only its beginning is looked for: a search for code that holds the
/// prefix alone is no reason to refuse it.
fn has_token(text: &str) -> bool {
    /// No word has so many hexadecimal digits in a row.
    const TELLING: usize = 32;
    text.match_indices(TOKEN_PREFIX).any(|(start, prefix)| {
        let digits = text[start + prefix.len()..].bytes().take_while(u8::is_ascii_hexdigit);
        digits.take(TELLING).count() == TELLING
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_an_address_is_refused() {
        let token = format!("{TOKEN_PREFIX}{}", "0a".repeat(32));
        for text in ["/v1/sessions?token=x", "/v1/sessions?limit=1&ACCESS_TOKEN=", "/v1/x?bearer"] {
            assert!(check(&text.parse().unwrap()).is_err(), "{text}");
        }
        for text in [format!("/v1/sessions?x={token}"), format!("/v1/{token}")] {
            assert!(check(&text.parse().unwrap()).is_err(), "{text}");
        }
        for text in
            ["/v1/sessions?limit=1&cursor=a", "/v1/workspaces/x/search?q=token&kind=text", "/?q=loggia_door"]
        {
            assert!(check(&text.parse().unwrap()).is_ok(), "{text}");
        }
    }
}
