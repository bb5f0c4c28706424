//! Under which name the server was asked.
//!
//! A page can give its own name our address and then talk to us as to itself (DNS rebinding). So only names that are
//! surely ours are answered: those of the loopback, and those the settings list.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::uri::Authority;
use loggia_protocol_agent_server::ProblemType;

use crate::problem::Problem;

/// The name and port the request was sent to, if they are ours.
pub(super) fn check(request: &Request, ours: &[String]) -> Result<Authority, Problem> {
    let mut named = request.headers().get_all(HOST).iter();
    let header = match (named.next(), named.next()) {
        (Some(_), Some(_)) => return Err(Problem::bad_request("there is more than one `host` header")),
        (header, _) => header.and_then(|host| host.to_str().ok()?.parse::<Authority>().ok()),
    };
    // HTTP/2 has it in the address.
    let authority = request.uri().authority().cloned().or(header);
    let Some(authority) = authority else {
        return Err(Problem::bad_request("there is no usable `host` header"));
    };
    if is_ours(authority.host(), ours) {
        return Ok(authority);
    }
    let host = authority.host();
    let detail = format!(
        "this server is not called `{host}`; ask it as `localhost`, or add `{host}` to the setting \
         `server.hosts` and start it again"
    );
    Err(Problem::of(ProblemType::Forbidden, detail))
}

fn is_ours(host: &str, ours: &[String]) -> bool {
    let plain = bare(host);
    let loopback = plain.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    let named = |name: &str| plain.eq_ignore_ascii_case(bare(name));
    loopback || named("localhost") || ours.iter().any(|name| named(name))
}

/// A name without what is written around it.
fn bare(name: &str) -> &str {
    name.trim_end_matches('.').trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_loopback_and_listed_names_are_ours() {
        let ours = ["desk.local".to_owned(), "192.168.1.5".to_owned(), "[fd00::1]".to_owned()];
        for host in [
            "localhost",
            "LOCALHOST",
            "127.0.0.1",
            "127.8.8.8",
            "[::1]",
            "desk.local",
            "192.168.1.5",
            "[fd00::1]",
        ] {
            assert!(is_ours(host, &ours), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "192.168.1.6",
            "0.0.0.0",
            "[::2]",
            "desk.local.evil",
            "",
        ] {
            assert!(!is_ours(host, &ours), "{host}");
        }
    }
}
