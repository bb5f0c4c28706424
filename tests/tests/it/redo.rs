//! Redo: what was said comes back where it was.

use loggia_domain::{Intent, JsonText, ModelMessage, Preset, Seq};
use loggia_tests::{Player, World};

use crate::world_with;

const WRITES: &str = r#"
    [[reply]]
    parts = [{ call = { tool = "write_file", arguments = { path = "a", content = "1" } } }]
    [[reply]]
    parts = [{ text = "one" }]
    [[reply]]
    parts = [{ call = { tool = "write_file", arguments = { path = "a", content = "2" } } }]
    [[reply]]
    parts = [{ text = "two" }]
    [[reply]]
    parts = [{ text = "three" }]
"#;

async fn tell(alice: &Player, context: &str) {
    let context = JsonText(format!("\"{context}\""));
    alice.seat.intend(Intent::UpdateContext { context }).await.unwrap();
}

async fn seqs(alice: &Player) -> Vec<Seq> {
    alice.state().await.history.items().iter().map(|item| item.seq).collect()
}

fn said(world: &World) -> Vec<String> {
    let requests = world.model.requests();
    let text = |message: &ModelMessage| match message {
        ModelMessage::User(text) => Some(text.lines().next().unwrap_or_default().to_owned()),
        ModelMessage::Assistant { text, .. } => Some(text.clone()).filter(|text| !text.is_empty()),
        _ => None,
    };
    requests.last().unwrap().messages.iter().filter_map(text).collect()
}

#[tokio::test]
async fn what_a_client_told_after_an_undo_stays_behind_what_comes_back() {
    let world = world_with(&[("a", "0")], WRITES).await;
    let (_, mut alice) = world.play(Preset::AutoEdit).await;
    alice.play("first").await;
    alice.play("second").await;
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    tell(&alice, "a file was opened").await;
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    tell(&alice, "another file was opened").await;
    for _ in 0..2 {
        alice.seat.intend(Intent::Redo { steps: 1 }).await.unwrap();
        assert!(seqs(&alice).await.is_sorted(), "{:?}", seqs(&alice).await);
    }
    assert_eq!(world.read("a"), "2");
    alice.play("third").await;
    let changed = "The client's surroundings changed.";
    assert_eq!(said(&world), ["first", "one", "second", "two", changed, changed, "third"]);
}
