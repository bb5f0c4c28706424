//! Input that makes no sense: each has its answer, and the next good request works.

use loggia_jsonrpc::Kind;
use loggia_protocol_autohand::METHODS;
use loggia_protocol_autohand::limits::MAX_LINE_BYTES;
use serde_json::json;

use crate::support::{Client, world};

/// What is sent, and what is answered: `id code words`, or the whole line; nothing if nothing is.
const TABLE: &[(&str, Option<&str>)] = &[
    ("{", Some("null -32700")),
    ("no json at all", Some("null -32700")),
    ("42", Some("null -32600")),
    ("\"text\"", Some("null -32600")),
    ("null", Some("null -32600")),
    ("[]", Some("null -32600")),
    ("{}", Some("null -32600")),
    (r#"{"jsonrpc":"2.0","id":1}"#, Some("null -32600")),
    (r#"{"jsonrpc":"1.0","id":1,"method":"autohand.getState"}"#, Some("null -32600")),
    (r#"{"id":1,"method":"autohand.getState"}"#, Some("null -32600")),
    (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Some("null -32600")),
    (r#"{"jsonrpc":"2.0","id":1,"method":"autohand.unheardOf"}"#, Some("1 -32601 autohand.unheardOf")),
    (r#"{"jsonrpc":"2.0","id":1,"method":"autohand.goal.create"}"#, Some("1 -32601 autohand.goal.create")),
    (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, Some("1 -32601 initialize")),
    (r#"{"jsonrpc":"2.0","id":1,"method":"getState"}"#, Some("1 -32601 getState")),
    (r#"{"jsonrpc":"2.0","id":"a","method":"autohand.prompt"}"#, Some("\"a\" -32602 message")),
    (
        r#"{"jsonrpc":"2.0","id":1.5,"method":"autohand.prompt","params":{"message":""}}"#,
        Some("1.5 -32602 message"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":null,"method":"autohand.prompt","params":{"message":5}}"#,
        Some("null -32602 message"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"autohand.prompt","params":{"message":"x","context":{"files":["a",2]}}}"#,
        Some("1 -32602 context.files[1]"),
    ),
    (r#"{"jsonrpc":"2.0","id":1,"method":"autohand.prompt","params":"x"}"#, Some("1 -32602 an object")),
    (r#"{"jsonrpc":"2.0","id":1,"method":"autohand.prompt","params":["x"]}"#, Some("1 -32602 an object")),
    (
        r#"{"jsonrpc":"2.0","id":true,"method":"autohand.permissionResponse","params":{"allowed":true}}"#,
        Some("true -32602 requestId"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":[1],"method":"autohand.changesDecision","params":{"batchId":"b","action":"accept_selected"}}"#,
        Some("[1] -32602 selectedChangeIds"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":{"a":1},"method":"autohand.changesDecision","params":{"batchId":"b","action":"maybe"}}"#,
        Some("{\"a\":1} -32602 action"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"autohand.changesDecision","params":{"action":"accept_all"}}"#,
        Some("1 -32602 batchId"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"autohand.changesDecision","params":{"batchId":"b"}}"#,
        Some("1 -32602 action"),
    ),
    (r#"{"jsonrpc":"2.0","method":"autohand.unheardOf"}"#, None),
    (r#"{"jsonrpc":"2.0","method":"autohand.prompt","params":{}}"#, None),
    (r#"[{"jsonrpc":"2.0","method":"autohand.permissionAcknowledged","params":{"requestId":"x"}}]"#, None),
    (r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, None),
    ("", None),
    ("   ", None),
];

#[tokio::test]
async fn every_kind_of_nonsense_has_its_answer() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    for (sent, expected) in TABLE {
        client.send(format!("{sent}\n").as_bytes()).await;
        if let Some(expected) = expected {
            let answer = client.line().await;
            let id = answer["id"].to_string();
            let told = format!("{id} {} {}", answer["error"]["code"], answer["error"]["message"]);
            let mut words = expected.splitn(3, ' ');
            let (wanted, code) = (words.next().unwrap(), words.next().unwrap());
            assert!(told.starts_with(&format!("{wanted} {code}")), "{sent}: {told}");
            assert!(words.next().is_none_or(|field| told.contains(field)), "{sent}: {told}");
        }
        let state = client.call("getState", json!({})).await;
        assert_eq!(state["status"], "idle", "after {sent}");
    }
}

#[tokio::test]
async fn a_batch_is_answered_as_one_line_in_the_order_of_its_requests() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": "one", "method": "autohand.getSupportedCommands"},
        7,
        {"jsonrpc": "2.0", "method": "autohand.abort"},
        {"jsonrpc": "2.0", "id": 2, "method": "autohand.unheardOf"},
        {"jsonrpc": "1.0", "id": 3, "method": "autohand.abort"},
        {"jsonrpc": "2.0", "id": 4, "method": "autohand.abort"},
    ]);
    client.send(format!("{batch}\n").as_bytes()).await;
    let answers = client.line().await;
    let short: Vec<String> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| format!("{} {}", answer["id"], answer["error"]["code"]))
        .collect();
    assert_eq!(short, ["\"one\" null", "null -32600", "2 -32601", "null -32600", "4 null"]);
    assert_eq!(answers[4]["result"], json!({"success": false}));
}

#[tokio::test]
async fn an_over_long_line_is_refused_once() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..=MAX_LINE_BYTES >> 20 {
        client.send(&piece).await;
    }
    client.send(b"\n").await;
    let answer = client.line().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32600)));
    assert_eq!(client.call("getState", json!({})).await["status"], "idle");
}

#[tokio::test]
async fn lines_may_end_with_crlf_and_come_in_pieces() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    for piece in ["{\"jsonrpc\":\"2.0\",", "\"id\":1,\"method\":", "\"autohand.getState\"}\r", "\n"] {
        client.send(piece.as_bytes()).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(client.answer(1).await["status"], "idle");
}

#[tokio::test]
async fn every_method_of_the_protocol_is_served() {
    let world = world("").await;
    let mut client = Client::start(&world).await;
    let methods = METHODS.iter().filter(|method| method.kind == Kind::Request);
    let names: Vec<&str> = methods.map(|method| method.name.trim_start_matches("autohand.")).collect();
    assert!(names.len() > 25, "{names:?}");
    let mut unknown = Vec::new();
    for name in names {
        if client.call(name, json!({})).await["code"] == -32601 {
            unknown.push(name);
        }
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}
