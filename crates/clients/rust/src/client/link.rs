//! One connection, over whatever carries it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

/// A connection to the server.
#[derive(Debug)]
pub(crate) enum Link {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Unix(UnixStream),
}

impl Connection for Link {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

/// Does the same with whatever carries the connection.
macro_rules! on {
    ($link:expr, $stream:ident => $what:expr) => {
        match $link.get_mut() {
            Link::Tcp(stream) => {
                let $stream = Pin::new(stream);
                $what
            }
            Link::Tls(stream) => {
                let $stream = Pin::new(stream.as_mut());
                $what
            }
            Link::Unix(stream) => {
                let $stream = Pin::new(stream);
                $what
            }
        }
    };
}

impl AsyncRead for Link {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        on!(self, stream => stream.poll_read(cx, buffer))
    }
}

impl AsyncWrite for Link {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        on!(self, stream => stream.poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self, stream => stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self, stream => stream.poll_shutdown(cx))
    }
}
