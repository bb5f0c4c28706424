//! Stream events in every shape that is known of them.

use loggia_protocol_mehrhof::{FileAction, StreamEvent};

use crate::value;

/// Reads an event, says what it became, and writes it back.
fn check(params: &str, expected: &str, written: &str) {
    let event: StreamEvent = value(params);
    assert_eq!(format!("{event:?}"), expected, "for {params}");
    assert_eq!(serde_json::to_string(&event).expect("an event that can be written"), written, "for {params}");
}

#[test]
fn text_may_be_plain_or_wrapped() {
    check(r#"{"type":"text","data":"a"}"#, r#"Text("a")"#, r#"{"type":"text","data":"a"}"#);
    check(r#"{"type":"text","data":{"text":"a"}}"#, r#"Text("a")"#, r#"{"type":"text","data":"a"}"#);
    check(r#"{"type":"thinking","data":"a"}"#, r#"Thinking("a")"#, r#"{"type":"thinking","data":"a"}"#);
}

#[test]
fn the_end_may_have_null_empty_or_no_data() {
    for params in [
        r#"{"type":"complete","data":null}"#,
        r#"{"type":"complete","data":{}}"#,
        r#"{"type":"complete"}"#,
        r#"{"data":"x","type":"complete"}"#,
    ] {
        check(params, "Complete", r#"{"type":"complete","data":null}"#);
    }
}

#[test]
fn an_error_may_be_an_object_or_plain_text() {
    check(
        r#"{"type":"error","data":"refused"}"#,
        r#"Error(StreamError { code: None, message: "refused" })"#,
        r#"{"type":"error","data":"refused"}"#,
    );
    check(
        r#"{"type":"error","data":{"code":null,"message":"refused"}}"#,
        r#"Error(StreamError { code: None, message: "refused" })"#,
        r#"{"type":"error","data":"refused"}"#,
    );
    check(
        r#"{"type":"error","data":{"code":-1,"message":"refused"}}"#,
        r#"Error(StreamError { code: Some(Json(Number(-1))), message: "refused" })"#,
        r#"{"type":"error","data":{"code":-1,"message":"refused"}}"#,
    );
}

#[test]
fn a_file_without_an_action_is_to_be_written() {
    let actions = |params: &str| match value(params) {
        StreamEvent::File(file) => file.action,
        other => panic!("{other:?}"),
    };
    assert_eq!(actions(r#"{"type":"file","data":{"path":"a","content":"x"}}"#), None);
    assert_eq!(actions(r#"{"type":"file","data":{"path":"a","action":"delete"}}"#), Some(FileAction::Delete));
}

#[test]
fn an_unknown_type_keeps_its_data() {
    check(
        r#"{"type":"confetti","data":[1,{"a":null}]}"#,
        r#"Unknown { kind: "confetti", data: Json(Array [Number(1), Object {"a": Null}]) }"#,
        r#"{"type":"confetti","data":[1,{"a":null}]}"#,
    );
}

#[test]
fn a_known_type_with_other_data_keeps_it_and_says_what_is_wrong() {
    check(
        r#"{"type":"file","data":{"content":"x"}}"#,
        r#"Misshapen { kind: "file", data: Json(Object {"content": String("x")}), problem: "missing field `path`" }"#,
        r#"{"type":"file","data":{"content":"x"}}"#,
    );
    check(
        r#"{"type":"text","data":7}"#,
        r#"Misshapen { kind: "text", data: Json(Number(7)), problem: "a text, or an object with `text`, is needed" }"#,
        r#"{"type":"text","data":7}"#,
    );
}

#[test]
fn missing_parts_of_tool_calls_and_costs_have_defaults() {
    check(
        r#"{"type":"tool_use","data":{"id":"c","name":"read_file"}}"#,
        r#"ToolUse(ToolUseEvent { id: Text("c"), name: "read_file", input: Json(Object {}), description: None })"#,
        r#"{"type":"tool_use","data":{"id":"c","name":"read_file","input":{}}}"#,
    );
    check(
        r#"{"type":"usage","data":{"output_tokens":5}}"#,
        "Usage(UsageEvent { input_tokens: 0, output_tokens: 5, cache_read_input_tokens: None })",
        r#"{"type":"usage","data":{"input_tokens":0,"output_tokens":5}}"#,
    );
    check(
        r#"{"type":"usage","data":{"input_tokens":null,"output_tokens":"5","cache_read_input_tokens":1.0}}"#,
        "Usage(UsageEvent { input_tokens: 0, output_tokens: 5, cache_read_input_tokens: Some(1) })",
        r#"{"type":"usage","data":{"input_tokens":0,"output_tokens":5,"cache_read_input_tokens":1}}"#,
    );
    check(
        r#"{"type":"tool_use","data":{"id":7,"name":"read_file","description":null}}"#,
        r#"ToolUse(ToolUseEvent { id: Number(Number(7)), name: "read_file", input: Json(Object {}), description: None })"#,
        r#"{"type":"tool_use","data":{"id":7,"name":"read_file","input":{}}}"#,
    );
}

#[test]
fn an_event_without_a_type_is_refused() {
    let error = loggia_jsonrpc::decode::<StreamEvent>(r#"{"data":"x"}"#).unwrap_err();
    assert_eq!(error.to_string(), "missing field `type`");
}
