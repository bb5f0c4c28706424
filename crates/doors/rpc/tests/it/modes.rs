//! How much is asked, and by which words a client says so.

use insta::assert_snapshot;
use loggia_domain::Preset;
use loggia_rpc::{Approvals, Launch, Yolo};
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

/// What the policy lets through is not asked, so nothing could be refused.
#[tokio::test]
async fn a_mode_that_cannot_hold_is_not_told_as_set() {
    let world = world("").await;
    world.change_policy(|policy| policy.preset = Preset::AutoEdit);
    let mut client = Client::start(&world).await;
    assert_eq!(client.call("planModeSet", json!({"enabled": true})).await, json!({"success": false}));
    let answer = client.call("permissionModeSet", json!({"mode": "restricted"})).await;
    let same = "interactive";
    assert_eq!(answer, json!({"success": false, "currentMode": same, "previousMode": same}));
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
    client.call("maxThinkingTokensSet", json!({"maxThinkingTokens": null})).await;
    client.call("setContextCompact", json!({"enabled": false})).await;
    assert_snapshot!(client.text());
}
