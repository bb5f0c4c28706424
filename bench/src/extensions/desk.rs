//! A desk that takes every patch and says when, and nobody who would answer dialogs: only the host is measured.

use std::sync::Arc;
use std::time::Instant;

use loggia_domain::{
    BoxFuture, DeskEvents, Dialog, DialogAnswer, DialogError, Dialogs, DocumentId, GuestWindow, MessageDesk,
    MessageError, MessageFinding, MessageFormat, MessageKind, MessagePatch, MessageSchema, MessageText,
    OpenMessage, Opening, PatchedMessage, ProposedMessage, SchemaOverlay, Unsaved,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A desk that takes every patch.
pub(super) struct Desk(UnboundedSender<Instant>);

impl Desk {
    /// It, and the moments at which it is patched.
    pub(super) fn new() -> (Arc<Self>, UnboundedReceiver<Instant>) {
        let (told, patched) = unbounded_channel();
        (Arc::new(Self(told)), patched)
    }
}

fn none<T: Send + 'static>() -> BoxFuture<'static, Result<T, MessageError>> {
    Box::pin(std::future::ready(Err(MessageError::NoneOpen)))
}

impl MessageDesk for Desk {
    fn current(&self) -> BoxFuture<'_, Option<OpenMessage>> {
        Box::pin(std::future::ready(None))
    }

    fn open(&self, _: Opening) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        none()
    }

    fn read(&self, _: MessageFormat) -> BoxFuture<'_, Result<MessageText, MessageError>> {
        none()
    }

    fn get(&self, _: String) -> BoxFuture<'_, Result<Option<String>, MessageError>> {
        none()
    }

    fn replace(&self, _: String, _: MessageFormat) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        none()
    }

    fn patch(&self, patches: Vec<MessagePatch>) -> BoxFuture<'_, Result<PatchedMessage, MessageError>> {
        // Whoever measures may have gone.
        let _ = self.0.send(Instant::now());
        let message = OpenMessage {
            id: DocumentId::new(),
            file: None,
            path: None,
            kind: MessageKind::Hl7,
            revision: 1,
            unsaved: true,
            can_undo: true,
            can_redo: false,
            bytes: 0,
        };
        let patched = PatchedMessage { message, applied: patches.len(), refused: Vec::new() };
        Box::pin(std::future::ready(Ok(patched)))
    }

    fn propose(
        &self,
        _: Vec<MessagePatch>,
        _: Option<String>,
    ) -> BoxFuture<'_, Result<ProposedMessage, MessageError>> {
        none()
    }

    fn undo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        none()
    }

    fn redo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        none()
    }

    fn save(&self, _: Option<String>) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        none()
    }

    fn close(&self, _: Unsaved) -> BoxFuture<'_, Result<(), MessageError>> {
        none()
    }

    fn validate(&self) -> BoxFuture<'_, Result<Vec<MessageFinding>, MessageError>> {
        none()
    }

    fn schema(&self) -> MessageSchema {
        MessageSchema::default()
    }

    fn lay_over(&self, _: Vec<SchemaOverlay>) {}

    fn watch(&self) -> DeskEvents {
        Box::pin(futures_util::stream::pending())
    }
}

/// Nobody is there.
pub(super) struct Nobody;

impl Dialogs for Nobody {
    fn ask(&self, _: Dialog) -> BoxFuture<'_, Result<DialogAnswer, DialogError>> {
        Box::pin(std::future::ready(Err(DialogError::Stopping)))
    }

    fn show(&self, _: GuestWindow) -> BoxFuture<'_, Result<BoxFuture<'static, ()>, DialogError>> {
        Box::pin(std::future::ready(Err(DialogError::Stopping)))
    }
}
