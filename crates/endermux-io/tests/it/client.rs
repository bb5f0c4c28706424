//! Our client against our server, and against one that misbehaves.

use loggia_endermux_io::client::{ConnectError, Options};
use loggia_endermux_io::{Client, Disconnect, Event, Events, RequestError};
use loggia_protocol_endermux::{ColorLevel, Epoch, NotSent};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::support::World;

async fn connected(world: &World) -> (Client, Events) {
    Client::connect(&world.path, &Options::new(ColorLevel::TrueColor)).await.unwrap()
}

async fn interactive(world: &World) -> (Client, Events) {
    let (client, mut events) = connected(world).await;
    assert!(matches!(events.next().await, Some(Event::Interactivity(true))));
    (client, events)
}

#[tokio::test]
async fn everything_that_can_be_asked_is_answered() {
    let world = World::interactive().await;
    let (client, _events) = interactive(&world).await;
    client.ping().await.unwrap();
    let line = "say 😀 é al";
    let candidates = client.complete(line, line.len()).await.unwrap();
    assert_eq!((candidates[0].value.as_str(), candidates[0].display.as_str()), (line, "TrueColor"));
    // The tenth of eleven UTF-16 units, and the number of characters: it is no end of the line.
    let candidates = client.complete(line, line.len() - 1).await.unwrap();
    assert_eq!(candidates[0].value, "say 😀 é a");
    assert_eq!(client.highlight("say").await.unwrap(), "say");
    let read = client.parse("say é alone", 8).await.unwrap();
    let parsed = &read.parsed;
    assert_eq!((parsed.word(), parsed.index, parsed.word_cursor), ("alone", 2, 1));
    assert_eq!((read.line.as_str(), read.at), ("say é alone", 8));
}

#[tokio::test]
async fn many_requests_at_once_get_their_own_answers() {
    let world = World::interactive().await;
    let (client, _events) = interactive(&world).await;
    let asked = (0..100).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            let line = format!("line {number}");
            (client.complete(&line, line.len()).await.unwrap().remove(0).value, line)
        })
    });
    for asked in asked.collect::<Vec<_>>() {
        let (answer, line) = asked.await.unwrap();
        assert_eq!(answer, line);
    }
}

#[tokio::test]
async fn logs_and_status_come_as_events_in_order() {
    let world = World::new().await;
    let (client, mut events) = connected(&world).await;
    assert!(matches!(events.next().await, Some(Event::Interactivity(false))));
    client.subscribe().await.unwrap();
    client.ping().await.unwrap();
    world.console().broadcast("one\n");
    assert!(matches!(events.next().await, Some(Event::Log(text)) if text == "one\n"));
    world.console().set_interactive(true);
    assert!(matches!(events.next().await, Some(Event::Interactivity(true))));
    client.execute("say two").await.unwrap();
    assert!(matches!(events.next().await, Some(Event::Log(text)) if text == "two\n"));
    client.execute("fail").await.unwrap();
    assert!(
        matches!(events.next().await, Some(Event::Error(failure)) if failure.text() == "Failed to execute command: as asked")
    );
}

#[tokio::test]
async fn what_may_not_be_sent_is_not() {
    let world = World::new().await;
    let (client, _events) = connected(&world).await;
    let error = client.execute("say hi").await.unwrap_err();
    assert!(matches!(error, RequestError::NotSent(NotSent::Unavailable)), "{error:?}");
    let error = client.complete("", 0).await.unwrap_err();
    assert!(matches!(error, RequestError::NotSent(NotSent::Unavailable)), "{error:?}");
    client.ping().await.unwrap();
}

