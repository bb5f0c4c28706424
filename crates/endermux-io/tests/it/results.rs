//! Commands that answer whoever gave them.

use loggia_endermux_io::client::{Options, Running, Said};
use loggia_endermux_io::{Client, Event, Events, extras};
use loggia_protocol_endermux::ColorLevel;
use serde_json::json;

use crate::support::{World, hello_with};

async fn connected(world: &World) -> (Client, Events) {
    let (client, mut events) = Client::connect(&world.path, &Options::new(ColorLevel::None)).await.unwrap();
    assert!(matches!(events.next().await, Some(Event::Interactivity(true))));
    (client, events)
}

/// All a command says: its output, then its end.
async fn all(mut running: Running) -> String {
    let mut text = String::new();
    while let Some(said) = running.next().await {
        match said {
            Ok(Said::Output(output)) => text += &output,
            Ok(Said::Ended { status }) => text += &format!("[{status}]"),
            Err(error) => text += &format!("[{error}]"),
        }
    }
    text
}

#[tokio::test]
async fn a_command_says_its_output_and_its_end_to_the_caller_alone() {
    let world = World::interactive().await;
    let mut watcher = world.subscribed().await;
    let (client, _events) = connected(&world).await;
    assert_eq!(all(client.run("print hello\n").await.unwrap()).await, "hello\n[3]");
    watcher.ping("heard nothing").await;
}

#[tokio::test]
async fn a_command_that_goes_on_elsewhere_ends_later() {
    let world = World::interactive().await;
    let (client, _events) = connected(&world).await;
    let running = client.run("later at last\n").await.unwrap();
    // The next request does not wait for it.
    client.ping().await.unwrap();
    world.server.host().go_on.notify_one();
    assert_eq!(all(running).await, "at last\n[4]");
}

#[tokio::test]
async fn a_command_without_a_word_has_an_end_all_the_same() {
    let world = World::interactive().await;
    let (client, _events) = connected(&world).await;
    assert_eq!(all(client.run("drop").await.unwrap()).await, "[0]");
    assert_eq!(all(client.run("fail").await.unwrap()).await, "[Failed to execute command: as asked]");
    assert_eq!(all(client.run("unheard-of").await.unwrap()).await, "[Command execution is not supported]");
    let running = client.run("abandon").await.unwrap();
    client.ping().await.unwrap();
    world.server.host().go_on.notify_one();
    assert_eq!(all(running).await, "[1]");
}

#[tokio::test]
async fn long_output_arrives_whole() {
    let world = World::interactive().await;
    let (client, _events) = connected(&world).await;
    let text = "0123456789abcdef\n".repeat(500_000);
    let got = all(client.run(&format!("print {}", &text[..900_000])).await.unwrap()).await;
    assert_eq!(got.len(), 900_000 + "[3]".len());
}

#[tokio::test]
async fn without_an_id_there_is_no_answer() {
    let world = World::interactive().await;
    let mut raw = world.raw().await;
    raw.send(hello_with(extras::RESULT, ColorLevel::None).to_string()).await;
    raw.receive().await;
    raw.receive().await;
    raw.send(json!({"type": "COMMAND_EXECUTE", "data": {"command": "print hi"}}).to_string()).await;
    raw.ping("nothing").await;
    raw.send(
        json!({"type": "COMMAND_EXECUTE", "requestId": "7", "data": {"command": "print hi"}}).to_string(),
    )
    .await;
    assert_eq!(
        raw.receive().await,
        json!({"type": "LOG_FORWARD", "requestId": "7", "data": {"rendered": "hi"}})
    );
    let end = json!({"type": "LOG_FORWARD", "requestId": "7", "data": {"rendered": "", "status": 3}});
    assert_eq!(raw.receive().await, end);
}

#[tokio::test]
async fn the_end_of_the_connection_ends_the_command_for_the_caller() {
    let world = World::interactive().await;
    let (client, _events) = connected(&world).await;
    let running = client.run("later never").await.unwrap();
    client.ping().await.unwrap();
    world.console().disconnect(world.console().clients()[0].id);
    assert_eq!(all(running).await, "[the connection has ended]");
}
