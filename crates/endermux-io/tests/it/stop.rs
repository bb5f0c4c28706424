//! The end of a server.

use loggia_endermux_io::limits::DRAIN;
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::support::World;

#[tokio::test]
async fn those_who_read_get_the_last_words_and_the_socket_goes() {
    let world = World::new().await;
    let mut raw = world.subscribed().await;
    let silent = world.raw().await;
    world.console().broadcast("good-bye\n");
    let path = world.stop().await;
    assert_eq!(raw.log().await, "good-bye\n");
    assert_eq!(raw.rest().await, b"");
    assert!(!path.exists());
    drop(silent);
}

#[tokio::test]
async fn a_client_that_does_not_read_and_a_command_that_does_not_end_delay_the_stop_for_a_moment_only() {
    let world = World::interactive().await;
    let mut stalled = world.subscribed().await;
    let mut busy = world.welcomed().await;
    busy.send(json!({"type": "COMMAND_EXECUTE", "data": {"command": "wait"}}).to_string()).await;
    world.server.host().started.notified().await;
    for _ in 0..10_000 {
        world.console().broadcast("x".repeat(1000) + "\n");
    }
    let server = world.server.clone();
    tokio::time::timeout(DRAIN * 10, world.stop()).await.expect("it stops");
    assert_eq!(server.console().clients(), []);
    assert_eq!(busy.rest().await, b"");
    stalled.stream.read_to_end(&mut Vec::new()).await.unwrap();
}

#[tokio::test]
async fn a_server_can_be_stopped_twice_and_serves_nobody_after() {
    let world = World::new().await;
    let server = world.server.clone();
    world.stop().await;
    server.stop().await;
    let (ours, mut theirs) = tokio::io::duplex(64);
    server.serve(ours).await;
    assert_eq!(theirs.read(&mut [0; 8]).await.unwrap(), 0);
}
