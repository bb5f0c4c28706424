//! What goes over the wire: what extensions need from us, and what we put up with from them.

use loggia_domain::ExtensionState;
use loggia_extensions::Limits;
use serde_json::{Value, json};

use crate::desk::MESSAGE;
use crate::support::{One, World, doing, eventually, failure, state, texts};

#[tokio::test]
async fn everything_we_send_can_be_read_by_published_extensions() {
    let plan = json!({
        "init": { "events": [{ "name": "message/opened" }, { "name": "message/changed", "options": { "includeContent": true } }] },
        "commands": { "größe": [
            ["ask", "editor/getMessage", { "format": "hl7" }], ["ask", "editor/nothing", {}],
            ["ask", "editor/patchMessage", { "patches": [{ "path": "PID.5.1", "value": "Müller 😀" }] }],
            ["ask", "ui/showMessage", { "message": "ü" }], ["window", { "url": "http://x/", "title": "ü" }],
            ["close-window"]
        ] }
    });
    let one = One::within(plan, |world| {
        world.desk.put(MESSAGE);
        world.desk.set_file("/srv/größe.hl7");
        world.people.will_answer([Ok(loggia_domain::DialogAnswer::Seen)]);
    })
    .await;
    one.give("größe").await.unwrap().unwrap();
    one.world.desk.tell(loggia_domain::DeskEvent::Opened(one.world.desk.open_message()));
    eventually("the change", || !one.world.told("one", "message/changed").is_empty()).await;
    eventually("the opening", || !one.world.told("one", "message/opened").is_empty()).await;
    eventually("the end of the window", || !one.world.told("one", "window/closed").is_empty()).await;
    one.host.stop().await;
    let wire = one.world.wire("one");
    assert!(wire.len() >= 12, "{}", wire.len());
    for heard in &wire {
        let (header, message) = (heard["header"].as_str().unwrap(), &heard["message"]);
        // The puppet takes exactly as many bytes as the header says and then expects the next header.
        let length = header.strip_prefix("Content-Length: ").and_then(|rest| rest.strip_suffix("\r\n\r\n"));
        assert!(length.is_some_and(|length| length.parse::<u64>().is_ok()), "{header:?}");
        assert_eq!(heard["ascii"], true, "{message}");
        let has = |key: &str| message.get(key).is_some();
        assert_eq!(message["jsonrpc"], "2.0");
        if has("method") {
            assert!(message["params"].is_object() && !has("result") && !has("error"), "{message}");
            let is_request = matches!(message["method"].as_str(), Some("initialize" | "shutdown"));
            assert_eq!(has("id"), is_request, "{message}");
        } else if has("result") {
            assert!(message["result"].is_object() && !has("error"), "{message}");
        } else {
            assert!(
                message["error"]["message"].is_string() && message["error"]["code"].is_i64(),
                "{message}"
            );
        }
    }
    assert!(one.world.desk.text().unwrap().contains("Müller 😀"));
}

#[tokio::test]
async fn a_broken_body_in_a_good_frame_is_answered_and_the_connection_stays() {
    let bodies = [
        ("{\"jsonrpc\":\"2.0\",", -32700),
        ("", -32700),
        ("nonsense", -32700),
        ("\u{ff}\u{fe}", -32700),
        ("3", -32600),
        ("[]", -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"editor/getMessage\",\"params\":{}}]", -32600),
        ("{}", -32600),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"editor/getMessage\",\"params\":{}}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"editor/getMessage\",\"params\":{}}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7,\"params\":{}}", -32600),
    ];
    let mut steps: Vec<Value> = bodies.iter().map(|(body, _)| json!(["body", body])).collect();
    steps.push(json!(["ask", "editor/getMessage", { "format": "hl7" }]));
    let plan = json!({ "init": {}, "commands": { "go": steps } });
    let one = One::within(plan, |world| world.desk.put(MESSAGE)).await;
    let given = one.give("go");
    let strays = || {
        let wire = one.world.wire("one").into_iter().map(|heard| heard["message"].clone());
        wire.filter(|message| message["error"].is_object()).collect::<Vec<_>>()
    };
    eventually("all answers", || strays().len() == bodies.len() && !one.all_answers().is_empty()).await;
    for ((body, code), answer) in bodies.iter().zip(strays()) {
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null), "{body}");
    }
    assert_eq!(one.all_answers()[0]["message"], MESSAGE);
    given.await.unwrap().unwrap();
    assert_eq!(state(&one.host, "one"), ExtensionState::Running);
    one.host.stop().await;
}

/// What becomes of an extension that writes this.
async fn breaks(raw: &str, change: impl FnOnce(&mut World)) -> String {
    let patient = |world: &mut World| {
        world.be_patient();
        change(world);
    };
    let one = One::within(doing(json!([["raw", raw], ["hang"]])), patient).await;
    let pid = one.summary().process.unwrap().to_string();
    one.give("go").await.unwrap().unwrap_err();
    eventually("its end", || state(&one.host, "one") != ExtensionState::Running).await;
    let why = failure(&one.host, "one");
    assert!(!crate::support::is_alive(&pid));
    one.host.stop().await;
    why
}

#[tokio::test]
async fn a_header_that_lies_ends_the_extension() {
    let check = |why: String, words: &str| {
        assert!(why.contains(words) && why.ends_with("and it was killed"), "{why}");
    };
    check(breaks("Content-Length: x\r\n\r\n{}", |_| {}).await, "not a number");
    check(breaks("Content-Length: -5\r\n\r\n{}", |_| {}).await, "negative");
    check(breaks("Content-Type: json\r\n\r\n{}", |_| {}).await, "missing");
    check(breaks("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", |_| {}).await, "twice");
    // Too short: what is left over is no header.
    let rest = "x".repeat(9000);
    check(breaks(&format!("Content-Length: 2\r\n\r\n{{}}{rest}"), |_| {}).await, "header is over the limit");
    check(breaks(&"x".repeat(9000), |_| {}).await, "header is over the limit");
}

