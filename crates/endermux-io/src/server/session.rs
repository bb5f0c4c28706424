//! One client's conversation as decisions: the body of a frame in, what to do out.
//!
//! Refuses to know streams, clocks and the host. The order of checks is the protocol crate's.

use loggia_protocol_endermux::{
    DecodeError, Envelope, Epoch, Failure, Framing, Message, RejectReason, RequestId, Selected, ServerOffer,
    Step, VersionRange, cursor, next_step,
};

use crate::extras;

/// What a client's first frame leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// It is in; this is to be sent first.
    Welcomed { selected: Selected, reply: Envelope<Message> },
    /// It is not; this is to be sent, then the connection closes.
    Refused { reason: RejectReason, reply: Envelope<Message> },
    /// It said nothing that could be answered: the connection closes.
    Undecodable(DecodeError),
}

/// What a frame of a session leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Todo {
    /// Send this.
    Reply(Envelope<Message>),
    /// Forward logs from now on.
    Subscribe,
    /// Ask the host, and answer under that id.
    Ask(Option<RequestId>, Question),
}

/// What a host is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// How the word at a byte offset could go on.
    Complete { line: String, at: usize },
    /// A coloured line.
    Highlight { line: String },
    /// The words of a line; the cursor goes back as it came.
    Parse { line: String, at: usize, on_wire: i32 },
    /// To do something.
    Execute { command: String },
}

/// Judges a client's first frame.
pub(crate) fn open(framing: Framing, body: &[u8]) -> Opening {
    let first = match Envelope::<Message>::decode(body) {
        Ok(first) => first,
        Err(error) => return Opening::Undecodable(error),
    };
    let offer = offer(Epoch::of_client(framing, &first));
    let outcome = offer.negotiate(&first);
    let reply = offer.answer(&first, &outcome);
    match outcome {
        Ok(selected) => Opening::Welcomed { selected, reply },
        Err(reject) => Opening::Refused { reason: reject.reason, reply },
    }
}

/// Judges a frame of a session. `interactive` tells whether commands can be given now.
pub(crate) fn hear(selected: &Selected, interactive: bool, body: &[u8]) -> Todo {
    let message = match Envelope::<Message>::decode(body) {
        Ok(message) => message,
        Err(error) => return Todo::Reply(undecodable(error)),
    };
    match next_step(selected, interactive, &message) {
        Step::Reply(reply) => Todo::Reply(*reply),
        Step::Subscribe => Todo::Subscribe,
        Step::Handle => ask(selected, message),
    }
}

/// The six capabilities and our own.
fn offer(epoch: Epoch) -> ServerOffer {
    let mut offer = ServerOffer::baseline(epoch);
    let (min, max) = extras::VERSIONS;
    for name in [extras::BACKLOG, extras::RESULT] {
        offer.capabilities.insert(name.to_owned(), VersionRange::new(epoch, min, max));
    }
    offer
}

/// The frame was sound, so the two are still in step and the session goes on.
fn undecodable(error: DecodeError) -> Envelope<Message> {
    let failure = Message::Error(Failure::new(format!("Invalid message: {error}")));
    match error {
        DecodeError::Payload { request_id: Some(id), .. } => Envelope::with_id(id, failure),
        _ => Envelope::plain(failure),
    }
}

/// The place in a line that a client means. Whoever knows our extras counts as the specification says; others may not.
fn place(selected: &Selected, line: &str, on_wire: i32) -> usize {
    if [extras::BACKLOG, extras::RESULT].iter().any(|name| selected.capabilities.contains_key(*name)) {
        cursor::byte_offset(line, on_wire)
    } else {
        cursor::byte_offset_of_client(line, on_wire)
    }
}

fn ask(selected: &Selected, message: Envelope<Message>) -> Todo {
    let id = message.request_id;
    let question = match message.data {
        Message::CompletionRequest(request) => Question::Complete {
            at: place(selected, &request.command, request.cursor),
            line: request.command,
        },
        Message::SyntaxHighlightRequest(request) => Question::Highlight { line: request.command },
        Message::ParseRequest(request) => Question::Parse {
            at: place(selected, &request.command, request.cursor),
            line: request.command,
            on_wire: request.cursor,
        },
        Message::CommandExecute(request) => Question::Execute { command: request.command },
        // The steps before let nothing else through; if they did, saying so is better than silence.
        _ => {
            return Todo::Reply(Envelope {
                request_id: id,
                data: Message::Error(Failure::new("Unknown message type")),
            });
        }
    };
    Todo::Ask(id, question)
}

#[cfg(test)]
mod tests {
    use loggia_protocol_endermux::MessageType;
    use proptest::prelude::*;

    use super::*;

    fn text(envelope: &Envelope<Message>) -> String {
        String::from_utf8(envelope.encode().unwrap()).unwrap()
    }

    fn hello(epoch: &str, extra: &str) -> String {
        format!(
            r#"{{"type":"HELLO","requestId":"h","data":{{{epoch}"colorLevel":"NONE","capabilities":{{"log_forward":{{"min":1,"max":1}},"completion":{{"min":1,"max":1}},"parse":{{"min":1,"max":1}},"command_execute":{{"min":1,"max":1}}{extra}}},"requiredCapabilities":["log_forward"]}}}}"#
        )
    }

