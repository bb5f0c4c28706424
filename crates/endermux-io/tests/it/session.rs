//! Requests and their answers.

use loggia_endermux_io::Server;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use crate::support::{Echo, Raw, World, error, hello};

async fn ask<S: AsyncRead + AsyncWrite + Unpin>(raw: &mut Raw<S>, message: Value) -> Value {
    raw.send(message.to_string()).await;
    raw.receive().await
}

fn request(kind: &str, command: &str, cursor: i32) -> Value {
    json!({"type": kind, "requestId": "7", "data": {"command": command, "cursor": cursor}})
}

#[tokio::test]
async fn requests_are_answered_under_their_id() {
    let world = World::interactive().await;
    let mut raw = world.welcomed().await;
    let completed = ask(&mut raw, request("COMPLETION_REQUEST", "say hello", 6)).await;
    let candidate = json!({"value": "say he", "display": "None", "description": null});
    assert_eq!(
        completed,
        json!({"type": "COMPLETION_RESPONSE", "requestId": "7", "data": {"candidates": [candidate]}})
    );
    let highlighted = ask(&mut raw, request("SYNTAX_HIGHLIGHT_REQUEST", "say", 0)).await;
    assert_eq!(highlighted["data"], json!({"command": "say", "highlighted": "say"}));
    let parsed = ask(&mut raw, request("PARSE_REQUEST", "say hello", 6)).await;
    let words = json!({"word": "hello", "wordCursor": 2, "wordIndex": 1, "words": ["say", "hello"], "line": "say hello",
        "cursor": 6});
    assert_eq!(parsed, json!({"type": "PARSE_RESPONSE", "requestId": "7", "data": words}));
}

#[tokio::test]
async fn each_client_is_completed_in_its_own_colours() {
    let world = World::interactive().await;
    for (level, shown) in [("NONE", "None"), ("TRUE_COLOR", "TrueColor")] {
        let mut raw = world.raw().await;
        let mut hello = hello();
        hello["data"]["colorLevel"] = json!(level);
        raw.send(hello.to_string()).await;
        raw.receive().await;
        raw.receive().await;
        let completed = ask(&mut raw, request("COMPLETION_REQUEST", "", 0)).await;
        assert_eq!(completed["data"]["candidates"][0]["display"], shown);
    }
}

#[tokio::test]
async fn refusals_have_their_sentences_and_the_session_goes_on() {
    let world = World::new().await;
    let mut raw = world.welcomed().await;
    let cases = [
        (json!({"type": "PING", "data": {}}), error(None, "Missing requestId for message type: PING", None)),
        (
            json!({"type": "COMPLETION_REQUEST", "data": {}}),
            error(None, "Missing requestId for message type: COMPLETION_REQUEST", None),
        ),
        (
            json!({"type": "PONG", "requestId": "1"}),
            error(Some("1"), "Invalid message direction: PONG", None),
        ),
        (request("PARSE_REQUEST", "", 0), error(Some("7"), "Interactivity is currently unavailable", None)),
        (
            json!({"type": "COMMAND_EXECUTE", "data": {"command": "say hi"}}),
            error(None, "Interactivity is currently unavailable", None),
        ),
        (hello(), error(Some("h"), "Unknown message type: HELLO", None)),
    ];
    for (message, expected) in cases {
        assert_eq!(ask(&mut raw, message).await, expected);
    }
    raw.ping("alive").await;
}

#[tokio::test]
async fn a_capability_that_was_not_negotiated_is_refused() {
    let world = World::interactive().await;
    let mut raw = world.raw().await;
    let mut hello = hello();
    hello["data"]["capabilities"].as_object_mut().unwrap().remove("parse");
    raw.send(hello.to_string()).await;
    raw.receive().await;
    raw.receive().await;
    let answer = ask(&mut raw, request("PARSE_REQUEST", "", 0)).await;
    assert_eq!(answer, error(Some("7"), "Capability not negotiated: parse", None));
}

#[tokio::test]
async fn broken_text_in_a_sound_frame_is_an_error_and_the_session_goes_on() {
    let world = World::new().await;
    let mut raw = world.welcomed().await;
    for body in ["nonsense", "{", "[]", "{}", r#"{"type":"NOPE","requestId":"1"}"#] {
        raw.send(body).await;
        let answer = raw.receive().await;
        assert_eq!(answer["type"], "ERROR", "{body}");
        assert_eq!(answer.get("requestId"), None, "{body}");
    }
    raw.ping("alive").await;
}

#[tokio::test]
async fn what_the_host_cannot_do_has_known_sentences() {
    let world = World::interactive().await;
    let mut raw = world.welcomed().await;
    let answer = ask(&mut raw, request("COMPLETION_REQUEST", "fail", 0)).await;
    assert_eq!(answer, error(Some("7"), "Failed to get completions", Some("no idea")));
    let answer = ask(&mut raw, request("PARSE_REQUEST", "never", 0)).await;
    assert_eq!(answer, error(Some("7"), "Parsing is not supported", None));
    let answer = ask(&mut raw, json!({"type": "COMMAND_EXECUTE", "data": {"command": "fail"}})).await;
    assert_eq!(answer, error(None, "Failed to execute command", Some("as asked")));
    let answer = ask(&mut raw, request("COMMAND_EXECUTE", "unheard-of", 0)).await;
    assert_eq!(answer, error(Some("7"), "Command execution is not supported", None));
}

