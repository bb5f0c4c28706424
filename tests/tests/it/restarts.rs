//! What outlives the daemon.

use std::time::Duration;

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalId, ApprovalScope, CallId, EventBody, Instruction, Intent, JsonText,
    MessageId, ModelMessage, NewEvent, OwnInstructions, Passing, Preset, Question, Remember, Risk, Role,
    RunningReply, SessionId, Timestamp, ToolCall, TurnEnd, TurnId,
};
use loggia_engine::{IntentError, Status, Told};
use loggia_tests::{Remains, World};

use crate::commands::runs;
use crate::{world, world_with};

#[tokio::test]
async fn a_turn_that_waits_for_an_answer_waits_across_a_restart() {
    let ask = r#"
        [[reply]]
        parts = [
            { call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } },
            { call = { tool = "run_command", arguments = { command = "cat a.txt" } } },
        ]
    "#;
    let answer = r#"
        [[reply]]
        expect = "new"
        parts = [{ text = "Both done." }]
    "#;
    let world = world_with(&[("a.txt", "old\n")], ask).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    alice.until_asked().await;
    let before = alice.state().await;
    drop(alice);
    let world = world.restart(answer).await;
    let mut bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    let state = bob.state().await;
    assert_eq!(*state, *before);
    assert_eq!(state.status(), Status::Waiting);
    let approval = *state.pending.keys().next().unwrap();
    bob.decide(approval, ApprovalScope::All).await.unwrap();
    // The second call comes to its own question, in another process than the first.
    let second = bob.until_event(|event| match &event.body {
        loggia_domain::EventBody::ApprovalAsked { approval: asked, .. } if *asked != approval => Some(*asked),
        _ => None,
    });
    let second = second.await;
    assert_eq!(world.read("a.txt"), "new\n");
    drop(bob);
    let world = world.restart(answer).await;
    let mut carol = world.join(session, "carol", Role::Drive, Default::default()).await;
    carol.decide(second, ApprovalScope::All).await.unwrap();
    assert_eq!(carol.until_done().await, TurnEnd::Done);
    insta::assert_snapshot!(carol.text());
}

/// What a session's model is told is the session's, also in another process and in a copy.
#[tokio::test]
async fn a_sessions_own_instructions_stay_with_it() {
    let script = "[[reply]]\nparts = [{ text = \"Oui.\" }]";
    let world = world_with(&[("AGENTS.md", "Use tabs.")], script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    let own = |instead: Option<&str>, added: Option<&str>| Intent::SetInstructions {
        instructions: OwnInstructions {
            instead: instead.map(str::to_owned),
            added: added.map(str::to_owned),
        },
    };
    alice.seat.intend(own(None, Some("Answer in French."))).await.unwrap();
    alice.prompt("hello").await.unwrap();
    alice.until_done().await;
    let told = system_prompt(&world);
    assert!(told.starts_with("You are Loggia"), "{told}");
    assert!(told.contains("Use tabs.") && told.ends_with("Answer in French."), "{told}");
    let before = alice.seat.intend(own(None, Some("Answer in French."))).await.unwrap();
    assert_eq!(before.seq, alice.state().await.last_seq, "what is told already is no news");
    alice.seat.intend(own(Some("You are a parrot."), None)).await.unwrap();
    drop(alice);
    let world = world.restart(script).await;
    let mut bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    // What happened before is told first.
    bob.until_done().await;
    bob.prompt("hello").await.unwrap();
    bob.until_done().await;
    let told = system_prompt(&world);
    assert!(told.starts_with("You are a parrot.") && told.contains("Use tabs."), "{told}");
    assert!(!told.contains("Loggia") && !told.contains("French"), "{told}");
}

fn system_prompt(world: &World) -> String {
    let requests = world.model.requests();
    match requests.last().map(|request| &request.messages[0]) {
        Some(ModelMessage::System(text)) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_turn_cut_in_a_reply_is_closed_and_continued() {
    let begin = r#"
        [[reply]]
        parts = [{ text = "The first half" }, { hang = true }]
    "#;
    let go_on = r#"
        [[reply]]
        expect = "interrupted"
        parts = [{ text = " and the second." }]
    "#;
    let world = world_with(&[], begin).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("tell").await.unwrap();
    alice.until(|told| matches!(told, Told::Reply(_)).then_some(())).await;
    drop(alice);
    let world = world.restart(go_on).await;
    let mut bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    assert_eq!(bob.until_done().await, TurnEnd::Interrupted);
    bob.seat.intend(Intent::Continue).await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    insta::assert_snapshot!(bob.text());
}

#[tokio::test]
async fn undo_works_across_a_restart() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]

        [[reply]]
        parts = [{ text = "Done." }]
    "#;
    let world = world_with(&[("a.txt", "old\n")], script).await;
    let (session, mut alice) = world.play(Preset::AutoEdit).await;
    alice.play("write").await;
    drop(alice);
    let world = world.restart(script).await;
    let bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    bob.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "old\n");
}

