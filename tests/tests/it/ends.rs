//! How turns end: cancelled, failed, at a limit.

use std::time::Duration;

use loggia_domain::{Actor, Budget, Intent, Policy, PolicyLimits, Preset, Role, StoreError, TurnEnd};
use loggia_engine::{FeedClosed, IntentError, NewSession, Status, Told};
use loggia_tests::Write;

use crate::world;

#[tokio::test]
async fn cancelling_ends_a_silent_model_and_keeps_what_it_said() {
    let script = r#"
        [[reply]]
        parts = [{ text = "I was about to" }, { hang = true }]
    "#;
    let world = world().start(script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    alice.until(|told| matches!(told, Told::Reply(_)).then_some(())).await;
    alice.seat.intend(Intent::Cancel { reason: Some("enough".to_owned()) }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    insta::assert_snapshot!(alice.text());
    let nothing = alice.seat.intend(Intent::Cancel { reason: None }).await;
    assert!(matches!(nothing, Err(IntentError::NothingRuns)));
}

#[tokio::test]
async fn a_cancelled_turn_is_continued_where_it_stopped() {
    let script = r#"
        [[reply]]
        parts = [{ text = "One, two" }, { hang = true }]

        [[reply]]
        expect = "goes on"
        parts = [{ text = ", three." }]
    "#;
    let world = world().start(script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("count").await.unwrap();
    alice.until(|told| matches!(told, Told::Reply(_)).then_some(())).await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    alice.until_done().await;
    alice.seat.intend(Intent::Continue).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    let nothing = alice.seat.intend(Intent::Continue).await;
    assert!(matches!(nothing, Err(IntentError::NothingToContinue)));
}

#[tokio::test]
async fn a_passing_error_is_tried_again_with_growing_pauses() {
    let script = r#"
        [[reply]]
        parts = [{ error = { kind = "transient", message = "overloaded", retry_after_ms = 1 } }]

        [[reply]]
        parts = [{ text = "half of it" }, { error = { kind = "transient", message = "lost", retry_after_ms = 2 } }]

        [[reply]]
        expect = "cut off"
        parts = [{ text = "the rest" }]
    "#;
    let world = world().start(script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("go").await, TurnEnd::Done);
    insta::assert_snapshot!(alice.text());
}

#[tokio::test]
async fn other_errors_end_the_turn_and_say_whether_trying_again_helps() {
    let script = r#"
        [[reply]]
        parts = [{ error = { kind = "permanent", message = "the key is wrong" } }]

        [[reply]]
        repeat = 6
        parts = [{ error = { kind = "transient", message = "overloaded", retry_after_ms = 1 } }]
    "#;
    let world = world().start(script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.play("go").await;
    alice.play("again").await;
    insta::assert_snapshot!(alice.text());
}

const LOOP: &str = r#"
    [[reply]]
    repeat = 100
    usage = { input = 100, output = 10, cached = 0, micro_dollars = 50 }
    parts = [{ call = { tool = "find_files", arguments = { glob = "*" } } }]
"#;

#[tokio::test]
async fn a_turn_takes_no_more_steps_than_it_may() {
    let world = world().start(LOOP).await;
    let limits = PolicyLimits { max_steps: 3, ..PolicyLimits::default() };
    world.engine.set_policy(world.workspace.id, Policy { limits, ..Policy::default() }, 0).unwrap();
    let (_, mut alice) = world.play(Preset::Ask).await;
    assert_eq!(alice.play("loop").await, TurnEnd::StepLimit);
    assert_eq!(world.model.requests().len(), 3);
    alice.seat.intend(Intent::Continue).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::StepLimit);
    assert_eq!(world.model.requests().len(), 6);
}

#[tokio::test]
async fn a_session_uses_no_more_than_its_budget() {
    for (budget, requests) in [
        (Budget { tokens: Some(200), micro_dollars: None }, 2),
        (Budget { tokens: None, micro_dollars: Some(120) }, 3),
    ] {
        let world = world().start(LOOP).await;
        let new = NewSession { budget, ..NewSession::new(world.workspace.id) };
        let session = world.engine.open_session(new, Actor::Engine).await.unwrap();
        let mut alice = world.join(session, "alice", Role::Drive, Default::default()).await;
        assert_eq!(alice.play("loop").await, TurnEnd::BudgetLimit);
        assert_eq!(world.model.requests().len(), requests);
    }
}

#[tokio::test]
async fn a_cut_reply_does_not_lift_the_budget() {
    let script = r#"
        [[reply]]
        parts = [{ text = "half" }, { hang = true }]

        [[reply]]
        usage = { input = 1, output = 1, micro_dollars = 5000 }
        parts = [{ text = "dear" }]
    "#;
    let world = world().start(script).await;
    let budget = Budget { tokens: None, micro_dollars: Some(1000) };
    let new = NewSession { budget, ..NewSession::new(world.workspace.id) };
    let session = world.engine.open_session(new, Actor::Engine).await.unwrap();
    let mut alice = world.join(session, "alice", Role::Drive, Default::default()).await;
    alice.prompt("one").await.unwrap();
    alice.until_reply().await;
    // What the first half has cost, nobody knows.
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    assert_eq!(alice.play("two").await, TurnEnd::Done);
    assert_eq!(alice.play("three").await, TurnEnd::BudgetLimit);
    assert_eq!(world.model.requests().len(), 2);
}

#[tokio::test]
async fn a_cancel_that_finds_the_disk_full_leaves_no_turn_without_an_end() {
    let script = r#"
        [[reply]]
        parts = [{ text = "half" }, { hang = true }]

        [[reply]]
        expect = "again"
        parts = [{ text = "whole" }]
    "#;
    let world = world().start(script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    alice.until_reply().await;
    world.disk.fill(Write::Events);
    let refused = alice.seat.intend(Intent::Cancel { reason: None }).await;
    assert!(matches!(refused, Err(IntentError::Store(StoreError::Full))), "{refused:?}");
    assert!(matches!(alice.until_closed().await, FeedClosed::Store(_)));
    assert!(matches!(alice.prompt("hello?").await, Err(IntentError::Gone)));
    // Room again: whoever comes finds a session in which nothing hangs.
    world.disk.heal();
    let mut bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    assert_eq!(bob.state().await.status(), Status::Idle);
    assert_eq!(bob.until_done().await, TurnEnd::Interrupted);
    assert_eq!(bob.play("again").await, TurnEnd::Done);
}

#[tokio::test]
async fn stopping_the_engine_closes_running_turns() {
    let script = r#"
        [[reply]]
        parts = [{ text = "still" }, { hang = true }]
    "#;
    let world = world().start(script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("go").await.unwrap();
    alice.until(|told| matches!(told, Told::Reply(_)).then_some(())).await;
    tokio::time::timeout(Duration::from_secs(10), world.engine.stop()).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Interrupted);
    assert_eq!(alice.subscription.next().await.unwrap_err(), FeedClosed::Stopping);
}
