//! Events in, messages out.

use std::sync::Arc;

use loggia_domain::{
    Abilities, Actor, ApprovalAnswer, ApprovalId, ApprovalScope, AssistantMessage, BatchId, CallId, Client,
    ClientId, CommandExit, CommandSummary, Door, Event, EventBody, Executor, FileChange, FileChangeKind,
    FileState, Hunk, Instruction, JsonText, MessageId, OutputStream, Passing, Patch, PatchFailure, PatchId,
    Plan, PlanStep, Question, Remember, RetrievalStage, Risk, Role, Seq, Timestamp, ToolCall, ToolOutcome,
    TurnEnd, TurnFailure, TurnId, Usage, WorkspaceId,
};
use loggia_engine::{Orphans, ReplyPiece, State, Told};
use loggia_protocol_agent_server::{ServerMessage, SessionState};

use crate::to_wire::journal::{journal, listed};
use crate::to_wire::{Arrival, Listener, Manners, Past, Teller, pending, snapshot, state};

const ROOT: &str = "/home/me/project";

/// Facts as they follow each other, a second apart.
#[derive(Default)]
pub(crate) struct Story {
    pub(crate) events: Vec<Event>,
    turn: Option<TurnId>,
}

pub(crate) fn call_id(number: u8) -> CallId {
    CallId::from_bytes([number; 16])
}

pub(crate) fn approval_id(number: u8) -> ApprovalId {
    ApprovalId::from_bytes([number; 16])
}

pub(crate) fn patch_id(number: u8) -> PatchId {
    PatchId::from_bytes([number; 16])
}

pub(crate) fn client(number: u8, name: &str) -> Client {
    Client {
        id: ClientId::from_bytes([number; 16]),
        name: name.to_owned(),
        door: Door::Http,
        role: Role::Drive,
        abilities: Abilities::default(),
    }
}

fn actor(number: u8, name: &str) -> Actor {
    Actor::from(&client(number, name))
}

pub(crate) fn call(number: u8, tool: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: call_id(number),
        provider_id: None,
        tool: tool.to_owned(),
        arguments: JsonText(arguments.to_owned()),
    }
}

/// A change of some hunks, each of one line.
pub(crate) fn patch(number: u8, of: u8, path: &str, hunks: u32) -> Patch {
    let hunk = |place: u32| Hunk {
        old_start: 10 * place + 1,
        old_lines: 1,
        new_start: 10 * place + 1,
        new_lines: 1,
        content: "-old\n+new\n".to_owned(),
    };
    Patch {
        id: patch_id(number),
        call: call_id(of),
        path: path.to_owned(),
        kind: FileChangeKind::Modified,
        base: None,
        diff: format!("--- a/{path}\n+++ b/{path}\n…"),
        hunks: (0..hunks).map(hunk).collect(),
        rationale: "it is better so".to_owned(),
        acceptance_criteria: vec!["tests pass".to_owned()],
    }
}

fn changed(path: &str) -> FileChange {
    let state = FileState { hash: loggia_domain::ContentHash::of(b"x"), mode: 0o644, is_link: false };
    FileChange { path: path.to_owned(), before: Some(state), after: Some(state) }
}

impl Story {
    /// A session that has been opened.
    pub(crate) fn new() -> Self {
        let mut story = Self::default();
        let opened = EventBody::SessionOpened {
            workspace: WorkspaceId::from_bytes([1; 16]),
            title: None,
            model: None,
            preset: None,
            budget: loggia_domain::Budget::default(),
            forked_from: None,
            by: Actor::Engine,
        };
        story.tell(opened);
        story
    }

    pub(crate) fn tell(&mut self, body: EventBody) -> &mut Self {
        let seq = self.events.len() as u64 + 1;
        let at = Timestamp(1_767_090_645_000 + 1000 * i64::try_from(seq).unwrap());
        let turn = self.turn;
        self.events.push(Event { seq: Seq(seq), at, turn, body });
        self
    }

    pub(crate) fn prompt(&mut self, by: Actor, text: &str) -> &mut Self {
        self.turn = Some(TurnId::from_bytes([7; 16]));
        let instruction = Instruction { text: text.to_owned(), ..Instruction::default() };
        self.tell(EventBody::TurnStarted { instruction, by, queued: None })
    }