#[tokio::test]
async fn an_answer_that_fits_no_frame_becomes_an_error() {
    let world = World::interactive().await;
    let mut raw = world.welcomed().await;
    let answer = ask(&mut raw, request("COMPLETION_REQUEST", "huge", 0)).await;
    assert_eq!((&answer["type"], &answer["requestId"]), (&json!("ERROR"), &json!("7")));
    raw.ping("alive").await;
}

#[tokio::test]
async fn a_command_is_not_answered_and_its_output_is_everybodys_log() {
    let world = World::interactive().await;
    let (mut one, mut other) = (world.subscribed().await, world.subscribed().await);
    one.send(request("COMMAND_EXECUTE", "say hello", 0).to_string()).await;
    assert_eq!((one.log().await, other.log().await), ("hello\n".to_owned(), "hello\n".to_owned()));
    one.ping("1").await;
}

#[tokio::test]
async fn a_change_of_interactivity_is_told_once() {
    let world = World::new().await;
    let mut raw = world.welcomed().await;
    for available in [true, true, false] {
        world.console().set_interactive(available);
    }
    // Of several changes that wait only the last need arrive.
    let mut last = raw.receive().await;
    if last["data"]["available"] == true {
        last = raw.receive().await;
    }
    assert_eq!(last, json!({"type": "INTERACTIVITY_STATUS", "data": {"available": false}}));
    raw.ping("1").await;
}

#[tokio::test]
async fn one_clients_slow_request_delays_its_own_answers_and_nobody_elses() {
    let world = World::interactive().await;
    let (mut slow, mut other) = (world.subscribed().await, world.welcomed().await);
    slow.send(request("COMPLETION_REQUEST", "wait", 4).to_string()).await;
    slow.send(r#"{"type":"PING","requestId":"p","data":{}}"#).await;
    world.server.host().started.notified().await;
    other.ping("1").await;
    // Logs go on while the answer is being found.
    world.console().broadcast("meanwhile\n");
    assert_eq!(slow.log().await, "meanwhile\n");
    world.server.host().go_on.notify_one();
    assert_eq!(slow.receive().await["type"], "COMPLETION_RESPONSE");
    assert_eq!(slow.receive().await["type"], "PONG");
}

#[tokio::test]
async fn a_client_that_stops_writing_still_gets_its_answers() {
    let world = World::new().await;
    let mut raw = world.welcomed().await;
    for number in 0..50 {
        raw.send(json!({"type": "PING", "requestId": number, "data": {}}).to_string()).await;
    }
    raw.stream.shutdown().await.unwrap();
    for number in 0..50 {
        assert_eq!(raw.receive().await["requestId"], number.to_string());
    }
    assert_eq!(raw.rest().await, b"");
}

#[tokio::test]
async fn a_client_that_leaves_does_not_take_its_command_back() {
    let world = World::interactive().await;
    let mut watcher = world.subscribed().await;
    let mut raw = world.welcomed().await;
    raw.send(request("COMMAND_EXECUTE", "wait", 0).to_string()).await;
    world.server.host().started.notified().await;
    let leaver = world.console().clients()[1].id;
    drop(raw);
    world.console().disconnect(leaver);
    world.until_present(1).await;
    world.server.host().go_on.notify_one();
    assert_eq!(watcher.log().await, "waited\n");
}

#[tokio::test]
async fn those_who_are_there_are_listed() {
    let world = World::new().await;
    let first = world.welcomed().await;
    let _second = world.subscribed().await;
    let clients = world.console().clients();
    let process = i32::try_from(std::process::id()).unwrap();
    assert_eq!(clients.iter().map(|client| client.process).collect::<Vec<_>>(), [Some(process); 2]);
    assert_eq!(clients.iter().map(|client| client.subscribed).collect::<Vec<_>>(), [false, true]);
    drop(first);
    assert_eq!(world.until_present(1).await, [clients[1].id]);
    assert!(!world.console().disconnect(clients[0].id));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_answer_is_answered_for() {
    let server = Server::new(Echo::default());
    server.console().set_interactive(true);
    let (ours, stream) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move { server.serve(ours).await });
    let mut raw = Raw { stream, tagged: false };
    raw.send(hello().to_string()).await;
    raw.receive().await;
    raw.receive().await;
    let answer = ask(&mut raw, request("COMPLETION_REQUEST", "wait", 0)).await;
    assert_eq!(answer, error(Some("7"), "Failed to get completions", Some("no answer within 30 s")));
    raw.ping("alive").await;
}