    fn selected() -> Selected {
        match open(Framing::Plain, hello(r#""transportEpoch":15,"#, "").as_bytes()) {
            Opening::Welcomed { selected, .. } => selected,
            other => panic!("{other:?}"),
        }
    }

    fn replied(interactive: bool, body: &str) -> String {
        match hear(&selected(), interactive, body.as_bytes()) {
            Todo::Reply(reply) => text(&reply),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_epoch_is_welcomed_as_itself() {
        let welcomed = |framing, epoch: &str| match open(framing, hello(epoch, "").as_bytes()) {
            Opening::Welcomed { selected, reply } => (selected.epoch.number(), text(&reply)),
            other => panic!("{other:?}"),
        };
        let (epoch, reply) = welcomed(Framing::Plain, r#""transportEpoch":15,"#);
        assert_eq!(epoch, 15);
        assert!(
            reply.starts_with(r#"{"type":"WELCOME","requestId":"h","data":{"transportEpoch":15,"#),
            "{reply}"
        );
        let range = |n| format!(r#""transportEpochRange":{{"min":{n},"max":{n},"exclude":[]}},"#);
        assert_eq!(welcomed(Framing::Plain, &range(16)).0, 16);
        assert_eq!(welcomed(Framing::Compressed, &range(17)).0, 17);
    }

    #[test]
    fn our_own_capabilities_are_selected_only_when_asked_for() {
        let of = |extra: &str| match open(Framing::Plain, hello(r#""transportEpoch":15,"#, extra).as_bytes())
        {
            Opening::Welcomed { selected, .. } => selected.capabilities.contains_key(extras::RESULT),
            other => panic!("{other:?}"),
        };
        assert!(!of(""));
        assert!(of(r#","loggia_result":{"min":1,"max":1}"#));
    }

    #[test]
    fn a_first_message_that_cannot_be_read_is_not_answered() {
        for body in
            ["", "nonsense", "[]", r#"{"type":"NOPE"}"#, r#"{"type":"HELLO","data":{"transportEpoch":null}}"#]
        {
            let opening = open(Framing::Plain, body.as_bytes());
            assert!(matches!(opening, Opening::Undecodable(_)), "{body}: {opening:?}");
        }
    }

    #[test]
    fn a_sound_frame_with_nonsense_in_it_is_an_error_without_id() {
        let answer = replied(true, "nonsense");
        assert!(
            answer.starts_with(r#"{"type":"ERROR","data":{"message":"Invalid message: not JSON"#),
            "{answer}"
        );
        let answer = replied(true, r#"{"type":"NOPE","requestId":"1"}"#);
        assert_eq!(
            answer,
            r#"{"type":"ERROR","data":{"message":"Invalid message: Unknown message type: NOPE","details":null}}"#
        );
    }

    #[test]
    fn a_payload_that_does_not_fit_is_an_error_under_the_requests_id() {
        let answer = replied(true, r#"{"type":"COMPLETION_REQUEST","requestId":"1","data":{"cursor":null}}"#);
        assert!(
            answer.starts_with(r#"{"type":"ERROR","requestId":"1","data":{"message":"Invalid message: "#),
            "{answer}"
        );
    }

    #[test]
    fn a_question_has_its_cursor_as_a_byte_offset() {
        let body = r#"{"type":"COMPLETION_REQUEST","requestId":"1","data":{"command":"é ab","cursor":3}}"#;
        let todo = hear(&selected(), true, body.as_bytes());
        let line = "é ab".to_owned();
        assert_eq!(todo, Todo::Ask(Some("1".into()), Question::Complete { line, at: 4 }));
    }

    #[test]
    fn a_gated_question_does_not_reach_the_host() {
        let body = r#"{"type":"COMMAND_EXECUTE","data":{"command":"stop"}}"#;
        let refused =
            r#"{"type":"ERROR","data":{"message":"Interactivity is currently unavailable","details":null}}"#;
        assert_eq!(replied(false, body), refused);
        let command = "stop".to_owned();
        assert_eq!(hear(&selected(), true, body.as_bytes()), Todo::Ask(None, Question::Execute { command }));
    }

    #[test]
    fn log_subscribe_is_no_question() {
        assert_eq!(hear(&selected(), false, br#"{"type":"LOG_SUBSCRIBE","data":{}}"#), Todo::Subscribe);
    }

    proptest! {
        #[test]
        fn whatever_a_frame_holds_there_is_something_to_do(
            kind in prop::sample::select(MessageType::ALL.to_vec()),
            id in prop::option::of("[a-z0-9]{0,3}"),
            command in any::<String>(),
            cursor in any::<i32>(),
            interactive in any::<bool>(),
            junk in prop::collection::vec(any::<u8>(), 0..40),
            keep in 0usize..400,
        ) {
            let data = serde_json::json!({"command": command, "cursor": cursor});
            let whole = serde_json::json!({"type": kind.name(), "requestId": id, "data": data}).to_string();
            let cut = &whole.as_bytes()[..keep.min(whole.len())];
            for body in [whole.as_bytes(), cut, &junk] {
                let todo = hear(&selected(), interactive, body);
                if let Todo::Ask(_, Question::Complete { line, at } | Question::Parse { line, at, .. }) = &todo {
                    prop_assert!(line.is_char_boundary(*at));
                }
                prop_assert!(interactive || !matches!(todo, Todo::Ask(..)));
                let is_in = matches!(open(Framing::Plain, body), Opening::Welcomed { .. });
                prop_assert!(!is_in);
            }
        }
    }
}
