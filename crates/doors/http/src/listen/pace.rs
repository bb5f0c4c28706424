//! A body that has to come at a pace.
//!
//! Knows how many bytes came since when. Refuses to know how many may come. Invariant: whoever sends a body of any
//! length drop by drop is cut off after a time that depends on what has come.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

/// How long a body may take whatever its length.
const GRACE: Duration = Duration::from_secs(10);

/// What must come per second besides: far below any line that is still of use.
const BYTES_PER_SECOND: u64 = 1024;

/// A body came too slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body came too slowly")]
pub struct SlowBody;

/// A body that has to come at a pace.
#[derive(Debug)]
pub(super) struct Paced<B> {
    body: B,
    received: u64,
    /// Since the body was first waited for.
    pause: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<B> Paced<B> {
    pub(super) fn new(body: B) -> Self {
        Self { body, received: 0, pause: None }
    }

    /// Waits on, unless it has been too long.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<SlowBody> {
        let (since, timer) = self.pause.get_or_insert_with(|| {
            let now = Instant::now();
            (now, Box::pin(tokio::time::sleep_until(now + GRACE)))
        });
        let due = *since + GRACE + Duration::from_secs(self.received / BYTES_PER_SECOND);
        if timer.deadline() != due {
            timer.as_mut().reset(due);
        }
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(SlowBody)
    }
}

impl<B> Body for Paced<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<axum::BoxError>,
{
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                self.received += frame.data_ref().map_or(0, |data| data.len() as u64);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => self.wait(cx).map(|slow| Some(Err(slow.into()))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
