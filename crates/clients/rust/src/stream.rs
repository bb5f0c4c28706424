//! A session's stream, which outlives its connections.
//!
//! A task of its own reads the connection, so that pings are answered and lost connections are picked up again while
//! nobody listens. What waits to be heard is bounded; beyond that nothing is read, and the server waits.
//!
//! What always holds, with [`place`] to decide it:
//! - each event is given once and in order;
//! - a question that was given is not given again, though the server repeats it on every connection;
//! - the running reply goes on where it was, though the server tells it from its beginning. One that ended meanwhile is
//!   not: the message that ends it has all of its text.

mod backoff;
mod dial;
mod follow;
mod heard;
mod place;
mod pump;
mod queue;
mod speaker;

#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use follow::Follow;
pub use heard::{Heard, Lost};
pub use speaker::{NotSent, Speaker};

use crate::StreamError;
use queue::Queued;

/// What a session tells, from a place on. Ends after an error, or when the session has ended; dropping it closes the
/// connection.
///
/// Every connection is a new client to the server. So what was said right before a connection was lost may be heard as
/// somebody else's on the next: then it has arrived.
#[derive(Debug)]
pub struct SessionStream {
    queue: mpsc::Receiver<Queued>,
    speaker: Speaker,
    leave: CancellationToken,
    task: JoinHandle<()>,
}

impl SessionStream {
    /// The way to say something to the session. Cheap to clone; outlives the stream without keeping it open.
    pub fn speaker(&self) -> &Speaker {
        &self.speaker
    }

    /// What comes next; `None` after the end.
    pub async fn next(&mut self) -> Option<Result<Heard, StreamError>> {
        self.queue.recv().await.map(Queued::into_inner)
    }

    /// Closes the connection and waits until the server has been told.
    pub async fn close(mut self) {
        self.leave.cancel();
        // It may be waiting to be heard.
        self.queue.close();
        // It never panics, and if it did, it is gone as well.
        let _ = (&mut self.task).await;
    }
}

impl Stream for SessionStream {
    type Item = Result<Heard, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.queue.poll_recv(cx).map(|queued| queued.map(Queued::into_inner))
    }
}

impl Drop for SessionStream {
    fn drop(&mut self) {
        // The task says goodbye and ends by itself.
        self.leave.cancel();
    }
}
