//! Sessions on their way into memory, when whoever wanted them does not wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use loggia_domain::{
    Actor, BoxFuture, Budget, ContentHash, Event, EventBody, Instruction, NewEvent, Page, RunningReply, Seq,
    SessionId, SessionQuery, SessionSummary, Store, StoreError, Timestamp, TurnEnd, TurnId, Workspace,
    WorkspaceId,
};
use loggia_engine::{Engine, EngineError, Parts, Settings};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel};
use loggia_runner::CommandRunner;
use loggia_store::SqliteStore;
use loggia_wire::child::Keeper;
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};

use crate::KEEPER;

/// A store whose writes can be held up on their way. As in a real one, a write that was handed over is done, whoever
/// waits for it.
struct Gate {
    inner: Arc<SqliteStore>,
    /// Whether the next write waits.
    armed: AtomicBool,
    /// How many writes wait.
    waiting: watch::Sender<usize>,
    open: Arc<Semaphore>,
    /// How often a journal was read.
    reads: AtomicUsize,
}

impl Gate {
    /// Hands a write over. It waits if the gate is armed.
    fn held<T: Send + 'static>(
        &self,
        write: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        if !self.armed.swap(false, Ordering::SeqCst) {
            return Box::pin(write);
        }
        let open = Arc::clone(&self.open);
        let on_its_way = tokio::spawn(async move {
            open.acquire_owned().await.unwrap().forget();
            write.await
        });
        self.waiting.send_modify(|count| *count += 1);
        Box::pin(async move { on_its_way.await.unwrap() })
    }
}

impl Store for Gate {
    fn append(
        &self,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        let inner = Arc::clone(&self.inner);
        self.held(async move { inner.append(session, events).await })
    }

    fn events(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.inner.events(session, after, limit)
    }

    fn keep_reply(&self, session: SessionId, reply: RunningReply) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.keep_reply(session, reply)
    }

    fn kept_reply(&self, session: SessionId) -> BoxFuture<'_, Result<Option<RunningReply>, StoreError>> {
        self.inner.kept_reply(session)
    }

    fn export(
        &self,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(Seq, String)>, StoreError>> {
        self.inner.export(session, after, limit)
    }

    fn import(
        &self,
        session: SessionId,
        workspace: WorkspaceId,
        lines: Vec<String>,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        self.inner.import(session, workspace, lines)
    }

    fn fork(
        &self,
        from: SessionId,
        through: Seq,
        to: SessionId,
        opening: NewEvent,
    ) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        self.inner.fork(from, through, to, opening)
    }

    fn sessions(&self, query: SessionQuery) -> BoxFuture<'_, Result<Page<SessionSummary>, StoreError>> {
        self.inner.sessions(query)
    }

    fn session(&self, session: SessionId) -> BoxFuture<'_, Result<SessionSummary, StoreError>> {
        self.inner.session(session)
    }

    fn delete_session(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        let inner = Arc::clone(&self.inner);
        self.held(async move { inner.delete_session(session).await })
    }

    fn register_workspace(&self, workspace: Workspace) -> BoxFuture<'_, Result<Workspace, StoreError>> {
        self.inner.register_workspace(workspace)
    }

    fn workspaces(&self) -> BoxFuture<'_, Result<Vec<Workspace>, StoreError>> {
        self.inner.workspaces()
    }

    fn workspace(&self, workspace: WorkspaceId) -> BoxFuture<'_, Result<Workspace, StoreError>> {
        self.inner.workspace(workspace)
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<ContentHash, StoreError>> {
        self.inner.put_blob(bytes)
    }

    fn blob(&self, hash: ContentHash) -> BoxFuture<'_, Result<Vec<u8>, StoreError>> {
        self.inner.blob(hash)
    }
}

/// An engine over such a store, and a session in whose turn an earlier one was killed.
struct Scene {
    _directory: TempDir,
    engine: Engine,
    gate: Arc<Gate>,
    session: SessionId,
}

