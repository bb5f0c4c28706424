//! How streams begin, and who may open one.

use std::time::Duration;

use loggia_domain::Preset;
use loggia_http::Timing;
use serde_json::json;
use tokio_tungstenite::tungstenite::Error;

use crate::stream_support::{DRIVER, Heard, WATCHER, connect, says, world, world_with};

fn status(error: Error) -> (u16, serde_json::Value) {
    let Error::Http(response) = error else { panic!("{error}") };
    let body = response.body().as_deref().unwrap_or_default();
    (response.status().as_u16(), serde_json::from_slice(body).unwrap_or_default())
}

#[tokio::test]
async fn the_server_says_what_is_on_then_how_the_session_is() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.connect(&DRIVER, &format!("/v1/sessions/{session}/stream")).await;
    client.say(json!({"type": "client.hello", "client_info": {"name": "editor", "version": "1"}})).await;
    let hello = client.next().await;
    assert_eq!(
        hello,
        json!({"type": "server.hello", "server_info": {
            "version": "1.2.3",
            "model": {"provider": "scripted", "model_name": "model", "capabilities": ["chat", "refactor"]},
            "capabilities": ["multi_file_edit"],
        }, "last_seq": 1})
    );
    let state = client.next().await;
    assert_eq!(
        state,
        json!({"type": "session.state", "state": {
            "pending_patches": [], "applied_patches": [], "pending_approvals": [],
            "current_step": 0, "total_steps": 0,
        }})
    );
}

#[tokio::test]
async fn capabilities_nobody_knows_are_taken_and_named_to_their_author() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.connect(&DRIVER, &format!("/v1/sessions/{session}/stream")).await;
    let info = json!({"name": "editor", "version": "1", "capabilities": ["queue", "delta-only", "juggling"]});
    client.say(json!({"type": "client.hello", "client_info": info})).await;
    let hello = client.next().await;
    assert_eq!(hello["understood"], json!(["queue"]));
    let unknown = json!([{"name": "delta-only", "did_you_mean": "delta_only"}, {"name": "juggling"}]);
    assert_eq!(hello["not_understood"], unknown);
}

#[tokio::test]
async fn a_model_is_in_the_hello_what_it_is_in_the_list() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.connect(&DRIVER, &format!("/v1/sessions/{session}/stream")).await;
    client.say(json!({"type": "client.hello", "client_info": {"name": "editor", "version": "1"}})).await;
    let told = client.next().await["server_info"]["model"].clone();
    let listed = world.get("/v1/models").await["models"][0].clone();
    for field in ["provider", "model_name", "capabilities"] {
        assert_eq!(told[field], listed[field], "{field}");
    }
}

#[tokio::test]
async fn the_stream_speaks_its_subprotocol() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let address = world.listen(&DRIVER).await;
    // The client refuses an answer that does not choose one of those it offered.
    connect(address, &format!("/v1/sessions/{session}/stream"), None).await.unwrap();
}

#[tokio::test]
async fn a_session_that_is_not_there_is_answered_before_the_upgrade() {
    let world = world(&[], "").await;
    let gone = loggia_domain::SessionId::new();
    for path in [
        format!("/v1/sessions/{gone}/stream"),
        "/v1/sessions/nonsense/stream".to_owned(),
        "/v1/sessions/..%2f..%2fetc/stream".to_owned(),
    ] {
        let Err(error) = world.try_connect(&DRIVER, &path).await else { panic!("{path}") };
        let (status, problem) = status(error);
        assert_eq!((status, problem["type"].as_str()), (404, Some("not-found")), "{path}");
    }
    let session = world.open(Preset::Ask).await;
    for after in ["x", "-1", "1.5", ""] {
        let path = format!("/v1/sessions/{session}/stream?after={after}");
        let Err(error) = world.try_connect(&DRIVER, &path).await else { panic!("{path}") };
        let (status, problem) = status(error);
        assert_eq!((status, problem["type"].as_str()), (400, Some("bad-request")), "{path}");
    }
}

#[tokio::test]
async fn a_client_that_says_no_hello_is_closed() {
    let timing = Timing { hello: Duration::from_millis(50), ..Timing::default() };
    let world = world_with(&[], "", timing, None).await;
    let session = world.open(Preset::Ask).await;
    for path in [format!("/v1/sessions/{session}/stream"), "/v1/stream".to_owned()] {
        let mut client = world.connect(&DRIVER, &path).await;
        assert_eq!(client.hear().await, Heard::Closed(Some(4408)));
    }
}

