//! Opens connections: TCP without delay, TLS with a pinned certificate, or a Unix socket.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

use super::link::Link;
use super::pin;
use crate::Server;

/// How long connecting may take, TLS included: a server that is there answers in much less, over any network.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// Opens connections to one server, whatever address it is asked for.
#[derive(Clone)]
pub(crate) struct Connect {
    server: Arc<Server>,
    tls: Option<TlsConnector>,
}

impl Connect {
    pub(super) fn new(server: Arc<Server>) -> Self {
        let tls = match &*server {
            Server::Tls { certificate, .. } => {
                Some(TlsConnector::from(Arc::new(pin::configuration(*certificate))))
            }
            Server::Tcp { .. } | Server::Unix(_) => None,
        };
        Self { server, tls }
    }

    async fn connect(self) -> io::Result<TokioIo<Link>> {
        let link = tokio::time::timeout(CONNECT_DEADLINE, self.open());
        link.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map(TokioIo::new)
    }

    async fn open(self) -> io::Result<Link> {
        match (&*self.server, self.tls) {
            (Server::Unix(path), _) => Ok(Link::Unix(UnixStream::connect(path).await?)),
            (Server::Tls { host, port, .. }, Some(tls)) => {
                let name = ServerName::try_from(host.clone())
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
                let stream = tls.connect(name, tcp(host, *port).await?).await?;
                Ok(Link::Tls(Box::new(stream)))
            }
            (Server::Tcp { host, port } | Server::Tls { host, port, .. }, _) => {
                Ok(Link::Tcp(tcp(host, *port).await?))
            }
        }
    }
}

async fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    // Messages are small and somebody waits for each.
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl tower::Service<Uri> for Connect {
    type Response = TokioIo<Link>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<Link>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        Box::pin(self.clone().connect())
    }
}
