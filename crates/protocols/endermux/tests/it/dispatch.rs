//! The server's checks of a session's messages, in their order, and the errors of its handlers.

use loggia_protocol_endermux::{
    Capability, ColorLevel, Epoch, Hook, HookFault, MESSAGES, Message, MessageType, Selected, Step, next_step,
};

use crate::{message, text};

/// A session in which these capabilities were negotiated.
fn session(capabilities: &[Capability]) -> Selected {
    Selected {
        epoch: Epoch::Fifteen,
        color_level: ColorLevel::None,
        capabilities: capabilities.iter().map(|capability| (capability.name().to_owned(), 1)).collect(),
    }
}

/// What a server does with a message, in one line.
fn step(capabilities: &[Capability], interactive: bool, body: &str) -> String {
    match next_step(&session(capabilities), interactive, &message(body)) {
        Step::Reply(reply) => text(&reply),
        Step::Subscribe => "subscribe".to_owned(),
        Step::Handle => "handle".to_owned(),
    }
}

fn error(id: &str, message: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!(r#""requestId":"{id}","#) };
    format!(r#"{{"type":"ERROR",{id}"data":{{"message":"{message}","details":null}}}}"#)
}

#[test]
fn a_request_without_its_id_is_answered_without_one() {
    for kind in MessageType::ALL.into_iter().filter(|kind| kind.requires_request_id()) {
        // First of all checks: no capability is negotiated here.
        let found = step(&[], false, &format!(r#"{{"type":"{kind}","data":{{}}}}"#));
        assert_eq!(found, error("", &format!("Missing requestId for message type: {kind}")));
    }
}

#[test]
fn ping_is_answered_whatever_was_negotiated() {
    let pong = r#"{"type":"PONG","requestId":"1","data":{}}"#;
    assert_eq!(step(&[], false, r#"{"type":"PING","requestId":"1","data":{}}"#), pong);
}

#[test]
fn a_capability_that_was_not_negotiated_is_refused_before_the_direction() {
    for kind in MessageType::ALL {
        let Some(capability) = kind.capability() else { continue };
        let found = step(&[], false, &format!(r#"{{"type":"{kind}","requestId":"1","data":{{}}}}"#));
        assert_eq!(found, error("1", &format!("Capability not negotiated: {capability}")));
    }
}

#[test]
fn log_subscribe_has_no_reply_with_or_without_an_id() {
    for body in
        [r#"{"type":"LOG_SUBSCRIBE","data":{}}"#, r#"{"type":"LOG_SUBSCRIBE","requestId":"1","data":{}}"#]
    {
        assert_eq!(step(&Capability::ALL, false, body), "subscribe");
    }
}

#[test]
fn a_message_only_servers_send_is_refused() {
    for row in MESSAGES.iter().filter(|row| row.sender == "server") {
        let found = step(
            &Capability::ALL,
            true,
            &format!(r#"{{"type":"{}","requestId":"1","data":{{}}}}"#, row.name),
        );
        assert_eq!(found, error("1", &format!("Invalid message direction: {}", row.name)));
    }
}

#[test]
fn gated_requests_wait_for_interactivity() {
    for kind in MessageType::ALL.into_iter().filter(|kind| kind.is_gated()) {
        let body = format!(r#"{{"type":"{kind}","requestId":"1","data":{{}}}}"#);
        let unavailable = error("1", "Interactivity is currently unavailable");
        assert_eq!(step(&Capability::ALL, false, &body), unavailable);
        assert_eq!(step(&Capability::ALL, true, &body), "handle");
    }
    let body = r#"{"type":"COMMAND_EXECUTE","data":{"command":"stop"}}"#;
    assert_eq!(step(&Capability::ALL, false, body), error("", "Interactivity is currently unavailable"));
}

#[test]
fn a_second_hello_is_an_error_and_nothing_more() {
    let found = step(&Capability::ALL, true, r#"{"type":"HELLO","requestId":"1","data":{}}"#);
    assert_eq!(found, error("1", "Unknown message type: HELLO"));
}

#[test]
fn missing_and_failed_hooks_have_their_sentences() {
    let check = |fault: HookFault, message: &str, details: Option<&str>| {
        let failure = fault.failure();
        assert_eq!((failure.message.as_str(), failure.details.as_deref()), (message, details));
    };
    check(HookFault::Missing(Hook::Complete), "Completions are not supported", None);
    check(HookFault::Missing(Hook::Highlight), "Syntax highlighting is not supported", None);
    check(HookFault::Missing(Hook::Parse), "Parsing is not supported", None);
    check(HookFault::Missing(Hook::Execute), "Command execution is not supported", None);
    check(HookFault::Unavailable, "Interactivity is currently unavailable", None);
    let failed = |hook| HookFault::Failed(hook, "why".to_owned());
    check(failed(Hook::Complete), "Failed to get completions", Some("why"));
    check(failed(Hook::Parse), "Failed to parse command", Some("why"));
    check(failed(Hook::Execute), "Failed to execute command", Some("why"));
    check(failed(Hook::Highlight), "Failed to highlight command: why", None);
}

#[test]
fn an_answer_echoes_the_id_of_its_request() {
    let reply = next_step(&session(&[]), true, &message(r#"{"type":"PING","requestId":12}"#));
    let Step::Reply(reply) = reply else { panic!("{reply:?}") };
    assert_eq!(reply.request_id, Some("12".into()));
    assert!(matches!(reply.data, Message::Pong(_)));
}
