//! Addresses of endpoints, in all the spellings in use.
//!
//! Knows which path each protocol begins at. What always holds: an address has a scheme and a host, names no user,
//! and joins with a protocol's path without a doubled or missing slash.

use std::net::IpAddr;

use reqwest::Url;

use crate::EndpointKind;

/// Where Ollama listens when nothing else is said.
const OLLAMA_PORT: u16 = 11434;

/// An endpoint's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address(Url);

/// An address that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    #[error("`{text}` is not an address; it looks like `https://host/v1`")]
    Malformed { text: String },
    #[error("the address of `{host}` holds a user or a password; say where the key is instead")]
    Credentials { host: String },
}

impl Address {
    /// Reads an address as people write it: with or without scheme, path and slash at the end.
    pub(crate) fn parse(kind: EndpointKind, text: &str) -> Result<Self, AddressError> {
        let malformed = || AddressError::Malformed { text: text.chars().take(100).collect() };
        let plain = text.trim().trim_matches(['"', '\'']);
        let (scheme, rest) = plain.split_once("://").map_or((None, plain), |(a, b)| (Some(a), b));
        let rest = if rest.starts_with(':') { format!("localhost{rest}") } else { rest.to_owned() };
        let full = format!("{}://{rest}", scheme.unwrap_or("http"));
        let mut url = Url::parse(&full).map_err(|_| malformed())?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(malformed)?.to_owned();
        if !matches!(url.scheme(), "http" | "https") {
            return Err(malformed());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials { host });
        }
        if scheme.is_none() {
            if kind == EndpointKind::Ollama && !names_port(&rest) {
                url.set_port(Some(OLLAMA_PORT)).map_err(|()| malformed())?;
            } else if kind != EndpointKind::Ollama && host != "localhost" && ip(&host).is_none() {
                url = Url::parse(&format!("https://{rest}")).map_err(|_| malformed())?;
            }
        }
        // A server is told to listen everywhere with this; nobody can be reached there.
        if ip(&host).is_some_and(|ip| ip.is_unspecified()) {
            url.set_host(Some("127.0.0.1")).map_err(|_| malformed())?;
        }
        url.set_fragment(None);
        let path = path(kind, url.path().trim_end_matches('/'));
        url.set_path(&path);
        Ok(Self(url))
    }

    /// The address of one of its services.
    pub(crate) fn join(&self, service: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{service}", self.0.path().trim_end_matches('/')));
        url
    }

    /// Whether it is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        is_local(&self.0)
    }

    /// What its services' addresses begin with.
    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// The host's name.
    pub(crate) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// As people read it: a query may hold what nobody should see.
    pub(crate) fn shown(&self) -> String {
        let mut url = self.0.clone();
        url.set_query(None);
        url.as_str().trim_end_matches('/').to_owned()
    }
}

/// Whether an address is on this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == "localhost" || ip(host).is_some_and(|ip| ip.is_loopback())
}

/// The path a protocol begins at.
fn path(kind: EndpointKind, path: &str) -> String {
    match kind {
        // A path of its own is kept: gateways have them.
        EndpointKind::OpenAi if path.is_empty() => "/v1".to_owned(),
        EndpointKind::OpenAi => path.to_owned(),
        EndpointKind::Anthropic if path.ends_with("/v1") => path.to_owned(),
        EndpointKind::Anthropic => format!("{path}/v1"),
        EndpointKind::Gemini if path.is_empty() => "/v1beta".to_owned(),
        EndpointKind::Gemini => path.to_owned(),
        EndpointKind::Ollama => {
            path.strip_suffix("/v1").or_else(|| path.strip_suffix("/api")).unwrap_or(path).to_owned()
        }
    }
}

fn names_port(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let after_host = authority.rsplit(']').next().unwrap_or_default();
    after_host.contains(':')
}

fn ip(host: &str) -> Option<IpAddr> {
    host.trim_matches(['[', ']']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kind: EndpointKind, text: &str) -> String {
        Address::parse(kind, text).map_or_else(|error| error.to_string(), |address| address.shown())
    }

    #[test]
    fn every_usual_spelling_is_understood() {
        use EndpointKind::{Anthropic, Gemini, Ollama, OpenAi};
        let cases = [
            (Ollama, "127.0.0.1", "http://127.0.0.1:11434"),
            (Ollama, "0.0.0.0", "http://127.0.0.1:11434"),
            (Ollama, "0.0.0.0:8080", "http://127.0.0.1:8080"),
            (Ollama, ":4000", "http://localhost:4000"),
            (Ollama, "box", "http://box:11434"),
            (Ollama, "box:4000/", "http://box:4000"),
            (Ollama, "[::1]", "http://[::1]:11434"),
            (Ollama, "http://box", "http://box"),
            (Ollama, "http://box:11434/v1/", "http://box:11434"),
            (Ollama, "\"https://ollama.com/api\"", "https://ollama.com"),
            (OpenAi, "https://api.openai.com/v1", "https://api.openai.com/v1"),
            (OpenAi, "https://api.openai.com/v1/", "https://api.openai.com/v1"),
            (OpenAi, "http://localhost:1234", "http://localhost:1234/v1"),
            (OpenAi, "localhost:1234", "http://localhost:1234/v1"),
            (OpenAi, "192.168.1.5:8000/v1", "http://192.168.1.5:8000/v1"),
            (OpenAi, "api.example.com", "https://api.example.com/v1"),
            (OpenAi, "https://api.groq.com/openai/v1", "https://api.groq.com/openai/v1"),
            (Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1"),
            (Anthropic, "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1"),
            (Anthropic, "https://gate.example.com/anthropic", "https://gate.example.com/anthropic/v1"),
            (Gemini, "generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com/v1beta"),
        ];
        for (kind, text, expected) in cases {
            assert_eq!(shown(kind, text), expected, "{kind:?} {text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["", "ftp://host", "http://", "://"] {
            assert!(shown(EndpointKind::OpenAi, text).contains("is not an address"), "{text}");
        }
        let error = shown(EndpointKind::OpenAi, "https://me:hunter2@host/v1");
        assert!(error.contains("holds a user") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn a_query_goes_with_every_request_and_is_not_shown() {
        let address =
            Address::parse(EndpointKind::OpenAi, "https://host/v1?api-version=1").expect("an address");
        assert_eq!(
            address.join("chat/completions").as_str(),
            "https://host/v1/chat/completions?api-version=1"
        );
        assert_eq!(address.shown(), "https://host/v1");
    }
}
