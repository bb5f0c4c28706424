//! How much is asked, and by which words a client says so.

use insta::assert_snapshot;
use loggia_domain::{Preset, Thinking};
use loggia_rpc::{Approvals, Launch, Level, Yolo};
use serde_json::json;

use crate::permissions::WRITE;
use crate::support::{Client, builder, world};

#[tokio::test]
async fn modes_are_set_and_told() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    for mode in
        ["unrestricted", "default", "acceptEdits", "bypassPermissions", "restricted", "plan", "nonsense"]
    {
        client.call("permissionModeSet", json!({"mode": mode})).await;
    }
    client.call("permissionModeSet", json!({"mode": "interactive"})).await;
    client.call("planModeSet", json!({"enabled": true})).await;
    client.call("planModeSet", json!({"enabled": false})).await;
    client.call("planModeSet", json!({})).await;
    client.call("permissionModeSet", json!({"mode": 1})).await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn nothing_is_asked_without_restrictions() {
    let world = world(WRITE).await;
    let mut client = Client::start(&world).await;
    client.call("permissionModeSet", json!({"mode": "unrestricted"})).await;
    client.turn("Write").await;
    assert_snapshot!(client.text());
    assert_eq!(world.read("new.txt"), "hello\n");
}

#[tokio::test]
async fn planning_refuses_what_would_be_written() {
    let world = world(WRITE).await;
    // Also where changes are shown first.
    let mut client = Client::launch(&world, Launch { preview: true, ..Launch::new(world.root()) }).await;
    assert_eq!(client.call("planModeSet", json!({"enabled": true})).await, json!({"success": true}));
    client.text();
    client.turn("Write").await;
    assert_snapshot!(client.text());
    assert!(!world.root().join("new.txt").exists());
}

/// What the policy lets through is not asked: the prompt carries the refusal.
#[tokio::test]
async fn what_a_client_refuses_holds_where_the_policy_does_not_ask() {
    let world = world(&WRITE.repeat(5)).await;
    world.change_policy(|policy| policy.preset = Preset::Full);
    let approvals = || Approvals::default();
    let launch = |approvals| Launch { approvals, ..Launch::new(world.root()) };
    let written = || world.root().join("new.txt").exists();
    for refusing in [approvals().reading_only(), approvals().denying(vec!["write_file".to_owned()])] {
        let mut client = Client::launch(&world, launch(refusing)).await;
        client.turn("Write").await;
        assert!(!written());
        // Nothing that is said later lifts what the agent was started with.
        client.call("permissionModeSet", json!({"mode": "unrestricted"})).await;
        client.text();
        client.turn("Write").await;
        assert!(!written());
        assert!(!client.text().contains("permissionRequest"));
    }
    let mut client = Client::start(&world).await;
    assert_eq!(client.call("planModeSet", json!({"enabled": true})).await, json!({"success": true}));
    client.turn("Write").await;
    assert!(!written());
}

/// An answer that is remembered for the project is a rule, and a rule is not asked about either.
#[tokio::test]
async fn what_was_allowed_for_good_is_refused_while_planning() {
    let world = world(&WRITE.repeat(3)).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Write"})).await;
    let question = client.until("permissionRequest").await["requestId"].clone();
    let always = json!({"requestId": question, "decision": "allow_always_project"});
    assert_eq!(client.call("permissionResponse", always).await["success"], true);
    client.until("turnEnd").await;
    client.until("ping").await;
    std::fs::remove_file(world.root().join("new.txt")).unwrap();
    client.call("permissionModeSet", json!({"mode": "plan"})).await;
    client.turn("Write").await;
    assert!(!world.root().join("new.txt").exists());
    client.call("permissionModeSet", json!({"mode": "interactive"})).await;
    client.text();
    client.turn("Write").await;
    assert!(!client.text().contains("permissionRequest"));
    assert_eq!(world.read("new.txt"), "hello\n");
}