#[tokio::test]
async fn what_comes_before_the_hello_is_answered_and_the_hello_still_counts() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.connect(&DRIVER, &format!("/v1/sessions/{session}/stream")).await;
    client.prompt("go").await;
    let error = client.until_error().await;
    assert_eq!(error["code"], "INVALID_MESSAGE");
    assert_eq!(error["details"], json!({"pointer": "/type", "expected": "`client.hello` first"}));
    client.send("nonsense").await;
    assert_eq!(client.until_error().await["code"], "INVALID_MESSAGE");
    client.hello("editor", &[]).await;
    // Said twice, it is a mistake and nothing else.
    client.say(json!({"type": "client.hello", "client_info": {"name": "x", "version": "1"}})).await;
    assert_eq!(client.until_error().await["code"], "INVALID_MESSAGE");
}

#[tokio::test]
async fn a_token_that_may_only_watch_is_told_so_and_watches_on() {
    let world = world(&[], &says(&["Hello."])).await;
    let session = world.open(Preset::Ask).await;
    let path = format!("/v1/sessions/{session}/stream");
    let mut watcher = world.join_as(&WATCHER, &path, "page", &[]).await;
    for message in [
        json!({"type": "client.user_message", "message": "go"}),
        json!({"type": "client.cancel"}),
        json!({"type": "client.context_update", "updates": {}}),
        json!({"type": "client.approval_response", "request_id": "req_1", "approved": true}),
        json!({"type": "client.patch_apply_result", "patch_id": "patch_1", "file_path": "a", "success": true}),
        json!({"type": "client.command_result", "command_id": "cmd_1", "command": "x", "exit_code": 0}),
        json!({"type": "client.file_changes", "changes": []}),
    ] {
        watcher.say(message.clone()).await;
        assert_eq!(watcher.until_error().await["code"], "FORBIDDEN", "{message}");
    }
    let mut driver = world.join(session, "editor", &[]).await;
    driver.prompt("go").await;
    assert_eq!(watcher.until("client.echo").await["message"], "go");
    assert_eq!(watcher.until_done().await["message"], "Hello.");
}

#[tokio::test]
async fn a_token_holds_no_more_than_its_share_of_sockets() {
    // They say no hello, and must not be closed for that while the others connect.
    let timing = Timing { hello: Duration::from_secs(600), ..Timing::default() };
    let world = world_with(&[], "", timing, None).await;
    let session = world.open(Preset::Ask).await;
    let path = format!("/v1/sessions/{session}/stream");
    let address = world.listen(&DRIVER).await;
    let mut held = Vec::new();
    for _ in 0..64 {
        held.push(connect(address, &path, None).await.unwrap());
    }
    let Err(error) = connect(address, &path, None).await else { panic!("one too many") };
    assert_eq!(status(error).0, 429);
    // Another token has its own share, and a socket that is closed makes room.
    world.join_as(&WATCHER, &path, "page", &[]).await;
    let mut gone = held.pop().unwrap();
    gone.hello("editor", &[]).await;
    gone.socket.close(None).await.unwrap();
    gone.until_closed().await;
    loop {
        match connect(address, &path, None).await {
            Ok(_) => return,
            // The server may be a moment behind what its client saw.
            Err(error) => assert_eq!(status(error).0, 429),
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_request_that_wants_no_socket_is_told_what_is_missing() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let world = world(&[], "").await;
    let address = world.listen(&DRIVER).await;
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!("GET /v1/stream HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("application/problem+json"), "{answer}");
}

#[tokio::test]
async fn the_stream_without_a_session_greets_and_is_kept_alive() {
    let timing = Timing { ping: Duration::from_millis(20), ..Timing::default() };
    let world = world_with(&[], "", timing, None).await;
    let mut client = world.connect(&DRIVER, "/v1/stream").await;
    client.say(json!({"type": "client.hello", "client_info": {"name": "page", "version": "1"}})).await;
    assert_eq!(client.next().await["type"], "server.hello");
    assert_eq!(client.hear().await, Heard::Ping);
    client.prompt("go").await;
    assert_eq!(client.until_error().await["details"]["pointer"], "/type");
    world.stop.cancel();
    assert_eq!(client.until_closed().await, Some(1001));
}

#[tokio::test]
async fn a_client_that_answers_no_ping_is_gone_after_a_while() {
    let timing = Timing {
        ping: Duration::from_millis(50),
        silence: Duration::from_millis(1500),
        farewell: Duration::from_millis(50),
        ..Timing::default()
    };
    let world = world_with(&[], "", timing, None).await;
    let session = world.open(Preset::Ask).await;
    let quiet = world.join(session, "quiet", &[]).await;
    // It is there and does not read, so it answers nothing; when its place is free again, it has been let go.
    while world.engine.loaded_sessions() == 0 {
        tokio::task::yield_now().await;
    }
    world.door.streams_ended().await;
    drop(quiet);
    // One that reads answers, and stays.
    let mut lively = world.join(session, "lively", &[]).await;
    for _ in 0..40 {
        assert_eq!(lively.hear().await, Heard::Ping);
    }
}
