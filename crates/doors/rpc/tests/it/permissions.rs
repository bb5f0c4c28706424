//! Questions: asked, answered, left unanswered.

use std::time::Duration;

use insta::assert_snapshot;
use loggia_rpc::{Launch, PermissionTimers};
use serde_json::json;

use crate::support::{Client, world};

/// Writes a file, then says that it did.
pub(crate) const WRITE: &str = r#"
    [[reply]]
    parts = [
        { text = "Writing. " },
        { call = { tool = "write_file", arguments = { path = "new.txt", content = "hello\n" } } },
    ]
    [[reply]]
    parts = [{ text = "Done." }]
"#;

const RUN: &str = r#"
    [[reply]]
    parts = [{ call = { tool = "run_command", arguments = { command = "rm -r build", reason = "It is old." } } }]
    [[reply]]
    parts = [{ text = "As you like." }]
"#;

#[tokio::test]
async fn a_call_that_is_allowed() {
    let world = world(WRITE).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Write"})).await;
    let id = client.until("permissionRequest").await["requestId"].clone();
    client.call("getState", json!({})).await;
    client.call("permissionAcknowledged", json!({"requestId": id})).await;
    client.call("permissionResponse", json!({"requestId": id, "allowed": true})).await;
    client.until("ping").await;
    client.call("permissionResponse", json!({"requestId": id, "allowed": false})).await;
    assert_snapshot!(client.text());
    assert_eq!(world.read("new.txt"), "hello\n");
}

#[tokio::test]
async fn a_call_that_is_denied_is_not_told_as_started() {
    let world = world(RUN).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Clean up"})).await;
    let id = client.until("permissionRequest").await["requestId"].clone();
    client.call("permissionResponse", json!({"requestId": id, "decision": "deny_once"})).await;
    client.until("ping").await;
    assert_snapshot!(client.text());
}

/// Another command is judged like any other; here it is one that no policy allows, since nothing runs in this world.
#[tokio::test]
async fn an_alternative_that_the_policy_denies_is_denied() {
    let world = world(&RUN.replace(
        "[[reply]]\n    parts = [{ text",
        "[[reply]]\n    expect = \"sudo rm\"\n    parts = [{ text",
    ))
    .await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Clean up"})).await;
    let id = client.until("permissionRequest").await["requestId"].clone();
    let answer = json!({"requestId": id, "decision": "alternative", "alternative": "sudo rm -r build"});
    assert_eq!(client.call("permissionResponse", answer).await, json!({"success": true}));
    client.until("ping").await;
    assert_snapshot!(client.text());
}

/// Another path: that file is written, and what is told of the call is what it became.
#[tokio::test]
async fn an_alternative_is_done_instead() {
    let world = world(&WRITE.replace(
        "[[reply]]\n    parts = [{ text",
        "[[reply]]\n    expect = \"other.txt\"\n    parts = [{ text",
    ))
    .await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Write"})).await;
    let id = client.until("permissionRequest").await["requestId"].clone();
    // Clients may write a path in full.
    let full = world.root().join("other.txt").display().to_string();
    let answer = json!({"requestId": id, "decision": "alternative", "alternative": full});
    client.call("permissionResponse", answer).await;
    client.until("ping").await;
    assert_snapshot!(client.text());
    assert_eq!(world.read("other.txt"), "hello\n");
    assert!(!world.root().join("new.txt").exists());
}

/// What cannot be replaced is not on offer, and whoever tries is told why. The question stays open.
#[tokio::test]
async fn an_alternative_to_what_is_no_command_and_no_path_is_not_taken() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "apply_patch", arguments = { diff = """
--- a/notes.txt
+++ b/notes.txt
@@ -1,2 +1,2 @@
-one
+ONE
 two
""" } } }]
        [[reply]]
        parts = [{ text = "Done." }]
    "#;
    let world = world(script).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Shout"})).await;
    let request = client.until("permissionRequest").await;
    assert!(!request["options"].to_string().contains("alternative"), "{request}");
    let answer =
        json!({"requestId": request["requestId"], "decision": "alternative", "alternative": "x.txt"});
    let refused = client.call("permissionResponse", answer).await;
    assert_eq!(refused["success"], false);
    assert!(refused["error"].as_str().unwrap().contains("allow or deny it"), "{refused}");
    let empty = json!({"requestId": request["requestId"], "decision": "alternative", "alternative": ""});
    assert_eq!(client.call("permissionResponse", empty).await["code"], -32602);
    let allowed = json!({"requestId": request["requestId"], "allowed": true});
    assert_eq!(client.call("permissionResponse", allowed).await, json!({"success": true}));
    client.until("ping").await;
    assert_eq!(world.read("notes.txt"), "ONE\ntwo\nthree\n");
}

/// What the tool does not understand leaves the question open.
#[tokio::test]
async fn an_alternative_that_is_no_command_is_told_as_such() {
    let world = world(RUN).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Clean up"})).await;
    let id = client.until("permissionRequest").await["requestId"].clone();
    let answer = json!({"requestId": id, "decision": "alternative", "alternative": "  "});
    let refused = client.call("permissionResponse", answer).await;
    assert_eq!(client.call("getState", json!({})).await["status"], "waiting_permission", "{refused}");
    assert!(refused["success"] == false && refused["error"].is_string(), "{refused}");
}

