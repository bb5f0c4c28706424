//! The handle: calls, notifications and what else one does with the other side.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use loggia_jsonrpc::{
    Body, ErrorObject, Incoming, Method, Notification, RequestId, decode, read, write_notification,
    write_request,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::calls::{Answer, Calls, Failure, RawResult};
use super::connection::Connection;
use super::dispatch;
use super::lane::Serving;
use super::notice::Notice;
use super::outbox::{Outbox, PushError, Sort};
use super::stats::Counters;
use super::{CallError, CloseReason, NotifyError, Router, Settings, Stats};
use crate::framing::Codec;

/// The other side of a connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Peer {
    shared: Arc<Shared>,
}

/// What the handle, the connection and the handlers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) router: Router,
    pub(super) outbox: Outbox,
    pub(super) calls: Calls,
    pub(super) serving: Arc<Serving>,
    pub(super) counters: Counters,
    /// Somebody asked for the end.
    pub(super) closing: CancellationToken,
    /// The end is here: nothing is read, written or served any more.
    pub(super) ended: CancellationToken,
    /// Why the peer takes no more bytes, if it does not.
    pub(super) not_writable: OnceLock<CloseReason>,
}

/// Makes a connection of two halves of a stream. Nothing moves until [`Connection::run`] is polled.
pub fn connect<R, W, C>(
    reader: R,
    writer: W,
    codec: C,
    settings: Settings,
    router: Router,
) -> (Peer, Connection<R, W, C>)
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
    C: Codec,
{
    let shared = Arc::new(Shared {
        outbox: Outbox::new(Box::new(codec.clone()), settings.limits.outbox_bytes),
        settings,
        router,
        calls: Calls::new(),
        serving: Arc::default(),
        counters: Counters::default(),
        closing: CancellationToken::new(),
        ended: CancellationToken::new(),
        not_writable: OnceLock::new(),
    });
    (Peer { shared: shared.clone() }, Connection::new(shared, reader, writer, codec))
}

impl Peer {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Calls a method, within the connection's usual time limit.
    ///
    /// The call is queued when this returns; the future only waits for the answer. Dropping it gives the call up.
    pub fn call<M: Method>(
        &self,
        params: &M::Params,
    ) -> impl Future<Output = Result<M::Result, CallError>> + Send + use<M> {
        self.begin::<M>(params, self.shared.settings.call_timeout)
    }

    /// Calls a method with a time limit of its own.
    pub fn call_within<M: Method>(
        &self,
        limit: Duration,
        params: &M::Params,
    ) -> impl Future<Output = Result<M::Result, CallError>> + Send + use<M> {
        self.begin::<M>(params, Some(limit))
    }

    fn begin<M: Method>(
        &self,
        params: &M::Params,
        limit: Option<Duration>,
    ) -> impl Future<Output = Result<M::Result, CallError>> + Send + use<M> {
        let queued = self.queue_call::<M>(params);
        async move {
            let (entry, answer) = queued?;
            let answer: Answer = match limit {
                None => answer.await,
                Some(limit) => match tokio::time::timeout(limit, answer).await {
                    Ok(answer) => answer,
                    Err(_) => return Err(CallError::TimedOut { method: M::NAME, limit }),
                },
            }
            // The table drops a sender only after sending; this is the connection vanishing in mid-air.
            .unwrap_or(Err(Failure::Closed(CloseReason::Local)));
            let (shared, id) = entry.answered();
            let text = match answer {
                Ok(text) => text,
                Err(Failure::Answered(error)) => return Err(CallError::Answered(error)),
                Err(Failure::Closed(reason)) => return Err(CallError::Closed { method: M::NAME, reason }),
            };
            read_result::<M>(&shared, id, &text)
        }
    }

    fn queue_call<M: Method>(
        &self,
        params: &M::Params,
    ) -> Result<(Entry, tokio::sync::oneshot::Receiver<Answer>), CallError> {
        let method = M::NAME;
        let shared = &self.shared;
        let (id, answer) = shared.calls.open().map_err(|reason| CallError::Closed { method, reason })?;
        let entry = Entry { shared: shared.clone(), id, answered: false };
        let request = RequestId::from(id);
        let dialect = &shared.settings.dialect;
        let pushed = shared
            .outbox
            .try_push(&|out: &mut Vec<u8>| write_request(out, dialect, &request, method, params));
        match pushed {
            Ok(()) => Ok((entry, answer)),
            Err(PushError::Full) => Err(CallError::Overloaded { method }),
            Err(PushError::Closed) => Err(CallError::Closed { method, reason: self.close_reason() }),
            Err(PushError::Unsendable(reason)) => Err(CallError::Unsendable { method, reason }),
        }
    }

