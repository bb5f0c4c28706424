//! How envelopes are read and written in this protocol.

use loggia_jsonrpc::{
    AbsentParams, Body, Incoming, NoParams, OrphanErrors, RequestId, read, write_error, write_request,
    write_response,
};
use loggia_protocol_hermes::{DIALECT, GetMessageResult, codes};

/// Sorts a text and says in one line what it became.
fn check(text: &str, expected: &str) {
    let found = match read(text.as_bytes(), &DIALECT) {
        Err(_) => "not JSON".to_owned(),
        Ok(Body::Batch(_)) => "batch".to_owned(),
        Ok(Body::One(Incoming::Request { id, method, .. })) => format!("request {id} {method}"),
        Ok(Body::One(Incoming::Notification { method, .. })) => format!("notification {method}"),
        Ok(Body::One(Incoming::Response { id, outcome })) => {
            let id = id.map_or("-".to_owned(), |id| id.to_string());
            format!("{} {id}", if outcome.is_ok() { "result" } else { "error" })
        }
        Ok(Body::One(Incoming::Invalid(why))) => format!("invalid: {why}"),
    };
    assert_eq!(found, expected, "for {text}");
}

/// What a writer appends.
fn written(write: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn ids_are_numbers_or_text_and_never_null_on_a_call() {
    check(r#"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":{}}"#, "request 1 shutdown");
    check(r#"{"jsonrpc":"2.0","id":"1","method":"shutdown","params":{}}"#, r#"request "1" shutdown"#);
    check(r#"{"jsonrpc":"2.0","id":null,"method":"shutdown","params":{}}"#, "invalid: `id` must not be null");
}

#[test]
fn an_error_answer_may_have_a_null_id() {
    check(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#, "error -");
    assert_eq!(DIALECT.orphan_errors, OrphanErrors::Logged);
}

#[test]
fn messages_are_told_apart_by_result_error_and_method() {
    check(r#"{"jsonrpc":"2.0","id":4,"result":{}}"#, "result 4");
    check(r#"{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"m"}}"#, "error 4");
    check(r#"{"jsonrpc":"2.0","method":"command/execute","params":{}}"#, "notification command/execute");
}

#[test]
fn the_version_must_be_there_and_batches_do_not_exist() {
    check(r#"{"id":1,"method":"shutdown"}"#, "invalid: `jsonrpc` must be \"2.0\"");
    check(r#"[{"jsonrpc":"2.0","method":"m"}]"#, "invalid: this protocol has no batches");
}

#[test]
fn params_are_required_and_always_written_as_an_object() {
    assert_eq!(DIALECT.absent_params, AbsentParams::Refused);
    let text = written(|out| write_request(out, &DIALECT, &RequestId::from(2), "shutdown", &NoParams {}));
    assert_eq!(text, r#"{"jsonrpc":"2.0","id":2,"method":"shutdown","params":{}}"#);
}

#[test]
fn output_is_ascii_so_that_bytes_and_characters_count_the_same() {
    let result =
        GetMessageResult { message: "MSH|^~\\&|Labé\rPID|1".to_owned(), has_file: false, file_path: None };
    let text = written(|out| write_response(out, &DIALECT, &RequestId::from(7), &result));
    let expected =
        r#"{"jsonrpc":"2.0","id":7,"result":{"message":"MSH|^~\\&|Lab\u00e9\rPID|1","hasFile":false}}"#;
    assert_eq!(text, expected);
    assert_eq!((text.len(), text.chars().count()), (90, 90));
}

#[test]
fn answers_carry_a_result_or_an_error_and_no_empty_place_for_the_other() {
    let error = loggia_jsonrpc::ErrorObject::new(codes::NO_MESSAGE, "no message is open");
    let text = written(|out| write_error(out, &DIALECT, &RequestId::from(1), &error));
    assert_eq!(text, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"no message is open"}}"#);
}
