//! What the reader of the host's frames and the extension's code share: the way back to the host, answers that are awaited,
//! and what waits to be run.
//!
//! Invariant: a message is written whole and flushed before the next one. The reader never waits for the extension's code,
//! because what that waits for comes through it: of what waits too long the oldest is dropped.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use loggia_jsonrpc::{ErrorObject, Method, RequestId, decode, write_error, write_request, write_response};
use loggia_protocol_hermes::{CommandId, WindowClosedParams};
use loggia_protocol_hermes::{DIALECT, MessageChangedParams, MessageOpenedParams, MessageSavedParams};
use serde_json::value::RawValue;

use crate::error::HostError;
use crate::{frame, stdio};

/// Commands and events that wait for others to end.
const MAX_WAITING: usize = 1000;

/// The host, to the extension. All clones are the same host.
#[derive(Clone)]
pub(crate) struct Wire(Arc<Inner>);

struct Inner {
    writer: Mutex<Box<dyn Write + Send>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    last_id: u64,
    /// Requests under way, and what came.
    answers: HashMap<u64, Option<Answer>>,
    waiting: VecDeque<Work>,
    /// Nothing more comes.
    ended: bool,
    data_directory: Option<PathBuf>,
}

type Answer = Result<Box<RawValue>, ErrorObject>;

/// Something to run.
pub(crate) enum Work {
    Command(CommandId),
    Opened(MessageOpenedParams),
    Saved(MessageSavedParams),
    Changed(MessageChangedParams),
    WindowClosed(WindowClosedParams),
}

impl Wire {
    pub(crate) fn new(writer: impl Write + Send + 'static) -> Self {
        let state = Mutex::default();
        Self(Arc::new(Inner { writer: Mutex::new(Box::new(writer)), state, changed: Condvar::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn answer(&self, id: &RequestId, result: &RawValue) -> io::Result<()> {
        self.write(|out| write_response(out, &DIALECT, id, result))
    }

    pub(crate) fn fail(&self, id: &RequestId, error: &ErrorObject) -> io::Result<()> {
        self.write(|out| write_error(out, &DIALECT, id, error))
    }

    fn write(&self, message: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>) -> io::Result<()> {
        let mut body = Vec::new();
        message(&mut body)?;
        let mut writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        frame::write(&mut *writer, &body)
    }

    /// Asks the host and waits for its answer.
    pub(crate) fn ask<M: Method>(&self, params: &M::Params) -> Result<M::Result, HostError> {
        let id = {
            let mut state = self.state();
            if state.ended {
                return Err(HostError::Gone);
            }
            state.last_id += 1;
            let id = state.last_id;
            state.answers.insert(id, None);
            id
        };
        let request = RequestId::from(id);
        let sent = self.write(|out| write_request(out, &DIALECT, &request, M::NAME, params));
        let mut state = self.state();
        if sent.is_err() {
            state.answers.remove(&id);
            return Err(HostError::Gone);
        }
        let answer = loop {
            if let Some(Some(_)) = state.answers.get(&id) {
                break state.answers.remove(&id).flatten();
            }
            if state.ended {
                break None;
            }
            state = self.wait(state);
        };
        drop(state);
        match answer {
            None => Err(HostError::Gone),
            Some(Err(error)) => Err(HostError::Refused(error)),
            Some(Ok(result)) => {
                decode(result.get()).map_err(|error| HostError::WrongShape(error.to_string()))
            }
        }
    }

    /// An answer came; one that nobody waits for is dropped.
    pub(crate) fn deliver(&self, id: Option<&RequestId>, answer: Answer) {
        let Some(id) = id.and_then(RequestId::sequence) else { return };
        if let Some(place) = self.state().answers.get_mut(&id) {
            *place = Some(answer);
        }
        self.0.changed.notify_all();
    }

    /// Puts something to be run behind what waits.
    pub(crate) fn keep(&self, work: Work) {
        let mut state = self.state();
        if matches!(work, Work::Changed(_)) {
            // Only the last change says anything.
            state.waiting.retain(|waiting| !matches!(waiting, Work::Changed(_)));
        }
        if state.waiting.len() == MAX_WAITING {
            state.waiting.pop_front();
            stdio::warn("too much waits: something was dropped");
        }
        state.waiting.push_back(work);
        drop(state);
        self.0.changed.notify_all();
    }

    /// The next thing to run; nothing at the end.
    pub(crate) fn next(&self) -> Option<Work> {
        let mut state = self.state();
        loop {
            if let Some(work) = state.waiting.pop_front() {
                return Some(work);
            }
            if state.ended {
                return None;
            }
            state = self.wait(state);
        }
    }

    /// Nothing more comes; what waits to be run is dropped if we were told to leave.
    pub(crate) fn end(&self, leaving: bool) {
        let mut state = self.state();
        state.ended = true;
        if leaving {
            state.waiting.clear();
        }
        drop(state);
        self.0.changed.notify_all();
    }

    pub(crate) fn set_data_directory(&self, directory: Option<String>) {
        self.state().data_directory = directory.map(PathBuf::from);
    }

    pub(crate) fn data_directory(&self) -> PathBuf {
        self.state().data_directory.clone().unwrap_or_else(|| PathBuf::from("."))
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("ended", &self.state().ended).finish_non_exhaustive()
    }
}
