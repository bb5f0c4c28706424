//! A socket with a place in the house.
//!
//! Knows when it must end: when it is cut, and when the other side reads nothing for too long. HTTP hands the socket
//! itself on when a connection becomes a WebSocket, so what holds for connections is kept here and nowhere else.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::task_tracker::TaskTrackerToken;

/// How long the other side may read nothing of what it is sent. A stream gives up earlier and says why; this is
/// for everything else.
const BLOCKED: Duration = Duration::from_secs(90);

/// What a connection takes up, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _room: OwnedSemaphorePermit,
    _counted: TaskTrackerToken,
}

impl Place {
    pub(super) fn new(room: OwnedSemaphorePermit, counted: TaskTrackerToken) -> Self {
        Self { _room: room, _counted: counted }
    }
}

/// A socket with a place in the house.
#[derive(Debug)]
pub(super) struct Socket<S> {
    stream: S,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Until when something must have been read of what we write; only while nothing is.
    blocked: Option<Pin<Box<Sleep>>>,
    _place: Place,
}

impl<S> Socket<S> {
    pub(super) fn new(stream: S, cut: CancellationToken, place: Place) -> Self {
        Self { stream, cut: Box::pin(cut.cancelled_owned()), blocked: None, _place: place }
    }

    /// Passes a write on, and ends the patience with one that cannot be made.
    fn patient<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>>
    where
        S: Unpin,
    {
        if let Poll::Ready(written) = written(Pin::new(&mut self.stream), cx) {
            self.blocked = None;
            return Poll::Ready(written);
        }
        let patience = || Box::pin(tokio::time::sleep_until(Instant::now() + BLOCKED));
        ready!(self.blocked.get_or_insert_with(patience).as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the other side does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Socket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(cx, buffer) {
            return Poll::Ready(read);
        }
        ready!(self.cut.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the connection was cut")))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Socket<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.patient(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.patient(cx, |stream, cx| stream.poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A socket's flush does nothing and must not count as progress.
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.patient(cx, AsyncWrite::poll_shutdown)
    }
}
