//! A writer that comes back when its connection has ended, for whoever has a last word of its own.
//!
//! A connection closes what it writes to. A daemon that serves it on behalf of another process has to say how that process
//! ends, after the last line and on the same stream.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use tokio::sync::oneshot;

/// Lends a writer to a connection.
pub fn keep<W: AsyncWrite + Unpin>(writer: W) -> (Kept<W>, Returned<W>) {
    let (back, returned) = oneshot::channel();
    (Kept { writer: Some(writer), back: Some(back) }, Returned(returned))
}

/// A writer that is lent. Closing it only flushes it.
#[derive(Debug)]
pub struct Kept<W> {
    writer: Option<W>,
    back: Option<oneshot::Sender<W>>,
}

/// Where a lent writer comes back.
#[derive(Debug)]
pub struct Returned<W>(oneshot::Receiver<W>);

impl<W> Returned<W> {
    /// The writer, once the connection has let go of it.
    pub async fn writer(self) -> Option<W> {
        self.0.await.ok()
    }
}

impl<W> Drop for Kept<W> {
    fn drop(&mut self) {
        if let (Some(writer), Some(back)) = (self.writer.take(), self.back.take()) {
            // Nobody may want it back.
            let _ = back.send(writer);
        }
    }
}

impl<W: AsyncWrite + Unpin> Kept<W> {
    fn writer(&mut self) -> io::Result<Pin<&mut W>> {
        self.writer.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Kept<W> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().writer()?.poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().writer()?.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().writer()?.poll_flush(cx)
    }
}