    /// Tells the peer something, waiting for room if it reads slowly.
    ///
    /// # Errors
    /// When the connection has ended or the parameters cannot be written.
    pub async fn notify<N: Notification>(&self, params: &N::Params) -> Result<(), NotifyError> {
        let dialect = &self.shared.settings.dialect;
        let write = |out: &mut Vec<u8>| write_notification(out, dialect, N::NAME, params);
        match self.shared.outbox.push(Sort::Own, &write).await {
            Ok(()) => Ok(()),
            Err(PushError::Closed | PushError::Full) => Err(NotifyError::Closed(self.close_reason())),
            Err(PushError::Unsendable(reason)) => Err(NotifyError::Unsendable(reason)),
        }
    }

    /// Tells the peer several things that belong together, waiting for room if it reads slowly.
    ///
    /// They reach the stream in one write and in this order, with nothing of anybody else between them: a peer that acts
    /// on the first finds the rest there already. None of them is sent if one cannot be.
    ///
    /// # Errors
    /// When the connection has ended or something is over the frame cap.
    pub async fn tell(&self, notices: &[Notice]) -> Result<(), NotifyError> {
        if notices.is_empty() {
            return Ok(());
        }
        let dialect = &self.shared.settings.dialect;
        let written: Result<Vec<Vec<u8>>, _> = notices.iter().map(|notice| notice.write(dialect)).collect();
        let written = written.map_err(|error| NotifyError::Unsendable(error.to_string()))?;
        match self.shared.outbox.push_together(&written).await {
            Ok(()) => Ok(()),
            Err(PushError::Closed | PushError::Full) => Err(NotifyError::Closed(self.close_reason())),
            Err(PushError::Unsendable(reason)) => Err(NotifyError::Unsendable(reason)),
        }
    }

    /// Waits until every notification and ordered call that was read before now has been handled.
    ///
    /// An answer is handed to its caller when it is read, ahead of notifications that still wait for their turn. Who
    /// needs to have heard all that came before the answer waits for this after it.
    pub async fn heard(&self) {
        self.shared.serving.caught_up().await;
    }

    /// Stops serving a request and answers it with `error`; whether it was still under way.
    ///
    /// Ordered calls cannot be cancelled this way: they are part of a sequence.
    pub fn cancel(&self, id: &RequestId, error: &ErrorObject) -> bool {
        self.shared.serving.cancel(id, error)
    }

    /// Writes what is queued, then closes our side; the peer's side is read on until it ends.
    pub fn close_writing(&self) {
        self.shared.outbox.close();
    }

    /// Ends the connection: what is queued is still written, what is pending fails.
    pub fn close(&self) {
        self.shared.closing.cancel();
    }

    /// Waits until the connection has ended and says why.
    pub async fn closed(&self) -> CloseReason {
        self.shared.ended.cancelled().await;
        self.close_reason()
    }

    /// What the connection has counted.
    pub fn stats(&self) -> Stats {
        self.shared.counters.snapshot()
    }

    /// Calls that wait for an answer.
    pub fn pending_calls(&self) -> usize {
        self.shared.calls.waiting()
    }

    pub(super) fn ended(&self) -> CancellationToken {
        self.shared.ended.clone()
    }

    fn close_reason(&self) -> CloseReason {
        let not_writable = || self.shared.not_writable.get().cloned();
        self.shared.calls.closed().or_else(not_writable).unwrap_or(CloseReason::Local)
    }
}

impl Shared {
    /// Ends everything that depends on the stream.
    pub(super) fn end(&self, reason: &CloseReason) {
        self.calls.close(reason);
        self.outbox.close();
        self.serving.abort_all();
        self.ended.cancel();
    }
}

fn read_result<M: Method>(shared: &Shared, call: u64, result: &RawResult) -> Result<M::Result, CallError> {
    let wrong_shape = |error| CallError::WrongShape { method: M::NAME, error };
    // The text was cut out of a frame that is UTF-8; the check is for the type system.
    let text = std::str::from_utf8(&result.text).unwrap_or_default();
    let error = match decode(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    // Its text was presumed, so the message is read properly now: it may go on after its result, or be no JSON.
    match read(&result.frame, &shared.settings.dialect) {
        Ok(Body::One(Incoming::Response { id: Some(id), outcome })) if id.sequence() == Some(call) => {
            match outcome {
                Ok(raw) => decode(raw.get()).map_err(wrong_shape),
                Err(error) => Err(CallError::Answered(error)),
            }
        }
        // It names another call further on; which of the two it answers, nobody knows.
        Ok(_) => Err(wrong_shape(error)),
        Err(broken) => {
            dispatch::malformed(shared, &broken.to_error());
            Err(wrong_shape(error))
        }
    }
}

/// A call's place in the table: dropping it unanswered gives the call up.
struct Entry {
    shared: Arc<Shared>,
    id: u64,
    answered: bool,
}

impl Entry {
    fn answered(mut self) -> (Arc<Shared>, u64) {
        self.answered = true;
        (self.shared.clone(), self.id)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.answered {
            self.shared.calls.forget(self.id);
        }
    }
}
