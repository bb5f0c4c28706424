//! What is told, by hand-made events: what a whole engine does too seldom or too fast to be tested with one.

use std::sync::Arc;

use loggia_domain::{
    Actor, AssistantMessage, Budget, CallId, Event, EventBody, Executor, Instruction, JsonText, MessageId,
    ModelTrouble, OutputStream, Passing, Role, Seq, SessionId, Timestamp, ToolCall, ToolOutcome, TurnEnd,
    TurnFailure, TurnId, Usage, WorkspaceId,
};
use loggia_engine::{ReplyPiece, State, Told};
use tokio::time::Instant;

use super::*;

/// A session in which things happen one after the other.
struct Story {
    teller: Teller,
    me: Actor,
    turn: TurnId,
    seq: u64,
    said: Said,
}

impl Story {
    fn new() -> Self {
        let me = ClientId::new();
        let by = Actor::Engine;
        let opening = EventBody::SessionOpened {
            workspace: WorkspaceId::new(),
            title: None,
            model: None,
            preset: None,
            budget: Budget::default(),
            forked_from: None,
            by,
        };
        let opened = Event { seq: Seq(1), at: Timestamp(1000), turn: None, body: opening };
        let thinking = loggia_domain::ThinkingControl::default();
        let model = ModelFacts { name: "m".to_owned(), window: 1000, sees: false, thinking };
        let state = State::begin(&opened).unwrap();
        let teller = Teller::new(SessionId::new(), me, EndOfTurn::Marker, state, model, Mask::none());
        let me = Actor::Client {
            id: me,
            name: "me".to_owned(),
            door: loggia_domain::Door::Rpc,
            role: Role::Drive,
        };
        Self { teller, me, turn: TurnId::new(), seq: 1, said: Said::default() }
    }

    fn begun() -> Self {
        let mut story = Self::new();
        let instruction = Instruction { text: "go".to_owned(), ..Instruction::default() };
        let by = story.me.clone();
        story.event(EventBody::TurnStarted { instruction, by, queued: None });
        story.said = Said::default();
        story
    }

    fn tell(&mut self, told: &Told) {
        let ear = Ear { now: Timestamp(1000), instant: Instant::now(), approvals: Approvals::default() };
        self.teller.tell(told, &ear, &mut self.said);
    }

    fn event(&mut self, body: EventBody) {
        self.seq += 1;
        let at = Timestamp(1000 + i64::try_from(self.seq).unwrap());
        let event = Event { seq: Seq(self.seq), at, turn: Some(self.turn), body };
        self.tell(&Told::Event(Arc::new(event)));
    }

    fn passing(&mut self, passing: Passing) {
        self.tell(&Told::Passing(Arc::new(passing)));
    }

    fn piece(&mut self, message: MessageId, text: &str) {
        let piece =
            ReplyPiece { turn: self.turn, message, text: text.to_owned(), thought: String::new(), offset: 0 };
        self.tell(&Told::Reply(piece));
    }

    fn reply(&mut self, id: MessageId, text: &str, calls: Vec<ToolCall>, cut: bool) {
        let message = AssistantMessage { id, text: text.to_owned(), thought: None, calls };
        self.event(EventBody::MessageEnded { message, cut, usage: Usage::NONE });
    }

    fn end(&mut self, end: TurnEnd) {
        self.event(EventBody::TurnEnded { end, usage: Usage::NONE, by: None });
    }

    /// What was told since the last look, each notification by its name and one field.
    fn told(&mut self, field: &str) -> String {
        let said = std::mem::take(&mut self.said);
        let line = |notice: &loggia_wire::peer::Notice| {
            let params: serde_json::Value = serde_json::from_str(notice.params()).unwrap();
            let value = params.get(field).map(|value| format!(" {value}")).unwrap_or_default();
            format!("{}{value}", notice.method().trim_start_matches("autohand."))
        };
        said.notices.iter().map(line).collect::<Vec<_>>().join(", ")
    }
}

fn call(tool: &str) -> ToolCall {
    ToolCall {
        id: CallId::new(),
        provider_id: None,
        tool: tool.to_owned(),
        arguments: JsonText::empty_object(),
    }
}

#[test]
fn one_who_fell_behind_gets_the_whole_message_with_its_end() {
    let mut story = Story::begun();
    story.reply(MessageId::new(), "All of it.", Vec::new(), false);
    assert_eq!(story.told("delta"), "messageStart, messageUpdate \"All of it.\"");
    story.end(TurnEnd::Done);
    assert_eq!(
        story.told("content"),
        "hook.stop, hook.postResponse, messageEnd \"All of it.\", turnEnd, ping"
    );
}

