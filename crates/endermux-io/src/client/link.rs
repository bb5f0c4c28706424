//! A connection that is open: one task reads and writes, and everybody else holds this.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use loggia_protocol_endermux::{Envelope, Message, Payload as _, RequestId, Selected, may_send};
use loggia_wire::framing::{FrameError, Inbound, LengthPrefixed};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;
use tokio_util::codec::FramedRead;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::inbox::{Event, Inbox};
use super::pending::Pending;
use super::{Disconnect, RequestError};
use crate::frame;
use crate::limits::{CLIENT_INBOX, CLIENT_OUTBOX, DRAIN};

/// Messages of one answer that may wait for whoever asked: one is the rule, and output of a command slows the server down.
const ANSWER_QUEUE: usize = 64;

type Waiter = mpsc::Sender<Envelope<Message>>;

/// What all holders of a connection share.
#[derive(Debug)]
pub(super) struct Link {
    shared: Arc<Shared>,
    outgoing: mpsc::Sender<Bytes>,
    /// The last holder closes the connection.
    _close: DropGuard,
}

#[derive(Debug)]
struct Shared {
    selected: Selected,
    interactive: AtomicBool,
    pending: Mutex<Pending<Waiter>>,
    inbox: Mutex<Inbox>,
    arrived: Notify,
    close: CancellationToken,
}

/// What a client hears without having asked, in order.
#[derive(Debug)]
pub struct Events {
    shared: Arc<Shared>,
    ended: bool,
}

/// A request under way; it is forgotten when this is dropped.
#[derive(Debug)]
pub(super) struct Asked {
    shared: Arc<Shared>,
    id: RequestId,
    answers: mpsc::Receiver<Envelope<Message>>,
}

impl Events {
    /// The next event. After [`Event::Closed`] there is none.
    pub async fn next(&mut self) -> Option<Event> {
        while !self.ended {
            let arrived = self.shared.arrived.notified();
            tokio::pin!(arrived);
            // Registered before the look, so that an event in between is not missed.
            arrived.as_mut().enable();
            let next = lock(&self.shared.inbox).pop();
            if next.is_some() {
                self.ended = matches!(next, Some(Event::Closed(_)));
                return next;
            }
            arrived.await;
        }
        None
    }
}

/// Starts the tasks of a connection.
pub(super) fn start<R, W>(
    selected: Selected,
    frames: FramedRead<R, LengthPrefixed>,
    write: W,
) -> (Arc<Link>, Events)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (outgoing, queued) = mpsc::channel(CLIENT_OUTBOX);
    let close = CancellationToken::new();
    let shared = Arc::new(Shared {
        selected,
        interactive: AtomicBool::new(false),
        pending: Mutex::new(Pending::new()),
        inbox: Mutex::new(Inbox::new(CLIENT_INBOX)),
        arrived: Notify::new(),
        close: close.clone(),
    });
    tokio::spawn(Arc::clone(&shared).run(frames, write, queued));
    let events = Events { shared: Arc::clone(&shared), ended: false };
    (Arc::new(Link { shared, outgoing, _close: close.drop_guard() }), events)
}

impl Link {
    pub(super) fn selected(&self) -> &Selected {
        &self.shared.selected
    }

    pub(super) fn is_interactive(&self) -> bool {
        self.shared.interactive.load(Ordering::Acquire)
    }

    pub(super) fn close(&self) {
        self.shared.close.cancel();
    }

