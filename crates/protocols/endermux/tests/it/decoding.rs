//! What we read: as lenient as existing peers where that is harmless, and refused where it is not.

use loggia_protocol_endermux::{DecodeError, Envelope, Message};

use crate::text;

/// Reads a text and writes what was understood, or the refusal.
fn read(body: &[u8]) -> String {
    match Envelope::<Message>::decode(body) {
        Ok(message) => text(&message),
        Err(error) => format!("refused: {error}"),
    }
}

fn check(body: &str, expected: &str) {
    assert_eq!(read(body.as_bytes()), expected, "for {body}");
}

/// The same for the cursor of a `PARSE_REQUEST`.
fn check_int(value: &str, expected: Option<i32>) {
    let body =
        format!(r#"{{"type":"PARSE_REQUEST","requestId":"1","data":{{"command":"c","cursor":{value}}}}}"#);
    match (Envelope::<Message>::decode(body.as_bytes()), expected) {
        (Ok(Envelope { data: Message::ParseRequest(request), .. }), Some(expected)) => {
            assert_eq!(request.cursor, expected, "{value}");
        }
        (Err(DecodeError::Payload { error, .. }), None) => assert_eq!(error.path(), "cursor", "{value}"),
        (found, _) => panic!("{value}: {found:?}"),
    }
}

#[test]
fn messages_without_a_known_type_are_undecodable() {
    check(r#"{"requestId":"1","data":{}}"#, "refused: `type` must be the name of a message type");
    check(r#"{"type":null,"data":{}}"#, "refused: `type` must be the name of a message type");
    check(r#"{"type":{},"data":{}}"#, "refused: `type` must be the name of a message type");
    check(r#"{"type":"NOPE","data":{}}"#, "refused: Unknown message type: NOPE");
    check(r#"{"type":"ping","data":{}}"#, "refused: Unknown message type: ping");
}

#[test]
fn text_that_is_no_json_object_is_undecodable() {
    check("[]", "refused: a message must be a JSON object");
    check("7", "refused: a message must be a JSON object");
    for broken in ["", "   ", r#"{"type":"PING""#, r#"{"type":"PING","data":{}} x"#, "{'type':'PING'}"] {
        assert!(read(broken.as_bytes()).starts_with("refused: not JSON: "), "{broken}");
    }
    check("{\"type\":\"PING\",\"data\":{}} \n", r#"{"type":"PING","data":{}}"#);
}

#[test]
fn unknown_fields_are_ignored_and_the_last_of_two_keys_counts() {
    check(
        r#"{"x":1,"type":"PONG","type":"COMMAND_EXECUTE","data":{"command":"a","y":[],"command":"b"}}"#,
        r#"{"type":"COMMAND_EXECUTE","data":{"command":"b"}}"#,
    );
}

#[test]
fn missing_data_is_an_empty_payload() {
    let empty = r#"{"type":"PARSE_REQUEST","requestId":"1","data":{"command":"","cursor":0}}"#;
    for data in ["", r#","data":null"#, r#","data":7"#, r#","data":[]"#, r#","data":"x""#, r#","data":{}"#] {
        check(&format!(r#"{{"type":"PARSE_REQUEST","requestId":"1"{data}}}"#), empty);
    }
    check(r#"{"type":"HELLO"}"#, r#"{"type":"HELLO","data":{}}"#);
    check(
        r#"{"type":"INTERACTIVITY_STATUS"}"#,
        r#"{"type":"INTERACTIVITY_STATUS","data":{"available":false}}"#,
    );
    check(r#"{"type":"ERROR"}"#, r#"{"type":"ERROR","data":{"message":"","details":null}}"#);
}

#[test]
fn a_request_id_is_text_whatever_it_was_written_as() {
    let ping = |id: &str, expected: &str| {
        check(&format!(r#"{{"type":"PING","requestId":{id},"data":{{}}}}"#), expected);
    };
    ping("null", r#"{"type":"PING","data":{}}"#);
    ping(r#""""#, r#"{"type":"PING","requestId":"","data":{}}"#);
    ping("12", r#"{"type":"PING","requestId":"12","data":{}}"#);
    ping("-1.5", r#"{"type":"PING","requestId":"-1.5","data":{}}"#);
    ping("true", r#"{"type":"PING","requestId":"true","data":{}}"#);
    ping(r#"["a"]"#, r#"{"type":"PING","requestId":"a","data":{}}"#);
    for wrong in ["{}", "[]", r#"["a","b"]"#, r#"[["a"]]"#] {
        ping(wrong, "refused: `requestId` must be text");
    }
}

#[test]
fn integers_are_read_from_text_and_fractions_are_cut_off() {
    for (value, expected) in
        [("15", 15), (r#""15""#, 15), ("15.0", 15), ("15.9", 15), ("1.5e1", 15), ("-1", -1), ("-1.9", -1)]
    {
        check_int(value, Some(expected));
    }
}

#[test]
fn integers_outside_32_bits_are_refused_and_not_wrapped() {
    check_int("2147483647", Some(i32::MAX));
    check_int("-2147483648", Some(i32::MIN));
    check_int("2147483647.5", Some(i32::MAX));
    for value in
        ["2147483648", "-2147483649", "4294967311", "1e30", "18446744073709551615", r#""4294967311""#]
    {
        check_int(value, None);
    }
}

#[test]
fn what_is_no_integer_is_refused_and_named() {
    for value in ["null", "true", "{}", "[]", r#""x""#, r#""""#, r#""15.9""#] {
        check_int(value, None);
    }
    let body = r#"{"type":"PARSE_REQUEST","requestId":"7","data":{"cursor":true}}"#;
    let error = Envelope::<Message>::decode(body.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "PARSE_REQUEST: cursor: invalid type: boolean `true`, expected a 32-bit integer"
    );
    assert!(matches!(error, DecodeError::Payload { request_id: Some(id), .. } if id == "7".into()));
}

#[test]
fn text_fields_take_numbers_and_null_but_no_objects() {
    let command = |value: &str| {
        read(format!(r#"{{"type":"COMMAND_EXECUTE","data":{{"command":{value}}}}}"#).as_bytes())
    };
    assert_eq!(command("7"), r#"{"type":"COMMAND_EXECUTE","data":{"command":"7"}}"#);
    assert_eq!(command("true"), r#"{"type":"COMMAND_EXECUTE","data":{"command":"true"}}"#);
    assert_eq!(command("null"), r#"{"type":"COMMAND_EXECUTE","data":{"command":""}}"#);
    assert!(command("{}").starts_with("refused: COMMAND_EXECUTE: command: "));
    assert!(command(r#"["a"]"#).starts_with("refused: COMMAND_EXECUTE: command: "));
}

#[test]
fn a_flag_may_be_text_but_not_null() {
    let status = |value: &str| {
        read(format!(r#"{{"type":"INTERACTIVITY_STATUS","data":{{"available":{value}}}}}"#).as_bytes())
    };
    let yes = r#"{"type":"INTERACTIVITY_STATUS","data":{"available":true}}"#;
    let no = r#"{"type":"INTERACTIVITY_STATUS","data":{"available":false}}"#;
    for (value, expected) in
        [("true", yes), (r#""true""#, yes), (r#""TRUE""#, yes), ("false", no), (r#""yes""#, no)]
    {
        assert_eq!(status(value), expected, "{value}");
    }
    assert!(status("null").starts_with("refused: "));
    assert!(status("1").starts_with("refused: "));
}

#[test]
fn an_unknown_colour_level_counts_as_none_given() {
    let hello =
        |value: &str| read(format!(r#"{{"type":"HELLO","data":{{"colorLevel":{value}}}}}"#).as_bytes());
    assert_eq!(hello(r#""NONE""#), r#"{"type":"HELLO","data":{"colorLevel":"NONE"}}"#);
    for value in [r#""none""#, r#""MANY""#, "3", "null"] {
        assert_eq!(hello(value), r#"{"type":"HELLO","data":{}}"#, "{value}");
    }
    assert!(hello("{}").starts_with("refused: "));
}

#[test]
fn a_map_may_be_an_array_of_pairs() {
    let hello =
        |value: &str| read(format!(r#"{{"type":"HELLO","data":{{"capabilities":{value}}}}}"#).as_bytes());
    let expected = r#"{"type":"HELLO","data":{"capabilities":{"parse":{"min":1,"max":2}}}}"#;
    assert_eq!(hello(r#"{"parse":{"min":1,"max":2}}"#), expected);
    assert_eq!(hello(r#"[["parse",{"min":1,"max":2}]]"#), expected);
    assert_eq!(hello("[]"), r#"{"type":"HELLO","data":{"capabilities":{}}}"#);
    assert_eq!(hello("null"), r#"{"type":"HELLO","data":{}}"#);
    for wrong in ["7", r#"[["parse"]]"#, r#"["parse"]"#] {
        assert!(hello(wrong).starts_with("refused: "), "{wrong}");
    }
    check(
        r#"{"type":"WELCOME","data":{"transportEpoch":"15","selectedCapabilities":[["parse","1"],["x",null]]}}"#,
        r#"{"type":"WELCOME","data":{"transportEpoch":15,"selectedCapabilities":{"parse":1,"x":null}}}"#,
    );
}

#[test]
fn an_exclude_list_may_be_absent_or_null_but_has_no_null_in_it() {
    let hello = |exclude: &str| {
        read(
            format!(r#"{{"type":"HELLO","data":{{"transportEpochRange":{{"min":16,"max":17{exclude}}}}}}}"#)
                .as_bytes(),
        )
    };
    let without = r#"{"type":"HELLO","data":{"transportEpochRange":{"min":16,"max":17}}}"#;
    assert_eq!(hello(""), without);
    assert_eq!(hello(r#","exclude":null"#), without);
    assert!(hello(r#","exclude":[16]"#).ends_with(r#""exclude":[16]}}}"#));
    assert!(hello(r#","exclude":[null]"#).starts_with("refused: "));
}

#[test]
fn a_range_or_a_candidate_is_an_object_and_nothing_else() {
    for body in [
        r#"{"type":"HELLO","data":{"transportEpochRange":[16,17]}}"#,
        r#"{"type":"HELLO","data":{"capabilities":{"parse":[1,1]}}}"#,
        r#"{"type":"COMPLETION_RESPONSE","data":{"candidates":[["a","a"]]}}"#,
    ] {
        assert!(read(body.as_bytes()).contains("invalid type: sequence, expected an object"), "{body}");
    }
    check(
        r#"{"type":"COMPLETION_RESPONSE","data":{"candidates":null}}"#,
        r#"{"type":"COMPLETION_RESPONSE","data":{"candidates":[]}}"#,
    );
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let body = b"{\"type\":\"COMMAND_EXECUTE\",\"data\":{\"command\":\"a\xff\xc3b\"}}";
    assert_eq!(read(body), "{\"type\":\"COMMAND_EXECUTE\",\"data\":{\"command\":\"a\u{fffd}\u{fffd}b\"}}");
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(read(b"\xef\xbb\xbf{\"type\":\"PING\",\"data\":{}}"), r#"{"type":"PING","data":{}}"#);
}

#[test]
fn nesting_is_capped_before_anything_is_parsed() {
    let nested = |levels: usize| {
        let inside = levels - 1;
        format!(r#"{{"type":"PING","data":{{}},"x":{}{}}}"#, "[".repeat(inside), "]".repeat(inside))
    };
    let limit = loggia_protocol_endermux::limits::MAX_DEPTH;
    check(&nested(limit), r#"{"type":"PING","data":{}}"#);
    check(&nested(limit + 1), "refused: nested deeper than 64 levels");
    check(&nested(200_000), "refused: nested deeper than 64 levels");
    let brackets = "[".repeat(500);
    check(
        &format!(r#"{{"type":"COMMAND_EXECUTE","data":{{"command":"\"{brackets}"}}}}"#),
        &format!(r#"{{"type":"COMMAND_EXECUTE","data":{{"command":"\"{brackets}"}}}}"#),
    );
}
