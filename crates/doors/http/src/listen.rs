//! Where connections come in: sockets become requests whose other end is known.
//!
//! Knows TCP, TLS, Unix sockets and HTTP's two versions on them, and what a connection may take: room, time, a pace.
//! Refuses to know what is asked. Who binds an address, and which, is not decided here either.
//!
//! What always holds:
//! - a connection that asks nothing is closed within [`HEAD_DEADLINE`], and however many of them there are, one more
//!   that does ask finds room;
//! - every request carries a [`Peer`]; on a Unix socket it is one of the same user and none of our own children;
//! - a connection counts until its socket is closed, also when it has become a WebSocket;
//! - after the stop nothing is accepted, what is under way may finish, and after [`DRAIN`] nothing is left.

mod accept;
mod activity;
mod connection;
mod local_peer;
mod newcomers;
mod pace;
mod socket;
#[cfg(test)]
mod tests;
mod tls;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;
use loggia_protocol_agent_server::MAX_HEADER_BYTES;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use accept::{accept_local, is_welcome};
pub use pace::SlowBody;
pub use tls::{Tls, TlsError};

use crate::Door;
#[cfg(doc)]
use crate::Peer;
use newcomers::Newcomers;

/// How long a connection may take from its first byte, a handshake included, to its first whole request head; and
/// how long each later head may take.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);

/// After how long without a request a connection is asked to end. Only HTTP/2 comes that far: on HTTP/1 the next
/// head is late before.
const IDLE: Duration = Duration::from_secs(60);

/// How long what is under way may take after the stop.
const DRAIN: Duration = Duration::from_secs(5);

/// Connections of one listener. Many editors and a stream for each of their sessions are far below; a process may
/// usually have many more files open than this.
const MAX_CONNECTIONS: usize = 4096;

/// Connections of one listener that have asked nothing yet. They are cheap to open for anybody, so there are few, and
/// the oldest goes when another comes: whoever means to ask does so within milliseconds.
const MAX_NEWCOMERS: usize = 256;

/// Requests at once on one HTTP/2 connection.
const MAX_STREAMS: u32 = 128;

/// How often a quiet HTTP/2 connection is asked whether it is still there, and how long its answer may take.
const HTTP2_PING: Duration = Duration::from_secs(20);

/// Something to accept connections from.
#[derive(Debug)]
pub enum Listener {
    /// An address, with or without TLS.
    Tcp(TcpListener, Option<Tls>),
    /// A socket in the file system. Processes of the same user need no token on it.
    Unix(UnixListener),
}

impl Door {
    /// Serves a listener until the stop, and then until what is under way is done, for at most five seconds.
    ///
    /// # Errors
    /// If the listener itself breaks. What goes wrong on a connection ends that connection only.
    pub async fn serve(&self, listener: Listener, stop: CancellationToken) -> io::Result<()> {
        serve(self.router(), listener, stop).await
    }
}

async fn serve(router: Router, listener: Listener, stop: CancellationToken) -> io::Result<()> {
    let hall = Arc::new(Hall::new(router, stop));
    let accepted = accept::run(&hall, listener).await;
    hall.drain().await;
    accepted
}

/// What the connections of one listener share.
#[derive(Debug)]
struct Hall {
    router: Router,
    http: auto::Builder<TokioExecutor>,
    /// Accept no more, and let connections end.
    stop: CancellationToken,
    /// End every connection now.
    cut: CancellationToken,
    room: Arc<Semaphore>,
    newcomers: Arc<Newcomers>,
    connections: TaskTracker,
}

impl Hall {
    fn new(router: Router, stop: CancellationToken) -> Self {
        Self {
            router,
            http: http(),
            stop,
            cut: CancellationToken::new(),
            room: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
            newcomers: Arc::new(Newcomers::new(MAX_NEWCOMERS)),
            connections: TaskTracker::new(),
        }
    }

    /// Waits for the connections to end, and ends those that do not.
    async fn drain(&self) {
        self.connections.close();
        if tokio::time::timeout(DRAIN, self.connections.wait()).await.is_err() {
            tracing::info!(connections = self.connections.len(), "connections did not end in time");
        }
        self.cut.cancel();
    }
}

/// How HTTP is spoken.
fn http() -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_DEADLINE).max_buf_size(MAX_HEADER_BYTES);
    http.http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(MAX_HEADER_BYTES).unwrap_or(u32::MAX))
        .max_concurrent_streams(MAX_STREAMS)
        .keep_alive_interval(HTTP2_PING)
        .keep_alive_timeout(HTTP2_PING);
    http
}
