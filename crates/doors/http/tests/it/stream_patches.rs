//! Patches: applied by the server, or by a client that shows and applies them itself.

use loggia_domain::Preset;
use serde_json::{Value, json};

use crate::stream_support::{calls, world};

const EDIT: &str = "{ path = \"a.txt\", old = \"one\", new = \"ONE\", reason = \"louder\" }";

fn hash(content: &str) -> String {
    format!("sha256:{}", loggia_domain::ContentHash::of(content.as_bytes()))
}

fn result(patch: &Value, rest: Value) -> Value {
    let mut result = json!({"type": "client.patch_apply_result", "patch_id": patch, "file_path": "a.txt"});
    result.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    result
}

#[tokio::test]
async fn without_a_client_that_applies_the_server_does() {
    let world = world(&[("a.txt", "one\n")], &calls("edit_file", EDIT)).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("louder").await;
    let asked = client.until("tool.request_approval").await;
    assert_eq!(world.read("a.txt"), "one\n");
    client.approve(&asked["request_id"]).await;
    let last = client.until_done().await;
    assert_eq!(world.read("a.txt"), "ONE\n");
    assert_eq!(last["metadata"]["tools_used"], json!(["propose_diff"]));
    insta::assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_client_that_previews_applies_the_patch_and_reports() {
    let world = world(&[("a.txt", "one\n")], &calls("edit_file", EDIT)).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &["diff_preview"]).await;
    client.prompt("louder").await;
    let asked = client.until("tool.request_approval").await;
    let patch = asked["args"]["patch_id"].clone();
    client.approve(&patch).await;
    loop {
        let message = client.until("tool.execute").await;
        if message["executor"] == "editor" {
            break;
        }
    }
    assert_eq!(world.read("a.txt"), "one\n", "the server does not write");
    std::fs::write(world.root().join("a.txt"), "ONE\n").unwrap();
    client.say(result(&patch, json!({"success": true, "error": null, "applied_hash": hash("ONE\n")}))).await;
    client.until_done().await;
    insta::assert_snapshot!(client.text());
    // It has been reported on; nobody waits any more.
    client.say(result(&patch, json!({"success": true}))).await;
    assert_eq!(client.until_error().await["code"], "UNKNOWN_REQUEST");
}

#[tokio::test]
async fn a_conflict_makes_the_model_read_again() {
    let script = format!(
        "[[reply]]\nparts = [{{ call = {{ tool = \"edit_file\", arguments = {EDIT} }} }}]\n\
         [[reply]]\nexpect = \"Read it again\"\nparts = [{{ call = {{ tool = \"read_file\", arguments = {{ path = \"a.txt\" }} }} }}]\n\
         [[reply]]\nexpect = \"somebody else\"\nparts = [{{ text = \"I see.\" }}]\n"
    );
    for previews in [true, false] {
        let world = world(&[("a.txt", "one\n")], &script).await;
        let session = world.open(Preset::Ask).await;
        let capabilities: &[&str] = if previews { &["diff_preview"] } else { &[] };
        let mut client = world.join(session, "editor", capabilities).await;
        client.prompt("louder").await;
        let asked = client.until("tool.request_approval").await;
        let patch = asked["args"]["patch_id"].clone();
        if !previews {
            std::fs::write(world.root().join("a.txt"), "somebody else's one\n").unwrap();
        }
        client.approve(&patch).await;
        if previews {
            while client.until("tool.execute").await.get("executor").is_none() {}
            std::fs::write(world.root().join("a.txt"), "somebody else's one\n").unwrap();
            let error = json!({"message": "the file has changed", "type": "conflict"});
            client.say(result(&patch, json!({"success": false, "error": error}))).await;
        }
        assert_eq!(client.until_done().await["message"], "I see.", "{}", client.text());
        assert_eq!(world.read("a.txt"), "somebody else's one\n");
        assert!(world.model.is_over());
    }
}

#[tokio::test]
async fn what_the_policy_allows_is_shown_without_a_question() {
    let world = world(&[("a.txt", "one\n")], &calls("edit_file", EDIT)).await;
    let session = world.open(Preset::AutoEdit).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("louder").await;
    let patch = client.until("patch.proposed").await;
    assert_eq!(patch["requires_approval"], false);
    client.until_done().await;
    assert_eq!(world.read("a.txt"), "ONE\n");
    assert!(!client.text().contains("request_approval"), "{}", client.text());
    insta::assert_snapshot!(client.text());
}

#[tokio::test]
async fn another_client_cannot_report_for_the_one_that_was_asked() {
    let world = world(&[("a.txt", "one\n")], &calls("edit_file", EDIT)).await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &["diff_preview"]).await;
    let mut bob = world.join(session, "bob", &["diff_preview"]).await;
    alice.prompt("louder").await;
    let asked = alice.until("tool.request_approval").await;
    let patch = asked["args"]["patch_id"].clone();
    alice.approve(&patch).await;
    loop {
        if bob.until("tool.execute").await["executor"] == "alice" {
            break;
        }
    }
    bob.say(result(&patch, json!({"success": true}))).await;
    assert_eq!(bob.until_error().await["code"], "FORBIDDEN");
    std::fs::write(world.root().join("a.txt"), "ONE\n").unwrap();
    // Once that client has gone, anybody may.
    drop(alice);
    loop {
        bob.say(result(&patch, json!({"success": true}))).await;
        let message = bob.next().await;
        if message["type"] != "server.error" {
            break;
        }
    }
    bob.until("assistant.message_final").await;
}

#[tokio::test]
async fn a_deletion_is_asked_about_as_one() {
    let world = world(&[("a.txt", "one\n")], &calls("delete_file", "{ path = \"a.txt\" }")).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("delete").await;
    let asked = client.until("tool.request_approval").await;
    assert_eq!((&asked["tool_name"], &asked["args"]["file_path"]), (&json!("delete_file"), &json!("a.txt")));
    client.approve(&asked["request_id"]).await;
    client.until_done().await;
    assert!(!world.root().join("a.txt").exists());
}
