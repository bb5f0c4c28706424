//! What we write: order, absence and nulls.

use loggia_protocol_endermux::{
    CandidateInfo, CommandExecute, CompletionResponse, Envelope, Epoch, Failure, Message, ParseResponse,
    Ping, Reject, RejectReason, SyntaxHighlightResponse,
};

use crate::text;

fn check(message: Envelope<Message>, expected: &str) {
    assert_eq!(text(&message), expected);
}

#[test]
fn the_envelope_is_type_then_request_id_then_data() {
    check(Envelope::with_id("1".into(), Ping {}.into()), r#"{"type":"PING","requestId":"1","data":{}}"#);
    assert_eq!(r#"{"type":"PING","requestId":"1","data":{}}"#.len(), 0x29);
}

#[test]
fn an_absent_request_id_is_omitted_and_data_is_always_there() {
    check(Envelope::plain(Ping {}.into()), r#"{"type":"PING","data":{}}"#);
    let command = CommandExecute { command: "stop".to_owned() };
    check(Envelope::plain(command.into()), r#"{"type":"COMMAND_EXECUTE","data":{"command":"stop"}}"#);
}

#[test]
fn details_description_and_expected_epoch_are_written_as_null() {
    check(
        Envelope::plain(Failure::new("m").into()),
        r#"{"type":"ERROR","data":{"message":"m","details":null}}"#,
    );
    let candidate = CandidateInfo { value: "v".to_owned(), display: "d".to_owned(), description: None };
    check(
        Envelope::plain(CompletionResponse { candidates: vec![candidate] }.into()),
        r#"{"type":"COMPLETION_RESPONSE","data":{"candidates":[{"value":"v","display":"d","description":null}]}}"#,
    );
    check(
        Envelope::plain(Reject::missing_capabilities(vec!["parse".to_owned()]).into()),
        concat!(
            r#"{"type":"REJECT","data":{"reason":"missing_required_capabilities","#,
            r#""message":"Missing required capabilities","expectedTransportEpoch":null,"#,
            r#""missingRequiredCapabilities":["parse"]}}"#
        ),
    );
}

#[test]
fn payload_fields_are_in_the_order_of_the_specification() {
    check(
        Envelope::plain(Reject::new(RejectReason::ExpectedHello, Epoch::Fifteen).into()),
        concat!(
            r#"{"type":"REJECT","data":{"reason":"expected_hello","message":"Expected HELLO","#,
            r#""expectedTransportEpoch":15,"missingRequiredCapabilities":[]}}"#
        ),
    );
    check(
        Envelope::plain(ParseResponse::default().into()),
        concat!(
            r#"{"type":"PARSE_RESPONSE","data":{"word":"","wordCursor":0,"wordIndex":0,"#,
            r#""words":[],"line":"","cursor":0}}"#
        ),
    );
    check(
        Envelope::plain(SyntaxHighlightResponse::default().into()),
        r#"{"type":"SYNTAX_HIGHLIGHT_RESPONSE","data":{"command":"","highlighted":""}}"#,
    );
}

#[test]
fn control_characters_are_escaped_in_lower_case_and_other_text_is_utf8() {
    let command = CommandExecute { command: "\u{1b}\n<é😀>".to_owned() };
    check(
        Envelope::plain(command.into()),
        r#"{"type":"COMMAND_EXECUTE","data":{"command":"\u001b\n<é😀>"}}"#,
    );
}