#[test]
fn a_message_that_broke_is_ended_before_the_next_one_begins() {
    let mut story = Story::begun();
    let (first, second) = (MessageId::new(), MessageId::new());
    story.passing(Passing::MessageStarted { message: first });
    story.piece(first, "Hal");
    story.reply(first, "Hal", Vec::new(), true);
    assert_eq!(story.told("delta"), "messageStart, messageUpdate \"Hal\"");
    story.passing(Passing::MessageStarted { message: second });
    story.piece(second, "Half.");
    story.reply(second, "Half.", Vec::new(), false);
    assert_eq!(story.told("content"), "messageEnd \"Hal\", messageStart, messageUpdate");
    story.end(TurnEnd::Done);
    assert!(story.told("aborted").contains("messageEnd, turnEnd"));
}

#[test]
fn what_a_tool_prints_is_told_between_its_start_and_its_end() {
    let mut story = Story::begun();
    let run = call("run_command");
    let id = run.id;
    story.reply(MessageId::new(), "", vec![run.clone()], false);
    story.event(EventBody::ToolRequested { call: run });
    assert_eq!(story.told("toolCalls").split(' ').next(), Some("messageStart,"));
    story.event(EventBody::ToolStarted { call: id, executor: Executor::Server });
    story.passing(Passing::ToolOutput { call: id, stream: OutputStream::Stderr, chunk: "oops\n".to_owned() });
    let outcome = ToolOutcome::Failed { message: "Exit code 1.".to_owned() };
    let ended = EventBody::ToolEnded { call: id, outcome, files: Vec::new(), command: None, milliseconds: 7 };
    story.event(ended);
    assert_eq!(
        story.told("stream"),
        "hook.preTool, toolStart, toolUpdate \"stderr\", hook.postTool, toolEnd"
    );
}

/// Every call has its own order, whatever the others do.
#[test]
fn calls_are_announced_when_they_are_about_to_run() {
    let mut story = Story::begun();
    let (one, two) = (call("read_file"), call("run_command"));
    story.reply(MessageId::new(), "", vec![one.clone(), two.clone()], false);
    let (first, second) = (one.id, two.id);
    for call in [one, two] {
        story.event(EventBody::ToolRequested { call });
    }
    story.said = Said::default();
    story.event(EventBody::ToolStarted { call: first, executor: Executor::Server });
    let outcome = ToolOutcome::Succeeded { output: "x".to_owned() };
    let ended = |call, outcome| EventBody::ToolEnded {
        call,
        outcome,
        files: Vec::new(),
        command: None,
        milliseconds: 1,
    };
    story.event(ended(first, outcome));
    assert_eq!(
        story.told("toolName"),
        "hook.preTool \"read_file\", toolStart \"read_file\", hook.postTool \"read_file\", toolEnd \"read_file\""
    );
    story.event(ended(second, ToolOutcome::Denied { reason: "no".to_owned() }));
    assert_eq!(story.told("toolName"), "");
    story.end(TurnEnd::Done);
    assert!(story.told("toolCallsCount").starts_with("hook.stop 1, hook.postResponse 1"));
}

#[test]
fn a_tool_that_was_started_is_ended_also_when_the_turn_is_cut() {
    let mut story = Story::begun();
    let run = call("run_command");
    let id = run.id;
    story.reply(MessageId::new(), "", vec![run.clone()], false);
    story.event(EventBody::ToolRequested { call: run });
    story.event(EventBody::ToolStarted { call: id, executor: Executor::Server });
    story.said = Said::default();
    let (outcome, files) = (ToolOutcome::Cancelled, Vec::new());
    story.event(EventBody::ToolEnded { call: id, outcome, files, command: None, milliseconds: 0 });
    story.end(TurnEnd::Cancelled);
    assert_eq!(
        story.told("reason"),
        "hook.postTool, toolEnd, hook.stop, hook.postResponse, messageStart, messageEnd, turnEnd \"aborted\", \
         ping \"aborted\""
    );
}

/// Whoever stops listening does not hear how a call ended; it is ended for them all the same.
#[test]
fn a_tool_that_runs_on_is_ended_for_whoever_leaves() {
    let mut story = Story::begun();
    let run = call("run_command");
    let id = run.id;
    story.reply(MessageId::new(), "", vec![run.clone()], false);
    story.event(EventBody::ToolRequested { call: run });
    story.event(EventBody::ToolStarted { call: id, executor: Executor::Server });
    story.said = Said::default();
    story.teller.fall_silent(Timestamp(9), &mut story.said);
    assert_eq!(
        story.told("success"),
        "hook.postTool false, toolEnd false, hook.stop, hook.postResponse, messageStart, messageEnd, turnEnd, ping"
    );
}

/// Clients wait for a message's end before the turn's, also if the model was not speaking any more.
#[test]
fn a_turn_that_is_cut_between_replies_ends_with_an_empty_message() {
    let model =
        TurnFailure::Model { message: "gone".to_owned(), retry_helps: false, trouble: ModelTrouble::Server };
    for (end, last) in [
        (TurnEnd::Cancelled, "messageStart, messageEnd true, turnEnd, ping"),
        (TurnEnd::Failed(model), "messageStart, messageEnd, turnEnd, ping"),
        (TurnEnd::StepLimit, "messageStart, messageEnd, turnEnd, ping"),
        (TurnEnd::Done, "hook.postResponse, turnEnd, ping"),
    ] {
        let mut story = Story::begun();
        let run = call("run_command");
        story.reply(MessageId::new(), "I will look.", vec![run], false);
        story.said = Said::default();
        story.end(end);
        let told = story.told("aborted");
        assert!(told.ends_with(last), "{told}");
    }
}

