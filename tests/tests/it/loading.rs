//! Sessions on their way into memory, when whoever wanted them does not wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use loggia_domain::{
    Actor, BoxFuture, Budget, Event, EventBody, Instruction, NewEvent, Seq, SessionId, Store, StoreError,
    Timestamp, TurnEnd, TurnId,
};
use loggia_engine::{Engine, EngineError, NoGuests, Parts, Settings};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel};
use loggia_runner::CommandRunner;
use loggia_tests::{Between, Layer};
use loggia_wire::child::Keeper;
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};

use crate::KEEPER;

/// What holds a store's writes up on their way. As in a real one, a write that was handed over is done, whoever
/// waits for it.
struct Gate {
    inner: Arc<dyn Store>,
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

impl Between for Gate {
    fn append<'a>(
        &'a self,
        _: &'a dyn Store,
        session: SessionId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Vec<Event>, StoreError>> {
        let inner = Arc::clone(&self.inner);
        self.held(async move { inner.append(session, events).await })
    }

    fn events<'a>(
        &'a self,
        below: &'a dyn Store,
        session: SessionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Event>, StoreError>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        below.events(session, after, limit)
    }

    fn delete_session<'a>(
        &'a self,
        _: &'a dyn Store,
        session: SessionId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let inner = Arc::clone(&self.inner);
        self.held(async move { inner.delete_session(session).await })
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
        inner: loggia_tests::open_store(directory.path()),
        armed: AtomicBool::new(false),
        waiting: watch::Sender::new(0),
        open: Arc::new(Semaphore::new(0)),
        reads: AtomicUsize::new(0),
    });
    let model = Arc::new(ScriptedModel::new(Script::parse("").unwrap()));
    let parts = Parts {
        store: Layer::over(Arc::clone(&gate.inner), Arc::clone(&gate)),
        models: Arc::new(ScriptedCatalogue::single(model)),
        tools: Arc::new(|root, _| loggia_tools::standard(Arc::clone(root))),
        repositories: loggia_engine::NoRepository::finder(),
        sources: Arc::new(|_| Vec::new()),
        runner: Arc::new(CommandRunner::new(
            Keeper::new(KEEPER, ["keep"]),
            loggia_runner::Settings::default(),
        )),
        index: Arc::new(|_| None),
        guests: Arc::new(NoGuests),
        desks: loggia_engine::Desks::default(),
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
    let instruction = Instruction { text: "go".to_owned(), ..Instruction::default() };
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
