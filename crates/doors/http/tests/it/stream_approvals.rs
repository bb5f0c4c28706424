//! Questions and answers: from any client, the first one counts.

use loggia_domain::Preset;
use serde_json::json;

use crate::stream_support::{World, calls, world};

const TWO_HUNKS: &str = r#"
    [[reply]]
    parts = [{ call = { tool = "apply_patch", arguments = { diff = """
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
-line 1
+LINE 1
 line 2
 line 3
@@ -18,3 +18,3 @@
 line 18
 line 19
-line 20
+LINE 20
""" } } }]

    [[reply]]
    parts = [{ text = "I see." }]
"#;

const TWO_FILES: &str = r#"
    [[reply]]
    parts = [{ call = { tool = "apply_patch", arguments = { diff = """
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-one
+ONE
--- a/b.txt
+++ b/b.txt
@@ -1 +1 @@
-two
+TWO
""", reason = "louder" } } }]

    [[reply]]
    parts = [{ text = "I see." }]
"#;

fn lines() -> String {
    (1..=20).map(|number| format!("line {number}\n")).collect()
}

async fn write_world() -> World {
    let script = calls("write_file", "{ path = \"a.txt\", content = \"new\\n\", reason = \"asked for\" }");
    world(&[("a.txt", "old\n")], &script).await
}

/// The last result the model was told.
fn told(world: &World) -> String {
    use loggia_domain::ModelMessage;
    let request = world.model.requests().pop().unwrap();
    let result = request.messages.iter().rev().find_map(|message| match message {
        ModelMessage::ToolResult { output, .. } => Some(output.clone()),
        _ => None,
    });
    result.unwrap()
}

#[tokio::test]
async fn the_first_of_two_answers_counts_and_the_second_hears_whose_it_was() {
    let world = write_world().await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    let mut bob = world.join(session, "bob", &[]).await;
    alice.prompt("write").await;
    let asked = alice.until("tool.request_approval").await;
    assert_eq!(bob.until("tool.request_approval").await, asked);
    bob.approve(&asked["request_id"]).await;
    // The state changes for everybody once it is decided.
    alice.until("session.state").await;
    let answer =
        json!({"type": "client.approval_response", "request_id": asked["request_id"], "approved": false});
    alice.say(answer.clone()).await;
    let error = alice.until_error().await;
    assert_eq!(error["code"], "ALREADY_DECIDED");
    assert_eq!(error["details"], json!({"decided_by": "bob", "approved": true}));
    alice.until_done().await;
    assert_eq!(world.read("a.txt"), "new\n");
    // By the patch's name it is as late.
    let late = json!({"type": "client.approval_response", "request_id": asked["args"]["patch_id"], "approved": false});
    alice.say(late).await;
    assert_eq!(alice.until_error().await["code"], "ALREADY_DECIDED");
}

#[tokio::test]
async fn two_answers_at_once_have_one_winner() {
    let world = write_world().await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    let mut bob = world.join(session, "bob", &[]).await;
    alice.prompt("write").await;
    let asked = alice.until("tool.request_approval").await;
    bob.until("tool.request_approval").await;
    tokio::join!(alice.approve(&asked["request_id"]), bob.approve(&asked["request_id"]));
    // What each says next is answered after its decision was.
    for client in [&mut alice, &mut bob] {
        client.until_done().await;
        client.say(json!({"type": "client.cancel"})).await;
        while client.until_error().await["code"] != "UNKNOWN_REQUEST" {}
    }
    let errors = [&alice, &bob].map(|client| client.text().matches("ALREADY_DECIDED").count());
    assert_eq!(errors[0] + errors[1], 1);
}

#[tokio::test]
async fn a_question_outlives_the_one_who_prompted_and_a_restart() {
    let world = write_world().await;
    let session = world.open(Preset::Ask).await;
    let mut alice = world.join(session, "alice", &[]).await;
    alice.prompt("write").await;
    let asked = alice.until("tool.request_approval").await;
    let first = alice.transcript.numbered.clone();
    drop(alice);
    let world = world.restart("[[reply]]\nparts = [{ text = \"Done.\" }]\n").await;
    let mut bob = world.join(session, "bob", &[]).await;
    let patch = bob.next().await;
    let again = bob.next().await;
    assert_eq!(again, asked, "in full, with its number");
    assert!(first.contains(&patch), "{patch}");
    bob.approve(&asked["request_id"]).await;
    assert_eq!(bob.until_done().await["message"], "Done.");
    assert_eq!(world.read("a.txt"), "new\n");
}