#[tokio::test]
async fn a_standing_yes_covers_the_tools_it_names() {
    let world = world(&format!("{WRITE}{WRITE}")).await;
    let approvals =
        Approvals::default().with_yolo(Some(Yolo::parse(Some("allow:write_file")).unwrap()), None);
    let mut client = Client::launch(&world, Launch { approvals, ..Launch::new(world.root()) }).await;
    client.text();
    client.turn("Write").await;
    assert!(!client.text().contains("permissionRequest"));
    std::fs::remove_file(world.root().join("new.txt")).unwrap();
    client.call("yoloSet", json!({"pattern": ""})).await;
    client.call("yolo.set", json!({"pattern": "deny:write_file", "timeoutSeconds": 60})).await;
    client.call("yoloSet", json!({"pattern": "nonsense"})).await;
    client.call("yoloSet", json!({})).await;
    client.call("prompt", json!({"message": "Write again"})).await;
    client.until("permissionRequest").await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn the_model_is_chosen_for_later_turns() {
    let world = builder().model("scripted:other").start("").await;
    let mut client = Client::start(&world).await;
    client.call("modelSet", json!({"model": "scripted:other"})).await;
    client.call("getState", json!({})).await;
    client.call("modelSet", json!({"model": "nobody:knows"})).await;
    client.call("modelSet", json!({})).await;
    client.call("modelSet", json!({"model": "scripted:other"})).await;
    client.call("modelSet", json!({"model": ""})).await;
    client.call("maxThinkingTokensSet", json!({"maxThinkingTokens": null})).await;
    client.call("modelSet", json!({"model": "x".repeat(201)})).await;
    client.call("setContextCompact", json!({"enabled": false})).await;
    assert_snapshot!(client.text());
}

/// The calls, the prompt and the launch set the same thing, and every request to the model carries it.
#[tokio::test]
async fn how_much_to_think_reaches_the_model() {
    let script = format!("thinks = true\n{}", "[[reply]]\nparts = [{ text = \"ok\" }]\n".repeat(4));
    let world = world(&script).await;
    let launch = Launch { thinking: Some(Level::Extended), ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    let asked = || world.model.requests().last().unwrap().thinking;
    client.turn("First").await;
    assert_eq!(asked(), Some(Thinking::Extended));
    assert_eq!(client.call("getState", json!({})).await["thinkingLevel"], "extended");
    let set = async |client: &mut Client, tokens: serde_json::Value| {
        client.call("maxThinkingTokensSet", json!({"maxThinkingTokens": tokens})).await
    };
    let answer = set(&mut client, json!(4096)).await;
    assert_eq!(answer, json!({"success": true, "currentMaxThinkingTokens": 4096}));
    // Too few for this model: what held holds.
    let answer = set(&mut client, json!(10)).await;
    assert_eq!(answer, json!({"success": false, "currentMaxThinkingTokens": 4096}));
    client.turn("Second").await;
    assert_eq!(asked(), Some(Thinking::Tokens(4096)));
    let answer = set(&mut client, json!(null)).await;
    assert_eq!(answer, json!({"success": true, "currentMaxThinkingTokens": null}));
    client.turn("Third").await;
    assert_eq!(asked(), Some(Thinking::Off));
    client.call("prompt", json!({"message": "Fourth", "thinkingLevel": "normal"})).await;
    client.until("ping").await;
    assert_eq!(asked(), None);
    assert!(client.call("getState", json!({})).await.get("thinkingLevel").is_none());
}

#[tokio::test]
async fn a_model_that_cannot_be_told_how_much_to_think_says_so() {
    let world = world("[[reply]]\nparts = [{ text = \"ok\" }]\n").await;
    let launch = Launch { thinking: Some(Level::Extended), ..Launch::new(world.root()) };
    let mut client = Client::launch(&world, launch).await;
    client.call("prompt", json!({"message": "Go", "thinkingLevel": "sideways"})).await;
    client.until("ping").await;
    assert!(client.call("getState", json!({})).await.get("thinkingLevel").is_none());
    for tokens in [json!(4096), json!(null), json!(0)] {
        let answer = client.call("maxThinkingTokensSet", json!({"maxThinkingTokens": tokens})).await;
        assert_eq!(answer, json!({"success": false, "currentMaxThinkingTokens": null}));
    }
}