#[tokio::test]
async fn only_what_can_be_remembered_is_on_offer() {
    let offered = async |command: &str| {
        let world = world(&RUN.replace("rm -r build", command)).await;
        let mut client = Client::start(&world).await;
        client.call("prompt", json!({"message": "Clean up"})).await;
        client.until("permissionRequest").await["options"].clone()
    };
    let all = offered("rm -r build").await;
    assert_eq!(all.as_array().unwrap().len(), 9, "{all}");
    assert_eq!(offered("ls *.rs").await, json!(["allow_once", "deny_once", "alternative"]));
    // No rule says "these, but only together".
    let together = offered("make && make install").await;
    assert_eq!(together, json!(["allow_once", "deny_once", "alternative"]));
    // Of a command and the file it is redirected to only a yes can be said in rules.
    let redirected = offered("make > log").await;
    assert!(!redirected.to_string().contains("deny_session"), "{redirected}");
    assert!(redirected.to_string().contains("allow_session"), "{redirected}");
}

/// What cannot be remembered holds once, and the answer says so.
#[tokio::test]
async fn an_answer_that_cannot_be_remembered_is_told_as_one_for_once() {
    for (command, decision, answer) in [
        ("ls -la; echo done", "allow_session", json!({"success": true, "decision": "allow_once"})),
        ("ls -la; echo done", "deny_always_project", json!({"success": true, "decision": "deny_once"})),
        ("ls -la; echo done", "allow_once", json!({"success": true})),
        ("rm -r build", "deny_session", json!({"success": true})),
    ] {
        let world = world(&RUN.replace("rm -r build", command)).await;
        let mut client = Client::start(&world).await;
        client.call("prompt", json!({"message": "Clean up"})).await;
        let id = client.until("permissionRequest").await["requestId"].clone();
        let told = client.call("permissionResponse", json!({"requestId": id, "decision": decision})).await;
        assert_eq!(told, answer, "{decision} for {command}");
    }
}

/// An answer for the session is not asked for again in it.
#[tokio::test]
async fn an_answer_for_the_session_holds_in_it() {
    let world = world(&format!("{WRITE}{WRITE}")).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Write"})).await;
    let id = client.until("permissionRequest").await["requestId"].clone();
    client.call("permissionResponse", json!({"requestId": id, "decision": "allow_session"})).await;
    client.until("ping").await;
    std::fs::remove_file(world.root().join("new.txt")).unwrap();
    client.text();
    client.turn("Write again").await;
    assert!(!client.text().contains("permissionRequest"));
    assert_eq!(world.read("new.txt"), "hello\n");
}

async fn timed(timers: PermissionTimers) -> (loggia_tests::World, Client) {
    let world = world(WRITE).await;
    let launch = Launch { permission_timers: Some(timers), ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    client.text();
    (world, client)
}

#[tokio::test]
async fn a_question_that_nobody_acknowledges_expires_where_that_is_wanted() {
    let hour = Duration::from_secs(3600);
    let (_world, mut client) = timed(PermissionTimers { acknowledge: Duration::ZERO, answer: hour }).await;
    client.call("prompt", json!({"message": "Write"})).await;
    let id = client.until("permissionRequest").await["requestId"].clone();
    client.until("ping").await;
    client.call("permissionResponse", json!({"requestId": id, "allowed": true})).await;
    client.call("permissionAcknowledged", json!({"requestId": id})).await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_question_that_was_seen_and_not_answered_expires_later() {
    let hour = Duration::from_secs(3600);
    let (_world, mut client) = timed(PermissionTimers { acknowledge: hour, answer: Duration::ZERO }).await;
    client.call("prompt", json!({"message": "Write"})).await;
    let id = client.until("permissionRequest").await["requestId"].clone();
    assert_eq!(client.call("getState", json!({})).await["status"], "waiting_permission");
    assert_eq!(
        client.call("permissionAcknowledged", json!({"requestId": id})).await,
        json!({"success": true})
    );
    assert_eq!(client.until("messageEnd").await["content"], "Done.");
}

#[tokio::test]
async fn an_abort_denies_what_is_asked() {
    let world = world(WRITE).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Write"})).await;
    let id = client.until("permissionRequest").await["requestId"].clone();
    client.call("prompt", json!({"message": "Another"})).await;
    client.call("abort", json!({})).await;
    client.until("ping").await;
    client.call("permissionResponse", json!({"requestId": id, "allowed": true})).await;
    assert_snapshot!(client.text());
    assert!(!world.root().join("new.txt").exists());
}

#[tokio::test]
async fn answers_to_questions_nobody_asked_are_no_errors() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    client.call("permissionResponse", json!({"requestId": "perm_1", "allowed": true})).await;
    client.call("permissionAcknowledged", json!({"requestId": "perm_1"})).await;
    client.call("permissionResponse", json!({"requestId": "perm_1"})).await;
    client.call("permissionResponse", json!({"requestId": "perm_1", "decision": "alternative"})).await;
    client.call("directoryAccessResponse", json!({"requestId": "dir_1", "granted": true})).await;
    client.call("directoryAccessAcknowledged", json!({"requestId": "dir_1"})).await;
    assert_snapshot!(client.text());
}
