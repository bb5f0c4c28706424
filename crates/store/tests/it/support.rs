//! Stores in directories of their own, and events to put into them.

use std::sync::Arc;

use loggia_domain::{
    Actor, AssistantMessage, Budget, EventBody, Instruction, MessageId, NewEvent, SessionId, Store,
    Timestamp, TurnId, Usage, WorkspaceId,
};
use loggia_store::SqliteStore;
use tempfile::TempDir;

pub(crate) struct Stage {
    pub(crate) directory: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// The store, as everybody but the tests of opening sees it.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.directory.path()).unwrap())
    }
}

pub(crate) fn opened(workspace: WorkspaceId, at: i64) -> NewEvent {
    let body = EventBody::SessionOpened {
        workspace,
        title: None,
        model: None,
        preset: None,
        budget: Budget::default(),
        forked_from: None,
        by: Actor::Engine,
    };
    NewEvent { at: Timestamp(at), turn: None, body }
}

pub(crate) fn started(text: &str, at: i64) -> NewEvent {
    let instruction = Instruction { text: text.to_owned(), ..Instruction::default() };
    NewEvent {
        at: Timestamp(at),
        turn: Some(TurnId::new()),
        body: EventBody::TurnStarted { instruction, by: Actor::Policy, queued: None },
    }
}

pub(crate) fn reply_ended(id: MessageId, text: &str, at: i64) -> NewEvent {
    let message = AssistantMessage { id, text: text.to_owned(), thought: None, calls: Vec::new() };
    NewEvent {
        at: Timestamp(at),
        turn: None,
        body: EventBody::MessageEnded { message, cut: false, usage: Usage::default() },
    }
}

/// A session with its opening and so many turns.
pub(crate) async fn session_with(
    store: &dyn Store,
    workspace: WorkspaceId,
    turns: usize,
    at: i64,
) -> SessionId {
    let session = SessionId::new();
    let mut events = vec![opened(workspace, at)];
    events.extend((0..turns).map(|number| started(&format!("turn {number}"), at)));
    store.append(session, events).await.unwrap();
    session
}
