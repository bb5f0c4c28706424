//! What the peer answers to good and bad input, as lines in and lines out.

use std::time::Duration;

use loggia_jsonrpc::{AbsentParams, Batches, Dialect, EmptyParams, ErrorObject, Malformed, NullId, codes};
use loggia_wire::peer::Router;
use tokio::io::AsyncWriteExt;

use crate::support::{Abort, Add, AddParams, Step, Told, adder, peer, peer_with, settings};

async fn check(dialect: Dialect, input: &str, expected: &str) {
    let (_peer, _task, mut far) = peer_with(settings(dialect), adder());
    far.send(input).await;
    // The peer must still serve after whatever that was; its answer marks the end of what `input` caused.
    far.send(r#"{"jsonrpc":"2.0","id":"mark","method":"add","params":{"left":1,"right":1}}"#).await;
    let mut answers = Vec::new();
    loop {
        let line = far.line().await;
        if line == r#"{"jsonrpc":"2.0","id":"mark","result":2}"# {
            break;
        }
        assert!(!line.is_empty(), "the peer ended after {input}");
        answers.push(line);
    }
    assert_eq!(answers.join("\n"), expected, "for {input}");
}

#[tokio::test]
async fn requests_are_answered_with_the_id_as_it_came() {
    for id in [
        "1",
        "\"1\"",
        "1.0",
        "null",
        "-7",
        "\"\\u00e9\"",
        "true",
        "[1, 2]",
        "{\"a\":1\r}",
        "18446744073709551616",
    ] {
        let call = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"add","params":{{"left":1,"right":2}}}}"#);
        check(Dialect::STANDARD, &call, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":3}}"#)).await;
    }
}

#[tokio::test]
async fn fields_may_come_in_any_order_and_with_company() {
    for call in [
        r#"{"params":{"left":1,"right":2},"method":"add","id":1,"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","method":"add","params":{"left":1,"right":2},"id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"add","params":{"right":2,"left":1},"traceparent":"00-1"}"#,
        r#"{"jsonrpc":"2.0","id":1,"meta":{"id":7},"method":"add","params":{"left":1,"right":2}}"#,
        " { \"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"\\u0061dd\" , \"params\" : { \"left\" : 1 , \"right\" : 2 } } ",
    ] {
        check(Dialect::STANDARD, call, r#"{"jsonrpc":"2.0","id":1,"result":3}"#).await;
    }
}

#[tokio::test]
async fn a_call_that_is_broken_after_its_method_is_a_parse_error() {
    let (_peer, _task, mut far) = peer(adder());
    for call in [
        r#"{"jsonrpc":"2.0","id":1,"method":"add","params":{"left":1,"right":2}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"add","params":{"left":1,"right":nan}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"add","params":{"left":1,"right":2},}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"unknown","params":{oops}}"#,
    ] {
        let answer = far.ask(call).await;
        assert!(
            answer.starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"#),
            "{call} got {answer}"
        );
    }
}

#[tokio::test]
async fn broken_json_is_a_parse_error_with_null_id() {
    check(
        Dialect::STANDARD,
        "{\"jsonrpc\":",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: EOF while parsing a value at line 1 column 11"}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_body_that_is_not_utf_8_is_a_parse_error() {
    let (_peer, _task, mut far) = peer(adder());
    far.writer.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}\n").await.unwrap();
    let answer = far.line().await;
    assert!(answer.starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"#), "{answer}");
}

#[tokio::test]
async fn wrong_shapes_are_invalid_requests_with_null_id() {
    for (input, why) in [
        ("7", "a message must be a JSON object"),
        ("[]", "a batch must have at least one member"),
        (r#"{"id":1,"method":"add"}"#, "`jsonrpc` must be \\\"2.0\\\""),
        (r#"{"jsonrpc":"1.0","id":1,"method":"add"}"#, "`jsonrpc` must be \\\"2.0\\\""),
        (r#"{"jsonrpc":"2.0","id":1}"#, "`method` is missing"),
        (r#"{"jsonrpc":"2.0","id":1,"method":{}}"#, "`method` must be a string"),
    ] {
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32600,"message":"Invalid Request: {why}"}}}}"#
        );
        check(Dialect::STANDARD, input, &answer).await;
    }
}

#[tokio::test]
async fn unknown_methods_are_named() {
    check(
        Dialect::STANDARD,
        r#"{"jsonrpc":"2.0","id":1,"method":"multiply"}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: multiply"}}"#,
    )
    .await;
}

#[tokio::test]
async fn bad_params_name_the_field() {
    for (params, why) in [
        (r#"{"left":1}"#, "missing field `right`"),
        (r#"{"left":1,"right":"x"}"#, "right: invalid type: string \\\"x\\\", expected i64"),
        ("7", "invalid type: integer `7`, expected struct AddParams"),
    ] {
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"add","params":{params}}}"#);
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32602,"message":"Invalid params: {why}"}}}}"#
        );
        check(Dialect::STANDARD, &call, &answer).await;
    }
}

