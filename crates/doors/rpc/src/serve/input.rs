//! What a client sends, with its end kept back.
//!
//! A connection ends when its input does; ours has last words to say then. So the end is told to whoever waits for it,
//! and the connection sees none. A last line without its newline gets one.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::framing::Framing;

/// More than a first line usually has; what is longer is read on later.
const FIRST_READ: usize = 4096;

/// The end of input.
#[derive(Debug, Default)]
pub(super) struct End {
    reached: CancellationToken,
    broken: AtomicBool,
}

impl End {
    /// Waits until everything that was sent has been read.
    pub(super) async fn reached(&self) {
        self.reached.cancelled().await;
    }

    /// Whether the stream broke instead of being closed.
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Relaxed)
    }
}

/// What a client sends.
#[derive(Debug)]
pub(super) struct Input<R> {
    reader: R,
    framing: Framing,
    end: Arc<End>,
    /// Read to look at it, and not given on yet.
    first: BytesMut,
    /// Whether the last line that was given on is open.
    open_line: bool,
    over: bool,
}

impl<R: AsyncRead + Unpin> Input<R> {
    pub(super) fn new(reader: R, framing: Framing, end: Arc<End>) -> Self {
        Self { reader, framing, end, first: BytesMut::new(), open_line: false, over: false }
    }

    /// Waits a moment for the first bytes, and learns from them how the client frames.
    pub(super) async fn look(&mut self, patience: Duration) {
        let look = async {
            while !self.framing.look(&self.first) {
                self.first.reserve(FIRST_READ);
                match self.reader.read_buf(&mut self.first).await {
                    Ok(0) => self.over = true,
                    Ok(_) => {}
                    Err(error) => self.break_off(&error),
                }
                if self.over {
                    break;
                }
            }
        };
        // Reading is not lost when it is given up: what arrived is in the buffer.
        let _ = tokio::time::timeout(patience, look).await;
    }

    fn break_off(&mut self, error: &std::io::Error) {
        tracing::debug!(%error, "a client's stream broke");
        self.end.broken.store(true, Relaxed);
        self.over = true;
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        if !this.first.is_empty() {
            let length = this.first.len().min(buffer.remaining());
            buffer.put_slice(&this.first[..length]);
            this.first.advance(length);
        } else if !this.over {
            match Pin::new(&mut this.reader).poll_read(cx, buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => this.over = buffer.filled().len() == before,
                Poll::Ready(Err(error)) => this.break_off(&error),
            }
        }
        if let Some(last) = buffer.filled()[before..].last() {
            this.open_line = *last != b'\n';
            return Poll::Ready(Ok(()));
        }
        if std::mem::take(&mut this.open_line) && this.framing.is_lines() {
            buffer.put_slice(b"\n");
            return Poll::Ready(Ok(()));
        }
        // Asked again: all that was given on has been looked at. Nobody wakes this; the connection is closed instead.
        this.end.reached.cancel();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &'static str) -> String {
        let (framing, end) = (Framing::new(), Arc::new(End::default()));
        let mut input = Input::new(text.as_bytes(), framing, Arc::clone(&end));
        input.look(Duration::from_secs(60)).await;
        let mut bytes = Vec::new();
        tokio::select! {
            biased;
            _ = input.read_to_end(&mut bytes) => panic!("the end is kept back"),
            () = end.reached() => {}
        }
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn the_end_is_told_and_a_last_line_gets_its_newline() {
        assert_eq!(read("").await, "");
        assert_eq!(read("{}\n").await, "{}\n");
        assert_eq!(read("{}\n[]").await, "{}\n[]\n");
        assert_eq!(read("Content-Length: 2\r\n\r\n{}").await, "Content-Length: 2\r\n\r\n{}");
    }
}
