use loggia_protocol_agent_server::{
    AlreadyDecidedDetails, ApprovalScope, ClientMessage, DecodeError, Event, MAX_JSON_DEPTH, Mention,
    Remember, ServerMessage,
};

/// Decodes a client message that must fail; the outcome as `kind | pointer | expected`.
fn fault(text: &str) -> String {
    let error = ClientMessage::decode(text).expect_err("a message that must be refused");
    let kind = match error {
        DecodeError::NotJson { .. } => "not JSON",
        DecodeError::TooDeep => "too deep",
        DecodeError::NotAnObject => "not an object",
        DecodeError::MissingType => "missing type",
        DecodeError::UnknownType { .. } => "unknown type",
        DecodeError::WrongShape { .. } => "wrong shape",
    };
    format!("{kind} | {} | {}", error.pointer(), error.expected())
}

fn check(text: &str, expected: &str) {
    assert_eq!(fault(text), expected, "{text}");
}

#[test]
fn text_that_is_not_json_says_so() {
    check("", "not JSON |  | one JSON object (EOF while parsing a value at line 1 column 0)");
    check("{", "not JSON |  | one JSON object (EOF while parsing an object at line 1 column 1)");
    check("hello", "not JSON |  | one JSON object (expected value at line 1 column 1)");
    check("[1,]", "not JSON |  | one JSON object (expected value at line 1 column 4)");
    check(
        r#"{"type":"client.cancel"} x"#,
        "not JSON |  | one JSON object (trailing characters at line 1 column 26)",
    );
}

#[test]
fn json_that_is_not_an_object_says_so() {
    for text in ["1", "null", "\"client.cancel\"", "[]", r#"["client.cancel"]"#, " true "] {
        check(text, "not an object |  | a JSON object");
    }
}

#[test]
fn a_missing_type_says_so() {
    for text in ["{}", r#"{"message":"hi"}"#, r#"{"type":null}"#] {
        check(text, "missing type | /type | a string that names the message");
    }
}

