//! The HTTP client all endpoints share.
//!
//! What always holds: nothing is followed elsewhere, since a redirect would carry the key along; servers on this
//! machine are reached without a proxy; a body that is read whole has a limit.

use std::sync::OnceLock;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::{NoProxy, Proxy, Url, redirect};

use crate::Environment;
use crate::address::{self, Address};

/// The longest list of models in use is some hundred kilobytes; more is not one.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

/// How much of a refusal is read: providers say in the first lines what is wrong.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// Idle connections kept per host: turns in a row use one, turns at once a few.
const IDLE_CONNECTIONS: usize = 4;

/// Providers hear who asks.
const USER_AGENT: &str = concat!("loggia/", env!("CARGO_PKG_VERSION"));

/// The HTTP clients, each made when it is first used.
#[derive(Debug)]
pub(crate) struct Web {
    environment: Environment,
    connect: Duration,
    /// For servers on this machine. Without certificates: to read the system's takes longer than to ask such a server.
    near: Made,
    /// For all others.
    far: Made,
}

type Made = OnceLock<Result<Clients, String>>;

#[derive(Debug)]
struct Clients {
    plain: reqwest::Client,
    replies: genai::Client,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: reqwest::StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Why there is no whole answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebError {
    #[error("cannot set up HTTP: {0}")]
    SetUp(String),
    #[error("cannot be reached")]
    Http(#[source] reqwest::Error),
    #[error("answers with more than {MAX_BODY_BYTES} bytes")]
    TooLong,
    #[error("does not answer in time")]
    Silent,
}

impl Web {
    pub(crate) fn new(environment: Environment, connect: Duration) -> Self {
        Self { environment, connect, near: OnceLock::new(), far: OnceLock::new() }
    }

    /// The client for replies from this address.
    pub(crate) fn replies(&self, from: &Address) -> Result<&genai::Client, WebError> {
        self.clients(is_near(from.url())).map(|clients| &clients.replies)
    }

    /// Fetches a page with everything that takes within this time.
    pub(crate) async fn get(
        &self,
        url: Url,
        headers: Vec<(String, String)>,
        limit: Duration,
    ) -> Result<Answer, WebError> {
        let mut request = self.clients(is_near(&url))?.plain.get(url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let fetch = async {
            let response = request.send().await.map_err(WebError::Http)?;
            let (status, headers) = (response.status(), response.headers().clone());
            let mut body = Vec::new();
            let mut pieces = response.bytes_stream();
            while let Some(piece) = pieces.next().await {
                let piece = piece.map_err(WebError::Http)?;
                if body.len() + piece.len() > MAX_BODY_BYTES {
                    return Err(WebError::TooLong);
                }
                body.extend_from_slice(&piece);
            }
            Ok(Answer { status, headers, body })
        };
        tokio::time::timeout(limit, fetch).await.map_err(|_| WebError::Silent)?
    }

    /// Asks for an answer that is read by the caller, piece by piece.
    pub(crate) async fn post(
        &self,
        url: Url,
        headers: Vec<(String, String)>,
        body: String,
    ) -> Result<reqwest::Response, WebError> {
        let client = &self.clients(is_near(&url))?.plain;
        let mut request = client.post(url).header("content-type", "application/json").body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send().await.map_err(WebError::Http)
    }

    fn clients(&self, near: bool) -> Result<&Clients, WebError> {
        let made = if near { &self.near } else { &self.far };
        let made = made.get_or_init(|| self.make(near).map_err(|error| error.to_string()));
        made.as_ref().map_err(|error| WebError::SetUp(error.clone()))
    }

    fn make(&self, near: bool) -> Result<Clients, Box<dyn std::error::Error>> {
        // Somebody else may have chosen one already; then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            .connect_timeout(self.connect)
            .tcp_nodelay(true)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .no_proxy();
        if near {
            builder = builder.tls_certs_only([]);
        } else {
            for proxy in self.proxies()? {
                builder = builder.proxy(proxy);
            }
        }
        let plain = builder.build()?;
        let replies = genai::Client::builder().with_reqwest(plain.clone()).build()?;
        Ok(Clients { plain, replies })
    }

    /// The proxies the environment names, under the names everybody uses.
    fn proxies(&self) -> Result<Vec<Proxy>, reqwest::Error> {
        let read = |name: &str| {
            self.environment.get(&name.to_lowercase()).or_else(|| self.environment.get(&name.to_uppercase()))
        };
        let spared = format!("localhost,127.0.0.0/8,::1,{}", read("no_proxy").unwrap_or_default());
        let all = read("all_proxy");
        let mut proxies = Vec::new();
        if let Some(https) = read("https_proxy").or_else(|| all.clone()) {
            proxies.push(Proxy::https(https)?);
        }
        if let Some(http) = self.environment.get("http_proxy").or(all) {
            proxies.push(Proxy::http(http)?);
        }
        Ok(proxies.into_iter().map(|proxy| proxy.no_proxy(NoProxy::from_string(&spared))).collect())
    }
}

/// Whether it needs neither a proxy nor a certificate.
fn is_near(url: &Url) -> bool {
    url.scheme() == "http" && address::is_local(url)
}

/// What a refusal says, as far as it is read. One that breaks off has said enough.
pub(crate) async fn refusal(response: reqwest::Response) -> String {
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(Ok(piece)) = pieces.next().await {
        let room = MAX_REFUSAL_BYTES - body.len();
        body.extend_from_slice(&piece[..piece.len().min(room)]);
        if body.len() == MAX_REFUSAL_BYTES {
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_not_read_for_a_server_on_this_machine() {
        let web = Web::new(Environment::from_fn(|_| None), Duration::from_secs(1));
        for address in ["http://localhost:11434/api", "http://127.0.0.1:1234/v1", "http://[::1]:8080/"] {
            web.clients(is_near(&address.parse().unwrap())).unwrap();
        }
        assert!(web.near.get().is_some() && web.far.get().is_none());
        for address in ["https://localhost/", "https://api.example/v1", "http://box.example:11434/"] {
            assert!(!is_near(&address.parse().unwrap()), "{address}");
        }
    }
}
