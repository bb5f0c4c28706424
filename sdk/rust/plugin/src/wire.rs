//! What the reader of the host's lines and the plugin's code share: the way back to the host, and results of tools.
//!
//! Invariant: a message is written whole and flushed before the next one.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use loggia_jsonrpc::{ErrorObject, Notification, RequestId, write_error, write_notification, write_response};
use loggia_protocol_mehrhof::{DIALECT, Stream, StreamEvent, ToolUseId};
use serde_json::value::RawValue;

/// The host, to the plugin. All clones are the same host.
#[derive(Clone)]
pub(crate) struct Wire(Arc<Inner>);

struct Inner {
    writer: Mutex<Box<dyn Write + Send>>,
    /// Tools under way, and what came out of them.
    results: Mutex<HashMap<ToolUseId, Option<String>>>,
    /// Something came out, or nothing will any more.
    changed: Condvar,
    /// The host has closed our input.
    ended: AtomicBool,
}

impl Wire {
    pub(crate) fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Inner {
            writer: Mutex::new(Box::new(writer)),
            results: Mutex::default(),
            changed: Condvar::new(),
            ended: AtomicBool::new(false),
        }))
    }

    pub(crate) fn answer(&self, id: &RequestId, result: &RawValue) -> io::Result<()> {
        self.write(|out| write_response(out, &DIALECT, id, result))
    }

    pub(crate) fn fail(&self, id: &RequestId, error: &ErrorObject) -> io::Result<()> {
        self.write(|out| write_error(out, &DIALECT, id, error))
    }

    pub(crate) fn stream(&self, event: &StreamEvent) -> io::Result<()> {
        self.write(|out| write_notification(out, &DIALECT, Stream::NAME, event))
    }

    /// Notes that a tool is under way.
    pub(crate) fn expect(&self, id: &ToolUseId) {
        self.results().insert(id.clone(), None);
    }

    /// Forgets all tools.
    pub(crate) fn expect_nothing(&self) {
        self.results().clear();
    }

    /// Takes what came out of a tool; whether somebody wants it.
    pub(crate) fn deliver(&self, id: &ToolUseId, text: String) -> bool {
        let wanted = match self.results().get_mut(id) {
            Some(place) => {
                *place = Some(text);
                true
            }
            None => false,
        };
        self.0.changed.notify_all();
        wanted
    }

    /// What came out of a tool; nothing if our input has ended.
    pub(crate) fn wait_for(&self, id: &ToolUseId) -> Option<String> {
        let mut results = self.results();
        loop {
            if let Some(Some(_)) = results.get(id) {
                return results.remove(id).flatten();
            }
            if self.has_ended() {
                return None;
            }
            results = self.0.changed.wait(results).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn end(&self) {
        // Under the lock, so that nobody begins to wait between looking and being woken.
        let results = self.results();
        self.0.ended.store(true, SeqCst);
        drop(results);
        self.0.changed.notify_all();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.0.ended.load(SeqCst)
    }

    fn write(&self, message: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>) -> io::Result<()> {
        let mut line = Vec::new();
        message(&mut line)?;
        line.push(b'\n');
        let mut writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(&line)?;
        writer.flush()
    }

    fn results(&self) -> MutexGuard<'_, HashMap<ToolUseId, Option<String>>> {
        self.0.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("ended", &self.has_ended()).finish_non_exhaustive()
    }
}
