//! What the runs have found, each as short as it got: every one of these once failed.

use loggia_domain::{
    Abilities, ApprovalScope, Intent, JsonText, ModelMessage, PatchReport, Preset, Role, TurnEnd,
};
use loggia_engine::{IntentError, Said};
use loggia_tests::preview;

use crate::world_with;

/// One turn that writes a file.
const WRITE: &str = r#"
    [[reply]]
    parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]

    [[reply]]
    repeat = true
    parts = [{ text = "Done." }]
"#;

/// A turn that meant to change something and could not is no step to undo: its conversation stays.
#[tokio::test]
async fn a_turn_that_changed_nothing_is_not_undone() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let session = world.open(Preset::Full).await;
    let abilities = Abilities { applies_patches: true, ..Abilities::default() };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    alice.prompt("write").await.unwrap();
    alice.until_started().await;
    let patch = *alice.state().await.proposed.keys().next().unwrap();
    alice.seat.intend(Intent::ReportPatch { patch, report: PatchReport::Conflict }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    // The files were kept before the change that did not come.
    assert!(alice.text().contains("checkpoint#1 taken"), "{}", alice.text());
    assert!(alice.state().await.undo.done().is_empty());
    let refused = alice.seat.intend(Intent::Undo { steps: 1 }).await;
    assert!(matches!(refused, Err(IntentError::NothingToUndo { available: 0 })), "{refused:?}");
}

/// Changes that are collected and approved before the turn looks are made.
#[tokio::test]
async fn a_collection_that_is_approved_at_once_is_applied() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let session = world.open(Preset::Ask).await;
    let abilities = Abilities { auto_approves: true, ..Abilities::default() };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    alice.seat.intend(preview("write")).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "new\n");
}

/// What is said while a call waits comes after the call's result: no provider takes it in between.
#[tokio::test]
async fn nothing_comes_between_a_call_and_its_result() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    let context = JsonText("{}".to_owned());
    alice.seat.intend(Intent::UpdateContext { context }).await.unwrap();
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    let requests = world.model.requests();
    let messages = &requests.last().unwrap().messages;
    let call = messages.iter().position(|message| matches!(message, ModelMessage::Assistant { .. })).unwrap();
    assert!(matches!(messages[call + 1], ModelMessage::ToolResult { .. }), "{messages:#?}");
    assert!(matches!(messages[call + 2], ModelMessage::User(_)), "{messages:#?}");
}

/// Undoing goes back to what was said before the turn, also when a summary stands for it by now.
#[tokio::test]
async fn undoing_goes_back_to_before_a_summary() {
    let script = r#"
        [[reply]]
        parts = [{ text = "Hello." }]

        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]

        [[reply]]
        parts = [{ text = "Written." }]

        [[reply]]
        parts = [{ error = { kind = "too_long", message = "too much" } }]

        [[reply]]
        parts = [{ text = "They talked and wrote." }]

        [[reply]]
        parts = [{ text = "Still here." }]
    "#;
    let world = world_with(&[("a.txt", "old\n")], script).await;
    let (_, mut alice) = world.play(Preset::AutoEdit).await;
    alice.play("hello").await;
    let before = alice.state().await.history.clone();
    alice.play("write").await;
    alice.play("too long").await;
    let summary = |item: &std::sync::Arc<loggia_engine::HistoryItem>| matches!(item.said, Said::Summary(_));
    assert!(alice.state().await.history.items().iter().any(summary));
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(alice.state().await.history.items(), before.items());
}
