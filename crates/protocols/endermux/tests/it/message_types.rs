//! The table of messages and what is known of each type.

use loggia_protocol_endermux::{
    Capability, ColorLevel, Direction, LogForward, MESSAGES, Message, MessageType, Payload, Pong,
    RejectReason,
};

/// The names of the types that fit.
fn names(fits: impl Fn(MessageType) -> bool) -> Vec<&'static str> {
    MessageType::ALL.into_iter().filter(|kind| fits(*kind)).map(MessageType::name).collect()
}

#[test]
fn the_catalogue_has_seven_client_and_nine_server_messages() {
    let sent_by = |sender| MESSAGES.iter().filter(move |row| row.sender == sender).map(|row| row.name);
    assert_eq!(
        sent_by("client").collect::<Vec<_>>(),
        [
            "HELLO",
            "COMPLETION_REQUEST",
            "SYNTAX_HIGHLIGHT_REQUEST",
            "PARSE_REQUEST",
            "COMMAND_EXECUTE",
            "PING",
            "LOG_SUBSCRIBE"
        ]
    );
    assert_eq!(
        sent_by("server").collect::<Vec<_>>(),
        [
            "WELCOME",
            "REJECT",
            "COMPLETION_RESPONSE",
            "SYNTAX_HIGHLIGHT_RESPONSE",
            "PARSE_RESPONSE",
            "LOG_FORWARD",
            "PONG",
            "ERROR",
            "INTERACTIVITY_STATUS"
        ]
    );
    assert_eq!(names(|kind| kind.direction() == Direction::ToServer), sent_by("client").collect::<Vec<_>>());
    assert_eq!(names(|kind| kind.direction() == Direction::ToClient), sent_by("server").collect::<Vec<_>>());
}

#[test]
fn types_are_found_by_their_exact_name() {
    for kind in MessageType::ALL {
        assert_eq!(MessageType::from_name(kind.name()), Some(kind));
    }
    assert_eq!(MessageType::from_name("ping"), None);
    assert_eq!(MessageType::from_name("NOT_A_TYPE"), None);
}

#[test]
fn payloads_know_their_type_and_their_direction() {
    assert_eq!(LogForward::default().message_type(), MessageType::LogForward);
    assert_eq!(Message::from(Pong {}).message_type(), MessageType::Pong);
    assert_eq!(Message::from(Pong {}).message_type().direction(), Direction::ToClient);
    let request = Message::from(loggia_protocol_endermux::Ping {});
    assert_eq!(request.message_type().direction(), Direction::ToServer);
}

#[test]
fn five_types_require_a_request_id() {
    assert_eq!(
        names(MessageType::requires_request_id),
        ["HELLO", "COMPLETION_REQUEST", "SYNTAX_HIGHLIGHT_REQUEST", "PARSE_REQUEST", "PING"]
    );
}

#[test]
fn requests_have_their_answers() {
    let pairs: Vec<_> = MessageType::ALL
        .into_iter()
        .filter_map(|kind| Some((kind.name(), kind.response()?.name())))
        .collect();
    assert_eq!(
        pairs,
        [
            ("HELLO", "WELCOME"),
            ("COMPLETION_REQUEST", "COMPLETION_RESPONSE"),
            ("SYNTAX_HIGHLIGHT_REQUEST", "SYNTAX_HIGHLIGHT_RESPONSE"),
            ("PARSE_REQUEST", "PARSE_RESPONSE"),
            ("PING", "PONG"),
        ]
    );
}

#[test]
fn types_belong_to_the_right_capability() {
    let of = |capability| names(|kind| kind.capability() == capability);
    assert_eq!(of(Some(Capability::Completion)), ["COMPLETION_REQUEST", "COMPLETION_RESPONSE"]);
    assert_eq!(
        of(Some(Capability::SyntaxHighlight)),
        ["SYNTAX_HIGHLIGHT_REQUEST", "SYNTAX_HIGHLIGHT_RESPONSE"]
    );
    assert_eq!(of(Some(Capability::Parse)), ["PARSE_REQUEST", "PARSE_RESPONSE"]);
    assert_eq!(of(Some(Capability::CommandExecute)), ["COMMAND_EXECUTE"]);
    assert_eq!(of(Some(Capability::LogForward)), ["LOG_SUBSCRIBE", "LOG_FORWARD"]);
    assert_eq!(of(Some(Capability::InteractivityStatus)), ["INTERACTIVITY_STATUS"]);
    assert_eq!(of(None), ["HELLO", "PING", "WELCOME", "REJECT", "PONG", "ERROR"]);
}

#[test]
fn four_types_wait_for_interactivity() {
    assert_eq!(
        names(MessageType::is_gated),
        ["COMPLETION_REQUEST", "SYNTAX_HIGHLIGHT_REQUEST", "PARSE_REQUEST", "COMMAND_EXECUTE"]
    );
}

#[test]
fn three_capabilities_are_required_and_three_are_optional() {
    let all = Capability::ALL.map(Capability::name);
    assert_eq!(all[..3], ["command_execute", "log_forward", "interactivity_status"]);
    assert_eq!(all[3..], ["completion", "syntax_highlight", "parse"]);
    assert_eq!(Capability::REQUIRED.map(Capability::name)[..], all[..3]);
    assert!(all.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_')));
}

#[test]
fn reject_reasons_have_their_words_and_sentences() {
    let found: Vec<_> =
        RejectReason::known().map(|reason| (reason.code().to_owned(), reason.message().unwrap())).collect();
    let expected = [
        ("missing_request_id", "Missing requestId"),
        ("expected_hello", "Expected HELLO"),
        ("invalid_transport_epoch_range", "Invalid transport epoch range"),
        ("unsupported_transport_epoch", "Unsupported transport epoch"),
        ("missing_color_level", "Missing color level"),
        ("missing_capability_negotiation_data", "Missing capability negotiation data"),
        ("invalid_capability_version_range", "Invalid capability version range"),
        ("invalid_required_capability_declaration", "Invalid required capability declaration"),
        ("missing_required_capabilities", "Missing required capabilities"),
    ];
    assert_eq!(found, expected.map(|(code, message)| (code.to_owned(), message)));
    let other = RejectReason::from("server_is_full".to_owned());
    assert_eq!((other.code(), other.message()), ("server_is_full", None));
}

#[test]
fn colour_levels_have_their_names() {
    let names = ["NONE", "INDEXED_8", "INDEXED_16", "INDEXED_256", "TRUE_COLOR"];
    assert_eq!(ColorLevel::ALL.map(ColorLevel::name), names);
    for (level, name) in ColorLevel::ALL.into_iter().zip(names) {
        assert_eq!(serde_json::to_string(&level).unwrap(), format!("\"{name}\""));
        assert_eq!(ColorLevel::from_name(name), Some(level));
    }
}