#[tokio::test]
async fn a_client_that_only_listens_hears_logs_and_can_give_no_commands() {
    let world = World::interactive().await;
    let options = Options { commands: false, ..Options::new(ColorLevel::None) };
    let (client, mut events) = Client::connect(&world.path, &options).await.unwrap();
    let names: Vec<&str> = client.selected().capabilities.keys().map(String::as_str).collect();
    assert_eq!(names, ["interactivity_status", "log_forward", "loggia_backlog"]);
    assert!(matches!(events.next().await, Some(Event::Interactivity(true))));
    client.subscribe().await.unwrap();
    client.ping().await.unwrap();
    world.console().broadcast("heard\n");
    assert!(matches!(events.next().await, Some(Event::Log(text)) if text == "heard\n"));
    let error = client.execute("say hi").await.unwrap_err();
    assert!(matches!(error, RequestError::NotSent(NotSent::NotNegotiated(_))), "{error:?}");
}

#[tokio::test]
async fn a_request_that_fails_or_is_too_large_leaves_the_connection_alone() {
    let world = World::interactive().await;
    let (client, _events) = interactive(&world).await;
    let error = client.complete("fail", 0).await.unwrap_err();
    assert_eq!(error.to_string(), "Failed to get completions: no idea");
    let error = client.execute(&"x".repeat(5 * 1024 * 1024)).await.unwrap_err();
    assert!(matches!(error, RequestError::TooLarge(_)), "{error:?}");
    client.ping().await.unwrap();
}

#[tokio::test]
async fn the_end_of_the_connection_ends_what_waits_and_is_told() {
    let world = World::interactive().await;
    let (client, mut events) = interactive(&world).await;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.complete("wait", 4).await }
    });
    world.server.host().started.notified().await;
    let id = world.console().clients()[0].id;
    assert!(world.console().disconnect(id));
    assert!(matches!(waiting.await.unwrap(), Err(RequestError::Closed)));
    assert!(matches!(events.next().await, Some(Event::Closed(Disconnect::ByServer))));
    assert!(events.next().await.is_none());
    assert!(!client.is_interactive());
    assert!(matches!(client.ping().await, Err(RequestError::Closed)));
}

#[tokio::test]
async fn dropping_the_client_closes_the_connection_after_what_was_said() {
    let world = World::interactive().await;
    let mut watcher = world.subscribed().await;
    let (client, mut events) = interactive(&world).await;
    client.execute("say last words").await.unwrap();
    drop(client);
    assert!(matches!(events.next().await, Some(Event::Closed(Disconnect::ByUs))));
    assert_eq!(watcher.log().await, "last words\n");
    world.until_present(1).await;
}

#[tokio::test]
async fn a_missing_socket_is_unreachable() {
    let directory = tempfile::tempdir().unwrap();
    let error =
        Client::connect(&directory.path().join("none"), &Options::new(ColorLevel::None)).await.unwrap_err();
    assert!(matches!(error, ConnectError::Unreachable { .. }), "{error:?}");
}

/// A client of epoch 15 and the other end of its stream.
async fn scripted(replies: &[&str]) -> (Result<(Client, Events), ConnectError>, DuplexStream) {
    let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
    for reply in replies {
        say(&mut theirs, reply).await;
    }
    let options = Options { epochs: vec![Epoch::Fifteen], ..Options::new(ColorLevel::None) };
    let stream = Mutex::new(Some(ours));
    let client = Client::open(&options, || async { Ok(stream.lock().await.take().unwrap()) }).await;
    (client, theirs)
}

async fn say(stream: &mut DuplexStream, text: &str) {
    stream.write_i32(i32::try_from(text.len()).unwrap()).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
}

