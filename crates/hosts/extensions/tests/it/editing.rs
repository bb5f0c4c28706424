//! What extensions ask about the message: each method, each refusal, and the order of things.

use loggia_domain::MessageFormat;
use serde_json::{Value, json};

use crate::desk::MESSAGE;
use crate::support::{One, World, answers, doing, eventually, texts};

async fn ask(method: &str, params: Value, change: impl FnOnce(&mut World)) -> (Value, One) {
    let one = One::within(doing(json!([["ask", method, params]])), change).await;
    let answer = one.answers(1).await.remove(0);
    (answer, one)
}

async fn check(method: &str, params: Value, change: impl FnOnce(&mut World), expected: Value) {
    let (answer, one) = ask(method, params.clone(), change).await;
    assert_eq!(answer, expected, "{method} {params}");
    one.host.stop().await;
}

fn open(world: &mut World) {
    world.desk.put(MESSAGE);
}

#[tokio::test]
async fn a_message_is_read_in_every_format_with_its_file() {
    let plan = doing(json!([
        ["ask", "editor/getMessage", { "format": "hl7" }],
        ["ask", "editor/getMessage", { "format": "json" }],
        ["ask", "editor/getMessage", { "format": "yaml" }],
        ["ask", "editor/getMessage", { "format": "toml" }]
    ]));
    let one = One::within(plan, |world| {
        world.desk.put("MSH|^~\\&|é\nPID|1\r\nNTE|ü");
        world.desk.set_file("/srv/ä.hl7");
    })
    .await;
    let answers = one.answers(4).await;
    assert_eq!(
        answers[0],
        json!({ "message": "MSH|^~\\&|é\rPID|1\rNTE|ü", "hasFile": true, "filePath": "/srv/ä.hl7" })
    );
    assert_eq!(answers[1]["message"], json!({ "text": "MSH|^~\\&|é\nPID|1\r\nNTE|ü" }).to_string());
    assert!(answers[2]["message"].as_str().unwrap().starts_with("text: "));
    assert!(answers[3]["message"].as_str().unwrap().starts_with("text = "));
    one.host.stop().await;
}

#[tokio::test]
async fn an_empty_editor_is_an_empty_text_and_no_tree() {
    let expected = json!({ "message": "", "hasFile": false });
    check("editor/getMessage", json!({ "format": "hl7" }), |_| {}, expected).await;
    for format in ["json", "yaml", "toml"] {
        let expected = json!({ "code": -32003, "message": "no message is open" });
        check("editor/getMessage", json!({ "format": format }), |_| {}, expected).await;
    }
}

#[tokio::test]
async fn a_message_that_cannot_be_written_so_is_an_internal_error() {
    let change = |world: &mut World| {
        open(world);
        world.desk.cannot_write(MessageFormat::Toml);
    };
    let expected = json!({ "code": -32603, "message": "it cannot be written so" });
    check("editor/getMessage", json!({ "format": "toml" }), change, expected).await;
}

#[tokio::test]
async fn a_message_is_replaced_with_or_without_a_format() {
    for params in [json!({ "message": "MSH|new", "format": "hl7" }), json!({ "message": "MSH|new" })] {
        let (answer, one) = ask("editor/setMessage", params, open).await;
        assert_eq!(answer, json!({ "success": true }));
        assert_eq!(one.world.desk.text().unwrap(), "MSH|new");
        one.host.stop().await;
    }
    let params = json!({ "message": "{\"text\":\"MSH|tree\"}", "format": "json" });
    let (answer, one) = ask("editor/setMessage", params, open).await;
    assert_eq!((answer, one.world.desk.text().unwrap()), (json!({ "success": true }), "MSH|tree".to_owned()));
    one.host.stop().await;
}

#[tokio::test]
async fn a_message_can_be_set_where_none_is_open() {
    let (answer, one) =
        ask("editor/setMessage", json!({ "message": "MSH|new", "format": "hl7" }), |_| {}).await;
    assert_eq!((answer, one.world.desk.text().unwrap()), (json!({ "success": true }), "MSH|new".to_owned()));
    assert_eq!(one.world.desk.calls(), ["replace", "open"]);
    one.host.stop().await;
}

