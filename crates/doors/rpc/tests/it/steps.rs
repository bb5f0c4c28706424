//! Turns that a client takes step by step.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Client, world};

const TWO_STEPS: &str = r#"
    [[reply]]
    repeat = 2
    parts = [{ thought = "Hm." }, { call = { tool = "read_file", arguments = { path = "notes.txt" } } }]
    [[reply]]
    parts = [{ text = "Three lines." }]
"#;

fn prompt() -> Value {
    json!({"message": "How long is it?", "stopWhen": {"mode": "host"}})
}

#[tokio::test]
async fn a_turn_waits_for_its_client_after_each_step() {
    let world = world(TWO_STEPS).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", prompt()).await;
    for stop in [false, true] {
        let step = client.until("stepEnd").await["stepId"].clone();
        assert_eq!(client.call("getState", json!({})).await["status"], "processing");
        let unknown = client.call("stepDecision", json!({"stepId": "step_9", "stop": true})).await;
        assert_eq!(unknown, json!({"success": false}));
        client.call("stepDecision", json!({"stepId": step, "stop": stop})).await;
    }
    client.until("ping").await;
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_turn_that_is_never_stopped_ends_by_itself() {
    let world = world(TWO_STEPS).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", prompt()).await;
    for _ in 0..2 {
        let step = client.until("stepEnd").await["stepId"].clone();
        assert_eq!(
            client.call("stepDecision", json!({"stepId": step, "stop": false})).await,
            json!({"success": true})
        );
    }
    assert_eq!(client.until("turnEnd").await["reason"], "completed");
}

#[tokio::test]
async fn an_abort_releases_a_turn_that_waits_between_steps() {
    let world = world(TWO_STEPS).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", prompt()).await;
    let step = client.until("stepEnd").await["stepId"].clone();
    client.call("abort", json!({})).await;
    assert_eq!(client.until("turnEnd").await["reason"], "aborted");
    let late = client.call("stepDecision", json!({"stepId": step, "stop": false})).await;
    assert_eq!(late, json!({"success": false}));
}

/// Who comes later can answer, too.
#[tokio::test]
async fn a_step_that_waits_is_told_to_whoever_comes() {
    let world = world(TWO_STEPS).await;
    let mut first = Client::start(&world).await;
    first.call("prompt", prompt()).await;
    let step = first.until("stepEnd").await["stepId"].clone();
    let session = first.call("getState", json!({})).await["sessionId"].clone();
    let mut second = Client::start(&world).await;
    second.call("session.attach", json!({"sessionId": session})).await;
    assert_eq!(second.until("stepEnd").await["stepId"], step);
    second.call("stepDecision", json!({"stepId": step, "stop": true})).await;
    for client in [&mut first, &mut second] {
        assert_eq!(client.until("turnEnd").await["reason"], "stop_condition");
    }
}

#[tokio::test]
async fn other_turns_do_not_wait() {
    let world = world(TWO_STEPS).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "x", "stopWhen": {"mode": "model"}})).await;
    client.until("ping").await;
    assert!(!client.text().contains("stepEnd"));
}
