//! A stream of which nothing is logged.
//!
//! The library logs what a provider answers, and a provider may answer with the key. What always holds: nothing that
//! is done while the stream is asked for its next item reaches a log.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt};
use tracing::dispatcher::{self, Dispatch};

/// A stream of which nothing is logged.
#[derive(Debug)]
pub(super) struct Quiet<S> {
    inner: S,
    nobody: Dispatch,
}

impl<S> Quiet<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner, nobody: Dispatch::none() }
    }
}

impl<S: Stream + Unpin> Stream for Quiet<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let Self { inner, nobody } = self.get_mut();
        dispatcher::with_default(nobody, || inner.poll_next_unpin(context))
    }
}
