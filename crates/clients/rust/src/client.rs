//! The client: one server, one token, a few connections kept warm.

mod ask;
mod connect;
mod link;
mod pin;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use loggia_protocol_agent_server::Secret;

pub(crate) use ask::{Ask, refusal};
use connect::Connect;

use crate::Server;

/// How many connections wait for the next call: calls are short, and more than a few at once are rare.
const IDLE_CONNECTIONS: usize = 4;

/// How long they wait: shorter than a server waits for the next request on a connection.
const IDLE_TIME: Duration = Duration::from_secs(5);

/// The largest header section of an answer.
const MAX_ANSWER_HEADER_BYTES: usize = 64 * 1024;

/// A client of one server. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    http: legacy::Client<Connect, Full<Bytes>>,
    server: Arc<Server>,
    token: Option<Secret>,
}

impl Client {
    /// A client without a token, as a Unix socket needs none. Nothing is connected before the first call.
    pub fn new(server: Server) -> Self {
        let server = Arc::new(server);
        let http = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_max_buf_size(MAX_ANSWER_HEADER_BYTES)
            .build(Connect::new(&server));
        Self { http, server, token: None }
    }

    /// With this token.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(Secret(token.into()));
        self
    }

    /// Where it asks.
    pub fn server(&self) -> &Server {
        &self.server
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.server)
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
