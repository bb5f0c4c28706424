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
use super::lane::Charge;
use super::outbox::{PushError, Sort};

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
    /// Gone once the answer is on its way.
    target: Option<Target>,
    /// What the call costs until it is over.
    _charge: Option<Charge>,
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
        Self { shared, method, serial, target: Some(target), _charge: None }
    }

    /// The same, with what the call costs until it is over.
    pub(super) fn charged(mut self, charge: Charge) -> Self {
        self._charge = Some(charge);
        self
    }

    /// Answers, waiting for room in the outbox. The target stays until that is done: if this future is dropped or the
    /// result's serialiser panics, the answer is still owed, and [`Drop`] pays it.
    pub(super) async fn answer<R: Serialize>(mut self, outcome: Result<R, ErrorObject>) {
        let dialect = self.shared.settings.dialect;
        let write = |id: &RequestId, out: &mut Vec<u8>| match &outcome {
            Ok(result) => write_response(out, &dialect, id, result),
            Err(error) => write_error(out, &dialect, id, error),
        };
        let unsendable = match &self.target {
            None => return,
            Some(Target::Nobody) => {
                if let Err(error) = &outcome {
                    tracing::debug!(peer = %self.shared.settings.name, method = self.method, %error, "call without id failed");
                }
                None
            }
            Some(Target::Stream(id)) => {
                let pushed = self.shared.outbox.push(Sort::Answer, &|out: &mut Vec<u8>| write(id, out)).await;
                match pushed {
                    Err(PushError::Unsendable(reason)) => Some(reason),
                    _ => None,
                }
            }
            Some(Target::Batch(id, slot)) => {
                let mut member = Vec::new();
                let written = write(id, &mut member);
                written.map(|()| slot.fill(id.clone(), member)).err().map(|error| error.to_string())
            }
        };
        match unsendable {
            Some(reason) => self.fail_now(&ErrorObject::internal(reason)),
            None => self.target = None,
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
                // An error of our own making is plain text and can always be written.
                let _ = write_error(&mut member, &self.shared.settings.dialect, &id, error);
                slot.fill(id, member);
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
    answers: Mutex<Vec<Option<Member>>>,
}

/// One answer, written, and whose it is.
type Member = (RequestId, Vec<u8>);

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

    fn send(&self, members: &[&[u8]]) -> Result<(), PushError> {
        self.shared.outbox.push_over_limit(&|out: &mut Vec<u8>| {
            write_batch(out, members.iter().copied());
            Ok(())
        })
    }
}

impl BatchSlot {
    fn fill(&self, id: RequestId, member: Vec<u8>) {
        let mut answers = self.batch.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers[self.place] = Some((id, member));
    }
}

impl Drop for Batch {
    /// Every slot is filled and gone: the answers go out as one array, and nothing if nothing was asked.
    fn drop(&mut self) {
        let answers = std::mem::take(self.answers.get_mut().unwrap_or_else(PoisonError::into_inner));
        let answers: Vec<Member> = answers.into_iter().flatten().collect();
        if answers.is_empty() {
            return;
        }
        let members: Vec<&[u8]> = answers.iter().map(|(_, member)| member.as_slice()).collect();
        if let Err(PushError::Unsendable(reason)) = self.send(&members) {
            // Together they are more than a frame holds; each caller is at least told that.
            let error = ErrorObject::internal(reason);
            let told = answers.iter().map(|(id, _)| {
                let mut member = Vec::new();
                let _ = write_error(&mut member, &self.shared.settings.dialect, id, &error);
                member
            });
            let told: Vec<Vec<u8>> = told.collect();
            let members: Vec<&[u8]> = told.iter().map(Vec::as_slice).collect();
            if let Err(PushError::Unsendable(reason)) = self.send(&members) {
                tracing::error!(peer = %self.shared.settings.name, reason, "batch left unanswered");
            }
        }
    }
}
