//! Changes that are shown before they are written.

use insta::assert_snapshot;
use loggia_rpc::Launch;
use serde_json::{Value, json};

use crate::support::{Client, builder};

/// Changes one file twice, makes another, and looks at what it has done.
const CHANGES: &str = r#"
    [[reply]]
    parts = [
        { call = { tool = "edit_file", arguments = { path = "notes.txt", old = "two", new = "TWO" } } },
        { call = { tool = "write_file", arguments = { path = "new.txt", content = "hello\n" } } },
    ]
    [[reply]]
    parts = [{ call = { tool = "edit_file", arguments = { path = "notes.txt", old = "TWO", new = "2" } } }]
    [[reply]]
    parts = [{ text = "Have a look." }]
    [[reply]]
    parts = [{ text = "Next." }]
"#;

async fn offered() -> (loggia_tests::World, Client, Value) {
    let world = builder().file("notes.txt", "one\ntwo\nthree\n").start(CHANGES).await;
    let launch = Launch { preview: true, ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    client.text();
    client.call("prompt", json!({"message": "Change things"})).await;
    let batch = client.until("changesBatchEnd").await["batchId"].clone();
    client.until("ping").await;
    (world, client, batch)
}

#[tokio::test]
async fn a_batch_that_is_accepted_whole() {
    let (world, mut client, batch) = offered().await;
    assert_eq!(world.read("notes.txt"), "one\ntwo\nthree\n");
    client.call("getState", json!({})).await;
    client.call("changesDecision", json!({"batchId": batch, "action": "accept_all"})).await;
    client.until("hook.fileModified").await;
    client.until("hook.fileModified").await;
    client.call("changesDecision", json!({"batchId": batch, "action": "accept_all"})).await;
    assert_snapshot!(client.text());
    assert_eq!(world.read("notes.txt"), "one\n2\nthree\n");
    assert_eq!(world.read("new.txt"), "hello\n");
}

/// Changes a file and then says nothing for ever.
const CHANGE_AND_HANG: &str = r#"
    [[reply]]
    parts = [{ call = { tool = "write_file", arguments = { path = "new.txt", content = "hello\n" } } }]
    [[reply]]
    parts = [{ text = "So far" }, { hang = true }]
"#;

/// Whatever ends a turn ends its collection first, and nothing of it is written.
#[tokio::test]
async fn a_turn_that_is_cut_closes_its_batch_first() {
    for leaves in [false, true] {
        let world = builder().start(CHANGE_AND_HANG).await;
        let launch = Launch { preview: true, ..Launch::new(world.root()) };
        let mut client = Client::launch(&world, launch).await;
        client.call("prompt", json!({"message": "Change things"})).await;
        client.until("changesBatchUpdate").await;
        client.until("messageUpdate").await;
        client.text();
        let last = if leaves {
            client.close().await;
            assert_eq!(client.until_over().await.code, 0);
            "agentEnd"
        } else {
            assert_eq!(client.call("abort", json!({})).await, json!({"success": true}));
            client.until("ping").await;
            "turnEnd"
        };
        let told = client.text();
        let place = |word: &str| told.find(word).unwrap_or_else(|| panic!("no {word}: {told}"));
        assert!(place("changesBatchEnd") < place("turnEnd"), "{told}");
        assert!(place("turnEnd") <= place(last), "{told}");
        assert!(!world.root().join("new.txt").exists());
    }
}

#[tokio::test]
async fn a_batch_of_which_some_is_accepted() {
    let (world, mut client, batch) = offered().await;
    client.text();
    let change = format!("change_{}_2", batch.as_str().unwrap());
    let decision = json!({
        "batchId": batch, "action": "accept_selected", "selectedChangeIds": [change, "change_of_nobody"],
    });
    client.call("changesDecision", decision).await;
    client.until("hook.fileModified").await;
    assert_snapshot!(client.text());
    assert_eq!(world.read("notes.txt"), "one\ntwo\nthree\n");
    assert_eq!(world.read("new.txt"), "hello\n");
}

#[tokio::test]
async fn a_batch_that_is_rejected() {
    let (world, mut client, batch) = offered().await;
    let answer = client.call("changesDecision", json!({"batchId": batch, "action": "reject_all"})).await;
    assert_eq!(answer, json!({"success": true, "appliedCount": 0, "skippedCount": 2}));
    assert_eq!(world.read("notes.txt"), "one\ntwo\nthree\n");
    assert!(!world.root().join("new.txt").exists());
}

#[tokio::test]
async fn some_hunks_of_a_change_can_be_accepted() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "apply_patch", arguments = { diff = """
--- a/long.txt
+++ b/long.txt
@@ -1,2 +1,2 @@
-line 1
+LINE 1
 line 2
@@ -19,2 +19,2 @@
 line 19
-line 20
+LINE 20
""" } } }]
        [[reply]]
        parts = [{ text = "Two places." }]
    "#;
    let text: String = (1..=20).map(|number| format!("line {number}\n")).collect();
    let world = builder().file("long.txt", text.clone()).start(script).await;
    let launch = Launch { preview: true, ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    client.call("prompt", json!({"message": "Shout"})).await;
    let change = client.until("changesBatchUpdate").await["change"].clone();
    assert_eq!(change["originalContent"], text);
    assert_eq!(change["proposedContent"], text.replace("line 1\n", "LINE 1\n").replace("line 20", "LINE 20"));
    let batch = client.until("changesBatchEnd").await["batchId"].clone();
    client.until("ping").await;
    let hunks = json!([{"changeId": change["id"], "hunks": [1]}]);
    let decision = json!({"batchId": batch, "action": "accept_selected", "selectedHunks": hunks});
    let answer = client.call("changesDecision", decision).await;
    assert_eq!(answer, json!({"success": true, "appliedCount": 1, "skippedCount": 0}));
    assert_eq!(world.read("long.txt"), text.replace("line 20", "LINE 20"));
}

#[tokio::test]
async fn a_file_that_changed_meanwhile_keeps_no_other_change_out() {
    let (world, mut client, batch) = offered().await;
    client.text();
    std::fs::write(world.root().join("notes.txt"), "something else\n").unwrap();
    client.call("changesDecision", json!({"batchId": batch, "action": "accept_all"})).await;
    client.until("hook.fileModified").await;
    assert_snapshot!(client.text());
    assert_eq!(world.read("notes.txt"), "something else\n");
    assert_eq!(world.read("new.txt"), "hello\n");
    client.turn("/undo").await;
    assert!(!world.root().join("new.txt").exists());
}

#[tokio::test]
async fn the_next_prompt_drops_what_was_not_decided() {
    let (world, mut client, batch) = offered().await;
    client.text();
    client.turn("Something else").await;
    client.call("changesDecision", json!({"batchId": batch, "action": "accept_all"})).await;
    assert_snapshot!(client.text());
    assert_eq!(world.read("notes.txt"), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn preview_is_switched_by_a_call() {
    let world = builder().start("[[reply]]\nrepeat = 2\nparts = [{ text = \"Nothing to do.\" }]").await;
    let mut client = Client::start(&world).await;
    client
        .call(
            "applyFlagSettings",
            json!({"settings": {"previewMode": true, "features": {"slashGoal": true}}}),
        )
        .await;
    client.turn("With").await;
    client.call("applyFlagSettings", json!({"settings": {"previewMode": false}})).await;
    client.turn("Without").await;
    client.call("applyFlagSettings", json!({"settings": {"previewMode": "yes"}})).await;
    client.call("applyFlagSettings", json!({"settings": 1})).await;
    assert_snapshot!(client.text());
}
