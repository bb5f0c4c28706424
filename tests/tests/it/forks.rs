//! What a session that was split from another has of it, and what not.

use loggia_domain::{Abilities, Actor, EventBody, Intent, Preset, Role, Seq, SessionId, TurnEnd};
use loggia_engine::{IntentError, Status};
use loggia_tests::{Player, World, queued};

use crate::commands::runs;
use crate::{world, world_with};

#[tokio::test]
async fn a_question_stays_with_the_session_that_asked_it() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]
    "#;
    let world = world().start(script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    let at = alice.state().await.last_seq;
    let fork = world.engine.fork_session(session, at, Actor::Engine).await.unwrap();
    let mut bob = world.join(fork, "bob", Role::Drive, Abilities::default()).await;
    assert_eq!(bob.until_done().await, TurnEnd::Interrupted);
    let state = bob.state().await;
    assert_eq!((state.status(), state.pending.len(), state.proposed.len()), (Status::Idle, 0, 0));
    let late = bob.decide(approval, loggia_domain::ApprovalScope::All).await;
    assert!(matches!(late, Err(IntentError::AlreadyDecided { .. })), "{late:?}");
    assert_eq!(alice.state().await.status(), Status::Waiting);
    assert!(!world.root().join("a.txt").exists());
}

/// A session whose turn hangs while an instruction waits, which is the last event. Another session's first turn ends.
pub(crate) async fn with_one_waiting() -> (World, SessionId, Player, Seq) {
    let script = r#"
        [[reply]]
        parts = [{ text = "thinking" }, { hang = true }]

        [[reply]]
        expect = "mine"
        parts = [{ text = "yours" }]
    "#;
    let world = world().start(script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    alice.until_reply().await;
    let at = alice.seat.intend(queued("later")).await.unwrap().seq;
    (world, session, alice, at)
}

#[tokio::test]
async fn what_waits_in_a_session_does_not_wait_in_its_fork() {
    let (world, session, alice, at) = with_one_waiting().await;
    let fork = world.engine.fork_session(session, at, Actor::Engine).await.unwrap();
    let mut bob = world.join(fork, "bob", Role::Drive, Abilities::default()).await;
    assert!(bob.state().await.queue.is_empty());
    // Would be refused if what waited had begun.
    assert_eq!(bob.play("mine").await, TurnEnd::Done);
    assert!(!bob.text().contains("turn started by alice: later"), "{}", bob.text());
    assert_eq!(alice.state().await.queue.len(), 1);
}

#[tokio::test]
async fn a_fork_in_the_middle_of_a_command_takes_no_credit_for_what_changed_since() {
    let world = world_with(&[("mine.txt", "one\n")], &runs("true")).await;
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.prompt("run").await.unwrap();
    let started = |event: &loggia_domain::Event| {
        matches!(event.body, EventBody::ToolStarted { .. }).then_some(event.seq)
    };
    let at = alice.until_event(started).await;
    alice.until_done().await;
    std::fs::write(world.root().join("mine.txt"), "the user's own work\n").unwrap();
    let fork = world.engine.fork_session(session, at, Actor::Engine).await.unwrap();
    let mut bob = world.join(fork, "bob", Role::Drive, Abilities::default()).await;
    assert_eq!(bob.until_done().await, TurnEnd::Interrupted);
    let undone = bob.seat.intend(Intent::Undo { steps: 1 }).await;
    assert!(matches!(undone, Err(IntentError::NothingToUndo { available: 0 })), "{undone:?}");
    assert_eq!(world.read("mine.txt"), "the user's own work\n");
}
