//! What models use and say: counted wherever they are asked, and bounded.

use loggia_domain::{Actor, Budget, EventBody, Preset, Role, TurnEnd, TurnFailure};
use loggia_engine::{NewSession, Said};

use crate::world;

/// A long reply, a summary of it that fails once, and what comes after.
const LONG: &str = r#"
    context_tokens = 4000

    [[reply]]
    usage = { input = 1, output = 2, cached = 0, micro_dollars = 3 }
    parts = [{ tokens = { count = 3000, text = "word " } }]

    [[reply]]
    usage = { input = 10, output = 20, cached = 0, micro_dollars = 30 }
    parts = [{ text = "It was about" }, { error = { kind = "transient", message = "lost", retry_after_ms = 1 } }]

    [[reply]]
    usage = { input = 100, output = 200, cached = 0, micro_dollars = 300 }
    parts = [{ text = "It was about words." }]

    [[reply]]
    usage = { input = 1000, output = 2000, cached = 0, micro_dollars = 3000 }
    parts = [{ text = "fine" }]
"#;

#[tokio::test]
async fn what_a_summary_uses_counts_for_its_turn_and_its_session() {
    let world = world().start(LONG).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.play("talk").await;
    alice.prompt("more").await.unwrap();
    let turn = alice
        .until_event(|event| match &event.body {
            EventBody::TurnEnded { usage, .. } => Some(*usage),
            _ => None,
        })
        .await;
    assert!(alice.text().contains("history compacted: It was about words."), "{}", alice.text());
    assert_eq!((turn.input, turn.output), (1100, 2200), "of the failed attempt, nobody said what it used");
    let state = alice.state().await;
    assert_eq!((state.usage.input, state.usage.micro_dollars, state.spent), (1101, Some(3303), 3303));
    drop(alice);
    let world = world.restart("").await;
    assert_eq!(world.engine.state(session).await.unwrap().usage, state.usage, "and after a restart");
}

#[tokio::test]
async fn a_summary_can_use_up_the_budget() {
    let world = world().start(LONG).await;
    let budget = Budget { tokens: None, micro_dollars: Some(300) };
    let new = NewSession { budget, ..NewSession::new(world.workspace.id) };
    let session = world.engine.open_session(new, Actor::Engine).await.unwrap();
    let mut alice = world.join(session, "alice", Role::Drive, Default::default()).await;
    alice.play("talk").await;
    assert_eq!(alice.play("more").await, TurnEnd::BudgetLimit);
    assert_eq!(world.model.requests().len(), 3, "nothing was asked after the summary");
}

#[tokio::test]
async fn a_reply_that_does_not_end_is_stopped_at_two_mebibytes() {
    const LIMIT: usize = 2 << 20;
    let piece = "x".repeat(1 << 10);
    let script = format!("[[reply]]\nparts = [{{ tokens = {{ count = 3000, text = \"{piece}\" }} }}]\n");
    let world = world().start(&script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    let end = alice.play("talk").await;
    let TurnEnd::Failed(TurnFailure::Model { message, retry_helps: false, .. }) = end else {
        panic!("{end:?}")
    };
    assert_eq!(message, format!("the reply is longer than {LIMIT} bytes"));
    let state = alice.state().await;
    let Said::Assistant { message, cut: true } = &state.history.items().last().unwrap().said else {
        panic!("what had arrived is kept")
    };
    assert_eq!(message.text.len(), LIMIT + piece.len(), "no more than a piece too much");
}
