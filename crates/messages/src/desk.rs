//! The desk of one workspace, as others hold it.
//!
//! Every call is handed in when it is made and done in that order, on a thread that may wait; see [`queue`]. What a call
//! does is in [`state`].

mod files;
mod queue;
mod state;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream;
use loggia_domain::{
    BoxFuture, DeskEvent, DeskEvents, MessageDesk, MessageError, MessageFinding, MessageFormat, MessagePatch,
    MessageSchema, MessageText, OpenMessage, Opening, PatchedMessage, ProposedMessage, SchemaOverlay,
    Unsaved,
};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::desk::files::Files;
use crate::desk::queue::{Queue, QueueError};
use crate::desk::state::State;
use crate::limits::MAX_BEHIND;
use crate::schema::{base, merge};
use crate::validate::validate;

/// The desk of one workspace. Calls need a runtime of tokio around them.
#[derive(Debug)]
pub struct Desk {
    queue: Arc<Queue<State>>,
    /// The schema that holds. Held for as long as it takes to copy a pointer.
    schema: Mutex<Arc<MessageSchema>>,
    events: broadcast::Sender<DeskEvent>,
}

impl Desk {
    /// An empty desk, whose files are below this directory.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let (events, _) = broadcast::channel(MAX_BEHIND);
        let state = State::new(Files::new(root.into()), events.clone());
        Self { queue: Queue::new(state), schema: Mutex::new(Arc::new(base::schema())), events }
    }

    fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut State) -> Result<T, MessageError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, MessageError>> {
        let done = self.queue.submit(work);
        Box::pin(async move {
            done.await.unwrap_or_else(|error| {
                Err(MessageError::Conflict(match error {
                    QueueError::Full => "too much waits for the message already".to_owned(),
                    QueueError::Broken => "work on the message broke off".to_owned(),
                }))
            })
        })
    }

    fn held_schema(&self) -> Arc<MessageSchema> {
        Arc::clone(&self.schema.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl MessageDesk for Desk {
    fn current(&self) -> BoxFuture<'_, Option<OpenMessage>> {
        let done = self.work(|state| Ok(state.current()));
        Box::pin(async move { done.await.ok().flatten() })
    }

    fn open(&self, opening: Opening) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        self.work(|state| state.open(opening))
    }

    fn read(&self, format: MessageFormat) -> BoxFuture<'_, Result<MessageText, MessageError>> {
        self.work(move |state| state.read(format))
    }

    fn get(&self, path: String) -> BoxFuture<'_, Result<Option<String>, MessageError>> {
        self.work(move |state| state.get(&path))
    }

    fn replace(
        &self,
        text: String,
        format: MessageFormat,
    ) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        self.work(move |state| state.replace(&text, format))
    }

    fn patch(&self, patches: Vec<MessagePatch>) -> BoxFuture<'_, Result<PatchedMessage, MessageError>> {
        self.work(move |state| state.patch(&patches))
    }

    fn propose(
        &self,
        patches: Vec<MessagePatch>,
        path: Option<String>,
    ) -> BoxFuture<'_, Result<ProposedMessage, MessageError>> {
        self.work(move |state| state.propose(&patches, path.as_deref()))
    }

    fn undo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        self.work(State::undo)
    }

    fn redo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        self.work(State::redo)
    }

    fn save(&self, path: Option<String>) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        self.work(move |state| state.save(path.as_deref()))
    }

    fn close(&self, unsaved: Unsaved) -> BoxFuture<'_, Result<(), MessageError>> {
        self.work(move |state| state.close(unsaved))
    }

    fn validate(&self) -> BoxFuture<'_, Result<Vec<MessageFinding>, MessageError>> {
        let schema = self.held_schema();
        self.work(move |state| {
            Ok(state.document()?.as_hl7().map(|message| validate(message, &schema)).unwrap_or_default())
        })
    }

    fn schema(&self) -> MessageSchema {
        MessageSchema::clone(&self.held_schema())
    }

    fn lay_over(&self, overlays: Vec<SchemaOverlay>) {
        let merged = Arc::new(merge::merged(base::schema(), &overlays));
        *self.schema.lock().unwrap_or_else(PoisonError::into_inner) = merged;
    }

    fn watch(&self) -> DeskEvents {
        Box::pin(stream::unfold(self.events.subscribe(), |mut events| async move {
            loop {
                match events.recv().await {
                    Ok(event) => return Some((event, events)),
                    // What was missed is in what comes next: every event says how the message is.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        }))
    }
}
