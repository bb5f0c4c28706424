//! Several clients on one session: the same order for all, identities and roles.

use loggia_domain::{Abilities, Intent, Passing, Preset, Role, TurnEnd};
use loggia_engine::{IntentError, OnLeave, Status, Told};
use loggia_tests::{client, prompt, queued};

use crate::world;

const TALK: &str = r#"
    [[reply]]
    repeat = 8
    parts = [{ text = "well" }]
"#;

#[tokio::test]
async fn a_watcher_sees_and_may_do_nothing() {
    let world = world().start(TALK).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    let mut bob = world.join(session, "bob", Role::Watch, Abilities::default()).await;
    for intent in [prompt("hi"), Intent::Cancel { reason: None }, Intent::Continue, Intent::Undo { steps: 1 }]
    {
        let refused = bob.seat.intend(intent).await;
        assert!(matches!(refused, Err(IntentError::Forbidden { needs: Role::Drive })));
    }
    alice.play("hi").await;
    bob.until_done().await;
    assert_eq!(events(&alice.text()), events(&bob.text()));
}

/// The events alone: who joined when, and how a reply came in, depends on when one listens.
fn events(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("  ")).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn everybody_hears_the_same_in_the_same_order() {
    let world = world().start(TALK).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    let mut bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    for turn in 0..4 {
        let (one, other) = tokio::join!(alice.prompt("from alice"), bob.prompt("from bob"));
        assert!(one.is_ok() != other.is_ok(), "turn {turn}: one of them is first");
        alice.until_done().await;
        bob.until_done().await;
    }
    assert_eq!(events(&alice.text()), events(&bob.text()));
    let names: Vec<String> =
        alice.seat.clients().await.unwrap().into_iter().map(|client| client.name).collect();
    assert_eq!(names, ["alice", "bob"]);
}

#[tokio::test]
async fn a_turn_goes_on_without_its_client_unless_the_client_wanted_otherwise() {
    let script = r#"
        [[reply]]
        parts = [{ text = "thinking" }, { hang = true }]
    "#;
    for (on_leave, role, ends) in [
        (OnLeave::Abort, Role::Watch, true),
        (OnLeave::Abort, Role::Drive, false),
        (OnLeave::Keep, Role::Watch, false),
    ] {
        let world = world().start(script).await;
        let session = world.open(Preset::Ask).await;
        let mut bob = world.join(session, "bob", role, Abilities::default()).await;
        let editor = client("editor", Role::Drive, Abilities::default());
        let (seat, _) = world.engine.join(session, editor, on_leave).await.unwrap();
        seat.intend(prompt("go")).await.unwrap();
        drop(seat);
        bob.until(|told| match told {
            Told::Passing(passing) => matches!(&**passing, Passing::ClientLeft { .. }).then_some(()),
            // What passes is not kept for one who is behind; the end of the turn is.
            Told::Event(event) => {
                matches!(event.body, loggia_domain::EventBody::TurnEnded { .. }).then_some(())
            }
            Told::Reply(_) => None,
        })
        .await;
        let state = bob.state().await;
        match ends {
            true => assert!(matches!(state.cut, Some((_, TurnEnd::Cancelled))), "{on_leave:?}"),
            false => assert!(state.turn.is_some(), "{on_leave:?}"),
        }
    }
}

#[tokio::test]
async fn a_subscriber_that_never_reads_holds_nobody_up() {
    let script = r#"
        [[reply]]
        repeat = 300
        parts = [{ tokens = { count = 50, text = "tok " } }]
    "#;
    let world = world().start(script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    let mut sleeper = world.join(session, "sleeper", Role::Watch, Abilities::default()).await;
    for _ in 0..100 {
        alice.play("again").await;
    }
    // And when it reads at last, it gets everything.
    let last = alice.state().await.last_seq;
    let mut turns = 0;
    while sleeper.subscription.position() < last {
        if let Told::Event(event) = sleeper.subscription.next().await.unwrap() {
            turns += usize::from(matches!(event.body, loggia_domain::EventBody::TurnEnded { .. }));
        }
    }
    assert_eq!(turns, 100);
}

#[tokio::test]
async fn nothing_that_waits_begins_while_nobody_drives() {
    let script = r#"
        [[reply]]
        parts = [{ text = "thinking" }, { hang = true }]

        [[reply]]
        expect = "later"
        parts = [{ text = "now" }]
    "#;
    let world = world().start(script).await;
    let session = world.open(Preset::Ask).await;
    let mut watcher = world.join(session, "watcher", Role::Watch, Abilities::default()).await;
    let editor = client("editor", Role::Drive, Abilities::default());
    let (seat, _) = world.engine.join(session, editor, OnLeave::Abort).await.unwrap();
    seat.intend(prompt("go")).await.unwrap();
    seat.intend(queued("later")).await.unwrap();
    // The model has been asked: its first reply is not left for the next turn.
    watcher.until_reply().await;
    drop(seat);
    assert_eq!(watcher.until_done().await, TurnEnd::Cancelled);
    let state = watcher.state().await;
    assert_eq!((state.status(), state.queue.len()), (Status::Idle, 1), "{}", watcher.text());
    // Somebody who can stop it comes.
    let _bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    assert_eq!(watcher.until_done().await, TurnEnd::Done);
    assert!(watcher.state().await.queue.is_empty());
}

#[tokio::test]
async fn one_who_gives_up_while_joining_is_not_left_on_the_session() {
    let world = world().start(TALK).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", Role::Watch, Abilities::default()).await;
    alice.until_event(|_| Some(())).await;
    let ghost = client("ghost", Role::Drive, Abilities::default());
    tokio::select! {
        biased;
        _ = world.engine.join(session, ghost, OnLeave::Keep) => panic!("nobody can have answered yet"),
        () = std::future::ready(()) => {}
    }
    alice
        .until(|told| match told {
            Told::Passing(passing) => matches!(&**passing, Passing::ClientLeft { .. }).then_some(()),
            Told::Event(_) | Told::Reply(_) => None,
        })
        .await;
    assert!(alice.text().ends_with("  ghost joined\n  ghost left"), "{}", alice.text());
    let there = alice.seat.clients().await.unwrap();
    assert_eq!(there.iter().map(|client| client.name.as_str()).collect::<Vec<_>>(), ["alice"]);
}