#[tokio::test]
async fn what_was_kept_of_another_turns_reply_is_not_taken_for_this_ones() {
    let world = world().start("").await;
    let session = world.open(Preset::Ask).await;
    let instruction = Instruction { text: "go".to_owned(), ..Instruction::default() };
    let body = EventBody::TurnStarted { instruction, by: Actor::Engine, queued: None };
    let turn = TurnId::new();
    let started = NewEvent { at: Timestamp::now(), turn: Some(turn), body };
    world.store.append(session, vec![started]).await.unwrap();
    let stale = RunningReply {
        turn: TurnId::new(),
        message: MessageId::new(),
        text: "of the turn before".to_owned(),
        thought: String::new(),
    };
    world.store.keep_reply(session, stale).await.unwrap();
    let mut alice = world.join(session, "alice", Role::Drive, Default::default()).await;
    assert_eq!(alice.until_done().await, TurnEnd::Interrupted);
    assert!(!alice.text().contains("message"), "{}", alice.text());
}

/// A journal with a turn and these events, as somebody might write it who can write to the store.
async fn forged(world: &World, events: Vec<EventBody>) -> SessionId {
    let session = world.open(Preset::Ask).await;
    let instruction = Instruction { text: "go".to_owned(), ..Instruction::default() };
    let mut bodies = vec![EventBody::TurnStarted { instruction, by: Actor::Engine, queued: None }];
    bodies.extend(events);
    let (at, turn) = (Timestamp::now(), Some(TurnId::new()));
    let events = bodies.into_iter().map(|body| NewEvent { at, turn, body }).collect();
    world.store.append(session, events).await.unwrap();
    session
}