#[test]
fn an_unknown_type_is_named() {
    check(r#"{"type":"client.bye"}"#, "unknown type | /type | a known message type, not `client.bye`");
    // What the server says is nothing a client may say.
    check(
        r#"{"type":"assistant.token","token":"x"}"#,
        "unknown type | /type | a known message type, not `assistant.token`",
    );
    let error = ServerMessage::decode(r#"{"type":"client.cancel"}"#).unwrap_err();
    assert_eq!(error.to_string(), "unknown message type `client.cancel`");
}

#[test]
fn a_type_that_is_no_text_or_comes_twice_is_refused() {
    check(r#"{"type":7}"#, "wrong shape | /type | must be text");
    check(r#"{"type":"client.cancel","type":"client.hello"}"#, "wrong shape | /type | must be there once");
}

#[test]
fn a_wrong_field_is_pointed_at() {
    check(r#"{"type":"client.user_message"}"#, "wrong shape |  | missing field `message`");
    check(
        r#"{"type":"client.user_message","message":"m","context":{"diagnostics":[{"file_path":"a","severity":"error","message":"m","line":"x"}]}}"#,
        "wrong shape | /context/diagnostics/0/line | invalid type: string \"x\", expected u32",
    );
    check(
        r#"{"type":"client.user_message","message":"m","context":{"diagnostics":[{"file_path":"a","severity":3}]}}"#,
        "wrong shape | /context/diagnostics/0/severity | invalid type: integer `3`, expected a string",
    );
    check(
        r#"{"type":"client.user_message","message":"m","context":{"mentions":[{"type":"file"}]}}"#,
        "wrong shape | /context/mentions/0 | missing field `path`",
    );
    check(
        r#"{"type":"client.cancel","reason":"a","reason":"b"}"#,
        "wrong shape |  | duplicate field `reason`",
    );
}

#[test]
fn a_hunk_or_file_decision_must_name_its_target() {
    let response = |rest: &str| {
        format!(r#"{{"type":"client.approval_response","request_id":"req_1","approved":true{rest}}}"#)
    };
    check(
        &response(r#","scope":"hunk","file_path":"a""#),
        "wrong shape | /hunk_index | `hunk_index` is needed when the scope is `hunk`",
    );
    check(
        &response(r#","scope":"hunk","hunk_index":1"#),
        "wrong shape | /file_path | `file_path` is needed when the scope is `hunk`",
    );
    check(
        &response(r#","scope":"file""#),
        "wrong shape | /file_path | `file_path` is needed when the scope is `file`",
    );
    check(
        &response(r#","scope":"everything""#),
        "wrong shape | /scope | unknown variant `everything`, expected one of `all`, `file`, `hunk`",
    );
    check(
        &response(r#","remember":"forever""#),
        "wrong shape | /remember | unknown variant `forever`, expected one of `once`, `session`, `workspace`",
    );
    check(
        &response(r#","scope":"hunk","file_path":"a","hunk_index":0,"hunk_indexes":[1]"#),
        "wrong shape | /hunk_indexes | either this or `hunk_index`, not both",
    );
    check(
        &response(r#","scope":"hunk","file_path":"a","hunk_indexes":[]"#),
        "wrong shape | /hunk_indexes | must name a hunk",
    );
    for (wide, field) in [
        (r#","hunk_index":0"#, "hunk_index"),
        (r#","hunk_indexes":[0],"file_path":"a""#, "hunk_indexes"),
        (r#","scope":"all","hunk_indexes":[0]"#, "hunk_indexes"),
        (r#","scope":"file","file_path":"a","hunk_index":0"#, "hunk_index"),
        (r#","hunks":[{"file_path":"a","hunk_indexes":[0]}]"#, "hunks"),
    ] {
        let told = format!(r#"`{field}` is only for the scope `hunk`; add `"scope":"hunk"`"#);
        check(&response(wide), &format!("wrong shape | /{field} | {told}"));
    }
    check(
        &response(r#","scope":"hunk","file_path":"a","hunks":[{"file_path":"a","hunk_indexes":[0]}]"#),
        "wrong shape | /file_path | either this or `hunks`, not both",
    );
    for empty in ["[]", r#"[{"file_path":"a","hunk_indexes":[]}]"#] {
        check(
            &response(&format!(r#","scope":"hunk","hunks":{empty}"#)),
            "wrong shape | /hunks | must name a hunk, of every file it names",
        );
    }
    let text = response(r#","scope":"hunk","hunks":[{"file_path":"a","hunk_indexes":[0]}]"#);
    assert!(ClientMessage::decode(&text).is_ok());
    let text = response(r#","scope":"hunk","file_path":"a","hunk_indexes":[0,2]"#);
    let ClientMessage::ApprovalResponse(answer) = ClientMessage::decode(&text).unwrap() else { panic!() };
    assert_eq!(answer.hunk_indexes, Some(vec![0, 2]));
    let text = response(r#","scope":"hunk","file_path":"a","hunk_index":2,"remember":"session""#);
    let ClientMessage::ApprovalResponse(answer) = ClientMessage::decode(&text).unwrap() else { panic!() };
    assert_eq!(
        (answer.scope, answer.hunk_index, answer.remember),
        (Some(ApprovalScope::Hunk), Some(2), Some(Remember::Session))
    );
}

#[test]
fn null_and_absent_are_the_same_on_input() {
    let text =
        r#"{"type":"client.user_message","message":"m","context":{"active_editor":null,"command":null}}"#;
    assert_eq!(
        ClientMessage::decode(text).unwrap().encode(),
        r#"{"type":"client.user_message","message":"m","context":{}}"#
    );
}

#[test]
fn a_patch_result_without_error_writes_null() {
    let text = r#"{"type":"client.patch_apply_result","patch_id":"patch_1","file_path":"a","success":true,"applied_hash":"sha256:00"}"#;
    assert_eq!(
        ClientMessage::decode(text).unwrap().encode(),
        r#"{"type":"client.patch_apply_result","patch_id":"patch_1","file_path":"a","success":true,"error":null,"applied_hash":"sha256:00"}"#
    );
}

#[test]
fn a_mention_of_an_unknown_kind_is_passed_over() {
    let text = r#"{"type":"client.user_message","message":"m","context":{"mentions":[{"type":"folder","path":"src"},{"type":"file","path":"a"}]}}"#;
    let ClientMessage::UserMessage(message) = ClientMessage::decode(text).unwrap() else { panic!() };
    let mentions = message.context.unwrap().mentions.unwrap();
    assert_eq!(mentions, [Mention::Unknown, Mention::File { path: "a".to_owned() }]);
}

#[test]
fn an_update_tells_cleared_from_unchanged() {
    let updates = |text: &str| {
        let text = format!(r#"{{"type":"client.context_update","updates":{text}}}"#);
        let ClientMessage::ContextUpdate(update) = ClientMessage::decode(&text).unwrap() else { panic!() };
        update.updates.diagnostics
    };
    assert_eq!(updates("{}"), None);
    assert_eq!(updates(r#"{"diagnostics":[]}"#), Some(Vec::new()));
}

#[test]
fn bad_input_becomes_an_invalid_message_error() {
    let error = ClientMessage::decode(r#"{"type":"client.cancel","reason":1}"#).unwrap_err();
    assert_eq!(
        ServerMessage::Error(error.to_server_error()).encode(),
        r#"{"type":"server.error","error":{"code":"INVALID_MESSAGE","message":"`client.cancel`: reason: invalid type: integer `1`, expected a string","details":{"pointer":"/reason","expected":"invalid type: integer `1`, expected a string"},"recoverable":true}}"#
    );
}

#[test]
fn a_late_decision_is_told_who_was_first() {
    let details = AlreadyDecidedDetails { decided_by: "web".to_owned(), approved: true };
    let json: loggia_jsonrpc::Json = details.clone().into();
    let back: AlreadyDecidedDetails = serde_json::from_value(json.0).unwrap();
    assert_eq!(back, details);
}

#[test]
fn nesting_is_limited_before_anything_is_read() {
    let nested = |levels: usize| {
        format!(r#"{{"type":"client.cancel","x":{}{}}}"#, "[".repeat(levels), "]".repeat(levels))
    };
    ClientMessage::decode(&nested(MAX_JSON_DEPTH - 1)).unwrap();
    check(&nested(MAX_JSON_DEPTH), "too deep |  | at most 64 levels of nesting");
    check(&nested(1_000_000), "too deep |  | at most 64 levels of nesting");
}

#[test]
fn a_durable_message_carries_its_place_in_the_journal() {
    let text = r#"{"type":"client.echo","from":"web","message":"m","seq":7,"at":"2025-12-30T10:30:45.000Z","turn_id":"turn_1"}"#;
    let message = ServerMessage::decode(text).unwrap();
    assert_eq!(message.encode(), text);
    let ServerMessage::ClientEcho(echo) = message else { panic!() };
    assert_eq!(echo.stamp.seq, Some(7));
}

#[test]
fn passing_messages_have_no_sequence_number() {
    for text in [
        r#"{"type":"assistant.token","token":"x","seq":1}"#,
        r#"{"type":"assistant.thinking","phase":"planning","message":"m","seq":1}"#,
        r#"{"type":"tool.output","command_id":"cmd_1","stream":"stdout","chunk":"c","seq":1}"#,
        r#"{"type":"server.hello","server_info":{"version":"1","capabilities":[]},"seq":1}"#,
    ] {
        assert!(!ServerMessage::decode(text).unwrap().encode().contains("seq"));
    }
}

#[test]
fn an_event_on_a_page_is_the_message_of_the_stream() {
    let text = r#"{"type":"client.echo","from":"web","message":"m","seq":7}"#;
    let message = ServerMessage::decode(text).unwrap();
    let event = Event::from(&message);
    assert_eq!(event.as_str(), text);
    assert_eq!(event.decode().unwrap(), message);
}
