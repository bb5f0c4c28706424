//! The one answer a request gets.
//!
//! A [`Responder`] is made with the request and consumed by its answer. If it is dropped unused, because the
//! handler panicked or was cancelled, it answers with an error itself. So every request is answered exactly once.

use std::sync::{Arc, Mutex, PoisonError};

use loggia_jsonrpc::{ErrorObject, RequestId, write_batch, write_error, write_response};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::Peer;
use super::handle::Shared;
use super::outbox::PushError;

/// What a handler knows about the call it serves.
#[derive(Debug, Clone)]
pub struct Context {
    /// The other side, for calls and notifications of our own.
    pub peer: Peer,
    /// The method as it was called.
    pub method: &'static str,
    /// The call's id, if it expects an answer; [`Peer::cancel`] takes it.
    pub id: Option<RequestId>,
}

impl Context {
    /// Ends when the connection does. A handler that should not outlive it need not look: it is dropped then.
    pub fn closed(&self) -> CancellationToken {
        self.peer.ended()
    }
}

/// Answers one request.
pub(super) struct Responder {
    shared: Arc<Shared>,
    method: &'static str,
    serial: u64,
    target: Option<Target>,
}

/// Where the answer goes.
pub(super) enum Target {
    /// Nowhere: the call had no id.
    Nobody,
    /// Onto the stream.
    Stream(RequestId),
    /// Into a batch's array.
    Batch(RequestId, BatchSlot),
}

impl Responder {
    pub(super) fn new(shared: Arc<Shared>, method: &'static str, serial: u64, target: Target) -> Self {
        Self { shared, method, serial, target: Some(target) }
    }

    /// Answers, waiting for room in the outbox.
    pub(super) async fn answer<R: Serialize>(mut self, outcome: Result<R, ErrorObject>) {
        let Some(target) = self.target.take() else { return };
        let dialect = self.shared.settings.dialect;
        let write = |id: &RequestId, out: &mut Vec<u8>| match &outcome {
            Ok(result) => write_response(out, &dialect, id, result),
            Err(error) => write_error(out, &dialect, id, error),
        };
        match target {
            Target::Nobody => {
                if let Err(error) = &outcome {
                    tracing::debug!(peer = %self.shared.settings.name, method = self.method, %error, "call without id failed");
                }
            }
            Target::Stream(id) => {
                let pushed = self.shared.outbox.push(&|out: &mut Vec<u8>| write(&id, out)).await;
                if let Err(PushError::Unsendable(reason)) = pushed {
                    self.fail_over_limit(&id, &ErrorObject::internal(reason));
                }
            }
            Target::Batch(id, slot) => {
                let mut member = Vec::new();
                if let Err(error) = write(&id, &mut member) {
                    member.clear();
                    // An error of our own making is plain text and can always be written.
                    let _ = write_error(&mut member, &dialect, &id, &ErrorObject::internal(error));
                }
                slot.fill(member);
            }
        }
    }

    /// Answers with an error at once, waiting for nobody.
    pub(super) fn fail(mut self, error: &ErrorObject) {
        self.fail_now(error);
    }

    /// Answers nothing: the request will be read again and answered then.
    pub(super) fn forget(mut self) {
        self.target = None;
    }

    fn fail_now(&mut self, error: &ErrorObject) {
        match self.target.take() {
            None | Some(Target::Nobody) => {}
            Some(Target::Stream(id)) => self.fail_over_limit(&id, error),
            Some(Target::Batch(id, slot)) => {
                let mut member = Vec::new();
                // As above: always writable.
                let _ = write_error(&mut member, &self.shared.settings.dialect, &id, error);
                slot.fill(member);
            }
        }
    }

    fn fail_over_limit(&self, id: &RequestId, error: &ErrorObject) {
        let dialect = self.shared.settings.dialect;
        let pushed =
            self.shared.outbox.push_over_limit(&|out: &mut Vec<u8>| write_error(out, &dialect, id, error));
        if let Err(PushError::Unsendable(reason)) = pushed {
            tracing::error!(peer = %self.shared.settings.name, method = self.method, %id, reason, "request left unanswered");
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if self.target.is_some() {
            let error = self.shared.serving.cancelled_with(self.serial).unwrap_or_else(|| {
                ErrorObject::internal(format_args!("the handler of `{}` failed", self.method))
            });
            self.fail_now(&error);
        }
    }
}

/// The answers of one batch, in the order of its requests.
pub(super) struct Batch {
    shared: Arc<Shared>,
    answers: Mutex<Vec<Option<Vec<u8>>>>,
}

/// One place in a batch's array. The array is sent when the last of its places is gone.
pub(super) struct BatchSlot {
    batch: Arc<Batch>,
    place: usize,
}

impl Batch {
    pub(super) fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new(Self { shared, answers: Mutex::new(Vec::new()) })
    }

    /// The next place.
    pub(super) fn slot(self: &Arc<Self>) -> BatchSlot {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push(None);
        BatchSlot { batch: self.clone(), place: answers.len() - 1 }
    }
}

impl BatchSlot {
    pub(super) fn fill(self, member: Vec<u8>) {
        let mut answers = self.batch.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers[self.place] = Some(member);
    }
}

impl Drop for Batch {
    /// Every slot is filled or gone: whatever is answered goes out as one array, and nothing if nothing was asked.
    fn drop(&mut self) {
        let answers = self.answers.get_mut().unwrap_or_else(PoisonError::into_inner);
        if answers.iter().all(Option::is_none) {
            return;
        }
        let members: Vec<&[u8]> = answers.iter().flatten().map(Vec::as_slice).collect();
        let pushed = self.shared.outbox.push_over_limit(&|out: &mut Vec<u8>| {
            write_batch(out, members.iter().copied());
            Ok(())
        });
        if let Err(PushError::Unsendable(reason)) = pushed {
            tracing::error!(peer = %self.shared.settings.name, reason, "batch left unanswered");
        }
    }
}