#[tokio::test]
async fn a_text_that_is_no_message_is_an_answer_and_a_tree_that_is_none_an_error() {
    let expected =
        json!({ "success": false, "error": "the text is not a message: it does not begin with MSH" });
    check("editor/setMessage", json!({ "message": "PID|1", "format": "hl7" }), open, expected).await;
    let expected = json!({ "code": -32004, "message": "the text is not a message: no tree" });
    check("editor/setMessage", json!({ "message": "[", "format": "json" }), open, expected).await;
}

#[tokio::test]
async fn patches_apply_in_order_and_those_that_do_not_are_told() {
    let patches = json!({ "patches": [
        { "path": "PID.8", "value": "F" }, { "path": "ZZ9.1", "value": "x" }, { "path": "PID.5.1", "value": null }
    ] });
    let (answer, one) = ask("editor/patchMessage", patches, open).await;
    let errors = json!([{ "index": 1, "path": "ZZ9.1", "message": "segment ZZ9 is not in the message" }]);
    assert_eq!(answer, json!({ "success": false, "patchesApplied": 2, "errors": errors }));
    assert!(one.world.desk.text().unwrap().ends_with("PID|1||77||^ANN|||F"));
    one.host.stop().await;
    let (answer, one) = ask("editor/patchMessage", json!({ "patches": [] }), open).await;
    assert_eq!(answer, json!({ "success": true, "patchesApplied": 0 }));
    one.host.stop().await;
}