#[tokio::test]
async fn one_hunk_is_taken_and_the_model_hears_which_were_not() {
    let world = world(&[("a.txt", &lines())], TWO_HUNKS).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("shout").await;
    let patch = client.until("patch.proposed").await;
    assert_eq!(patch["hunks"].as_array().unwrap().len(), 2);
    let asked = client.until("tool.request_approval").await;
    let answer = |rest: serde_json::Value| {
        let mut answer =
            json!({"type": "client.approval_response", "request_id": asked["request_id"], "approved": true});
        answer.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        answer
    };
    client.say(answer(json!({"scope": "hunk", "file_path": "a.txt", "hunk_index": 2}))).await;
    let error = client.until_error().await;
    assert_eq!(
        error["details"],
        json!({"pointer": "/hunk_index", "expected": "a number below 2, counted from 0"})
    );
    client.say(answer(json!({"scope": "hunk", "file_path": "z.txt", "hunk_index": 1}))).await;
    let error = client.until_error().await;
    assert_eq!(
        error["details"],
        json!({"pointer": "/file_path", "expected": "a file of the question: `a.txt`"})
    );
    client.say(answer(json!({"scope": "hunk", "file_path": "a.txt", "hunk_index": 1}))).await;
    client.until_done().await;
    assert_eq!(world.read("a.txt"), lines().replace("line 20", "LINE 20"));
    assert!(told(&world).contains("+LINE 1"), "{}", told(&world));
    insta::assert_snapshot!(client.text());
}

#[tokio::test]
async fn one_file_of_several_is_taken_by_scope_or_by_the_patchs_name() {
    for by_name in [false, true] {
        let world = world(&[("a.txt", "one\n"), ("b.txt", "two\n")], TWO_FILES).await;
        let session = world.open(Preset::Ask).await;
        let mut client = world.join(session, "editor", &[]).await;
        client.prompt("louder").await;
        let asked = client.until("tool.request_approval").await;
        let answer = match by_name {
            true => {
                let patch = &asked["args"]["patch_ids"][1];
                json!({"type": "client.approval_response", "request_id": patch, "approved": true})
            }
            false => {
                let id = &asked["request_id"];
                json!({"type": "client.approval_response", "request_id": id, "approved": true,
                       "scope": "file", "file_path": "b.txt"})
            }
        };
        client.say(answer).await;
        client.until_done().await;
        assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("one\n", "TWO\n"));
        assert!(told(&world).contains("`a.txt` was refused"), "{}", told(&world));
    }
}

#[tokio::test]
async fn everything_at_once_is_taken_with_the_scope_all() {
    let world = world(&[("a.txt", "one\n"), ("b.txt", "two\n")], TWO_FILES).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("louder").await;
    let asked = client.until("tool.request_approval").await;
    let patch = &asked["args"]["patch_id"];
    client
        .say(json!({"type": "client.approval_response", "request_id": patch, "approved": true, "scope": "all"}))
        .await;
    let last = client.until_done().await;
    assert_eq!(last["metadata"]["files_modified"], 2);
    assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("ONE\n", "TWO\n"));
    insta::assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_no_to_a_part_writes_nothing_and_says_which_part() {
    let world = world(&[("a.txt", "one\n"), ("b.txt", "two\n")], TWO_FILES).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("louder").await;
    let asked = client.until("tool.request_approval").await;
    let id = &asked["request_id"];
    client
        .say(json!({"type": "client.approval_response", "request_id": id, "approved": false,
                    "scope": "file", "file_path": "b.txt"}))
        .await;
    client.until_done().await;
    assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("one\n", "two\n"));
    assert!(told(&world).contains("the change to `b.txt` is not wanted"), "{}", told(&world));
}

#[tokio::test]
async fn an_answer_is_remembered_as_long_as_it_says() {
    let script =
        [calls("run_command", "{ command = \"say hi\" }"), calls("run_command", "{ command = \"say hi\" }")];
    let world = world(&[], &script.concat()).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("run").await;
    let asked = client.until("command.request_approval").await;
    let id = &asked["command_id"];
    client
        .say(json!({"type": "client.approval_response", "request_id": id, "approved": true, "remember": "session"}))
        .await;
    client.until_done().await;
    client.prompt("again").await;
    client.until_done().await;
    assert_eq!(client.text().matches("command.request_approval").count(), 1, "{}", client.text());
}

#[tokio::test]
async fn a_no_with_a_word_tells_the_model_why() {
    let world = write_world().await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.prompt("write").await;
    let asked = client.until("tool.request_approval").await;
    client
        .say(json!({"type": "client.approval_response", "request_id": asked["request_id"], "approved": false,
                    "comment": "append to it instead"}))
        .await;
    client.until_done().await;
    assert!(told(&world).contains("append to it instead"), "{}", told(&world));
    assert_eq!(world.read("a.txt"), "old\n");
}