    fn reply(&mut self, text: &str, calls: &[ToolCall]) -> &mut Self {
        let message = AssistantMessage {
            id: MessageId::from_bytes([u8::try_from(self.events.len()).unwrap(); 16]),
            text: text.to_owned(),
            thought: None,
            calls: calls.to_vec(),
        };
        let usage = Usage { input: 100, output: 10, ..Usage::default() };
        self.tell(EventBody::MessageEnded { message, cut: false, usage });
        for call in calls {
            self.tell(EventBody::ToolRequested { call: call.clone() });
        }
        self
    }

    pub(crate) fn request(&mut self, calls: &[ToolCall]) -> &mut Self {
        self.reply("Let me see.", calls)
    }

    pub(crate) fn propose(&mut self, patches: &[Patch]) -> &mut Self {
        for patch in patches {
            self.tell(EventBody::PatchProposed { patch: patch.clone() });
        }
        self
    }

    pub(crate) fn ask(&mut self, approval: u8, call: u8, question: Question) -> &mut Self {
        self.tell(EventBody::ApprovalAsked {
            approval: approval_id(approval),
            call: Some(call_id(call)),
            question,
            risk: Risk::Medium,
            expires: None,
        })
    }

    pub(crate) fn decide(&mut self, approval: u8, scope: ApprovalScope, by: Actor) -> &mut Self {
        let answer = ApprovalAnswer { scope, remember: Remember::Once, comment: None };
        self.tell(EventBody::ApprovalDecided { approval: approval_id(approval), answer, by })
    }

    fn start(&mut self, call: u8, executor: Executor) -> &mut Self {
        self.tell(EventBody::ToolStarted { call: call_id(call), executor })
    }

    fn end(&mut self, call: u8, outcome: ToolOutcome) -> &mut Self {
        self.tell(EventBody::ToolEnded {
            call: call_id(call),
            outcome,
            files: Vec::new(),
            command: None,
            milliseconds: 5,
        })
    }

    fn apply(&mut self, patch: u8, path: &str) -> &mut Self {
        let change = Some(changed(path));
        let executor = Executor::Server;
        self.tell(EventBody::PatchApplied { patch: patch_id(patch), hunks: None, executor, change })
    }

    fn done(&mut self, end: TurnEnd) -> &mut Self {
        let usage = Usage { input: 200, output: 20, ..Usage::default() };
        self.tell(EventBody::TurnEnded { end, usage, by: None });
        self.turn = None;
        self
    }

    pub(crate) fn state(&self) -> State {
        State::fold(&self.events).unwrap()
    }

    /// The journal as messages, one a line.
    fn messages(&self) -> String {
        let mut past = Past::new(ROOT.into());
        let messages = self.events.iter().flat_map(|event| journal(event, &mut past));
        messages.map(|message| message.encode()).collect::<Vec<_>>().join("\n")
    }

    /// What somebody is told who came at one event and knows all up to another.
    fn told(&self, listener: Listener, manners: Manners, after: u64, came: u64) -> Vec<String> {
        let mut teller = teller(listener, manners, after, came);
        let told = self.events.iter().map(|event| Told::Event(Arc::new(event.clone())));
        told.flat_map(|told| teller.tell(&told)).collect()
    }
}

fn stranger() -> Listener {
    Listener::new(client(99, "stranger"))
}

fn teller(listener: Listener, manners: Manners, after: u64, came: u64) -> Teller {
    let arrival = Arrival { after: Seq(after), came: Seq(came), ..Arrival::default() };
    Teller::new(Past::new(ROOT.into()), Seq(0), listener, manners, arrival)
}

fn succeeded(output: &str) -> ToolOutcome {
    ToolOutcome::Succeeded { output: output.to_owned() }
}

fn patches(numbers: &[u8]) -> Question {
    let patches = numbers.iter().copied().map(patch_id).collect();
    Question::Patches { tool: "apply_patch".to_owned(), patches }
}

pub(crate) fn command(line: &str) -> Question {
    Question::Command {
        command: line.to_owned(),
        directory: "web".to_owned(),
        environment: vec![("NODE_ENV".to_owned(), "test".to_owned())],
        reason: None,
    }
}

