//! What we say, while it is on its way.
//!
//! What always holds: what became of something is known as soon as the stream knows it, and so before the loss of the
//! connection on which it was written is heard. A task of its own could be late, and a prompt or an answer that was lost
//! with its connection would be taken for one that was written to the next.

use std::pin::Pin;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use super::saying::Said;

/// All that is on its way. It goes on while [`next`](Self::next) is waited for.
#[derive(Default)]
pub(super) struct Says(FuturesUnordered<Pin<Box<dyn Future<Output = Said> + Send>>>);

impl Says {
    /// Sends one more on its way.
    pub(super) fn spawn(&mut self, say: impl Future<Output = Said> + Send + 'static) {
        self.0.push(Box::pin(say));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What became of one of them; nothing if there is none.
    pub(super) async fn next(&mut self) -> Option<Said> {
        self.0.next().await
    }
}
