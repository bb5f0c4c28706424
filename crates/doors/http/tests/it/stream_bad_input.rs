//! Messages that are none, and frames that cannot be messages.

use futures_util::SinkExt;
use loggia_domain::Preset;
use serde_json::json;
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use crate::stream_support::{says, world};

const WORDS: &str = "an instruction, or a slash command in `context.command`";

/// What is wrong with each text: its pointer and what was expected there.
const BAD: &[(&str, &str, &str)] = &[
    ("", "", "one JSON object; this is none: it ends too early"),
    ("hello", "", "one JSON object; this is none: look at line 1, column 1"),
    ("[]", "", "a JSON object"),
    ("null", "", "a JSON object"),
    ("{}", "/type", "a string that names the message"),
    (r#"{"type":7}"#, "/type", "must be text"),
    (
        r#"{"type":"client.user_mesage"}"#,
        "/type",
        "a message that a client sends, not `client.user_mesage`; did you mean `client.user_message`?",
    ),
    (
        r#"{"type":"server.hello"}"#,
        "/type",
        "a message that a client sends, not `server.hello`; there are `client.hello`, `client.user_message`, \
         `client.context_update`, `client.approval_response`, `client.patch_apply_result`, `client.command_result`, \
         `client.cancel`, `client.file_changes`, `ui.dialog.response`, `ui.window.closed`",
    ),
    (r#"{"type":"client.user_message"}"#, "", "`message` is missing"),
    (
        r#"{"type":"client.user_message","mesage":"hi"}"#,
        "",
        "`message` is missing; is `mesage` meant to be it?",
    ),
    (r#"{"type":"client.user_message","message":1}"#, "/message", "must be text, and is a number"),
    (
        r#"{"type":"client.user_message","message":"hi","context":{"diagnostics":[{"file_path":"a","severity":3}]}}"#,
        "/context/diagnostics/0/severity",
        "must be text, and is a number",
    ),
    (
        r#"{"type":"client.approval_response","request_id":"req_1","approved":true,"scope":"hunks"}"#,
        "/scope",
        "is not known here; did you mean `hunk`?",
    ),
    (
        r#"{"type":"client.approval_response","request_id":"req_1","approved":"yes"}"#,
        "/approved",
        "must be true or false, and is text",
    ),
    (r#"{"type":"client.user_message","message":""}"#, "/message", WORDS),
    (r#"{"type":"client.user_message","message":" \n\t"}"#, "/message", WORDS),
    (
        r#"{"type":"client.user_message","message":"","context":{"command":" ","diagnostics":[]}}"#,
        "/message",
        WORDS,
    ),
    (
        r#"{"type":"client.approval_response","request_id":"req_1","approved":true,"scope":"hunk","file_path":"a"}"#,
        "/hunk_index",
        "`hunk_index` is needed when the scope is `hunk`",
    ),
    (
        r#"{"type":"client.approval_response","request_id":"req_1","approved":true,"scope":"file"}"#,
        "/file_path",
        "`file_path` is needed when the scope is `file`",
    ),
    (
        r#"{"type":"client.patch_apply_result","patch_id":"patch_00000000000000000000000000000000","file_path":"a","success":true,"applied_hash":"sha256:12"}"#,
        "/applied_hash",
        "`sha256:` and 64 hexadecimal digits",
    ),
];

#[tokio::test]
async fn what_is_no_message_is_answered_and_the_stream_goes_on() {
    let world = world(&[], &says(&["Still here."])).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    for (text, pointer, expected) in BAD {
        client.send(text).await;
        let error = client.until_error().await;
        assert_eq!(error["code"], "INVALID_MESSAGE", "{text}");
        assert_eq!(error["recoverable"], true, "{text}");
        assert_eq!(error["details"], json!({"pointer": pointer, "expected": expected}), "{text}");
    }
    let deep = format!(r#"{{"type":"client.cancel","x":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    client.send(&deep).await;
    assert_eq!(client.until_error().await["details"]["expected"], "at most 64 levels of nesting");
    client.prompt("go").await;
    assert_eq!(client.until_done().await["message"], "Still here.");
}

#[tokio::test]
async fn answers_to_questions_nobody_asked_are_told_so() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    for id in
        ["req_1", "nonsense", "cmd_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f", "req_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f"]
    {
        client.approve(&json!(id)).await;
        assert_eq!(client.until_error().await["code"], "UNKNOWN_REQUEST", "{id}");
    }
    for id in ["patch_1", "patch_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f"] {
        client
            .say(json!({"type": "client.patch_apply_result", "patch_id": id, "file_path": "a", "success": true}))
            .await;
        assert_eq!(client.until_error().await["code"], "UNKNOWN_REQUEST", "{id}");
    }
    for id in ["cmd_1", "call_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f", "cmd_0192f7c0a1b27c3d8e4f5a6b7c8d9e0f"] {
        client
            .say(json!({"type": "client.command_result", "command_id": id, "command": "x", "exit_code": 0}))
            .await;
        assert_eq!(client.until_error().await["code"], "UNKNOWN_REQUEST", "{id}");
    }
    client.say(json!({"type": "client.cancel"})).await;
    assert_eq!(client.until_error().await["code"], "UNKNOWN_REQUEST");
}

#[tokio::test]
async fn a_binary_frame_closes_the_stream() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.socket.send(Message::binary(b"{}".to_vec())).await.unwrap();
    assert_eq!(client.until_closed().await, Some(1003));
}

#[tokio::test]
async fn a_message_over_the_limit_closes_the_stream() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.send(&"x".repeat(4 * 1024 * 1024 + 1)).await;
    assert_eq!(client.until_closed().await, Some(1009));
}

#[tokio::test]
async fn a_message_in_many_fragments_over_the_limit_closes_the_stream() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    let piece = vec![b'x'; 1024 * 1024];
    for number in 0..5 {
        let kind = if number == 0 { Data::Text } else { Data::Continue };
        let frame = Frame::message(piece.clone(), OpCode::Data(kind), number == 4);
        client.socket.send(Message::Frame(frame)).await.unwrap();
    }
    assert_eq!(client.until_closed().await, Some(1009));
}

#[tokio::test]
async fn a_message_at_the_limit_is_taken() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    let text = format!(r#"{{"type":"client.bye","x":"{}"}}"#, "x".repeat(4 * 1024 * 1024 - 28));
    assert_eq!(text.len(), 4 * 1024 * 1024);
    client.send(&text).await;
    assert_eq!(client.until_error().await["code"], "INVALID_MESSAGE");
}

#[tokio::test]
async fn a_message_in_fragments_is_one_message() {
    let world = world(&[], &says(&["Hello."])).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    let text = json!({"type": "client.user_message", "message": "pieces, ünïcode and all"}).to_string();
    let bytes = text.as_bytes();
    let count = bytes.len();
    for (place, byte) in bytes.iter().enumerate() {
        // One byte each, so that characters are cut as well; a ping in between is no part of it.
        let kind = if place == 0 { Data::Text } else { Data::Continue };
        let frame = Frame::message(vec![*byte], OpCode::Data(kind), place + 1 == count);
        client.socket.send(Message::Frame(frame)).await.unwrap();
        if place == count / 2 {
            client.socket.send(Message::Ping(Default::default())).await.unwrap();
        }
    }
    assert_eq!(client.until_done().await["message"], "Hello.");
    assert!(world.last_prompt().contains("pieces, ünïcode and all"));
}

#[tokio::test]
async fn a_text_that_is_not_utf8_closes_the_stream() {
    let world = world(&[], "").await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    let frame = Frame::message(vec![0xff, 0xfe], OpCode::Data(Data::Text), true);
    client.socket.send(Message::Frame(frame)).await.unwrap();
    assert_eq!(client.until_closed().await, Some(1007));
}

#[tokio::test]
async fn text_with_nul_and_escapes_of_half_characters_does_no_harm() {
    let world = world(&[], &says(&["Hello."])).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.send(r#"{"type":"client.user_message","message":"\ud800"}"#).await;
    assert_eq!(client.until_error().await["code"], "INVALID_MESSAGE");
    client.send(r#"{"type":"client.user_message","message":"a\u0000b"}"#).await;
    assert_eq!(client.until_done().await["message"], "Hello.");
}

#[tokio::test]
async fn a_message_far_over_the_limit_ends_the_stream_and_nothing_else() {
    let world = world(&[], &says(&["Still here."])).await;
    let session = world.open(Preset::Ask).await;
    let mut greedy = world.join(session, "greedy", &[]).await;
    let mut client = world.join(session, "editor", &[]).await;
    // The server stops reading in the middle of it: the connection may be gone before it is all sent.
    let huge = Message::text("x".repeat(32 * 1024 * 1024));
    let _ = greedy.socket.send(huge).await;
    let code = greedy.until_closed().await;
    assert!(matches!(code, Some(1009) | None), "{code:?}");
    client.prompt("go").await;
    assert_eq!(client.until_done().await["message"], "Still here.");
}

#[tokio::test]
async fn a_slash_command_needs_no_other_words() {
    let world = world(&[], &says(&["Fixed."])).await;
    let session = world.open(Preset::Ask).await;
    let mut client = world.join(session, "editor", &[]).await;
    client.say(json!({"type": "client.user_message", "message": "", "context": {"command": "/fix"}})).await;
    assert_eq!(client.until_done().await["message"], "Fixed.");
}