fn touches(path: &str) -> ToolCall {
    let arguments = JsonText(format!(r#"{{"command":"touch {path}"}}"#));
    ToolCall { id: CallId::new(), provider_id: None, tool: "run_command".to_owned(), arguments }
}

fn asks(approval: ApprovalId, call: CallId, command: &str) -> EventBody {
    let question = Question::Command {
        command: command.to_owned(),
        directory: String::new(),
        environment: Vec::new(),
        reason: None,
    };
    EventBody::ApprovalAsked { approval, call: Some(call), question, risk: Risk::Low, expires: None }
}

const DONE: &str = "[[reply]]\nrepeat = true\nparts = [{ text = \"Done.\" }]\n";

#[tokio::test]
async fn a_question_about_something_else_than_would_be_done_is_asked_anew() {
    let world = world().start(DONE).await;
    let (call, approval) = (touches("made"), ApprovalId::new());
    let events = vec![EventBody::ToolRequested { call: call.clone() }, asks(approval, call.id, "ls")];
    let session = forged(&world, events).await;
    let mut alice = world.join(session, "alice", Role::Drive, Default::default()).await;
    let stale = alice.decide(approval, ApprovalScope::All).await;
    assert!(matches!(stale, Err(IntentError::AlreadyDecided { .. })), "{stale:?}");
    let state = alice.state().await;
    let open: Vec<_> = state.pending.iter().collect();
    let [(renewed, pending)] = open[..] else { panic!("{open:?}") };
    assert!(
        matches!(&pending.question, Question::Command { command, .. } if command == "touch made"),
        "{pending:?}"
    );
    assert!(!world.root().join("made").exists());
    alice.decide(*renewed, ApprovalScope::All).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert!(world.root().join("made").exists());
}

/// A call that was changed after people were asked about it is none that they were asked about.
#[tokio::test]
async fn a_question_about_a_call_that_was_changed_since_is_asked_anew() {
    let world = world().start(DONE).await;
    let (call, approval) = (touches("made"), ApprovalId::new());
    let arguments = touches("sneaked").arguments;
    let events = vec![
        EventBody::ToolRequested { call: call.clone() },
        asks(approval, call.id, "touch made"),
        EventBody::CallChanged { call: call.id, arguments, by: Actor::Engine },
    ];
    let session = forged(&world, events).await;
    let alice = world.join(session, "alice", Role::Drive, Default::default()).await;
    let stale = alice.decide(approval, ApprovalScope::All).await;
    assert!(matches!(stale, Err(IntentError::AlreadyDecided { .. })), "{stale:?}");
    let state = alice.state().await;
    let asked: Vec<&Question> = state.pending.values().map(|pending| &pending.question).collect();
    assert!(
        matches!(asked[..], [Question::Command { command, .. }] if command == "touch sneaked"),
        "{asked:?}"
    );
}

#[tokio::test]
async fn one_answer_is_not_taken_for_two_calls() {
    let world = world().start(DONE).await;
    let (first, second) = (touches("first"), touches("second"));
    let (answered, twice) = (ApprovalId::new(), ApprovalId::new());
    let answer = ApprovalAnswer { scope: ApprovalScope::All, remember: Remember::Once, comment: None };
    let third = touches("third");
    let events = vec![
        EventBody::ToolRequested { call: first.clone() },
        EventBody::ToolRequested { call: second.clone() },
        EventBody::ToolRequested { call: third.clone() },
        // Answered, and not begun.
        asks(answered, first.id, "touch first"),
        EventBody::ApprovalDecided { approval: answered, answer, by: Actor::Engine },
        // One question for both.
        asks(twice, second.id, "touch second"),
        asks(twice, third.id, "touch third"),
    ];
    let session = forged(&world, events).await;
    let mut alice = world.join(session, "alice", Role::Drive, Default::default()).await;
    let state = alice.state().await;
    assert_eq!(state.pending.len(), 2, "{:?}", state.pending);
    let third = state.pending.iter().find(|(_, pending)| pending.call == Some(third.id)).unwrap();
    alice.decide(*third.0, ApprovalScope::All).await.unwrap();
    let second = state.pending.iter().find(|(_, pending)| pending.call == Some(second.id)).unwrap();
    alice.decide(*second.0, ApprovalScope::None).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    let made = ["first", "second", "third"].map(|name| world.root().join(name).exists());
    assert_eq!(made, [false, false, true]);
}

/// Lets something happen, then takes everything that runs away, as a kill does.
pub(crate) fn until_killed<T>(life: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let left = runtime.block_on(life);
    runtime.shutdown_timeout(Duration::from_secs(15));
    left
}

/// What a kill leaves of a turn whose command had just changed a file.
fn killed_in_a_command() -> (SessionId, Remains) {
    until_killed(async {
        let command = runs("echo two > a.txt; echo changed; sleep 1000");
        let world = world_with(&[("a.txt", "one\n"), ("mine.txt", "mine\n")], &command).await;
        let (session, mut alice) = world.play(Preset::Full).await;
        alice.prompt("run").await.unwrap();
        alice
            .until(|told| match told {
                Told::Passing(passing) => matches!(&**passing, Passing::ToolOutput { .. }).then_some(()),
                Told::Event(_) | Told::Reply(_) => None,
            })
            .await;
        (session, world.leave())
    })
}

#[test]
fn what_a_command_changed_before_a_kill_is_found_at_the_next_start() {
    let (session, remains) = killed_in_a_command();
    assert_eq!(remains.marks().len(), 1);
    until_killed(async move {
        let world = remains.start("").await;
        // Nobody has asked for the session yet.
        let journal = world.journal(session).await;
        let found: Vec<&str> = journal
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::FilesChanged { changes, .. } => Some(changes),
                _ => None,
            })
            .flatten()
            .map(|seen| seen.change.path.as_str())
            .collect();
        assert_eq!(found, ["a.txt"]);
        assert!(world.marks().is_empty(), "it is settled");
        // What people do from here on is theirs.
        std::fs::write(world.root().join("mine.txt"), "still mine\n").unwrap();
        let mut alice = world.join(session, "alice", Role::Drive, Default::default()).await;
        assert_eq!(alice.until_done().await, TurnEnd::Interrupted);
        alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
        assert_eq!((world.read("a.txt"), world.read("mine.txt")), ("one\n".into(), "still mine\n".into()));
    });
}

#[test]
fn what_changed_is_nobodys_if_no_command_is_marked_as_running() {
    let (session, remains) = killed_in_a_command();
    for mark in remains.marks() {
        std::fs::remove_file(mark).unwrap();
    }
    std::fs::write(remains.root().join("mine.txt"), "the user's own work\n").unwrap();
    until_killed(async move {
        let world = remains.start("").await;
        let mut alice = world.join(session, "alice", Role::Drive, Default::default()).await;
        assert_eq!(alice.until_done().await, TurnEnd::Interrupted);
        assert!(!alice.text().contains("changed files"), "{}", alice.text());
        let refused = alice.seat.intend(Intent::Undo { steps: 1 }).await;
        assert!(matches!(refused, Err(IntentError::NothingToUndo { available: 0 })), "{refused:?}");
        assert_eq!(world.read("mine.txt"), "the user's own work\n");
    });
}
