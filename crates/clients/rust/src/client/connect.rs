//! Opens connections: TCP without delay, TLS with a pinned certificate, or a Unix socket.

use std::io;
use std::path::PathBuf;
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
pub(crate) struct Connect(Arc<Way>);

/// How a server is reached. One that is to be reached by TLS has what that takes: there is no other way to it.
enum Way {
    Unix(PathBuf),
    Tcp { host: String, port: u16 },
    Tls { host: String, port: u16, tls: TlsConnector },
}

impl Connect {
    pub(super) fn new(server: &Server) -> Self {
        Self(Arc::new(match server {
            Server::Unix(path) => Way::Unix(path.clone()),
            Server::Tcp { host, port } => Way::Tcp { host: host.clone(), port: *port },
            Server::Tls { host, port, certificate } => {
                let tls = TlsConnector::from(Arc::new(pin::configuration(*certificate)));
                Way::Tls { host: host.clone(), port: *port, tls }
            }
        }))
    }

    async fn connect(self) -> io::Result<TokioIo<Link>> {
        let link = tokio::time::timeout(CONNECT_DEADLINE, self.0.open());
        link.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map(TokioIo::new)
    }
}

impl Way {
    async fn open(&self) -> io::Result<Link> {
        match self {
            Self::Unix(path) => Ok(Link::Unix(UnixStream::connect(path).await?)),
            Self::Tcp { host, port } => Ok(Link::Tcp(tcp(host, *port).await?)),
            Self::Tls { host, port, tls } => {
                let name = ServerName::try_from(host.clone())
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
                let stream = tls.connect(name, tcp(host, *port).await?).await?;
                Ok(Link::Tls(Box::new(stream)))
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