#[tokio::test]
async fn a_length_that_is_too_long_swallows_what_follows_and_is_answered() {
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "editor/getMessage", "params": { "format": "hl7" } })
            .to_string();
    let raw = format!("Content-Length: {}\r\n\r\n{body}", body.len() + 5);
    let one = One::new(doing(json!([
        ["raw", raw],
        ["sleep", 0.05],
        ["raw", "12345"],
        ["ask", "editor/nothing", {}]
    ])))
    .await;
    assert_eq!(one.answers(1).await[0]["code"], -32601);
    let wire = one.world.wire("one");
    assert!(wire.iter().any(|heard| heard["message"]["error"]["code"] == -32700), "{wire:?}");
    one.host.stop().await;
}

#[tokio::test]
async fn a_frame_over_the_cap_ends_the_extension_before_it_is_read() {
    let why = breaks("Content-Length: 67108865\r\n\r\n", |_| {}).await;
    assert_eq!(
        why,
        "its output cannot be read any further (frame of 67108865 bytes is over the limit of 67108864) and it was killed"
    );
    let why = breaks("Content-Length: 99999999999999999999999\r\n\r\n", |_| {}).await;
    assert!(why.contains("over the limit"), "{why}");
}

#[tokio::test]
async fn headers_are_read_as_real_extensions_write_them() {
    let body = json!({ "jsonrpc": "2.0", "id": "a", "method": "editor/nothing", "params": {} }).to_string();
    let length = body.len();
    let headers = [
        format!("Content-Length: {length}\r\r\n\r\r\n"),
        format!("Content-Length: {length}\n\n"),
        format!("Content-Type: application/json\r\ncontent-length:{length}\r\n\r\n"),
        format!("\r\n\r\nContent-Length: {length}\r\n\r\n"),
    ];
    let mut steps = Vec::new();
    for header in &headers {
        steps.extend([json!(["raw", format!("{header}{body}")]), json!(["wait", "a"])]);
    }
    let one = One::new(doing(json!(steps))).await;
    for answer in one.answers(headers.len()).await {
        assert_eq!(answer["code"], -32601);
    }
    one.host.stop().await;
}

#[tokio::test]
async fn stray_answers_and_unknown_notifications_are_put_up_with() {
    let plan = doing(json!([
        ["message", { "jsonrpc": "2.0", "id": 99, "result": {} }],
        ["message", { "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": "?" } }],
        ["message", { "jsonrpc": "2.0", "error": { "code": -32000, "message": "?" } }],
        ["message", { "jsonrpc": "2.0", "id": 1, "result": { "name": "Again", "version": "1" } }],
        ["message", { "jsonrpc": "2.0", "method": "log", "params": { "text": "hello" } }],
        ["message", { "jsonrpc": "2.0", "method": "editor/getMessage", "params": { "format": "hl7" } }],
        ["ask", "editor/getMessage", { "format": "hl7" }]
    ]));
    let one = One::within(plan, |world| world.desk.put(MESSAGE)).await;
    assert_eq!(one.answers(1).await[0]["message"], MESSAGE);
    assert_eq!(state(&one.host, "one"), ExtensionState::Running);
    one.host.stop().await;
}

#[tokio::test]
async fn a_message_of_many_megabytes_goes_both_ways() {
    let mut world = World::new();
    let source = "import json, os, sys\n\
        def send(m):\n\tb = json.dumps(m).encode(); sys.stdout.buffer.write(b'Content-Length: %d\\r\\n\\r\\n' % len(b) + b); sys.stdout.buffer.flush()\n\
        def read():\n\tn = int(sys.stdin.buffer.readline().split(b':')[1]); sys.stdin.buffer.readline(); return json.loads(sys.stdin.buffer.read(n))\n\
        send({'jsonrpc': '2.0', 'id': read()['id'], 'result': {'name': 'Big', 'version': '1'}})\n\
        send({'jsonrpc': '2.0', 'id': 1, 'method': 'editor/setMessage', 'params': {'message': 'MSH|' + 'ü' * 5000000}})\n\
        print(read()['result'], file=sys.stderr, flush=True)\n\
        send({'jsonrpc': '2.0', 'id': 2, 'method': 'editor/getMessage', 'params': {'format': 'hl7'}})\n\
        print(len(read()['result']['message']), file=sys.stderr, flush=True)\n\
        send({'jsonrpc': '2.0', 'id': read()['id'], 'result': {'success': True}})\n";
    world.script("big.py", source);
    world.desk.put(MESSAGE);
    let host = world.started().await;
    eventually("the answer", || texts(&host, "big").iter().any(|text| text == "5000004")).await;
    assert!(texts(&host, "big").iter().any(|text| text == "{'success': True}"));
    host.stop().await;
    assert_eq!(state(&host, "big"), ExtensionState::Stopped);
}

#[tokio::test]
async fn an_answer_that_is_too_large_for_a_frame_is_an_error() {
    let one = One::within(doing(json!([["ask", "editor/getMessage", { "format": "hl7" }]])), |world| {
        world.desk.put(&format!("MSH|{}", "x".repeat(5000)));
        world.limits = Limits { frame: 4096, ..world.limits };
    })
    .await;
    let answer = one.answers(1).await.remove(0);
    assert_eq!(answer["code"], -32603, "{answer}");
    one.host.stop().await;
}
