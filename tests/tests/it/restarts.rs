//! What outlives the daemon.

use loggia_domain::{ApprovalScope, Intent, Preset, Role, TurnEnd};
use loggia_engine::{Status, Told};

use crate::world_with;

#[tokio::test]
async fn a_turn_that_waits_for_an_answer_waits_across_a_restart() {
    let ask = r#"
        [[reply]]
        parts = [
            { call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } },
            { call = { tool = "run_command", arguments = { command = "cat a.txt" } } },
        ]
    "#;
    let answer = r#"
        [[reply]]
        expect = "new"
        parts = [{ text = "Both done." }]
    "#;
    let world = world_with(&[("a.txt", "old\n")], ask).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    alice.until_asked().await;
    let before = alice.state().await;
    drop(alice);
    let world = world.restart(answer).await;
    let mut bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    let state = bob.state().await;
    assert_eq!(*state, *before);
    assert_eq!(state.status(), Status::Waiting);
    let approval = *state.pending.keys().next().unwrap();
    bob.decide(approval, ApprovalScope::All).await.unwrap();
    // The second call comes to its own question, in another process than the first.
    let second = bob.until_event(|event| match &event.body {
        loggia_domain::EventBody::ApprovalAsked { approval: asked, .. } if *asked != approval => Some(*asked),
        _ => None,
    });
    let second = second.await;
    assert_eq!(world.read("a.txt"), "new\n");
    drop(bob);
    let world = world.restart(answer).await;
    let mut carol = world.join(session, "carol", Role::Drive, Default::default()).await;
    carol.decide(second, ApprovalScope::All).await.unwrap();
    assert_eq!(carol.until_done().await, TurnEnd::Done);
    insta::assert_snapshot!(carol.text());
}

#[tokio::test]
async fn a_turn_cut_in_a_reply_is_closed_and_continued() {
    let begin = r#"
        [[reply]]
        parts = [{ text = "The first half" }, { hang = true }]
    "#;
    let go_on = r#"
        [[reply]]
        expect = "interrupted"
        parts = [{ text = " and the second." }]
    "#;
    let world = world_with(&[], begin).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("tell").await.unwrap();
    alice.until(|told| matches!(told, Told::Reply(_)).then_some(())).await;
    drop(alice);
    let world = world.restart(go_on).await;
    let mut bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    assert_eq!(bob.until_done().await, TurnEnd::Interrupted);
    bob.seat.intend(Intent::Continue).await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    insta::assert_snapshot!(bob.text());
}

#[tokio::test]
async fn undo_works_across_a_restart() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]

        [[reply]]
        parts = [{ text = "Done." }]
    "#;
    let world = world_with(&[("a.txt", "old\n")], script).await;
    let (session, mut alice) = world.play(Preset::AutoEdit).await;
    alice.play("write").await;
    drop(alice);
    let world = world.restart(script).await;
    let bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    bob.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "old\n");
}
