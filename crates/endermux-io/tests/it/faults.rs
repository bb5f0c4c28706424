//! What a hostile or broken client does. Others notice nothing.

use loggia_protocol_endermux::limits::MAX_FRAME;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;

use crate::support::World;

/// A prefix that declares so many bytes.
fn prefix(length: i64) -> Vec<u8> {
    i32::try_from(length).unwrap().to_be_bytes().to_vec()
}

#[tokio::test]
async fn a_length_that_is_not_allowed_closes_the_connection_without_a_word() {
    let world = World::new().await;
    let mut bystander = world.subscribed().await;
    for length in [0, -1, i64::from(i32::MIN), MAX_FRAME as i64 + 1, i64::from(i32::MAX)] {
        for mut raw in [world.raw().await, world.welcomed().await] {
            raw.send_bytes(&prefix(length)).await;
            // One more than is allowed is allowed in the framing of epoch 17; the first byte shows that this is not it.
            let _ = raw.stream.write_all(b"{").await;
            assert_eq!(raw.rest().await, b"", "{length}");
        }
    }
    world.until_present(1).await;
    bystander.ping("alive").await;
}

#[tokio::test]
async fn the_largest_frame_is_taken() {
    let world = World::new().await;
    let mut raw = world.welcomed().await;
    let mut message = json!({"type": "PING", "requestId": "large", "data": {}}).to_string();
    message += &" ".repeat(MAX_FRAME - message.len());
    raw.send(message).await;
    assert_eq!(raw.receive().await["requestId"], "large");
}

#[tokio::test]
async fn the_end_of_the_stream_is_an_end_wherever_it_comes() {
    let world = World::new().await;
    for bytes in [&b""[..], b"\0", b"\0\0\0", b"\0\0\0\x29", b"\0\0\0\x29{\"type\""] {
        for mut raw in [world.raw().await, world.welcomed().await] {
            raw.send_bytes(bytes).await;
            raw.stream.shutdown().await.unwrap();
            assert_eq!(raw.rest().await, b"", "{bytes:?}");
        }
    }
    world.until_present(0).await;
    world.welcomed().await;
}

#[tokio::test]
async fn a_panic_of_the_host_ends_one_connection() {
    let world = World::interactive().await;
    let mut bystander = world.subscribed().await;
    let completion = json!({"type": "COMPLETION_REQUEST", "requestId": "1", "data": {"command": "panic"}});
    let command = json!({"type": "COMMAND_EXECUTE", "data": {"command": "panic"}});
    for request in [completion, command] {
        let mut raw = world.welcomed().await;
        raw.send(request.to_string()).await;
        assert_eq!(raw.rest().await, b"");
    }
    world.until_present(1).await;
    bystander.ping("alive").await;
}

#[tokio::test]
async fn one_client_too_many_is_closed_and_a_free_place_is_given_again() {
    let world = World::with_room_for(2).await;
    let first = world.welcomed().await;
    // Counted from its acceptance: it has not said anything.
    let silent = world.raw().await;
    let mut refused = world.raw().await;
    assert_eq!(refused.rest().await, b"");
    drop((first, silent));
    // The places are given back a moment after those who left are seen to be gone.
    while !world.raw().await.is_welcome().await {}
}

#[tokio::test]
async fn ten_thousand_connections_that_come_and_go_leave_nothing_behind() {
    let world = World::new().await;
    let mut bystander = world.subscribed().await;
    for number in 0..10_000 {
        let mut stream = UnixStream::connect(&world.path).await.unwrap();
        if number % 3 == 0 {
            let _ = stream.write_all(b"\0\0\0").await;
        }
        drop(stream);
        if number % 1000 == 0 {
            bystander.ping("alive").await;
        }
    }
    world.console().broadcast("still here\n");
    assert_eq!(bystander.log().await, "still here\n");
    assert_eq!(world.console().clients().len(), 1);
}

#[tokio::test]
async fn a_client_that_asks_without_reading_is_not_read_from() {
    let world = World::new().await;
    let mut bystander = world.subscribed().await;
    let mut raw = world.welcomed().await;
    let id = "x".repeat(10_000);
    let ping = json!({"type": "PING", "requestId": id, "data": {}}).to_string();
    let mut bytes = prefix(ping.len() as i64);
    bytes.extend_from_slice(ping.as_bytes());
    // Written as long as somebody takes it: what the server holds and what the system holds is soon full.
    let mut sent = 0_usize;
    let patience = std::time::Duration::from_millis(300);
    while tokio::time::timeout(patience, raw.stream.write_all(&bytes)).await.is_ok() {
        sent += bytes.len();
        assert!(sent < 64 * 1024 * 1024, "the server takes everything");
    }
    bystander.ping("alive").await;
    // Everything that was asked is answered once it is read.
    for _ in 0..sent / bytes.len() {
        assert_eq!(raw.receive().await["type"], "PONG");
    }
}
