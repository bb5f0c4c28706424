//! Our own calls that wait for an answer.
//!
//! Invariants: ids count up from 1 and are never used twice; an entry leaves the table exactly once; after
//! [`Calls::close`] none is added, so no caller can wait for a stream that has ended.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use loggia_jsonrpc::{ErrorObject, RequestId};
use tokio::sync::oneshot;

use super::CloseReason;

/// What a caller is told: the unread result, the peer's error, or that the connection ended.
pub(super) type Answer = Result<RawResult, Failure>;

/// A result nobody has read yet.
#[derive(Debug)]
pub(super) struct RawResult {
    /// The whole message it came in.
    pub(super) frame: Bytes,
    /// The result's text in it. It may be presumed: if it is no JSON value, the frame tells what it is.
    pub(super) text: Bytes,
}

#[derive(Debug)]
pub(super) enum Failure {
    Answered(ErrorObject),
    Closed(CloseReason),
}

#[derive(Debug)]
pub(super) struct Calls(Mutex<Table>);

#[derive(Debug)]
struct Table {
    last_id: u64,
    waiting: HashMap<u64, oneshot::Sender<Answer>, BuildHasherDefault<OwnIdHasher>>,
    closed: Option<CloseReason>,
}

/// Where an answer belongs.
#[derive(Debug)]
pub(super) enum Match {
    /// The caller has it.
    Delivered,
    /// To a call that was given up.
    Late,
    /// To no call we ever made.
    Unknown,
}

impl Calls {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Table { last_id: 0, waiting: HashMap::default(), closed: None }))
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next id and a place in the table.
    pub(super) fn open(&self) -> Result<(u64, oneshot::Receiver<Answer>), CloseReason> {
        let mut table = self.lock();
        if let Some(reason) = &table.closed {
            return Err(reason.clone());
        }
        table.last_id += 1;
        let id = table.last_id;
        let (sender, receiver) = oneshot::channel();
        table.waiting.insert(id, sender);
        Ok((id, receiver))
    }

    /// Gives a call up; a later answer will count as late.
    pub(super) fn forget(&self, id: u64) {
        self.lock().waiting.remove(&id);
    }

    /// Hands an answer to its caller.
    pub(super) fn answer(&self, id: &RequestId, answer: Answer) -> Match {
        let Some(sequence) = id.sequence() else { return Match::Unknown };
        let mut table = self.lock();
        match table.waiting.remove(&sequence) {
            Some(caller) => {
                drop(table);
                // The caller may have gone in this very moment: then the answer is late after all.
                if caller.send(answer).is_ok() { Match::Delivered } else { Match::Late }
            }
            None if (1..=table.last_id).contains(&sequence) => Match::Late,
            None => Match::Unknown,
        }
    }

    /// Hands an error that names no call to the only call there is, if there is exactly one.
    pub(super) fn answer_the_only_one(&self, error: ErrorObject) -> Match {
        let mut table = self.lock();
        let mut ids = table.waiting.keys().copied();
        match (ids.next(), ids.next()) {
            (Some(id), None) => {
                let caller = table.waiting.remove(&id);
                drop(table);
                match caller.map(|caller| caller.send(Err(Failure::Answered(error)))) {
                    Some(Ok(())) => Match::Delivered,
                    _ => Match::Late,
                }
            }
            _ => Match::Unknown,
        }
    }

    /// Fails everybody who waits, and everybody who comes later.
    pub(super) fn close(&self, reason: &CloseReason) {
        let waiting = {
            let mut table = self.lock();
            table.closed.get_or_insert_with(|| reason.clone());
            std::mem::take(&mut table.waiting)
        };
        for (_, caller) in waiting {
            // A caller that has gone does not need to be told.
            let _ = caller.send(Err(Failure::Closed(reason.clone())));
        }
    }

    pub(super) fn closed(&self) -> Option<CloseReason> {
        self.lock().closed.clone()
    }

    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }
}

/// Our own ids are a plain sequence that no peer chooses, so spreading them needs one multiplication.
#[derive(Debug, Default)]
struct OwnIdHasher(u64);

impl Hasher for OwnIdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
