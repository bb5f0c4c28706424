//! The task of a connection: one reader and one writer, side by side.
//!
//! Both halves live in one task, so an answer that is ready when its request is read goes out in the same turn
//! of that task, and a burst of requests becomes one write.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use super::CloseReason;
use super::dispatch::{self, Held, Next};
use super::handle::Shared;
use super::outbox::Pressure;
use crate::framing::{Codec, FrameError, Inbound};

/// How much is asked of the stream at once. A pipe holds 64 KiB, so a full one is emptied in one read.
const READ_SIZE: usize = 64 * 1024;

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
        let mut write = pin!(shared.outbox.write_to(writer));
        let mut written = false;
        let reason = {
            let mut read = pin!(read_all(&ends.0, reader, codec));
            let mut closed = pin!(shared.closing.cancelled());
            loop {
                tokio::select! {
                    biased;
                    reason = &mut read => break reason,
                    result = &mut write, if !written => {
                        written = true;
                        note_write_end(shared, result);
                    }
                    () = &mut closed => break CloseReason::Local,
                }
            }
        };
        shared.calls.close(&reason);
        let finish = async {
            if matches!(reason, CloseReason::EndOfStream) {
                tokio::select! {
                    () = shared.serving.idle() => {}
                    result = &mut write, if !written => {
                        written = true;
                        note_write_end(shared, result);
                    }
                }
            }
            shared.outbox.close();
            if !written {
                note_write_end(shared, write.as_mut().await);
            }
        };
        if tokio::time::timeout(shared.settings.drain, finish).await.is_err() {
            tracing::warn!(peer = %shared.settings.name, "connection closed before everything was written");
        }
        shared.end(&reason);
        tracing::debug!(peer = %shared.settings.name, %reason, "connection ended");
        reason
    }
}

/// A peer that no longer takes our bytes may still send its own; only the outbox closes.
fn note_write_end(shared: &Shared, result: std::io::Result<()>) {
    shared.outbox.close();
    if let Err(error) = result {
        tracing::debug!(peer = %shared.settings.name, %error, "the peer takes no more bytes");
        shared.not_writable.get_or_init(|| CloseReason::NotWritable(Arc::new(error)));
    }
}

async fn read_all<R, C>(shared: &Arc<Shared>, reader: R, codec: C) -> CloseReason
where
    R: AsyncRead + Unpin,
    C: Codec,
{
    match read_frames(shared, reader, codec).await {
        Ok(()) => CloseReason::EndOfStream,
        Err(error) => {
            tracing::warn!(peer = %shared.settings.name, %error, "cannot read on");
            CloseReason::Broken(Arc::new(error))
        }
    }
}

async fn read_frames<R, C>(shared: &Arc<Shared>, mut reader: R, mut codec: C) -> Result<(), FrameError>
where
    R: AsyncRead + Unpin,
    C: Codec,
{
    let mut buffer = BytesMut::new();
    loop {
        while let Some(inbound) = codec.decode(&mut buffer)? {
            take(shared, inbound).await;
        }
        buffer.reserve(READ_SIZE);
        if reader.read_buf(&mut buffer).await? == 0 {
            break;
        }
    }
    while let Some(inbound) = codec.decode_eof(&mut buffer)? {
        take(shared, inbound).await;
    }
    Ok(())
}

/// Serves one frame and waits, if need be, for the room it wants.
async fn take(shared: &Arc<Shared>, inbound: Inbound) {
    let frame = match inbound {
        Inbound::Frame(frame) => frame,
        Inbound::Refused(error) => {
            dispatch::refused(shared, &error);
            return give_way(shared).await;
        }
    };
    let mut next = poll_fn(|cx| Poll::Ready(dispatch::frame(shared, cx, &frame))).await;
    while let Next::Wait(held) = next {
        next = start_when_possible(shared, held).await;
    }
    give_way(shared).await;
}

/// Waits for a place for a call that was held back, and tries it again.
async fn start_when_possible(shared: &Arc<Shared>, held: Held) -> Next {
    let (serving, limits) = (&shared.serving, &shared.settings.limits);
    match held {
        Held::Ordered(work) => {
            serving.wait_for_queue(limits.ordered_queue).await;
            let mut work = Some(work);
            poll_fn(|cx| {
                let started = work.take().map(|work| serving.start_ordered(cx, limits.ordered_queue, work));
                Poll::Ready(match started {
                    Some(Err(work)) => Next::Wait(Held::Ordered(work)),
                    Some(Ok(())) | None => Next::Go,
                })
            })
            .await
        }
        Held::Counted(serial, count, work) => {
            serving.wait_for_place(count, limits.in_flight).await;
            let mut work = Some(work);
            poll_fn(|cx| {
                if let Some(work) = work.take() {
                    serving.start(cx, serial, None, count, work);
                }
                Poll::Ready(Next::Go)
            })
            .await
        }
    }
}

/// Lets the writer, which shares this task, go first when it has something worth writing.
async fn give_way(shared: &Shared) {
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
        Pressure::Full => shared.outbox.wait_for_room().await,
    }
}
