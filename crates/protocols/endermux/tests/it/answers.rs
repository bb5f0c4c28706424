//! The client's rules for requests and their answers.

use loggia_protocol_endermux::{
    Capability, ClientOffer, ColorLevel, CompletionResponse, Epoch, InteractivityStatus, Message,
    MessageType, NotSent, Pong, Selected, answer, may_send,
};

use crate::message;

fn all() -> Selected {
    let capabilities = ClientOffer::baseline(Epoch::Fifteen, ColorLevel::None).capabilities;
    let capabilities = capabilities.into_keys().map(|name| (name, 1)).collect();
    Selected { epoch: Epoch::Fifteen, color_level: ColorLevel::None, capabilities }
}

#[test]
fn the_answer_of_the_expected_type_is_the_result() {
    assert_eq!(answer::<Pong>(message(r#"{"type":"PONG","requestId":"1","data":{}}"#)), Ok(Pong {}));
}

#[test]
fn an_error_answer_is_a_failure_that_joins_message_and_details() {
    let failed = |details: &str| {
        let body =
            format!(r#"{{"type":"ERROR","requestId":"1","data":{{"message":"m","details":{details}}}}}"#);
        answer::<CompletionResponse>(message(&body)).unwrap_err().to_string()
    };
    assert_eq!(failed(r#""d""#), "m: d");
    assert_eq!(failed("null"), "m");
}

#[test]
fn an_answer_of_another_type_is_a_failure() {
    let pong = message(r#"{"type":"PONG","requestId":"1","data":{}}"#);
    let error = answer::<CompletionResponse>(pong).unwrap_err();
    assert_eq!(error.to_string(), "expected COMPLETION_RESPONSE, got PONG");
}

#[test]
fn gated_requests_are_not_sent_while_interactivity_is_unavailable() {
    for kind in MessageType::ALL {
        let expected = if kind.is_gated() { Err(NotSent::Unavailable) } else { Ok(()) };
        assert_eq!(may_send(&all(), false, kind), expected, "{kind}");
        assert_eq!(may_send(&all(), true, kind), Ok(()), "{kind}");
    }
}

#[test]
fn requests_of_a_capability_that_was_not_negotiated_are_not_sent() {
    let mut selected = all();
    selected.capabilities.remove("parse");
    let refused = Err(NotSent::NotNegotiated(Capability::Parse));
    assert_eq!(may_send(&selected, true, MessageType::ParseRequest), refused);
    assert_eq!(may_send(&selected, true, MessageType::CompletionRequest), Ok(()));
    assert_eq!(may_send(&selected, true, MessageType::Ping), Ok(()));
}

#[test]
fn a_status_message_tells_whether_commands_can_be_given() {
    let status = message(r#"{"type":"INTERACTIVITY_STATUS","data":{"available":true}}"#);
    assert_eq!(status.data, Message::InteractivityStatus(InteractivityStatus { available: true }));
    assert_eq!(status.request_id, None);
}