    /// Sends what has no answer.
    pub(super) async fn tell(&self, message: impl Into<Message>) -> Result<(), RequestError> {
        self.send(&Envelope::plain(message.into())).await
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn ask(
        &self,
        request: Message,
        limit: Duration,
    ) -> Result<Envelope<Message>, RequestError> {
        let answered = async { self.start(request).await?.next().await.ok_or(RequestError::Closed) };
        timeout(limit, answered).await.unwrap_or(Err(RequestError::TimedOut(limit)))
    }

    /// Sends a request.
    pub(super) async fn start(&self, request: Message) -> Result<Asked, RequestError> {
        let (waiter, answers) = mpsc::channel(ANSWER_QUEUE);
        let id = lock(&self.shared.pending).add(waiter);
        let asked = Asked { shared: Arc::clone(&self.shared), id: id.clone(), answers };
        self.send(&Envelope::with_id(id, request)).await?;
        Ok(asked)
    }

    async fn send(&self, message: &Envelope<Message>) -> Result<(), RequestError> {
        let selected = self.selected();
        may_send(selected, self.is_interactive(), message.data.message_type())?;
        let frame = frame::from_client(selected.epoch.framing(), message).map_err(RequestError::TooLarge)?;
        self.outgoing.send(frame).await.map_err(|_| RequestError::Closed)
    }
}

impl Asked {
    /// The next message under the request's id; none when the connection has ended.
    pub(super) async fn next(&mut self) -> Option<Envelope<Message>> {
        self.answers.recv().await
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        lock(&self.shared.pending).take(&self.id);
    }
}

impl Shared {
    async fn run<R, W>(
        self: Arc<Self>,
        mut frames: FramedRead<R, LengthPrefixed>,
        mut write: W,
        mut queued: mpsc::Receiver<Bytes>,
    ) where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let why = tokio::select! {
            why = self.read(&mut frames) => why,
            why = write_out(&mut write, &mut queued) => why,
            () = self.close.cancelled() => Disconnect::ByUs,
        };
        // From here on nothing more is taken; what was is still written to a server that may read it.
        queued.close();
        if matches!(why, Disconnect::ByUs) {
            let _ = timeout(DRAIN, write_out(&mut write, &mut queued)).await;
        }
        self.interactive.store(false, Ordering::Release);
        lock(&self.pending).clear();
        self.tell(Event::Closed(why));
    }

    async fn read<R: AsyncRead + Unpin>(&self, frames: &mut FramedRead<R, LengthPrefixed>) -> Disconnect {
        loop {
            let body = match frames.next().await {
                None => return Disconnect::ByServer,
                Some(Ok(Inbound::Frame(body))) => body,
                Some(Ok(Inbound::Refused(error)) | Err(error)) => return broken(error),
            };
            match Envelope::<Message>::decode(&body) {
                Ok(message) => self.hear(message).await,
                Err(error) => return Disconnect::Undecodable(error),
            }
        }
    }

    async fn hear(&self, message: Envelope<Message>) {
        if let Some(waiter) = self.waiter_of(&message) {
            // Whoever stopped waiting meanwhile does not want it.
            let _ = waiter.send(message).await;
            return;
        }
        match message.data {
            Message::LogForward(log) => self.tell(Event::Log(log.rendered)),
            Message::Error(failure) => self.tell(Event::Error(failure)),
            Message::InteractivityStatus(status) => {
                self.interactive.store(status.available, Ordering::Release);
                self.tell(Event::Interactivity(status.available));
            }
            // A late answer, or something only clients say: existing clients ignore both.
            _ => {}
        }
    }

    /// Whoever waits for this message. After the last one of an answer, nobody does.
    fn waiter_of(&self, message: &Envelope<Message>) -> Option<Waiter> {
        let id = message.request_id.as_ref()?;
        let mut pending = lock(&self.pending);
        if is_last(&message.data) { pending.take(id) } else { pending.get(id).cloned() }
    }

    fn tell(&self, event: Event) {
        lock(&self.inbox).push(event);
        self.arrived.notify_waiters();
    }
}

/// Whether nothing follows under the same id: only a command's output comes in several messages, the last with a status.
fn is_last(message: &Message) -> bool {
    !matches!(message, Message::LogForward(log) if log.status.is_none())
}

/// Writes what comes, until nothing more will or the stream breaks.
async fn write_out<W: AsyncWrite + Unpin>(write: &mut W, queued: &mut mpsc::Receiver<Bytes>) -> Disconnect {
    while let Some(frame) = queued.recv().await {
        let written = async {
            write.write_all(&frame).await?;
            write.flush().await
        };
        if let Err(error) = written.await {
            return broken(error.into());
        }
    }
    // All holders are gone.
    let _ = write.shutdown().await;
    Disconnect::ByUs
}

/// A connection that is reset was closed by the server with something of ours unread.
fn broken(error: FrameError) -> Disconnect {
    match error {
        FrameError::Io { source }
            if matches!(source.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) =>
        {
            Disconnect::ByServer
        }
        error => Disconnect::Broken(error),
    }
}

/// What is locked is whole after every step, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
