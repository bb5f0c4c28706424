//! One connection from its first byte to its end.
//!
//! Knows how long it may take over what. Refuses to know what it asks. Invariant: it ends with its
//! [`Arrival::cut`], whatever it waits for.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::Service as _;

use super::activity::{Activity, Use};
use super::newcomers::Ticket;
use super::pace::Paced;
use super::socket::{Place, Socket};
use super::{HEAD_DEADLINE, Hall, IDLE};
use crate::Peer;
use crate::peer::Scheme;

/// A connection that was let in.
#[derive(Debug)]
pub(super) struct Arrival {
    hall: Arc<Hall>,
    room: OwnedSemaphorePermit,
}

impl Arrival {
    pub(super) fn new(hall: &Arc<Hall>, room: OwnedSemaphorePermit) -> Self {
        Self { hall: Arc::clone(hall), room }
    }
}

/// Serves a connection.
pub(super) async fn run<S>(arrival: Arrival, stream: S, tls: Option<TlsAcceptor>, peer: Peer)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Arrival { hall, room } = arrival;
    let deadline = Instant::now() + HEAD_DEADLINE;
    let cut = hall.cut.child_token();
    let ticket = hall.newcomers.enter(cut.clone());
    let place = Place::new(room, hall.connections.token());
    let socket = Socket::new(stream, cut.clone(), place);
    let scheme = if tls.is_some() { Scheme::Https } else { Scheme::Http };
    let conversation = Conversation { hall, peer, scheme, cut, deadline };
    let Some(tls) = tls else { return conversation.hold(socket, ticket).await };
    match timeout_at(deadline, tls.accept(socket)).await {
        Ok(Ok(socket)) => conversation.hold(socket, ticket).await,
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a handshake failed"),
        Err(_) => tracing::debug!(%peer, "a handshake took too long"),
    }
}

struct Conversation {
    hall: Arc<Hall>,
    peer: Peer,
    scheme: Scheme,
    cut: CancellationToken,
    /// Until when the first request must have been asked.
    deadline: Instant,
}

impl Conversation {
    /// Answers requests until the connection ends or becomes something else.
    async fn hold<S>(self, socket: S, ticket: Ticket)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { hall, peer, scheme, cut, deadline } = self;
        let activity = Arc::new(Activity::new(ticket));
        let service = service_fn(|request: hyper::Request<Incoming>| {
            let activity = Arc::clone(&activity);
            let mut router = hall.router.clone();
            let mut request = request.map(Paced::new);
            request.extensions_mut().insert(peer);
            request.extensions_mut().insert(scheme);
            async move {
                let _under_way = activity.begin();
                let answer: Result<_, Infallible> = router.call(request).await;
                answer
            }
        });
        let mut connection = pin!(hall.http.serve_connection_with_upgrades(TokioIo::new(socket), service));
        let mut look = pin!(sleep_until(deadline));
        let (mut seen, mut ending) = (0, false);
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%peer, error, "a connection ended");
                    }
                    return;
                }
                () = cut.cancelled() => return,
                () = hall.stop.cancelled(), if !ending => {
                    ending = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = look.as_mut() => match activity.look(&mut seen) {
                    Use::None => return,
                    // Asked to end a while ago, and still there.
                    Use::Idle if ending => return,
                    Use::Idle => {
                        ending = true;
                        connection.as_mut().graceful_shutdown();
                        look.as_mut().reset(Instant::now() + IDLE);
                    }
                    Use::Busy => look.as_mut().reset(Instant::now() + IDLE),
                },
            }
        }
    }
}