#[test]
fn a_call_that_was_cut_took_as_long_as_it_ran() {
    let mut story = Story::begun();
    let run = call("run_command");
    let id = run.id;
    story.reply(MessageId::new(), "", vec![run.clone()], false);
    story.event(EventBody::ToolRequested { call: run });
    story.event(EventBody::ToolStarted { call: id, executor: Executor::Server });
    story.seq += 1500;
    story.said = Said::default();
    let (outcome, files) = (ToolOutcome::Cancelled, Vec::new());
    story.event(EventBody::ToolEnded { call: id, outcome, files, command: None, milliseconds: 0 });
    assert_eq!(story.told("duration"), "hook.postTool 1501, toolEnd");
}

#[test]
fn failures_have_their_codes_and_limits_are_told() {
    let model = |trouble| TurnFailure::Model { message: "gone".to_owned(), retry_helps: false, trouble };
    let policy = TurnFailure::Policy { message: "forbidden".to_owned() };
    for (end, expected) in [
        (TurnEnd::Failed(model(ModelTrouble::Unknown)), "hook.sessionError \"-32000\", error -32000"),
        (TurnEnd::Failed(model(ModelTrouble::TimedOut)), "hook.sessionError \"-32002\", error -32002"),
        (TurnEnd::Failed(policy), "hook.sessionError \"-32001\", error -32001"),
        (TurnEnd::StepLimit, "error -32000, hook.stop"),
        (TurnEnd::BudgetLimit, "error -32000, hook.stop"),
        (TurnEnd::Done, "hook.stop, hook.postResponse, messageStart, messageEnd, turnEnd, ping"),
    ] {
        let mut story = Story::begun();
        story.end(end);
        let told = story.told("code");
        assert!(told.starts_with(expected), "{told}");
        assert_eq!(story.teller.status(), AgentStatus::Idle);
    }
}

#[test]
fn what_is_wrong_with_a_model_has_a_word() {
    for (trouble, word) in [
        (ModelTrouble::Network, "network"),
        (ModelTrouble::TimedOut, "network"),
        (ModelTrouble::Server, "server"),
        (ModelTrouble::TooOften, "rate_limit"),
        (ModelTrouble::Key, "auth"),
        (ModelTrouble::Payment, "payment"),
        (ModelTrouble::NoModel, "model"),
        (ModelTrouble::TooLong, "context"),
        (ModelTrouble::Unknown, "unknown"),
    ] {
        let mut story = Story::begun();
        let message = "gone".to_owned();
        story.end(TurnEnd::Failed(TurnFailure::Model { message, retry_helps: false, trouble }));
        let told = story.told("errorType");
        assert!(told.contains(&format!("error {word:?}")), "{told}");
    }
}

#[test]
fn long_lists_of_files_are_cut_and_say_so() {
    let files: Vec<String> = (0..10_000).map(|number| format!("directory/file {number}.rs")).collect();
    let told = fit::list(files, 1000);
    assert!(serde_json::to_string(&told).unwrap().len() <= 1040);
    let left = 10_000 - (told.len() - 1);
    assert_eq!(told.last().unwrap(), &format!("[{left} more]"));
    assert_eq!(fit::list(vec!["a".to_owned()], 1000), ["a"]);
}

#[test]
fn one_who_falls_silent_ends_what_it_was_telling_and_tells_no_more() {
    let mut story = Story::begun();
    let message = MessageId::new();
    story.piece(message, "So far");
    story.said = Said::default();
    let mut said = Said::default();
    story.teller.fall_silent(Timestamp(2000), &mut said);
    story.said = said;
    assert_eq!(story.told("content"), "hook.stop, hook.postResponse, messageEnd \"So far\", turnEnd, ping");
    story.piece(message, " and more");
    story.end(TurnEnd::Cancelled);
    assert_eq!(story.told("content"), "");
    assert!(story.teller.state.turn.is_none());
}

#[test]
fn what_is_left_of_the_window_is_told() {
    let mut story = Story::begun();
    assert_eq!(story.teller.context_percent(), 100);
    let message =
        AssistantMessage { id: MessageId::new(), text: "x".to_owned(), thought: None, calls: Vec::new() };
    let usage = Usage { input: 200, output: 50, ..Usage::NONE };
    story.event(EventBody::MessageEnded { message, cut: false, usage });
    assert_eq!(story.teller.context_percent(), 75);
    story.teller.model.window = 0;
    assert_eq!(story.teller.context_percent(), 100);
}