/// A turn with everything an agent does before it is done.
fn whole_turn() -> Story {
    let mut story = Story::new();
    let editor = actor(2, "editor");
    let plan = Plan {
        steps: vec![
            PlanStep { description: "Look".to_owned(), files: vec!["a.rs".to_owned()] },
            PlanStep { description: "Change".to_owned(), files: Vec::new() },
        ],
        current: 1,
        rationale: "Look first".to_owned(),
    };
    story
        .prompt(editor.clone(), "Fix it")
        .tell(EventBody::Retrieved { stage: RetrievalStage::Symbols, results: 12 })
        .tell(EventBody::Retrieved { stage: RetrievalStage::Ranking, results: 3 })
        .request(&[call(1, "read_file", r#"{"path":"a.rs"}"#), call(2, "update_plan", "{}")])
        .start(1, Executor::Server)
        .end(1, succeeded("fn main() {}"))
        .start(2, Executor::Server)
        .tell(EventBody::PlanChanged { plan })
        .end(2, succeeded("The plan is noted."))
        .request(&[call(3, "apply_patch", r#"{"diff":"…"}"#)])
        .propose(&[patch(1, 3, "a.rs", 2), patch(2, 3, "b.rs", 1)])
        .ask(1, 3, patches(&[1, 2]))
        .decide(1, ApprovalScope::All, editor)
        .start(3, Executor::Server)
        .apply(1, "a.rs")
        .apply(2, "b.rs")
        .end(3, succeeded("Applied."))
        .reply("All done.", &[])
        .done(TurnEnd::Done);
    story
}

/// Commands, in every way they run.
fn commands() -> Story {
    let mut story = Story::new();
    let (editor, page) = (actor(2, "editor"), actor(3, "page"));
    let run = |number| call(number, "run_command", r#"{"command":"npm test","cwd":"web","env":{"CI":"1"}}"#);
    let terminal = Executor::Client(ClientId::from_bytes([2; 16]));
    story
        .prompt(editor, "Test it")
        .request(&[run(1), run(2), run(3)])
        .ask(1, 1, command("npm test"))
        .decide(1, ApprovalScope::All, page)
        .start(1, terminal)
        .tell(EventBody::ToolEnded {
            call: call_id(1),
            outcome: ToolOutcome::Failed { message: "Exit code 1.".to_owned() },
            files: Vec::new(),
            command: Some(CommandSummary { exit: CommandExit::Code(1), sandbox: None, left_out: 17 }),
            milliseconds: 2340,
        })
        .start(2, terminal)
        .end(2, ToolOutcome::Denied { reason: "not here".to_owned() })
        .start(3, Executor::Server)
        .tell(EventBody::ToolEnded {
            call: call_id(3),
            outcome: ToolOutcome::Failed { message: "It took too long".to_owned() },
            files: vec![changed("web/out.log")],
            command: Some(CommandSummary { exit: CommandExit::TimedOut, sandbox: None, left_out: 0 }),
            milliseconds: 9,
        })
        .done(TurnEnd::Cancelled);
    story
}

/// Changes: allowed without a question, refused, taken in part by a client, deleted, collected.
fn changes() -> Story {
    let mut story = Story::new();
    let editor = actor(2, "editor");
    let mut gone = patch(4, 4, "gone.rs", 1);
    gone.kind = FileChangeKind::Deleted;
    let batch = BatchId::from_bytes([1; 16]);
    story
        .prompt(editor.clone(), "Change it")
        .request(&[
            call(1, "edit_file", r#"{"path":"a.rs","old":"x","new":"y"}"#),
            call(2, "write_file", r#"{"path":"b.rs","content":"…"}"#),
            call(3, "apply_patch", r#"{"diff":"…"}"#),
            call(4, "delete_file", r#"{"path":"gone.rs"}"#),
            call(5, "fetch", "not json"),
        ])
        .propose(&[patch(1, 1, "a.rs", 1)])
        .start(1, Executor::Server)
        .apply(1, "a.rs")
        .end(1, succeeded("Applied."))
        .propose(&[patch(2, 2, "b.rs", 1)])
        .ask(1, 2, patches(&[2]))
        .decide(1, ApprovalScope::None, editor.clone())
        .tell(EventBody::PatchDropped { patch: patch_id(2), failure: PatchFailure::Refused })
        .end(2, ToolOutcome::Denied { reason: "it was refused".to_owned() })
        .propose(&[patch(3, 3, "c.rs", 3)])
        .ask(2, 3, patches(&[3]))
        .decide(2, ApprovalScope::Hunks(vec![(patch_id(3), vec![0, 2])]), editor.clone())
        .start(3, Executor::Client(ClientId::from_bytes([2; 16])))
        .apply(3, "c.rs")
        .end(3, succeeded("Applied."))
        .propose(&[gone])
        .ask(3, 4, patches(&[4]))
        .decide(3, ApprovalScope::All, editor.clone())
        .start(4, Executor::Server)
        .end(4, ToolOutcome::Cancelled)
        .ask(4, 5, Question::Tool { tool: "fetch".to_owned(), arguments: JsonText("not json".to_owned()) })
        .decide(4, ApprovalScope::None, Actor::Policy)
        .end(5, ToolOutcome::Denied { reason: "nobody answered in time".to_owned() })
        .tell(EventBody::BatchStarted { batch })
        .propose(&[patch(5, 9, "d.rs", 1)])
        .tell(EventBody::ChangeCollected { batch, patch: patch_id(5) })
        .tell(EventBody::BatchEnded { batch })
        .done(TurnEnd::Interrupted)
        .tell(EventBody::SessionClosed { by: editor });
    story
}

/// What happens beside turns, and a turn that is undone and redone.
fn beside_turns() -> Story {
    let mut story = Story::new();
    let web = actor(4, "web");
    let checkpoint = loggia_domain::CheckpointId::from_bytes([5; 16]);
    story
        .tell(EventBody::SessionRenamed { title: "Louder".to_owned(), by: web.clone() })
        .tell(EventBody::ModelChanged {
            model: loggia_domain::ModelName("ollama:m".to_owned()),
            reason: Some("the other is gone".to_owned()),
            by: Actor::Engine,
        })
        .prompt(web.clone(), "go")
        .tell(EventBody::ModelSwitched {
            from: loggia_domain::ModelName("ollama:m".to_owned()),
            to: loggia_domain::ModelName("openai:n".to_owned()),
            reason: "nobody answers".to_owned(),
        })
        .request(&[call(1, "edit_file", "{}")])
        .propose(&[patch(1, 1, "a.rs", 1)])
        .tell(EventBody::CheckpointTaken { checkpoint })
        .start(1, Executor::Server)
        .apply(1, "a.rs")
        .end(1, succeeded("Applied."))
        .reply("Done.", &[])
        .done(TurnEnd::Done);
    let files = vec![changed("a.rs")];
    story
        .tell(EventBody::Undone { checkpoint, files: files.clone(), by: web.clone() })
        .tell(EventBody::Redone { checkpoint, files, by: web.clone() })
        .tell(EventBody::TurnContinued { by: web.clone() })
        .tell(EventBody::SessionClosed { by: web });
    story
}

#[test]
fn a_whole_turn_on_the_wire() {
    insta::assert_snapshot!(whole_turn().messages());
}

#[test]
fn commands_on_the_wire() {
    insta::assert_snapshot!(commands().messages());
}

/// Whoever is to run it gets the command as it was changed, and not the one that was asked about.
#[test]
fn a_changed_command_is_told_to_whoever_runs_it() {
    let mut story = Story::new();
    let arguments = r#"{"command":"rm -r build","cwd":"web"}"#;
    let changed = EventBody::CallChanged {
        call: call_id(1),
        arguments: JsonText(r#"{"command":"mv build old","cwd":"web"}"#.to_owned()),
        by: actor(3, "page"),
    };
    story
        .prompt(actor(2, "editor"), "Clean up")
        .request(&[call(1, "run_command", arguments)])
        .ask(1, 1, command("rm -r build"))
        .tell(changed)
        .decide(1, ApprovalScope::All, actor(3, "page"));
    let before = story.messages().lines().count();
    story.start(1, Executor::Client(ClientId::from_bytes([2; 16]))).end(1, succeeded("Moved."));
    let messages = story.messages();
    let after: Vec<&str> = messages.lines().skip(before).collect();
    assert!(after.iter().all(|line| !line.contains("rm -r build")), "{after:#?}");
    let told: Vec<&&str> = after.iter().filter(|line| line.contains("mv build old")).collect();
    assert!(told[0].contains(r#""type":"command.request_approval""#), "{told:#?}");
    assert!(told[0].contains(r#""requires_approval":false"#), "{told:#?}");
    assert!(told[1].contains(r#""executor":"editor""#), "{told:#?}");
    assert!(told.last().unwrap().contains(r#""status":"completed""#), "{told:#?}");
}

#[test]
fn changes_on_the_wire() {
    insta::assert_snapshot!(changes().messages());
}

#[test]
fn every_end_of_a_turn_has_its_code() {
    let text = |message: &str| message.to_owned();
    let ends = [
        TurnEnd::Done,
        TurnEnd::Cancelled,
        TurnEnd::Interrupted,
        TurnEnd::StepLimit,
        TurnEnd::BudgetLimit,
        TurnEnd::Failed(TurnFailure::Model {
            message: text("overloaded"),
            retry_helps: true,
            trouble: loggia_domain::ModelTrouble::Unknown,
        }),
        TurnEnd::Failed(TurnFailure::Model {
            message: text("no key"),
            retry_helps: false,
            trouble: loggia_domain::ModelTrouble::Unknown,
        }),
        TurnEnd::Failed(TurnFailure::Retrieval { message: text("no index") }),
        TurnEnd::Failed(TurnFailure::Policy { message: text("forbidden") }),
        TurnEnd::Failed(TurnFailure::Internal { message: text("broken") }),
    ];
    let lines = ends.map(|end| {
        let mut story = Story::new();
        story.prompt(actor(2, "editor"), "go").reply("Text.", &[]).done(end.clone());
        let messages = story.messages();
        let last: Vec<&str> = messages.lines().filter(|line| !line.contains("client.echo")).collect();
        format!("{end:?}\n{}", last.join("\n"))
    });
    insta::assert_snapshot!(lines.join("\n\n"));
}

#[test]
fn the_past_is_the_same_folded_or_taken_from_the_state() {
    for story in [whole_turn(), commands(), changes(), beside_turns()] {
        let mut past = Past::new(ROOT.into());
        for place in 0..story.events.len() {
            let told = journal(&story.events[place], &mut past);
            let now = State::fold(&story.events[..=place]).unwrap();
            let mut taken = Past::of(&now, ROOT.into());
            // Undo knows files by checkpoints, which most of these stories leave out.
            let files = |past: &Past| past.turn.as_ref().map(|turn| turn.files.clone());
            if let (Some(turn), Some(files)) = (&mut taken.turn, files(&past)) {
                turn.files = files;
            }
            assert_eq!(past, taken, "after {:?}", story.events[place]);
            assert_eq!(past.state(), state(&now));
            // And the same in words: what was told last of the state is how it is.
            let last = told.iter().rev().find(|message| message.encode().contains("session.state"));
            if let Some(ServerMessage::SessionState(update)) = last {
                assert_eq!(update.state, state(&now));
            }
        }
    }
}

#[test]
fn every_change_of_the_state_is_told_before_anything_else_can_be_asked() {
    for story in [whole_turn(), commands(), changes(), beside_turns()] {
        let mut past = Past::new(ROOT.into());
        let mut known = past.state();
        for event in &story.events {
            for message in journal(event, &mut past) {
                if let ServerMessage::SessionState(update) = message {
                    known = update.state;
                }
            }
            // A patch that was only proposed is shown with the next event about it.
            let alone = matches!(event.body, EventBody::PatchProposed { .. });
            // What was used is told with the end of the turn.
            let now = SessionState { usage: known.usage, ..past.state() };
            assert!(alone || known == now || !past.proposed.is_empty(), "{event:?}");
        }
        assert_eq!(known, past.state());
    }
}

#[test]
fn one_who_resumes_is_told_what_the_others_were() {
    for story in [whole_turn(), commands(), changes(), beside_turns()] {
        let last = story.events.len() as u64;
        let numbered = |texts: Vec<String>| -> Vec<String> {
            texts.into_iter().filter(|text| text.contains(r#""seq":"#)).collect()
        };
        let all = numbered(story.told(stranger(), Manners::default(), 0, 0));
        for after in 0..=last {
            let told = numbered(story.told(stranger(), Manners::default(), after, last));
            let seq = |text: &String| -> u64 {
                let value: serde_json::Value = serde_json::from_str(text).unwrap();
                value["seq"].as_u64().unwrap()
            };
            let expected: Vec<String> = all.iter().filter(|text| seq(text) > after).cloned().collect();
            assert_eq!(told, expected, "after {after}");
        }
    }
}

#[test]
fn what_waits_is_shown_as_it_was_asked() {
    let mut story = Story::new();
    story
        .prompt(actor(2, "editor"), "go")
        .request(&[call(1, "apply_patch", "{}"), call(2, "run_command", "{}")])
        .propose(&[patch(1, 1, "a.rs", 1), patch(2, 1, "b.rs", 1)])
        .ask(1, 1, patches(&[1, 2]))
        .ask(2, 2, command("npm test"));
    let now = story.state();
    let mut past = Past::new(ROOT.into());
    let asked: Vec<String> = story
        .events
        .iter()
        .flat_map(|event| journal(event, &mut past))
        .map(|message| message.encode())
        .filter(|text| text.contains("patch.proposed") || text.contains("request_approval"))
        .collect();
    let shown: Vec<String> = pending(&now, ROOT.as_ref()).iter().map(ServerMessage::encode).collect();
    assert_eq!(shown, asked);
    insta::assert_snapshot!(snapshot(state(&now)).encode());
}

#[test]
fn what_passes_is_told_while_it_happens_and_not_of_the_past() {
    let story = whole_turn();
    let last = story.events.len() as u64;
    let thinking = |texts: Vec<String>| {
        texts.into_iter().filter(|text| text.contains("assistant.thinking")).collect::<Vec<_>>()
    };
    assert!(thinking(story.told(stranger(), Manners::default(), 0, last)).is_empty());
    insta::assert_snapshot!(thinking(story.told(stranger(), Manners::default(), 0, 0)).join("\n"));
}

#[test]
fn the_text_of_a_reply_that_was_missed_comes_as_one_piece() {
    let story = whole_turn();
    let last = story.events.len() as u64;
    let tokens = |texts: Vec<String>| {
        texts.into_iter().filter(|text| text.contains("assistant.token")).collect::<Vec<_>>()
    };
    let told = tokens(story.told(stranger(), Manners::default(), 0, last));
    let one = r#"{"type":"assistant.token","token":"Let me see.","cumulative_text":"Let me see."}"#;
    assert_eq!(told, [one, one]);
    let frugal = tokens(story.told(stranger(), Manners { delta_only: true }, 0, last));
    let one = r#"{"type":"assistant.token","token":"Let me see."}"#;
    assert_eq!(frugal, [one, one]);
}

#[test]
fn a_reply_grows_piece_by_piece_and_is_not_repeated() {
    let mut teller = teller(stranger(), Manners::default(), 0, 0);
    let message = MessageId::from_bytes([1; 16]);
    let piece = |text: &str, thought: &str, offset| {
        Told::Reply(ReplyPiece {
            turn: TurnId::from_bytes([7; 16]),
            message,
            text: text.to_owned(),
            thought: thought.to_owned(),
            offset,
        })
    };
    let mut lines = Vec::new();
    lines.extend(teller.tell(&piece("", "Hm, ", 0)));
    lines.extend(teller.tell(&piece("The", "so…", 0)));
    lines.extend(teller.tell(&piece(" bug", "", 3)));
    let mut story = Story::new();
    let calls = vec![call(1, "read_file", "{}")];
    let ended = AssistantMessage { id: message, text: "The bug".to_owned(), thought: None, calls };
    story.tell(EventBody::MessageEnded { message: ended, cut: false, usage: Usage::default() });
    let event = story.events.pop().unwrap();
    lines.extend(teller.tell(&Told::Event(Arc::new(event))));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn what_passes_between_events_has_no_number() {
    let mut teller = teller(stranger(), Manners::default(), 0, 0);
    let news = [
        Passing::ToolOutput { call: call_id(1), stream: OutputStream::Stdout, chunk: "out\n".to_owned() },
        Passing::ToolOutput { call: call_id(1), stream: OutputStream::Stderr, chunk: "err\n".to_owned() },
        Passing::Retrying { message: "overloaded".to_owned(), attempt: 2, wait: 1500 },
        Passing::MessageStarted { message: MessageId::from_bytes([1; 16]) },
        Passing::ClientJoined { client: client(3, "page") },
        Passing::ClientLeft { client: client(3, "page") },
    ];
    let lines: Vec<String> =
        news.into_iter().flat_map(|passing| teller.tell(&Told::Passing(Arc::new(passing)))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn nobody_hears_its_own_words() {
    let mut story = Story::new();
    story.prompt(actor(2, "editor"), "go");
    let instruction = Instruction { text: "then this".to_owned(), ..Instruction::default() };
    story.tell(EventBody::InstructionQueued { instruction: instruction.clone(), by: actor(3, "page") });
    let queued = Some(Seq(story.events.len() as u64));
    story.done(TurnEnd::Done);
    story.tell(EventBody::TurnStarted { instruction, by: actor(3, "page"), queued });
    let echoes = |listener| {
        let told = story.told(listener, Manners::default(), 0, 0);
        told.into_iter().filter(|text| text.contains("client.echo")).count()
    };
    assert_eq!(echoes(stranger()), 2);
    assert_eq!(echoes(Listener::new(client(2, "editor"))), 1);
    assert_eq!(echoes(Listener::new(client(3, "page"))), 1);
}

/// The protocol has no place for images; that there are some is told.
#[test]
fn images_of_another_client_are_told_by_name() {
    let image = loggia_domain::Image {
        hash: loggia_domain::ContentHash::of(b"x"),
        media_type: "image/png".to_owned(),
        bytes: 1,
        name: Some("shot.png".to_owned()),
    };
    let instruction = Instruction { text: "Look.".to_owned(), images: vec![image], ..Instruction::default() };
    let mut story = Story::new();
    story.turn = Some(TurnId::from_bytes([7; 16]));
    story.tell(EventBody::TurnStarted { instruction, by: actor(3, "page"), queued: None });
    let told = story.told(stranger(), Manners::default(), 0, 0);
    let echo = told.iter().find(|text| text.contains("client.echo")).unwrap();
    assert!(echo.contains(r#""message":"[Image #1: shot.png]\nLook.""#), "{echo}");
}

#[test]
fn of_two_clients_with_one_name_only_one_is_asked_to_act() {
    let story = commands();
    let executors = |listener| -> Vec<String> {
        let told = story.told(listener, Manners::default(), 0, 0);
        let values = told.iter().map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
        values.filter_map(|value| Some(value.get("executor")?.as_str()?.to_owned())).collect()
    };
    assert_eq!(executors(Listener::new(client(2, "editor"))), ["editor", "editor"]);
    assert_eq!(executors(Listener::new(client(8, "editor"))), ["editor (another)", "editor (another)"]);
    assert_eq!(executors(stranger()), ["editor", "editor"]);
}

#[test]
fn a_list_asks_nobody_to_act_and_holds_what_was_said_aside() {
    let list = |story: Story| {
        let mut past = Past::new(ROOT.into());
        let messages = story.events.iter().flat_map(|event| listed(event, &mut past)).collect::<Vec<_>>();
        messages.iter().map(ServerMessage::encode).collect::<Vec<_>>()
    };
    let named = |text: &&String| text.contains(r#""executor":"#);
    let list_of_commands = list(commands());
    let executors: Vec<&String> = list_of_commands.iter().filter(named).collect();
    assert_eq!(executors.len(), 2);
    assert!(executors.iter().all(|text| text.contains(r#""executor":"editor (another)""#)));
    // In sum what one who resumes is told.
    let story = whole_turn();
    let resumed = story.told(stranger(), Manners::default(), 0, story.events.len() as u64);
    assert_eq!(list(story), resumed);
}

#[test]
fn a_question_that_was_shown_is_not_repeated_in_the_past() {
    let mut story = Story::new();
    story
        .prompt(actor(2, "editor"), "go")
        .request(&[call(1, "apply_patch", "{}"), call(2, "run_command", "{}")])
        .propose(&[patch(1, 1, "a.rs", 1)])
        .ask(1, 1, patches(&[1]))
        .ask(2, 2, command("npm test"));
    let now = story.state();
    let shown: Vec<String> = pending(&now, ROOT.as_ref()).iter().map(ServerMessage::encode).collect();
    assert_eq!(shown.len(), 3);
    let everything = story.told(stranger(), Manners::default(), 0, 0);
    let numbered = |text: &&String| text.contains(r#""seq":"#);
    for after in 0..=now.last_seq.0 {
        let asked = now.pending.keys().copied().collect();
        let arrival = Arrival { after: Seq(after), came: now.last_seq, shown: asked };
        let mut teller = Teller::new(Past::new(ROOT.into()), Seq(0), stranger(), Manners::default(), arrival);
        let told = story.events.iter().map(|event| Told::Event(Arc::new(event.clone())));
        let past: Vec<String> = told.flat_map(|told| teller.tell(&told)).collect();
        // Nothing is missing, and nothing is there twice.
        let mut all: Vec<&String> = shown.iter().chain(&past).filter(numbered).collect();
        let seq =
            |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["seq"].as_u64().unwrap();
        let wanted = |text: &&String| seq(text) > after || shown.contains(text);
        let mut expected: Vec<&String> = everything.iter().filter(numbered).filter(wanted).collect();
        all.sort();
        expected.sort();
        assert_eq!(all, expected, "after {after}");
    }
}

/// An editor that can do everything.
fn able(number: u8, name: &str) -> Client {
    let abilities = Abilities { runs_commands: true, applies_patches: true, auto_approves: false };
    Client { abilities, ..client(number, name) }
}

#[test]
fn what_nobody_is_left_to_do_is_handed_to_one_of_that_name() {
    let mut story = Story::new();
    let editor = Executor::Client(ClientId::from_bytes([2; 16]));
    story
        .prompt(actor(2, "editor"), "go")
        .request(&[call(1, "apply_patch", "{}"), call(2, "run_command", r#"{"command":"npm test"}"#)])
        .propose(&[patch(1, 1, "a.rs", 2), patch(2, 1, "b.rs", 1)])
        .ask(1, 1, patches(&[1, 2]))
        .decide(1, ApprovalScope::Hunks(vec![(patch_id(1), vec![1])]), actor(2, "editor"))
        .start(1, editor)
        .start(2, editor);
    let orphans = |there: &[Client]| Orphans {
        commands: vec![call_id(2)],
        patches: vec![patch_id(1)],
        there: there.to_vec(),
    };
    let told = |own: &Client, orphans: &Orphans| {
        let mut teller = teller(Listener::new(own.clone()), Manners::default(), 0, 0);
        for event in &story.events {
            teller.tell(&Told::Event(Arc::new(event.clone())));
        }
        let texts = if teller.may_inherit() { teller.inherit(orphans) } else { Vec::new() };
        // It is told once.
        assert!(teller.inherit(orphans).is_empty());
        texts
    };
    let (one, two, other) = (able(7, "editor"), able(8, "editor"), able(9, "page"));
    insta::assert_snapshot!(told(&one, &orphans(&[other.clone(), one.clone(), two.clone()])).join("\n"));
    // Only one of them, whatever the others can do.
    assert!(told(&two, &orphans(&[one.clone(), two.clone()])).is_empty());
    assert!(told(&other, &orphans(std::slice::from_ref(&other))).is_empty());
    assert!(told(&client(5, "editor"), &orphans(&[client(5, "editor")])).is_empty());
    // As long as the one that was asked is there, or when the report has come, nothing is handed over.
    assert!(told(&one, &Orphans { there: vec![one.clone()], ..Orphans::default() }).is_empty());
}

#[test]
fn what_happens_beside_turns_is_told_with_who_did_it() {
    let story = beside_turns();
    let messages = story.messages();
    let notices: Vec<&str> = messages.lines().filter(|line| line.contains("session.notice")).collect();
    insta::assert_snapshot!(notices.join("\n"));
    // What undoing changes is seen in the state.
    let applied: Vec<bool> = messages
        .lines()
        .filter(|line| line.contains("session.state"))
        .map(|line| !line.contains(r#""applied_patches":[]"#))
        .collect();
    assert_eq!(applied[applied.len() - 3..], [true, false, true]);
}
