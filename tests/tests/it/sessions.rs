//! Sessions as things: listed, renamed, split, taken elsewhere, deleted, unloaded.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use loggia_domain::{Abilities, Actor, Intent, Preset, Role, Seq, SessionQuery, StoreError};
use loggia_engine::{Engine, EngineError, FeedClosed, IntentError, NoGuests, OnLeave, Parts, Settings};
use loggia_models::{Script, ScriptedCatalogue, ScriptedModel};
use loggia_runner::CommandRunner;
use loggia_tests::{Write, client};
use loggia_wire::child::Keeper;

use crate::world;

const TALK: &str = r#"
    [[reply]]
    repeat = 100
    parts = [{ text = "well" }]
"#;

#[tokio::test]
async fn sessions_are_listed_renamed_and_deleted() {
    let world = world().start(TALK).await;
    let (one, mut alice) = world.play(Preset::Ask).await;
    let (two, bob) = world.play(Preset::Ask).await;
    alice.play("hello").await;
    alice.seat.intend(Intent::Rename { title: "greetings".to_owned() }).await.unwrap();
    let query = SessionQuery { workspace: None, limit: 10, cursor: None };
    let page = world.engine.sessions(query.clone()).await.unwrap();
    let listed: Vec<_> = page.items.iter().map(|summary| (summary.id, summary.title.as_deref())).collect();
    assert_eq!(listed, [(one, Some("greetings")), (two, None)]);
    drop(bob);
    let mut watched = alice.seat.subscribe(alice.state().await.last_seq);
    world.engine.delete_session(one).await.unwrap();
    assert_eq!(watched.next().await.unwrap_err(), FeedClosed::Deleted);
    assert!(matches!(alice.prompt("hello?").await, Err(IntentError::Gone)));
    let gone = world.engine.state(one).await.unwrap_err();
    assert!(matches!(gone, EngineError::Store(StoreError::NoSuchSession(_))), "{gone}");
    assert_eq!(world.engine.sessions(query).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn a_session_is_split_at_an_event() {
    let world = world().start(TALK).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.play("first").await;
    let at = alice.state().await.last_seq;
    alice.play("second").await;
    let fork = world.engine.fork_session(session, at, Actor::Engine).await.unwrap();
    let state = world.engine.state(fork).await.unwrap();
    assert_eq!(state.history.items().len(), 2);
    assert_eq!(state.opened.forked_from, Some((session, at)));
    let mut bob = world.join(fork, "bob", Role::Drive, Default::default()).await;
    bob.play("another second").await;
    insta::assert_snapshot!(bob.text());
    // The one it came from is as it was.
    assert_eq!(alice.state().await.history.items().len(), 4);
    let beyond = world.engine.fork_session(session, Seq(999), Actor::Engine).await;
    assert!(matches!(beyond, Err(EngineError::NoSuchEvent(999))));
}

#[tokio::test]
async fn a_session_is_exported_and_imported() {
    let world = world().start(TALK).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.play("first").await;
    let lines = world.engine.export_session(session, Seq(0)).await.unwrap();
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    assert_eq!(lines.len(), 4);
    let imported = world.engine.import_session(world.workspace.id, lines.clone()).await.unwrap();
    assert_ne!(imported.id, session);
    let (was, is) = (alice.state().await, world.engine.state(imported.id).await.unwrap());
    assert_eq!(was.history, is.history);
    let mut broken = lines;
    broken[2] = "{\"seq\":3}".to_owned();
    let refused = world.engine.import_session(world.workspace.id, broken).await;
    assert!(matches!(refused, Err(EngineError::Store(StoreError::BadImport { line: 3, .. }))), "{refused:?}");
}

#[tokio::test]
async fn idle_sessions_leave_memory_and_come_back() {
    let world = world().unload_after(Duration::from_millis(20)).start(TALK).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.play("first").await;
    let state = alice.state().await;
    assert_eq!(world.engine.loaded_sessions(), 1);
    // Who listens without a place is told: nothing more would come.
    assert_eq!(alice.leave().await, FeedClosed::Unloaded);
    assert_eq!(world.engine.loaded_sessions(), 0);
    let mut bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    assert_eq!(*bob.state().await, *state);
    bob.play("second").await;
}

#[tokio::test]
async fn a_session_whose_directory_is_gone_can_be_deleted() {
    let world = world().start(TALK).await;
    let session = world.open(Preset::Ask).await;
    std::fs::remove_dir_all(world.root()).unwrap();
    assert!(world.engine.state(session).await.is_err(), "it cannot be loaded");
    world.engine.delete_session(session).await.unwrap();
    assert_eq!(world.engine.loaded_sessions(), 0);
}

#[tokio::test]
async fn one_who_comes_while_a_session_is_deleted_finds_nothing() {
    let world = world().start(TALK).await;
    let (session, alice) = world.play(Preset::Ask).await;
    world.disk.hold(Write::Deletion);
    let engine = world.engine.clone();
    let deleting = tokio::spawn(async move { engine.delete_session(session).await });
    world.disk.holds_one().await;
    let newcomer = client("bob", Role::Drive, Abilities::default());
    let mut joining = Box::pin(world.engine.join(session, newcomer, OnLeave::Keep));
    assert!((&mut joining).now_or_never().is_none());
    assert!(matches!(alice.prompt("hello?").await, Err(IntentError::Gone)));
    // The journal is still there, and nobody may make a session of it any more.
    assert!(!world.journal(session).await.is_empty());
    assert!((&mut joining).now_or_never().is_none());
    world.disk.heal();
    deleting.await.unwrap().unwrap();
    let refused = joining.await.map(drop);
    assert!(matches!(refused, Err(EngineError::Store(StoreError::NoSuchSession(_)))), "{refused:?}");
    assert_eq!(world.engine.loaded_sessions(), 0);
}

#[tokio::test]
async fn a_closed_session_takes_nothing_more() {
    let world = world().start(TALK).await;
    let (_, alice) = world.play(Preset::Ask).await;
    alice.seat.intend(Intent::Close).await.unwrap();
    assert!(matches!(alice.prompt("hello?").await, Err(IntentError::Closed)));
}

#[tokio::test]
async fn unsafe_directories_are_no_workspaces() {
    let world = world().start(TALK).await;
    for path in ["/", "/etc", "/usr/lib", "/missing/directory"] {
        let refused = world.engine.register_workspace(path.as_ref(), None).await;
        assert!(matches!(refused, Err(EngineError::Root(_))), "{path}: {refused:?}");
    }
    let again = world.engine.register_workspace(world.root(), Some("other".to_owned())).await.unwrap();
    assert_eq!(again.id, world.workspace.id);
}

#[tokio::test]
async fn the_engines_own_directories_are_no_workspaces() {
    let world = world().start(TALK).await;
    let data = world.data();
    let inside = data.join("inside");
    std::fs::create_dir(&inside).unwrap();
    let link = world.root().join("link");
    std::os::unix::fs::symlink(&data, &link).unwrap();
    for path in [data.as_path(), &inside, data.parent().unwrap(), &link] {
        let refused = world.engine.register_workspace(path, None).await;
        assert!(matches!(refused, Err(EngineError::OwnDirectory(_))), "{}: {refused:?}", path.display());
    }
    assert_eq!(world.engine.workspaces().await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_engines_own_directories_are_known_by_their_real_paths() {
    let directory = tempfile::tempdir().unwrap();
    let (real, link) = (directory.path().join("real"), directory.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let model = ScriptedModel::new(Script::parse(TALK).unwrap());
    let keeper = Keeper::new(crate::KEEPER, ["keep"]);
    let parts = Parts {
        store: loggia_tests::open_store(directory.path()),
        models: Arc::new(ScriptedCatalogue::single(Arc::new(model))),
        tools: Arc::new(|root, _| loggia_tools::standard(Arc::clone(root))),
        repositories: loggia_engine::NoRepository::finder(),
        sources: Arc::new(|_| Vec::new()),
        runner: Arc::new(CommandRunner::new(keeper, loggia_runner::Settings::default())),
        index: Arc::new(|_| None),
        guests: Arc::new(NoGuests),
        desks: loggia_engine::Desks::default(),
    };
    let engine = Engine::start(parts, Settings::new(link)).await.unwrap();
    let refused = engine.register_workspace(&real, None).await;
    assert!(matches!(refused, Err(EngineError::OwnDirectory(_))), "{refused:?}");
}
