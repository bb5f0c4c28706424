//! Patches a client was given to apply when its turn ends before it reports.

use loggia_domain::{Abilities, EventBody, Intent, Preset, Role, TurnEnd};
use loggia_engine::IntentError;
use loggia_tests::scripts::{TWO_FILES, proposes_for, says};
use loggia_tests::{Player, World};

use crate::world_with;

/// A turn whose client was told to apply three patches.
async fn handed_out() -> (World, Player) {
    let files = [("a.txt", "one\n"), ("b.txt", "two\n"), ("c.txt", "three\n")];
    let diff = format!("{TWO_FILES}--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-three\n+THREE\n");
    let script = proposes_for(&diff, "louder") + &says("I see.");
    let world = world_with(&files, &script).await;
    let session = world.open(Preset::Full).await;
    let abilities = Abilities { applies_patches: true, ..Abilities::default() };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    alice.prompt("louder").await.unwrap();
    alice.until_event(|event| matches!(event.body, EventBody::ToolStarted { .. }).then_some(())).await;
    (world, alice)
}

fn write(world: &World, path: &str, text: &str) {
    std::fs::write(world.root().join(path), text).unwrap();
}

#[tokio::test]
async fn what_a_client_wrote_before_a_cancel_is_undone() {
    let (world, mut alice) = handed_out().await;
    write(&world, "a.txt", "ONE\n");
    write(&world, "b.txt", "something else\n");
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    let text = alice.text();
    for line in ["patch#1 applied by a client", "patch#2 dropped: conflict", "patch#3 dropped: withdrawn"] {
        assert!(text.contains(line), "`{line}` is missing in\n{text}");
    }
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "one\n");
    assert_eq!((world.read("b.txt"), world.read("c.txt")), ("something else\n".into(), "three\n".into()));
}

#[tokio::test]
async fn a_model_that_goes_on_knows_what_the_client_wrote() {
    let (world, mut alice) = handed_out().await;
    write(&world, "a.txt", "ONE\n");
    write(&world, "b.txt", "something else\n");
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    alice.until_done().await;
    alice.seat.intend(Intent::Continue).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    let told = format!("{:?}", world.model.requests().last().unwrap().messages);
    assert!(told.contains("Changed as wanted: `a.txt`. Other files of it changed in another way"), "{told}");
}

#[tokio::test]
async fn nothing_can_be_undone_if_the_client_wrote_nothing() {
    let (world, mut alice) = handed_out().await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    alice.until_done().await;
    let nothing = alice.seat.intend(Intent::Undo { steps: 1 }).await;
    assert!(matches!(nothing, Err(IntentError::NothingToUndo { available: 0 })), "{nothing:?}");
    assert_eq!(alice.text().matches("dropped: withdrawn").count(), 3, "{}", alice.text());
    assert_eq!(world.read("a.txt"), "one\n");
}

#[tokio::test]
async fn what_a_client_wrote_before_the_engine_stopped_is_undone() {
    let (world, alice) = handed_out().await;
    let session = alice.seat.session();
    write(&world, "a.txt", "ONE\n");
    drop(alice);
    let world = world.restart("").await;
    let bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    bob.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "one\n");
}