const WELCOME: &str = r#"{"type":"WELCOME","requestId":"hello","data":{"transportEpoch":15,"selectedCapabilities":{"command_execute":1,"log_forward":1,"interactivity_status":1,"completion":1}}}"#;
const AVAILABLE: &str = r#"{"type":"INTERACTIVITY_STATUS","data":{"available":true}}"#;

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_come_is_a_time_out_and_the_connection_goes_on() {
    let all = WELCOME.replace(r#""completion""#, r#""parse":1,"syntax_highlight":1,"completion""#);
    let (client, mut server) = scripted(&[&all, AVAILABLE]).await;
    let (client, mut events) = client.unwrap();
    events.next().await;
    let limit_of = |error| match error {
        RequestError::TimedOut(limit) => limit.as_millis(),
        other => panic!("{other:?}"),
    };
    let start = Instant::now();
    assert_eq!(limit_of(client.complete("a", 1).await.unwrap_err()), 5000);
    assert_eq!(limit_of(client.highlight("a").await.unwrap_err()), 1000);
    assert_eq!(limit_of(client.parse("a", 1).await.unwrap_err()), 5000);
    assert_eq!(start.elapsed().as_millis(), 11_000);
    // Too late is nobody's, and the next one is answered.
    say(&mut server, r#"{"type":"COMPLETION_RESPONSE","requestId":"1","data":{"candidates":[]}}"#).await;
    say(&mut server, r#"{"type":"PONG","requestId":"4","data":{}}"#).await;
    client.ping().await.unwrap();
}

#[tokio::test]
async fn an_answer_of_another_type_is_a_failure() {
    let (client, mut server) = scripted(&[WELCOME, AVAILABLE]).await;
    let (client, mut events) = client.unwrap();
    events.next().await;
    say(&mut server, r#"{"type":"PONG","requestId":"1","data":{}}"#).await;
    let error = client.complete("a", 1).await.unwrap_err();
    assert_eq!(error.to_string(), "expected COMPLETION_RESPONSE, got PONG");
}

#[tokio::test]
async fn without_the_capability_lines_are_cut_at_white_space() {
    let (client, _server) = scripted(&[WELCOME, AVAILABLE]).await;
    let (client, mut events) = client.unwrap();
    events.next().await;
    assert_eq!(client.parse("say he", 6).await.unwrap().parsed.word(), "he");
    assert!(matches!(client.highlight("x").await, Err(RequestError::NotSent(NotSent::NotNegotiated(_)))));
    assert!(matches!(client.run("x").await, Err(RequestError::NoExtra { .. })));
}

#[tokio::test]
async fn a_message_that_cannot_be_read_ends_the_connection() {
    let (client, _server) = scripted(&[WELCOME, r#"{"type":"NOPE"}"#]).await;
    let (_client, mut events) = client.unwrap();
    assert!(matches!(events.next().await, Some(Event::Closed(Disconnect::Undecodable(_)))));
}

#[tokio::test]
async fn a_reply_that_is_no_welcome_is_final() {
    let (client, _server) = scripted(&[AVAILABLE]).await;
    assert!(client.unwrap_err().is_final());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_given_up_after_two_seconds() {
    let (client, _server) = scripted(&[]).await;
    let error = client.unwrap_err();
    assert!(matches!(error, ConnectError::TimedOut(limit) if limit.as_millis() == 2000), "{error:?}");
}

#[tokio::test]
async fn what_the_client_says_is_what_existing_servers_read() {
    let (client, mut server) = scripted(&[WELCOME, AVAILABLE]).await;
    let (client, mut events) = client.unwrap();
    events.next().await;
    client.subscribe().await.unwrap();
    client.execute("say hi").await.unwrap();
    client.close();
    let mut said = Vec::new();
    while let Ok(length) = server.read_i32().await {
        let mut body = vec![0; usize::try_from(length).unwrap()];
        server.read_exact(&mut body).await.unwrap();
        said.push(serde_json::from_slice::<serde_json::Value>(&body).unwrap());
    }
    assert_eq!((&said[0]["type"], &said[0]["data"]["transportEpoch"]), (&json!("HELLO"), &json!(15)));
    assert_eq!(said[1], json!({"type": "LOG_SUBSCRIBE", "data": {}}));
    assert_eq!(said[2], json!({"type": "COMMAND_EXECUTE", "data": {"command": "say hi"}}));
}