#[tokio::test]
async fn absent_params_are_empty_or_refused_as_the_dialect_says() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"add"}"#;
    let missing = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: missing field `left`"}}"#;
    let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: `params` must be an object"}}"#;
    check(Dialect::STANDARD, call, missing).await;
    check(Dialect { absent_params: AbsentParams::Refused, ..Dialect::STANDARD }, call, refused).await;
}

#[tokio::test]
async fn batches_are_answered_in_request_order_as_one_line() {
    check(
        Dialect::STANDARD,
        concat!(
            r#"[{"jsonrpc":"2.0","id":2,"method":"add","params":{"left":1,"right":1}},"#,
            r#"{"jsonrpc":"2.0","method":"add","params":{"left":1,"right":1}},"#,
            r#"1,{"jsonrpc":"2.0","id":1,"method":"nope"}]"#
        ),
        concat!(
            r#"[{"jsonrpc":"2.0","id":2,"result":2},"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: a message must be a JSON object"}},"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: nope"}}]"#
        ),
    )
    .await;
}

#[tokio::test]
async fn a_batch_of_calls_without_ids_is_not_answered() {
    check(Dialect::STANDARD, r#"[{"jsonrpc":"2.0","method":"add","params":{"left":1,"right":1}}]"#, "").await;
}

#[tokio::test]
async fn batches_are_refused_where_the_protocol_has_none_and_bounded_where_it_has() {
    check(
        Dialect { batches: Batches::Refused, ..Dialect::STANDARD },
        "[1]",
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: this protocol has no batches"}}"#,
    )
    .await;
    check(
        Dialect::STANDARD,
        &format!("[{}1]", "1,".repeat(256)),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: the batch has too many members"}}"#,
    )
    .await;
}

#[tokio::test]
async fn malformed_input_is_skipped_where_the_peer_wants_no_answer() {
    let silent = Dialect { malformed: Malformed::Skipped, ..Dialect::STANDARD };
    for input in ["not json", "7", r#"{"jsonrpc":"2.0","id":1}"#] {
        check(silent, input, "").await;
    }
}

#[tokio::test]
async fn null_ids_are_requests_or_invalid_as_the_dialect_says() {
    let call = r#"{"jsonrpc":"2.0","id":null,"method":"add","params":{"left":1,"right":1}}"#;
    check(Dialect::STANDARD, call, r#"{"jsonrpc":"2.0","id":null,"result":2}"#).await;
    check(
        Dialect { null_id: NullId::Invalid, ..Dialect::STANDARD },
        call,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: `id` must not be null"}}"#,
    )
    .await;
}

#[tokio::test]
async fn over_long_lines_are_answered_once_and_the_next_request_is_served() {
    check(
        Dialect::STANDARD,
        &"x".repeat((1 << 20) + 1),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: line is over the limit of 1048576 bytes"}}"#,
    )
    .await;
}

#[tokio::test]
async fn notifications_nobody_listens_to_are_counted_and_not_answered() {
    let (peer, _task, mut far) = peer(adder());
    far.send(r#"{"jsonrpc":"2.0","method":"whatever","params":{}}"#).await;
    let next = far.ask(r#"{"jsonrpc":"2.0","id":1,"method":"add","params":{"left":1,"right":1}}"#).await;
    assert_eq!(next, r#"{"jsonrpc":"2.0","id":1,"result":2}"#, "the first answer is to the request");
    assert_eq!(peer.stats().unheard, 1);
}

#[tokio::test]
async fn a_panicking_handler_is_one_internal_error_and_nothing_else() {
    let router =
        adder().serve::<Step, _, _>(|_, _| async { panic!("at once") }).serve::<Abort, _, _>(|_, _| async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            panic!("later")
        });
    let (_peer, _task, mut far) = peer(router);
    for method in ["step", "abort"] {
        let params = if method == "step" { "1" } else { "{}" };
        let answer =
            far.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)).await;
        assert_eq!(
            answer,
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32603,"message":"Internal error: the handler of `{method}` failed"}}}}"#
            )
        );
    }
    // The ordered lane goes on after the panic in it.
    far.ask(r#"{"jsonrpc":"2.0","id":2,"method":"step","params":1}"#).await;
    let alive = far.ask(r#"{"jsonrpc":"2.0","id":3,"method":"add","params":{"left":1,"right":1}}"#).await;
    assert_eq!(alive, r#"{"jsonrpc":"2.0","id":3,"result":2}"#);
}

#[tokio::test]
async fn a_handler_that_panics_before_its_first_await_is_one_internal_error_too() {
    let router = adder().serve::<Abort, _, std::future::Ready<_>>(|_, _| panic!("in the plain part"));
    let (_peer, _task, mut far) = peer(router);
    let answer = far.ask(r#"{"jsonrpc":"2.0","id":1,"method":"abort"}"#).await;
    assert!(answer.contains("-32603"), "{answer}");
    let alive = far.ask(r#"{"jsonrpc":"2.0","id":3,"method":"add","params":{"left":1,"right":1}}"#).await;
    assert_eq!(alive, r#"{"jsonrpc":"2.0","id":3,"result":2}"#);
}

#[tokio::test]
async fn a_result_whose_serialiser_panics_is_one_internal_error() {
    #[derive(serde::Deserialize)]
    struct Unwritable;
    impl serde::Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("cannot be written")
        }
    }
    struct Give;
    impl loggia_jsonrpc::Method for Give {
        const NAME: &'static str = "give";
        type Params = loggia_jsonrpc::NoParams;
        type Result = Unwritable;
    }
    let (_peer, _task, mut far) = peer(adder().serve::<Give, _, _>(|_, _| async { Ok(Unwritable) }));
    let one = far.ask(r#"{"jsonrpc":"2.0","id":1,"method":"give"}"#).await;
    assert!(one.starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603"#), "{one}");
    let batch = far.ask(r#"[{"jsonrpc":"2.0","id":2,"method":"give"}]"#).await;
    assert!(batch.starts_with(r#"[{"jsonrpc":"2.0","id":2,"error":{"code":-32603"#), "{batch}");
}

#[tokio::test]
async fn a_batch_waits_for_its_slowest_member_and_keeps_the_order() {
    let router = adder().serve::<Step, _, _>(|_, step| async move {
        tokio::time::sleep(Duration::from_millis(u64::from(10 - step))).await;
        if step == 2 {
            panic!("one member fails")
        }
        Ok(step)
    });
    let (_peer, _task, mut far) = peer(router);
    let answer = far
        .ask(concat!(
            r#"[{"jsonrpc":"2.0","id":1,"method":"step","params":1},{"jsonrpc":"2.0","id":2,"method":"step","params":2},"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"add","params":{"left":1,"right":2}}]"#
        ))
        .await;
    assert_eq!(
        answer,
        concat!(
            r#"[{"jsonrpc":"2.0","id":1,"result":1},"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error: the handler of `step` failed"}},"#,
            r#"{"jsonrpc":"2.0","id":3,"result":3}]"#
        )
    );
}

#[tokio::test]
async fn a_batch_whose_answers_do_not_fit_a_frame_tells_every_caller() {
    let router =
        Router::new().serve::<crate::support::Text, _, _>(|_, text| async move { Ok(text.repeat(60)) });
    let (_peer, _task, mut far) = peer(router);
    let text = "x".repeat(10_000);
    let member = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"text","params":"{text}"}}"#);
    let answer = far.ask(&format!("[{},{}]", member(1), member(2))).await;
    let members: Vec<serde_json::Value> = serde_json::from_str(&answer).unwrap();
    let told: Vec<_> = members.iter().map(|member| (&member["id"], &member["error"]["code"])).collect();
    assert_eq!(told, [(&1.into(), &(-32603).into()), (&2.into(), &(-32603).into())]);
}

#[tokio::test]
async fn output_can_be_ascii_in_any_framing() {
    let dialect = Dialect { encoding: loggia_jsonrpc::Encoding::Ascii, ..Dialect::STANDARD };
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(near);
    let router = Router::new().serve::<crate::support::Text, _, _>(|_, text| async move { Ok(text) });
    let codec = loggia_wire::framing::ContentLength::new(1 << 16);
    let (_peer, connection) = loggia_wire::peer::connect(reader, writer, codec, settings(dialect), router);
    let running = tokio::spawn(connection.run());
    let (mut far_reader, mut far_writer) = tokio::io::split(far);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"text","params":"é😀"}"#;
    far_writer.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    far_writer.shutdown().await.unwrap();
    let mut answer = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut far_reader, &mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\\u00e9\\ud83d\\ude00\"}");
    assert_eq!(
        head,
        format!("Content-Length: {}", body.chars().count()),
        "bytes and characters count the same"
    );
    running.await.unwrap();
}

#[tokio::test]
async fn a_handlers_own_error_reaches_the_caller() {
    let router = Router::new().serve::<Add, _, _>(|_, _| async { Err(ErrorObject::new(-32003, "busy")) });
    let (_peer, _task, mut far) = peer(router);
    let answer = far.ask(r#"{"jsonrpc":"2.0","id":1,"method":"add","params":{"left":1,"right":1}}"#).await;
    assert_eq!(answer, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"busy"}}"#);
}

#[tokio::test]
async fn calls_go_out_in_order_with_our_own_sequence_and_the_dialects_params() {
    let dialect = Dialect { empty_params: EmptyParams::Object, ..Dialect::STANDARD };
    let (peer, _task, mut far) = peer_with(settings(dialect), Router::new());
    let first = peer.call::<Add>(&AddParams { left: 1, right: 2 });
    let second = peer.call::<Abort>(&loggia_jsonrpc::NoParams {});
    peer.notify::<Told>(&7).await.unwrap();
    assert_eq!(far.line().await, r#"{"jsonrpc":"2.0","id":1,"method":"add","params":{"left":1,"right":2}}"#);
    assert_eq!(far.line().await, r#"{"jsonrpc":"2.0","id":2,"method":"abort","params":{}}"#);
    assert_eq!(far.line().await, r#"{"jsonrpc":"2.0","method":"told","params":7}"#);
    far.send(r#"{"jsonrpc":"2.0","id":2.0,"result":true}"#).await;
    far.send(r#"{"jsonrpc":"2.0","id":1,"result":3}"#).await;
    assert!(second.await.unwrap());
    assert_eq!(first.await.unwrap(), 3);
}

#[tokio::test]
async fn the_last_request_before_the_end_is_still_answered() {
    let (_peer, task, mut far) = peer(adder());
    far.writer
        .write_all(br#"{"jsonrpc":"2.0","id":1,"method":"add","params":{"left":1,"right":1}}"#)
        .await
        .unwrap();
    far.writer.shutdown().await.unwrap();
    assert_eq!(far.line().await, r#"{"jsonrpc":"2.0","id":1,"result":2}"#);
    assert_eq!(far.line().await, "", "our side closes after the last answer");
    assert!(matches!(task.await.unwrap(), loggia_wire::peer::CloseReason::EndOfStream));
}

#[test]
fn the_standard_codes_are_the_standards() {
    assert_eq!(
        [
            codes::PARSE_ERROR,
            codes::INVALID_REQUEST,
            codes::METHOD_NOT_FOUND,
            codes::INVALID_PARAMS,
            codes::INTERNAL_ERROR
        ],
        [-32700, -32600, -32601, -32602, -32603]
    );
}
