//! One connection, from its first byte to its last: a thin loop around `session` and the outbox.
//!
//! Invariants: nothing is written before the first whole message was read; the time for it is not extended by bytes that
//! trickle in; the stream is closed when this returns.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use loggia_protocol_endermux::limits::{HANDSHAKE_JOIN_GRACE, HANDSHAKE_TIMEOUT};
use loggia_protocol_endermux::{DecodeError, Envelope, RejectReason, Selected};
use loggia_wire::framing::{FrameError, Inbound, LengthPrefixed};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::codec::FramedRead;

use super::answers::{Asker, Panicked};
use super::console::Seat;
use super::host::Host;
use super::outbox::Outbox;
use super::session::{self, Opening, Todo};
use super::shared::Shared;
use crate::frame;
use crate::limits::DRAIN;

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    /// The client closed it.
    #[error("the client left")]
    Left,
    /// The first message did not come in time.
    #[error("the handshake took too long")]
    HandshakeTimeout,
    /// The first message was no message.
    #[error("the first message cannot be read")]
    Undecodable(#[source] DecodeError),
    /// The handshake failed, and the client was told.
    #[error("the client was refused: {}", .0.code())]
    Refused(RejectReason),
    /// A frame was wrong, or the stream broke.
    #[error("the connection broke")]
    Broken(#[source] FrameError),
    /// There are too many.
    #[error("there is no room for another client")]
    Full,
    /// The host has it closed.
    #[error("the client was disconnected")]
    Disconnected,
    /// The host failed badly.
    #[error("the host panicked")]
    HostPanicked,
    /// The server stops.
    #[error("the server stops")]
    Stopped,
}

type Frames<R> = FramedRead<R, LengthPrefixed>;

/// Serves one client until one side ends it.
pub(super) async fn serve<H: Host, S>(shared: &Arc<Shared<H>>, stream: S, process: Option<i32>) -> Ended
where
    S: AsyncRead + AsyncWrite + Send,
{
    let (read, mut write) = tokio::io::split(stream);
    let mut frames = FramedRead::new(read, frame::detecting());
    let opened = tokio::select! {
        opened = handshake(&mut frames, &mut write) => opened,
        () = shared.stop.cancelled() => Err(Ended::Stopped),
    };
    let (selected, outbox) = match opened {
        Ok(opened) => opened,
        Err(ended) => return ended,
    };
    let seat = shared.console.join(&selected, process, &outbox);
    let writer = outbox.write_to(write);
    tokio::pin!(writer);
    let ended = tokio::select! {
        ended = listen(shared, &selected, &outbox, &seat, &mut frames) => ended,
        // It only returns on its own when it fails.
        failed = &mut writer => return Ended::Broken(failed.err().unwrap_or_else(unexpected_end).into()),
        () = seat.leave.cancelled() => Ended::Disconnected,
        () = shared.stop.cancelled() => Ended::Stopped,
    };
    outbox.close();
    // Whoever does not read in time misses the last words.
    let _ = timeout(DRAIN, writer).await;
    ended
}

async fn handshake<R, W>(frames: &mut Frames<R>, write: &mut W) -> Result<(Selected, Arc<Outbox>), Ended>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let deadline = Instant::now() + HANDSHAKE_TIMEOUT;
    let body = match timeout_at(deadline, next_body(frames)).await {
        Err(_) => return Err(Ended::HandshakeTimeout),
        Ok(None) => return Err(Ended::Left),
        Ok(Some(body)) => body.map_err(Ended::Broken)?,
    };
    let framing = frame::framing_of(frames.decoder());
    let (reply, outcome) = match session::open(framing, &body) {
        Opening::Undecodable(error) => return Err(Ended::Undecodable(error)),
        Opening::Refused { reason, reply } => (reply, Err(Ended::Refused(reason))),
        Opening::Welcomed { selected, reply } => (reply, Ok((selected, Arc::new(Outbox::new(framing))))),
    };
    let reply = frame::from_server(framing, &reply).map_err(Ended::Broken)?;
    let written = async {
        write.write_all(&reply).await?;
        write.flush().await?;
        if outcome.is_err() { write.shutdown().await } else { Ok(()) }
    };
    match timeout_at(deadline + HANDSHAKE_JOIN_GRACE, written).await {
        Err(_) => Err(Ended::HandshakeTimeout),
        Ok(written) => written.map_err(|error| Ended::Broken(error.into())).and(outcome),
    }
}

/// Hears a client until it ends.
async fn listen<H: Host, R: AsyncRead + Unpin>(
    shared: &Arc<Shared<H>>,
    selected: &Selected,
    outbox: &Arc<Outbox>,
    seat: &Seat,
    frames: &mut Frames<R>,
) -> Ended {
    let asker = Asker { shared, selected, outbox, client: seat.id };
    loop {
        let body = match next_body(frames).await {
            None => return Ended::Left,
            Some(Err(error)) => return Ended::Broken(error),
            Some(Ok(body)) => body,
        };
        match session::hear(selected, shared.console.is_interactive(), &body) {
            Todo::Reply(reply) => outbox.reply(&reply),
            Todo::Subscribe => shared.console.subscribe(seat.id, selected),
            Todo::Ask(id, question) => match asker.ask(id.clone(), question).await {
                Ok(Some(answer)) => outbox.reply(&Envelope { request_id: id, data: answer }),
                Ok(None) => {}
                Err(Panicked) => return Ended::HostPanicked,
            },
        }
        // A client that does not take its answers is not asked for more questions.
        if outbox.room().await.is_err() {
            return Ended::Disconnected;
        }
    }
}

async fn next_body<R: AsyncRead + Unpin>(frames: &mut Frames<R>) -> Option<Result<Bytes, FrameError>> {
    Some(match frames.next().await? {
        Ok(Inbound::Frame(body)) => Ok(body),
        Ok(Inbound::Refused(error)) | Err(error) => Err(error),
    })
}

fn unexpected_end() -> std::io::Error {
    std::io::ErrorKind::BrokenPipe.into()
}
