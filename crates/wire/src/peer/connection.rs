//! The task of a connection: one reader and one writer, side by side.
//!
//! Both halves live in one task, so an answer that is ready when its request is read goes out in the same turn
//! of that task, and a burst of requests becomes one write.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::BytesMut;
use futures_util::FutureExt;
use futures_util::future::FusedFuture;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use super::dispatch::{self, Next};
use super::handle::Shared;
use super::outbox::Pressure;
use super::{CloseReason, Settings};
use crate::framing::{Codec, FrameError, Inbound};

/// How much is asked of the stream at once. A pipe holds 64 KiB, so a full one is emptied in one read.
const READ_SIZE: usize = 64 * 1024;

/// A read buffer that grew over this for one large message is given back.
const KEEP_CAPACITY: usize = 256 * 1024;

/// A connection that waits to be run.
#[derive(Debug)]
pub struct Connection<R, W, C> {
    shared: Ends,
    reader: R,
    writer: W,
    codec: C,
}

/// Ends the connection for everybody else, however its task ends.
#[derive(Debug)]
struct Ends(Arc<Shared>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.end(&CloseReason::Local);
    }
}

impl<R, W, C> Connection<R, W, C>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
    C: Codec,
{
    pub(super) fn new(shared: Arc<Shared>, reader: R, writer: W, codec: C) -> Self {
        Self { shared: Ends(shared), reader, writer, codec }
    }

    /// Moves bytes until the connection ends.
    ///
    /// After the peer's last byte, handlers may still finish and answers are still written, within
    /// [`super::Settings::drain`]. Our own calls fail at once.
    ///
    /// # Cancel safety
    /// Dropping the future ends the connection: pending calls fail, handlers are dropped.
    pub async fn run(self) -> CloseReason {
        let Self { shared: ends, reader, writer, codec } = self;
        let shared = &*ends.0;
        let mut write = pin!(shared.outbox.write_to(writer).fuse());
        let reason = {
            let mut read = pin!(read_all(&ends.0, reader, codec));
            let mut closed = pin!(shared.closing.cancelled());
            let mut unwritable = pin!(futures_util::future::OptionFuture::from(None));
            loop {
                tokio::select! {
                    biased;
                    reason = &mut read => break reason,
                    result = &mut write, if !write.is_terminated() => {
                        if note_write_end(shared, result) {
                            // What was sent may still be answered; what was not never will be.
                            unwritable.set(Some(tokio::time::sleep(shared.settings.drain)).into());
                        }
                    }
                    Some(()) = &mut unwritable => {
                        unwritable.set(None.into());
                        shared.calls.close(shared.not_writable.get().unwrap_or(&CloseReason::Local));
                    }
                    () = &mut closed => break CloseReason::Local,
                }
            }
        };
        shared.calls.close(&reason);
        let finish = async {
            let served = async {
                // What was read before the end is still heard and answered, unless we ended it ourselves.
                if !matches!(reason, CloseReason::Local | CloseReason::Stalled) {
                    shared.serving.idle().await;
                }
                shared.outbox.close();
            };
            let written = async {
                if !write.is_terminated() {
                    note_write_end(shared, write.as_mut().await);
                }
            };
            tokio::join!(served, written);
        };
        if tokio::time::timeout(shared.settings.drain, finish).await.is_err() {
            tracing::warn!(peer = %shared.settings.name, "connection closed before everything was done");
        }
        shared.end(&reason);
        tracing::debug!(peer = %shared.settings.name, %reason, "connection ended");
        reason
    }
}

/// A peer that no longer takes our bytes may still send its own; only the outbox closes. Whether it was a failure.
fn note_write_end(shared: &Shared, result: std::io::Result<()>) -> bool {
    shared.outbox.close();
    let Err(error) = result else { return false };
    tracing::debug!(peer = %shared.settings.name, %error, "the peer takes no more bytes");
    shared.not_writable.get_or_init(|| CloseReason::NotWritable(Arc::new(error)));
    true
}

async fn read_all<R, C>(shared: &Arc<Shared>, reader: R, codec: C) -> CloseReason
where
    R: AsyncRead + Unpin,
    C: Codec,
{
    match read_frames(shared, reader, codec).await {
        Ok(()) => CloseReason::EndOfStream,
        Err(reason) => {
            tracing::warn!(peer = %shared.settings.name, %reason, "cannot read on");
            reason
        }
    }
}

async fn read_frames<R, C>(shared: &Arc<Shared>, mut reader: R, mut codec: C) -> Result<(), CloseReason>
where
    R: AsyncRead + Unpin,
    C: Codec,
{
    let broken = |error: FrameError| CloseReason::Broken(Arc::new(error));
    let mut buffer = BytesMut::new();
    loop {
        let mut largest = 0;
        while let Some(inbound) = codec.decode(&mut buffer).map_err(broken)? {
            largest = largest.max(take(shared, inbound).await?);
        }
        if largest > KEEP_CAPACITY {
            // A connection that once had a large message does not hold its size for ever.
            buffer = BytesMut::from(&buffer[..]);
        }
        buffer.reserve(READ_SIZE);
        if reader.read_buf(&mut buffer).await.map_err(|error| broken(error.into()))? == 0 {
            break;
        }
    }
    while let Some(inbound) = codec.decode_eof(&mut buffer).map_err(broken)? {
        take(shared, inbound).await?;
    }
    Ok(())
}

/// Serves one frame, waiting, if need be, for the room it wants; gives its size.
async fn take(shared: &Arc<Shared>, inbound: Inbound) -> Result<usize, CloseReason> {
    let frame = match inbound {
        Inbound::Frame(frame) => frame,
        Inbound::Refused(error) => {
            dispatch::refused(shared, &error);
            give_way(shared).await?;
            return Ok(0);
        }
    };
    while let Next::Again(order) = poll_fn(|cx| Poll::Ready(dispatch::frame(shared, cx, &frame))).await {
        let Settings { limits, stall, .. } = &shared.settings;
        if !shared.serving.wait_until_admitted(order, frame.len(), limits, *stall).await {
            return Err(CloseReason::Stalled);
        }
    }
    give_way(shared).await?;
    Ok(frame.len())
}

/// Lets the writer, which shares this task, go first when it has something worth writing.
async fn give_way(shared: &Shared) -> Result<(), CloseReason> {
    match shared.outbox.pressure() {
        Pressure::None => {}
        Pressure::Some => {
            let mut waited = false;
            poll_fn(|cx| {
                if std::mem::replace(&mut waited, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
        Pressure::Full => {
            if !shared.outbox.wait_for_room(shared.settings.stall).await {
                return Err(CloseReason::Stalled);
            }
        }
    }
    Ok(())
}
