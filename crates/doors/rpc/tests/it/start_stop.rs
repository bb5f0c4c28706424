//! How a connection begins and ends.

use insta::assert_snapshot;
use loggia_rpc::{Exit, Launch, LaunchError, keep, serve};
use loggia_testkit::Writes;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::support::{Client, parts, world};

const DONE: Exit = Exit { code: 0, reason: None };

/// Nobody need say anything to be told that the agent is there.
#[tokio::test]
async fn the_first_line_says_that_the_agent_is_there() {
    let world = world("").await;
    let mut client = Client::launch(&world, Launch::new(world.root())).await;
    assert_snapshot!(client.text());
}

/// A client that writes at once is answered after the first lines.
#[tokio::test]
async fn what_was_sent_before_the_start_is_answered_after_it() {
    let world = world("").await;
    let mut client = Client::raw(&world, Ok(Launch::new(world.root())));
    let id = client.say("getState", json!({})).await;
    assert_eq!(client.line().await["method"], "autohand.agentStart");
    assert_eq!(client.line().await["method"], "autohand.hook.sessionStart");
    assert_eq!(client.answer(id).await["status"], "idle");
}

#[tokio::test]
async fn end_of_input_ends_everything_in_order() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    client.close().await;
    assert_eq!(client.until_over().await, DONE);
    assert_snapshot!(client.text());
}

/// Scripts write all they want to ask and close.
#[tokio::test]
async fn what_was_asked_before_the_end_of_input_is_answered() {
    let world = world("").await;
    let mut client = Client::raw(&world, Ok(Launch::new(world.root())));
    client.say("getHistory", json!({})).await;
    client.say("getMessages", json!({})).await;
    // Without a newline.
    client.send(br#"{"jsonrpc":"2.0","id":3,"method":"autohand.getState"}"#).await;
    client.close().await;
    assert_eq!(client.until_over().await, DONE);
    let text = client.text();
    assert_eq!(text.lines().filter(|line| line.starts_with("= ")).count(), 3, "{text}");
    assert!(text.lines().last().unwrap().starts_with("agentEnd"), "{text}");
}

#[tokio::test]
async fn end_of_input_in_the_middle_of_a_turn_aborts_it() {
    let world = world("[[reply]]\nparts = [{ text = \"So far\" }, { hang = true }]").await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Go"})).await;
    client.until("messageUpdate").await;
    client.close().await;
    assert_eq!(client.until_over().await, DONE);
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn a_stop_while_a_question_waits_denies_it() {
    let world = world(crate::permissions::WRITE).await;
    let mut client = Client::start(&world).await;
    client.call("prompt", json!({"message": "Write"})).await;
    client.until("permissionRequest").await;
    client.text();
    client.stop.cancel();
    assert_eq!(client.until_over().await, DONE);
    assert_snapshot!(client.text());
    assert!(!world.root().join("new.txt").exists());
}

#[tokio::test]
async fn a_turn_goes_on_while_somebody_else_is_there() {
    let world = world("[[reply]]\nparts = [{ text = \"So far\" }, { hang = true }]").await;
    let mut client = Client::start(&world).await;
    let session = client.call("getState", json!({})).await["sessionId"].as_str().unwrap().parse().unwrap();
    client.call("prompt", json!({"message": "Go"})).await;
    client.until("messageUpdate").await;
    let role = loggia_domain::Role::Drive;
    let player = world.join(session, "alice", role, loggia_domain::Abilities::default()).await;
    client.close().await;
    assert_eq!(client.until_over().await, DONE);
    assert!(client.text().contains("turnEnd"));
    assert!(player.state().await.turn.is_some());
}

#[tokio::test]
async fn a_client_may_ask_for_the_end() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    client.call("shutdown", json!({})).await;
    assert_eq!(client.until_over().await, DONE);
    assert_snapshot!(client.text());
}

#[tokio::test]
async fn an_engine_that_stops_ends_the_connection() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    world.engine.stop().await;
    assert_eq!(client.until_over().await, DONE);
    assert!(client.text().lines().last().unwrap().starts_with("agentEnd"));
}

#[tokio::test]
async fn a_stop_before_anything_began_says_nothing() {
    let world = world("").await;
    let mut client = Client::raw(&world, Ok(Launch::new(world.root())));
    client.stop.cancel();
    assert_eq!(client.until_over().await, DONE);
    assert_eq!(client.text(), "");
}

#[tokio::test]
async fn a_workspace_that_cannot_be_one_is_told_to_everybody_who_asks() {
    let world = world("").await;
    let mut client = Client::raw(&world, Ok(Launch::new("/usr")));
    let batch =
        "[{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"x\"},{\"jsonrpc\":\"2.0\",\"method\":\"y\"}]\n";
    client.send(batch.as_bytes()).await;
    client.send(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"autohand.getState\"}\n").await;
    let first = client.line().await;
    assert_eq!((&first["id"], &first["error"]["code"]), (&Value::Null, &json!(-32603)));
    let members = client.line().await;
    assert_eq!((members.as_array().unwrap().len(), &members[0]["id"]), (1, &json!("a")));
    let answer = client.line().await;
    assert_eq!((&answer["id"], &answer["error"]), (&json!(7), &first["error"]));
    client.close().await;
    let exit = client.until_over().await;
    assert_eq!(exit.code, 1);
    assert!(exit.reason.unwrap().contains("/usr"));
}

