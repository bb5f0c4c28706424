//! What is said about a session, as text.

use loggia_domain::{ClientId, Door, Instruction, MessageId, OutputStream, Role, Seq, TurnFailure, TurnId};
use loggia_engine::ReplyPiece;
use loggia_protocol_endermux::ColorLevel;

use super::*;

fn text(teller: &mut Teller, told: &Told) -> String {
    let shown = teller.tell(told).into_iter().map(|said| {
        let (mark, text) = match said {
            Said::Line(_, level, text) => (level.to_string(), text.line()),
            Said::Question(_, text) => ("?".to_owned(), text.line()),
            Said::Reply(text) => ("reply".to_owned(), text),
            Said::Output(text) => ("output".to_owned(), text),
        };
        format!("{mark}: {}", text.render(ColorLevel::None))
    });
    shown.collect::<String>().replace(&teller.name, "S")
}

fn event(body: EventBody) -> Told {
    Told::Event(Arc::new(Event { seq: Seq(1), at: Timestamp(1500), turn: None, body }))
}

fn alice() -> Actor {
    Actor::Client {
        id: ClientId::new(),
        name: "alice\u{1b}[2J".to_owned(),
        door: Door::Http,
        role: Role::Drive,
    }
}

fn piece(text: &str) -> Told {
    let (turn, message) = (TurnId::new(), MessageId::new());
    Told::Reply(ReplyPiece { turn, message, text: text.to_owned(), thought: String::new(), offset: 0 })
}

#[test]
fn a_reply_comes_in_whole_lines_before_its_turn_ends() {
    let mut teller = Teller::new(SessionId::new(), Mask::none());
    let instruction = Instruction { text: "Why?\nAnd how?".to_owned(), ..Instruction::default() };
    let started = event(EventBody::TurnStarted { instruction, by: alice(), queued: None });
    assert_eq!(text(&mut teller, &started), "INFO: S is asked by alice: Why?…\n");
    assert_eq!(text(&mut teller, &piece("Be")), "");
    assert_eq!(text(&mut teller, &piece("cause\nit \u{1b}[1Ais")), "reply: S │ Because\n");
    let message = loggia_domain::AssistantMessage {
        id: MessageId::new(),
        text: String::new(),
        thought: None,
        calls: Vec::new(),
    };
    let ended = event(EventBody::MessageEnded { message, cut: false, usage: Usage::NONE });
    assert_eq!(text(&mut teller, &ended), "reply: S │ it is\n");
    let done = event(EventBody::TurnEnded { end: TurnEnd::Done, usage: Usage::NONE, by: None });
    assert_eq!(text(&mut teller, &done), "INFO: S is done (0 ms, 0 + 0 tokens)\n");
}

#[test]
fn output_of_a_command_comes_before_its_end() {
    let mut teller = Teller::new(SessionId::new(), Mask::none());
    let call = CallId::new();
    let output = |chunk: &str| {
        let passing = Passing::ToolOutput { call, stream: OutputStream::Stdout, chunk: chunk.to_owned() };
        Told::Passing(Arc::new(passing))
    };
    assert_eq!(text(&mut teller, &output("one\ntw")), "output: S ┆ one\n");
    let ended = EventBody::ToolEnded {
        call,
        outcome: ToolOutcome::Failed { message: "no".to_owned() },
        files: Vec::new(),
        command: None,
        milliseconds: 1234,
    };
    assert_eq!(text(&mut teller, &event(ended)), "output: S ┆ tw\nWARN: S a tool failed: no\n");
}

#[test]
fn a_failed_turn_is_an_error() {
    let mut teller = Teller::new(SessionId::new(), Mask::none());
    let failure = TurnFailure::Model {
        message: "no such model\nat all".to_owned(),
        retry_helps: false,
        trouble: loggia_domain::ModelTrouble::Unknown,
    };
    let usage = Usage { input: 3, cached: 0, output: 4, micro_dollars: None };
    let ended = event(EventBody::TurnEnded { end: TurnEnd::Failed(failure), usage, by: None });
    assert_eq!(text(&mut teller, &ended), "ERROR: S failed: no such model… (3 + 4 tokens)\n");
}

#[test]
fn what_belongs_to_a_turn_is_forgotten_with_it() {
    let mut teller = Teller::new(SessionId::new(), Mask::none());
    let call = loggia_domain::ToolCall {
        id: CallId::new(),
        provider_id: None,
        tool: "read_file".to_owned(),
        arguments: loggia_domain::JsonText("{\"path\":\"a\"}".to_owned()),
    };
    let id = call.id;
    assert_eq!(
        text(&mut teller, &event(EventBody::ToolRequested { call })),
        "DEBUG: S wants to use read_file {\"path\":\"a\"}\n"
    );
    let started = event(EventBody::ToolStarted { call: id, executor: loggia_domain::Executor::Server });
    assert_eq!(text(&mut teller, &started), "INFO: S runs read_file {\"path\":\"a\"}\n");
    text(&mut teller, &event(EventBody::TurnEnded { end: TurnEnd::Done, usage: Usage::NONE, by: None }));
    assert!(teller.calls.is_empty() && teller.patches.is_empty() && teller.outputs.is_empty());
}
