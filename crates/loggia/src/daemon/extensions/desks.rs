//! The open messages of workspaces, and what opening one brings along.
//!
//! What always holds: a workspace has one desk, whoever asks for it. Whoever opens a message waits for its extensions only
//! so long that those that are well can be told of it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use loggia_domain::{
    BoxFuture, DeskEvent, DeskEvents, MessageDesk, MessageError, MessageFinding, MessageFormat, MessagePatch,
    MessageSchema, MessageText, OpenMessage, Opening, PatchedMessage, ProposedMessage, SchemaOverlay,
    Unsaved, Workspace,
};
use loggia_messages::Desk;

use super::ExtensionHosts;

/// How long an opening waits for extensions that start: dozens of small ones do in this time, and nobody minds it once.
const PATIENCE: Duration = Duration::from_secs(3);

/// The desks of all workspaces, by the workspace's root.
#[derive(Default)]
pub(super) struct Desks(Mutex<HashMap<PathBuf, Kept>>);

#[derive(Clone)]
struct Kept {
    desk: Arc<dyn MessageDesk>,
    unsaved: Arc<AtomicBool>,
}

impl Desks {
    /// The desk of a workspace.
    pub(super) fn of(&self, workspace: &Workspace) -> Arc<dyn MessageDesk> {
        let mut desks = self.desks();
        let kept = desks.entry(workspace.root.clone()).or_insert_with(|| {
            let desk: Arc<dyn MessageDesk> = Arc::new(Desk::new(workspace.root.clone()));
            let unsaved = Arc::new(AtomicBool::new(false));
            tokio::spawn(mind(desk.watch(), Arc::clone(&unsaved)));
            Kept { desk, unsaved }
        });
        Arc::clone(&kept.desk)
    }

    /// The same, such that opening a message starts extensions.
    pub(super) fn starting(&self, hosts: &ExtensionHosts, workspace: &Workspace) -> Arc<dyn MessageDesk> {
        Arc::new(Starting { desk: self.of(workspace), hosts: hosts.clone(), workspace: workspace.clone() })
    }

    /// Whether something of a message is not saved.
    pub(super) fn has_unsaved(&self) -> bool {
        self.desks().values().any(|kept| kept.unsaved.load(Ordering::Relaxed))
    }

    fn desks(&self) -> MutexGuard<'_, HashMap<PathBuf, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps in mind whether something is not saved.
async fn mind(mut events: DeskEvents, unsaved: Arc<AtomicBool>) {
    while let Some(event) = events.next().await {
        let is_unsaved = match event {
            DeskEvent::Opened(message) | DeskEvent::Changed(message) | DeskEvent::Saved { message, .. } => {
                message.unsaved
            }
            DeskEvent::Closed => false,
        };
        unsaved.store(is_unsaved, Ordering::Relaxed);
    }
}

/// A desk where opening a message starts the workspace's extensions first, so that they hear of it.
struct Starting {
    desk: Arc<dyn MessageDesk>,
    hosts: ExtensionHosts,
    workspace: Workspace,
}

impl MessageDesk for Starting {
    fn current(&self) -> BoxFuture<'_, Option<OpenMessage>> {
        self.desk.current()
    }

    fn open(&self, opening: Opening) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        Box::pin(async move {
            let (hosts, workspace) = (self.hosts.clone(), self.workspace.clone());
            // It goes on if it takes longer than anybody waits.
            let starts = tokio::spawn(async move { hosts.start_for_message(&workspace).await });
            if tokio::time::timeout(PATIENCE, starts).await.is_err() {
                tracing::info!("a message is opened before all extensions have started");
            }
            self.desk.open(opening).await
        })
    }

    fn read(&self, format: MessageFormat) -> BoxFuture<'_, Result<MessageText, MessageError>> {
        self.desk.read(format)
    }

    fn get(&self, path: String) -> BoxFuture<'_, Result<Option<String>, MessageError>> {
        self.desk.get(path)
    }

    fn replace(
        &self,
        text: String,
        format: MessageFormat,
    ) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        self.desk.replace(text, format)
    }

    fn patch(&self, patches: Vec<MessagePatch>) -> BoxFuture<'_, Result<PatchedMessage, MessageError>> {
        self.desk.patch(patches)
    }

    fn propose(
        &self,
        patches: Vec<MessagePatch>,
        path: Option<String>,
    ) -> BoxFuture<'_, Result<ProposedMessage, MessageError>> {
        self.desk.propose(patches, path)
    }

    fn undo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        self.desk.undo()
    }

    fn redo(&self) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        self.desk.redo()
    }

    fn save(&self, path: Option<String>) -> BoxFuture<'_, Result<OpenMessage, MessageError>> {
        self.desk.save(path)
    }

    fn close(&self, unsaved: Unsaved) -> BoxFuture<'_, Result<(), MessageError>> {
        self.desk.close(unsaved)
    }

    fn validate(&self) -> BoxFuture<'_, Result<Vec<MessageFinding>, MessageError>> {
        self.desk.validate()
    }

    fn schema(&self) -> MessageSchema {
        self.desk.schema()
    }

    fn lay_over(&self, overlays: Vec<SchemaOverlay>) {
        self.desk.lay_over(overlays);
    }

    fn watch(&self) -> DeskEvents {
        self.desk.watch()
    }
}