#[tokio::test]
async fn patches_without_a_message_are_refused() {
    let patches = json!({ "patches": [{ "path": "PID.8", "value": "F" }] });
    let expected = json!({ "code": -32003, "message": "no message is open" });
    check("editor/patchMessage", patches, |_| {}, expected).await;
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_refused_by_name() {
    let wrong = [
        ("editor/getMessage", Value::Null, "`params` must be an object"),
        ("editor/getMessage", json!({}), "missing field `format`"),
        ("editor/getMessage", json!({ "format": "xml" }), "format"),
        ("editor/getMessage", json!([1]), ""),
        ("editor/setMessage", json!({ "format": "hl7" }), "missing field `message`"),
        ("editor/setMessage", json!({ "message": 3 }), "message"),
        ("editor/patchMessage", json!({ "patches": [{ "path": "PID.5", "value": 7 }] }), "patches[0].value"),
        ("editor/patchMessage", json!({ "patches": "PID.5" }), "patches"),
        ("ui/openWindow", json!({ "url": "http://x/" }), "missing field `title`"),
        ("ui/openWindow", json!({ "url": "http://x/", "title": "T", "width": -1 }), "width"),
        ("ui/closeWindow", json!({}), "missing field `windowId`"),
        ("ui/showMessage", json!({ "message": "m", "kind": "fatal" }), "kind"),
        ("ui/showConfirm", json!({ "message": "m", "buttons": "maybe" }), "buttons"),
        ("ui/openFile", Value::Null, "`params` must be an object"),
        ("ui/openFiles", json!({ "filters": [{ "name": "x" }] }), "filters[0]"),
        ("ui/saveFile", json!({ "defaultName": 1 }), "defaultName"),
        ("ui/selectDirectory", json!("x"), ""),
    ];
    let steps: Vec<Value> = wrong.iter().map(|(method, params, _)| json!(["ask", method, params])).collect();
    let one = One::within(doing(Value::Array(steps)), open).await;
    let answers = one.answers(wrong.len()).await;
    for ((method, params, words), answer) in wrong.iter().zip(answers) {
        assert_eq!(answer["code"], -32602, "{method} {params}: {answer}");
        assert!(answer["message"].as_str().unwrap().contains(words), "{method} {params}: {answer}");
    }
    assert_eq!(one.world.desk.calls(), Vec::<String>::new());
    one.host.stop().await;
}

#[tokio::test]
async fn every_request_of_the_protocol_is_served_and_no_other() {
    let rows: Vec<&str> = loggia_protocol_hermes::METHODS
        .iter()
        .filter(|row| row.kind == loggia_jsonrpc::Kind::Request && row.sender == "extension")
        .map(|row| row.name)
        .collect();
    assert_eq!(rows.len(), 11);
    let others = ["editor/save", "initialize", "shutdown", "command/execute", ""];
    // A number is nobody's parameter, so nothing happens.
    let steps: Vec<Value> = rows.iter().chain(&others).map(|method| json!(["ask", method, 1])).collect();
    let one = One::new(doing(Value::Array(steps))).await;
    let codes: Vec<i64> = one
        .answers(rows.len() + others.len())
        .await
        .iter()
        .map(|answer| answer["code"].as_i64().unwrap())
        .collect();
    assert_eq!(codes, [vec![-32602; 11], vec![-32601; 5]].concat());
    one.host.stop().await;
}

#[tokio::test]
async fn ids_come_back_as_they_were_sent() {
    let plan = doing(json!([
        ["send", "editor/getMessage", { "format": "hl7" }, "text"], ["wait", "text"],
        ["send", "editor/getMessage", { "format": "hl7" }, 9_007_199_254_740_993_i64],
        ["wait", 9_007_199_254_740_993_i64],
        ["send", "editor/nothing", {}, "7"], ["wait", "7"]
    ]));
    let one = One::new(plan).await;
    assert_eq!(one.answers(3).await[2]["code"], -32601);
    one.host.stop().await;
}

#[tokio::test]
async fn calls_about_the_message_apply_in_the_order_in_which_they_came() {
    let mut steps = Vec::new();
    for number in 0..50 {
        let patches = json!({ "patches": [{ "path": format!("PID.{}", number + 10), "value": "x" }] });
        steps.push(json!(["send", "editor/patchMessage", patches]));
    }
    steps.push(json!(["wait", 50]));
    let one = One::within(doing(Value::Array(steps)), open).await;
    one.world.desk.set_awake(false);
    let given = one.give("go");
    eventually("the first call", || one.world.desk.calls().len() == 1).await;
    one.world.desk.set_awake(true);
    given.await.unwrap().unwrap();
    let expected: Vec<String> = (0..50).map(|number| format!("patch PID.{}", number + 10)).collect();
    assert_eq!(one.world.desk.calls(), expected);
    let order: Vec<Value> = one
        .world
        .wire("one")
        .into_iter()
        .filter(|heard| heard["message"]["result"].is_object())
        .map(|heard| heard["message"]["id"].clone())
        .collect();
    assert_eq!(order, (1..=50).map(Value::from).collect::<Vec<_>>());
    one.host.stop().await;
}

#[tokio::test]
async fn a_dialog_that_waits_holds_up_no_other_request() {
    let plan = doing(json!([
        ["send", "ui/showConfirm", { "message": "sure?" }],
        ["send", "ui/showMessage", { "message": "look" }],
        ["ask", "editor/getMessage", { "format": "hl7" }]
    ]));
    let one = One::within(plan, open).await;
    let answers = one.answers(1).await;
    assert_eq!(answers[0]["message"], MESSAGE);
    assert_eq!(one.world.people.asked().len(), 2);
    one.host.stop().await;
}

#[tokio::test]
async fn what_is_asked_before_the_handshake_is_over_is_refused_at_once() {
    let mut world = World::new();
    world.desk.put(MESSAGE);
    world.puppet(
        "one",
        &json!({ "init": { "before": [
        ["ask", "editor/getMessage", { "format": "hl7" }],
        ["ask", "ui/showMessage", { "message": "hello" }]
    ] } }),
    );
    let host = world.started().await;
    let expected = json!({ "code": -32001, "message": "the extension has not answered `initialize` yet" });
    assert_eq!(answers(&texts(&host, "one")), [expected.clone(), expected]);
    assert!(world.desk.calls().is_empty() && world.people.asked().is_empty());
    host.stop().await;
}

#[tokio::test]
async fn what_is_asked_right_behind_the_answer_to_the_handshake_is_served() {
    // One write: the answer and a request behind it.
    let answer =
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "name": "Hasty", "version": "1" } }).to_string();
    let ask = |id: u64| {
        let params = json!({ "format": "hl7" });
        json!({ "jsonrpc": "2.0", "id": id, "method": "editor/getMessage", "params": params }).to_string()
    };
    let frame = |body: String| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let all = [answer, ask(1), ask(2)].map(frame).concat();
    for _ in 0..5 {
        let mut world = World::new();
        world.desk.put(MESSAGE);
        // Its own answer to the handshake comes second, and is one to nobody.
        world.puppet("one", &json!({ "init": { "before": [["raw", all], ["wait", 1], ["wait", 2]] } }));
        let host = world.started().await;
        eventually("both answers", || answers(&texts(&host, "one")).len() == 2).await;
        for answer in answers(&texts(&host, "one")) {
            assert_eq!(answer["message"], MESSAGE);
        }
        host.stop().await;
    }
}