async fn scene() -> Scene {
    let directory = TempDir::with_prefix("loggia-test-").unwrap();
    let root = directory.path().join("work");
    std::fs::create_dir(&root).unwrap();
    let gate = Arc::new(Gate {
        inner: Arc::new(SqliteStore::open(&directory.path().join("store")).unwrap()),
        armed: AtomicBool::new(false),
        waiting: watch::Sender::new(0),
        open: Arc::new(Semaphore::new(0)),
        reads: AtomicUsize::new(0),
    });
    let model = Arc::new(ScriptedModel::new(Script::parse("").unwrap()));
    let parts = Parts {
        store: Arc::clone(&gate) as Arc<dyn Store>,
        models: Arc::new(ScriptedCatalogue::single(model)),
        tools: Arc::new(|root| loggia_tools::standard(Arc::clone(root))),
        runner: Arc::new(CommandRunner::new(
            Keeper::new(KEEPER, ["keep"]),
            loggia_runner::Settings::default(),
        )),
        index: Arc::new(|_| None),
    };
    let engine = Engine::start(parts, Settings::new(directory.path().join("data"))).await.unwrap();
    let workspace = engine.register_workspace(&root, None).await.unwrap().id;
    let session = SessionId::new();
    let opened = EventBody::SessionOpened {
        workspace,
        title: None,
        model: None,
        preset: None,
        budget: Budget::default(),
        forked_from: None,
        by: Actor::Engine,
    };
    let instruction = Instruction { text: "go".to_owned(), context: None, preview: false };
    let started = EventBody::TurnStarted { instruction, by: Actor::Engine, queued: None };
    let event = |turn, body| NewEvent { at: Timestamp::now(), turn, body };
    let events = vec![event(None, opened), event(Some(TurnId::new()), started)];
    gate.inner.append(session, events).await.unwrap();
    Scene { _directory: directory, engine, gate, session }
}

impl Scene {
    /// Begins something, and lets it go when its write is on its way.
    async fn abandon(&self, work: impl Future) {
        let mut waiting = self.gate.waiting.subscribe();
        self.gate.armed.store(true, Ordering::SeqCst);
        tokio::select! {
            _ = work => panic!("it came to its end"),
            held = waiting.wait_for(|count| *count == 1) => drop(held.unwrap()),
        }
    }

    /// Whether a journal is read before the write that is on its way is done.
    async fn reads_too_early(&self, work: impl Future<Output = Result<(), EngineError>>) -> (bool, bool) {
        let before = self.gate.reads.load(Ordering::SeqCst);
        let mut work = std::pin::pin!(work);
        // It asks the store at once if nothing holds it back.
        for _ in 0..100 {
            tokio::select! {
                biased;
                _ = &mut work => break,
                () = tokio::task::yield_now() => {}
            }
        }
        let early = self.gate.reads.load(Ordering::SeqCst) > before;
        self.gate.open.add_permits(1);
        (early, work.await.is_ok())
    }
}

#[tokio::test]
async fn a_loading_that_nobody_waits_for_is_over_before_the_next_begins() {
    let scene = scene().await;
    scene.abandon(scene.engine.state(scene.session)).await;
    let again = async { scene.engine.state(scene.session).await.map(drop) };
    assert_eq!(scene.reads_too_early(again).await, (false, true));
    let journal = scene.gate.inner.events(scene.session, Seq(0), 100).await.unwrap();
    let is_end =
        |event: &&Event| matches!(event.body, EventBody::TurnEnded { end: TurnEnd::Interrupted, .. });
    assert_eq!(journal.iter().filter(is_end).count(), 1, "{journal:?}");
}

#[tokio::test]
async fn a_session_whose_deletion_nobody_waits_for_is_not_loaded_again() {
    let scene = scene().await;
    scene.abandon(scene.engine.delete_session(scene.session)).await;
    let again = async { scene.engine.state(scene.session).await.map(drop) };
    assert_eq!(scene.reads_too_early(again).await, (false, false));
    assert_eq!(scene.engine.loaded_sessions(), 0);
}