#[tokio::test]
async fn other_failures_to_start_have_codes_of_their_own() {
    let world = world("").await;
    let no_session = LaunchError::NoSuchSession("nobody".to_owned());
    let unknown = loggia_rpc::StartWith::Resume(loggia_domain::SessionId::new());
    let resumed = Launch { session: unknown, ..Launch::new(world.root()) };
    for (launch, code) in [
        (Err(no_session), -32603),
        (Ok(Launch::new("/somewhere/that/is/not")), -32603),
        (Ok(resumed), -32010),
    ] {
        let mut client = Client::raw(&world, launch);
        let error = client.line().await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(code), &json!("initialization_failed")));
        client.close().await;
        assert_eq!(client.until_over().await.code, 1);
    }
}

fn with_headers(body: &Value) -> String {
    let body = body.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

/// A client made for language servers is answered in its own framing, and with what it waits for at both ends.
#[tokio::test]
async fn a_client_that_sends_headers_is_answered_with_headers() {
    let world = world("").await;
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    let (mut heard, mut near) = tokio::io::split(near);
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(parts(&world), Ok(Launch::new(world.root())), reader, writer, stop));
    let mut text = String::new();
    for (message, awaited) in [
        (
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"processId": 1}}),
            r#""id":0,"result":{"capabilities":{}}"#,
        ),
        (json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}), ""),
        (json!({"jsonrpc": "2.0", "id": 1, "method": "autohand.getState"}), r#""status":"idle""#),
        (json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}), r#""id":2,"result":null"#),
        (json!({"jsonrpc": "2.0", "id": 3, "method": "autohand.getState"}), r#""id":3,"result":{"status"#),
        (json!({"jsonrpc": "2.0", "method": "exit"}), "autohand.agentEnd"),
    ] {
        near.write_all(with_headers(&message).as_bytes()).await.unwrap();
        while !text.contains(awaited) {
            let mut piece = vec![0; 4096];
            let read = heard.read(&mut piece).await.unwrap();
            assert_ne!(read, 0, "{awaited} is not in {text}");
            text.push_str(std::str::from_utf8(&piece[..read]).unwrap());
        }
    }
    assert!(text.starts_with("Content-Length: "), "{text}");
    assert!(!text.contains("}\n"), "{text}");
    // Its side is open all the while.
    assert_eq!(serving.await.unwrap(), DONE);
}

/// Whoever serves on behalf of another process has a last word of its own.
#[tokio::test]
async fn a_lent_writer_comes_back_open_after_the_last_line() {
    let world = world("").await;
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    let (kept, returned) = keep(writer);
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(parts(&world), Ok(Launch::new(world.root())), reader, kept, stop));
    let (mut heard, mut near) = tokio::io::split(near);
    near.shutdown().await.unwrap();
    assert_eq!(serving.await.unwrap(), DONE);
    let mut writer = returned.writer().await.unwrap();
    writer.write_all(b"{\"loggia\":1,\"exit\":0}\n").await.unwrap();
    writer.shutdown().await.unwrap();
    let mut text = String::new();
    heard.read_to_string(&mut text).await.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[lines.len() - 2].contains("autohand.agentEnd"), "{text}");
    assert_eq!(lines.last().unwrap(), &r#"{"loggia":1,"exit":0}"#);
}

#[tokio::test]
async fn a_client_that_takes_no_bytes_is_served_until_its_input_ends() {
    let world = world("[[reply]]\nparts = [{ text = \"ok\" }]").await;
    let (mut near, far) = tokio::io::duplex(1 << 16);
    let writer = Writes::closed();
    let stop = CancellationToken::new();
    let serving =
        tokio::spawn(serve(parts(&world), Ok(Launch::new(world.root())), far, writer.clone(), stop));
    near.write_all(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"autohand.prompt\",\"params\":{\"message\":\"x\"}}\n",
    )
    .await
    .unwrap();
    while !world.model.is_over() {
        tokio::task::yield_now().await;
    }
    assert!(!writer.all().is_empty());
    near.shutdown().await.unwrap();
    assert_eq!(serving.await.unwrap(), DONE);
}

/// A client that never reads is not waited for: neither its turn nor the last lines.
#[tokio::test]
async fn a_client_that_never_reads_does_not_keep_the_process() {
    let world = world("[[reply]]\nparts = [{ tokens = { count = 5000, text = \"tok \" } }]").await;
    let (mut near, far) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(far);
    let stop = CancellationToken::new();
    let serving =
        tokio::spawn(serve(parts(&world), Ok(Launch::new(world.root())), reader, writer, stop.clone()));
    near.write_all(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"autohand.prompt\",\"params\":{\"message\":\"x\"}}\n",
    )
    .await
    .unwrap();
    while !world.model.is_over() {
        tokio::task::yield_now().await;
    }
    stop.cancel();
    assert_eq!(serving.await.unwrap(), DONE);
}
