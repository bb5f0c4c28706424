//! Patches: whole, by file, by hunk; conflicts; applied by a client; collected for later.

use loggia_domain::{Abilities, ApprovalScope, EventBody, Intent, PatchReport, Preset, Role, TurnEnd};
use loggia_tests::preview;
use loggia_tests::scripts::{TWO_FILES, TWO_HUNKS, proposes, proposes_for, says, twenty_lines};

use crate::world_with;

#[tokio::test]
async fn single_hunks_are_accepted_and_the_model_hears_what_was_refused() {
    let then = "[[reply]]\nexpect = \"+LINE 1\"\nparts = [{ text = \"Only the end, then.\" }]\n";
    let script = proposes(TWO_HUNKS) + then;
    let world = world_with(&[("a.txt", &twenty_lines())], &script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("shout").await.unwrap();
    let approval = alice.until_asked().await;
    let patch = *alice.state().await.proposed.keys().next().unwrap();
    alice.decide(approval, ApprovalScope::Hunks(vec![(patch, vec![1])])).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), twenty_lines().replace("line 20", "LINE 20"));
    insta::assert_snapshot!(alice.text());
}

/// Changes two files and makes a third.
fn three_files() -> String {
    let diff = format!("{TWO_FILES}--- /dev/null\n+++ b/c/new.txt\n@@ -0,0 +1 @@\n+three\n");
    proposes_for(&diff, "louder") + &says("Done.")
}

#[tokio::test]
async fn files_of_one_call_are_accepted_one_by_one() {
    let world = world_with(&[("a.txt", "one\n"), ("b.txt", "two\n")], &three_files()).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("louder").await.unwrap();
    let approval = alice.until_asked().await;
    let state = alice.state().await;
    let wanted: Vec<_> =
        state.proposed.values().filter(|patch| patch.path != "b.txt").map(|patch| patch.id).collect();
    alice.decide(approval, ApprovalScope::Patches(wanted)).await.unwrap();
    alice.until_done().await;
    assert_eq!((world.read("a.txt"), world.read("b.txt")), ("ONE\n".to_owned(), "two\n".to_owned()));
    assert_eq!(world.read("c/new.txt"), "three\n");
    insta::assert_snapshot!(alice.text());
}

#[tokio::test]
async fn a_file_that_changed_meanwhile_is_left_alone_and_so_are_the_others() {
    let world = world_with(&[("a.txt", "one\n"), ("b.txt", "two\n")], &three_files()).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("louder").await.unwrap();
    let approval = alice.until_asked().await;
    std::fs::write(world.root().join("b.txt"), "somebody else's\n").unwrap();
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(
        (world.read("a.txt"), world.read("b.txt")),
        ("one\n".to_owned(), "somebody else's\n".to_owned())
    );
    assert!(!world.root().join("c").exists());
    insta::assert_snapshot!(alice.text());
}

#[tokio::test]
async fn a_client_that_can_applies_the_patch_itself_and_reports() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "edit_file", arguments = { path = "a.txt", old = "one", new = "ONE" } } }]

        [[reply]]
        parts = [{ text = "Done." }]
    "#;
    let world = world_with(&[("a.txt", "one\n")], script).await;
    let session = world.open(Preset::Ask).await;
    let abilities = Abilities { applies_patches: true, ..Abilities::default() };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    alice.prompt("louder").await.unwrap();
    let approval = alice.until_asked().await;
    let patch = *alice.state().await.proposed.keys().next().unwrap();
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    alice.until_event(|event| matches!(event.body, EventBody::ToolStarted { .. }).then_some(())).await;
    assert_eq!(world.read("a.txt"), "one\n", "the server does not write");
    std::fs::write(world.root().join("a.txt"), "ONE\n").unwrap();
    let report = PatchReport::Applied { hash: None };
    alice.seat.intend(Intent::ReportPatch { patch, report }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    insta::assert_snapshot!(alice.text());
    // What a client wrote is undone like everything else.
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "one\n");
}

#[tokio::test]
async fn a_client_that_says_so_without_having_done_it_is_not_believed() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "edit_file", arguments = { path = "a.txt", old = "one", new = "ONE" } } }]

        [[reply]]
        expect = "changed since"
        parts = [{ text = "Hm." }]
    "#;
    let world = world_with(&[("a.txt", "one\n")], script).await;
    let session = world.open(Preset::Full).await;
    let abilities = Abilities { applies_patches: true, ..Abilities::default() };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    alice.prompt("louder").await.unwrap();
    alice.until_event(|event| matches!(event.body, EventBody::ToolStarted { .. }).then_some(())).await;
    let patch = *alice.state().await.proposed.keys().next().unwrap();
    let report = PatchReport::Applied { hash: None };
    alice.seat.intend(Intent::ReportPatch { patch, report }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert!(alice.text().contains("patch#1 dropped: conflict"), "{}", alice.text());
}

const COLLECT: &str = r#"
    [[reply]]
    parts = [
        { call = { tool = "edit_file", arguments = { path = "a.txt", old = "one", new = "ONE" } } },
        { call = { tool = "write_file", arguments = { path = "b.txt", content = "two\n" } } },
    ]

    [[reply]]
    expect = "Collected"
    parts = [{ call = { tool = "read_file", arguments = { path = "a.txt" } } }]

    [[reply]]
    expect = "ONE"
    parts = [{ call = { tool = "edit_file", arguments = { path = "a.txt", old = "ONE", new = "One" } } }]

    [[reply]]
    parts = [{ text = "All collected." }]

    [[reply]]
    expect = "was refused"
    parts = [{ text = "Fine." }]
"#;

#[tokio::test]
async fn changes_are_collected_now_and_decided_later() {
    let world = world_with(&[("a.txt", "one\n")], COLLECT).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(preview("louder")).await.unwrap();
    let approval = alice.until_asked().await;
    assert_eq!(world.read("a.txt"), "one\n");
    assert!(!world.root().join("b.txt").exists());
    let state = alice.state().await;
    let a = state.proposed.values().find(|patch| patch.path == "a.txt").unwrap().id;
    alice.decide(approval, ApprovalScope::Patches(vec![a])).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "One\n");
    assert!(!world.root().join("b.txt").exists());
    insta::assert_snapshot!(alice.text());
    alice.play("and now?").await;
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "one\n");
}
