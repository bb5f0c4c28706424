//! The first message and its answer.

use loggia_endermux_io::Server;
use loggia_endermux_io::server::Ended;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use crate::support::{Echo, World, hello};

#[tokio::test]
async fn a_good_hello_is_welcomed_and_the_status_follows() {
    let world = World::new().await;
    let mut raw = world.raw().await;
    raw.send(hello().to_string()).await;
    let selected = json!({"command_execute": 1, "completion": 1, "interactivity_status": 1, "log_forward": 1, "parse": 1,
        "syntax_highlight": 1});
    let welcome = json!({"type": "WELCOME", "requestId": "h",
        "data": {"transportEpoch": 15, "selectedCapabilities": selected}});
    assert_eq!(raw.receive().await, welcome);
    let status = json!({"type": "INTERACTIVITY_STATUS", "data": {"available": false}});
    assert_eq!(raw.receive().await, status);
    raw.ping("1").await;
}

#[tokio::test]
async fn every_reason_to_refuse_is_told_and_the_connection_closes() {
    let world = World::new().await;
    let without = |field: &str| {
        let mut hello = hello();
        hello["data"].as_object_mut().unwrap().remove(field);
        hello
    };
    let with = |field: &str, value: Value| {
        let mut hello = hello();
        hello["data"][field] = value;
        hello
    };
    let mut anonymous = hello();
    anonymous.as_object_mut().unwrap().remove("requestId");
    let cases = [
        (anonymous, "missing_request_id"),
        (json!({"type": "PING", "requestId": "h", "data": {}}), "expected_hello"),
        (with("transportEpoch", json!(14)), "unsupported_transport_epoch"),
        (without("transportEpoch"), "unsupported_transport_epoch"),
        (without("colorLevel"), "missing_color_level"),
        (without("capabilities"), "missing_capability_negotiation_data"),
        (without("requiredCapabilities"), "missing_capability_negotiation_data"),
        (with("capabilities", json!({"parse": {"min": 2, "max": 1}})), "invalid_capability_version_range"),
        (with("requiredCapabilities", json!([null])), "invalid_required_capability_declaration"),
        (with("requiredCapabilities", json!(["teleport"])), "missing_required_capabilities"),
    ];
    for (first, reason) in cases {
        let mut raw = world.raw().await;
        raw.send(first.to_string()).await;
        let reject = raw.receive().await;
        assert_eq!((&reject["type"], &reject["data"]["reason"]), (&json!("REJECT"), &json!(reason)));
        assert_eq!(reject.get("requestId"), first.get("requestId"), "{reason}");
        assert_eq!(raw.rest().await, b"", "{reason}");
    }
    assert_eq!(world.console().clients(), []);
    world.welcomed().await;
}

#[tokio::test]
async fn what_cannot_be_read_first_is_closed_without_a_word() {
    let world = World::new().await;
    for first in ["nonsense", "[]", "{", r#"{"type":"NOPE","requestId":"1"}"#, "null"] {
        let mut raw = world.raw().await;
        raw.send(first).await;
        assert_eq!(raw.rest().await, b"", "{first}");
    }
    world.welcomed().await;
}

#[tokio::test]
async fn the_status_is_not_sent_where_it_was_not_negotiated() {
    let world = World::new().await;
    let mut raw = world.raw().await;
    let mut hello = hello();
    hello["data"]["capabilities"] = json!({});
    hello["data"]["requiredCapabilities"] = json!([]);
    raw.send(hello.to_string()).await;
    assert_eq!(raw.receive().await["data"]["selectedCapabilities"], json!({}));
    world.console().set_interactive(true);
    raw.ping("1").await;
}

#[tokio::test]
async fn what_follows_hello_in_the_same_write_is_handled_in_order() {
    let world = World::interactive().await;
    let mut raw = world.raw().await;
    let ping = |id: &str| json!({"type": "PING", "requestId": id, "data": {}});
    let messages = [
        hello(),
        ping("1"),
        json!({"type": "LOG_SUBSCRIBE", "data": {}}),
        json!({"type": "COMMAND_EXECUTE", "data": {"command": "say hi"}}),
        ping("2"),
    ];
    let mut bytes = Vec::new();
    for message in messages.map(|message| message.to_string()) {
        bytes.extend_from_slice(&i32::try_from(message.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(message.as_bytes());
    }
    raw.send_bytes(&bytes).await;
    let mut types = Vec::new();
    for _ in 0..5 {
        types.push(raw.receive().await["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(types, ["WELCOME", "INTERACTIVITY_STATUS", "PONG", "LOG_FORWARD", "PONG"]);
}

#[tokio::test]
async fn a_hello_that_comes_byte_by_byte_is_welcome() {
    let world = World::new().await;
    let mut raw = world.raw().await;
    let hello = hello().to_string();
    let mut bytes = i32::try_from(hello.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend_from_slice(hello.as_bytes());
    for byte in bytes {
        raw.send_bytes(&[byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(raw.receive().await["type"], "WELCOME");
}

/// What a client gets that sends these bytes and then waits, how long it takes, and how it ended.
async fn silence_after(bytes: &[u8]) -> (Vec<u8>, u128, Ended) {
    let server = Server::new(Echo::default());
    let (ours, mut theirs) = tokio::io::duplex(1024);
    theirs.write_all(bytes).await.unwrap();
    let start = Instant::now();
    let serving = tokio::spawn(async move { server.serve(ours).await });
    let mut got = Vec::new();
    theirs.read_to_end(&mut got).await.unwrap();
    (got, start.elapsed().as_millis(), serving.await.unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_finish_its_first_message_is_closed_after_two_seconds() {
    for bytes in [&b""[..], b"\0\0", b"\0\0\0\x29{\"type\":"] {
        let (got, waited, ended) = silence_after(bytes).await;
        assert_eq!((got, waited), (Vec::new(), 2000));
        assert!(matches!(ended, Ended::HandshakeTimeout), "{ended:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn bytes_that_trickle_in_do_not_extend_the_time() {
    let server = Server::new(Echo::default());
    let (ours, mut theirs) = tokio::io::duplex(1024);
    let start = Instant::now();
    let serving = tokio::spawn(async move { (server.serve(ours).await, start.elapsed().as_millis()) });
    theirs.write_all(b"\0\0\x01\0").await.unwrap();
    while theirs.write_all(b" ").await.is_ok() {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(matches!(serving.await.unwrap(), (Ended::HandshakeTimeout, 2000)));
}

#[tokio::test]
async fn interactivity_is_that_of_the_moment_of_welcome() {
    let world = World::new().await;
    let mut raw = world.raw().await;
    // Connected before the change, welcomed after it.
    world.console().set_interactive(true);
    raw.send(hello().to_string()).await;
    assert_eq!(raw.receive().await["type"], "WELCOME");
    assert_eq!(raw.receive().await["data"]["available"], true);
}
