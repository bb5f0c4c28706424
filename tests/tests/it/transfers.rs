//! Sessions that are split and taken elsewhere: what goes along, and what does not.

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalId, ApprovalScope, EventBody, Intent, Preset, Remember, Role, Seq,
    SessionId, TurnEnd,
};
use loggia_engine::{IntentError, Status, Told};
use loggia_tests::{Player, World, preview};
use serde_json::{Value, json};

use crate::forks::with_one_waiting;
use crate::{world, world_with};

const TALK: &str = r#"
    [[reply]]
    repeat = 100
    parts = [{ text = "well" }]
"#;

#[tokio::test]
async fn a_fork_of_a_closed_session_is_open() {
    let world = world().start(TALK).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.play("hello").await;
    let said = alice.state().await.last_seq;
    let at = alice.seat.intend(Intent::Close).await.unwrap().seq;
    let fork = world.engine.fork_session(session, at, Actor::Engine).await.unwrap();
    assert!(!world.engine.session(fork).await.unwrap().closed, "the listing says so, too");
    let mut bob = world.join(fork, "bob", Role::Drive, Default::default()).await;
    assert_eq!(bob.state().await.opened.forked_from, Some((session, said)));
    bob.play("and on").await;
    assert_eq!(bob.state().await.history.items().len(), 4);
    assert!(world.engine.session(session).await.unwrap().closed, "the one it came from stays closed");
}

const WRITE: &str = r#"
    [[reply]]
    repeat = 2
    parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]

    [[reply]]
    parts = [{ text = "Done." }]
"#;

async fn export(world: &World, session: SessionId) -> Vec<String> {
    let lines = world.engine.export_session(session, Seq(0)).await.unwrap();
    lines.into_iter().map(|(_, line)| line).collect()
}

#[tokio::test]
async fn an_import_has_the_preset_of_its_workspace() {
    let world = world().start(&[TALK, WRITE].concat().replace("repeat = 100", "")).await;
    let (session, mut alice) = world.play(Preset::Full).await;
    alice.play("hello").await;
    // However it is written.
    let escaped = |line: String| line.replace("session_opened", "\\u0073ession_opened");
    for lines in
        [export(&world, session).await, export(&world, session).await.into_iter().map(escaped).collect()]
    {
        let imported = world.engine.import_session(world.workspace.id, lines).await.unwrap();
        assert_eq!(imported.preset, None);
        assert_eq!(world.engine.state(imported.id).await.unwrap().opened.preset, None);
        let bob = world.join(imported.id, "bob", Role::Drive, Default::default()).await;
        assert_eq!(bob.state().await.history, alice.state().await.history);
    }
    let lines = export(&world, session).await;
    let imported = world.engine.import_session(world.workspace.id, lines).await.unwrap();
    let mut bob = world.join(imported.id, "bob", Role::Drive, Default::default()).await;
    bob.prompt("write").await.unwrap();
    bob.until_asked().await;
}

#[tokio::test]
async fn an_import_remembers_no_answers() {
    let world = world().start(WRITE).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    let answer = ApprovalAnswer {
        scope: ApprovalScope::All,
        remember: Remember::Session,
        comment: Some("go".to_owned()),
    };
    alice.seat.intend(Intent::Decide { approval, answer: answer.clone() }).await.unwrap();
    alice.until_done().await;
    assert!(!alice.state().await.rules.is_empty());
    let lines = export(&world, session).await;
    let imported = world.engine.import_session(world.workspace.id, lines).await.unwrap();
    let mut bob = world.join(imported.id, "bob", Role::Drive, Default::default()).await;
    assert!(bob.state().await.rules.is_empty());
    let decided = |event: &loggia_domain::Event| match &event.body {
        EventBody::ApprovalDecided { answer, .. } => Some(answer.clone()),
        _ => None,
    };
    let held = bob.until_event(decided).await;
    assert_eq!(held, ApprovalAnswer { remember: Remember::Once, ..answer }, "what was said is as it was");
}

#[tokio::test]
async fn a_field_that_nobody_knows_brings_no_preset_along() {
    let world = world().start(TALK).await;
    let (session, _) = world.play(Preset::Full).await;
    let lines = export(&world, session).await;
    // Deeper than is read, in a field that nobody knows.
    let deep = format!("{{\"x\":{}{},\"format\"", "[".repeat(200), "]".repeat(200));
    let hidden = vec![lines[0].replacen("{\"format\"", &deep, 1)];
    let imported = world.engine.import_session(world.workspace.id, hidden).await.unwrap();
    assert_eq!(world.engine.state(imported.id).await.unwrap().opened.preset, None);
}

/// Two commands, and the first one again when the turn goes on.
const TOUCH: &str = r#"
    [[reply]]
    parts = [
        { call = { tool = "run_command", arguments = { command = "touch made" } } },
        { call = { tool = "run_command", arguments = { command = "echo two" } } },
    ]

    [[reply]]
    expect = "interrupted"
    parts = [{ call = { tool = "run_command", arguments = { command = "touch made" } } }]

    [[reply]]
    repeat = true
    parts = [{ text = "Done." }]
"#;

/// A journal to be changed by hand.
struct Lines(Vec<Value>);

impl Lines {
    async fn of(world: &World, session: SessionId) -> Self {
        let lines = export(world, session).await;
        Self(lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    /// The first of a kind.
    fn first(&self, kind: &str) -> Value {
        self.0.iter().find(|line| line["kind"] == kind).unwrap().clone()
    }

    /// Adds an event to the turn.
    fn add(&mut self, kind: &str, data: &Value) {
        let last = self.0.last().unwrap();
        let turn = &self.first("turn_started")["turn"];
        let line = json!({
            "seq": last["seq"].as_u64().unwrap() + 1, "at": last["at"], "turn": turn, "kind": kind, "data": data
        });
        self.0.push(line);
    }

    /// Adds a yes to a question.
    fn allow(&mut self, approval: &Value) {
        let answer = json!({ "scope": { "all": {} }, "remember": "once" });
        self.add(
            "approval_decided",
            &json!({ "approval": approval, "answer": answer, "by": { "engine": {} } }),
        );
    }

    async fn import(&self, world: &World) -> (SessionId, Player) {
        let lines = self.0.iter().map(ToString::to_string).collect();
        let imported = world.engine.import_session(world.workspace.id, lines).await.unwrap().id;
        (imported, world.join(imported, "bob", Role::Drive, Default::default()).await)
    }
}

#[tokio::test]
async fn an_answer_given_elsewhere_starts_no_command() {
    let world = world().start(TOUCH).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("touch").await.unwrap();
    alice.until_asked().await;
    // The first call is decided about and has not begun; the second one waits for an answer.
    let mut lines = Lines::of(&world, session).await;
    let mut asked = lines.first("approval_asked")["data"].clone();
    lines.allow(&asked["approval"]);
    let second = lines.0.iter().rfind(|line| line["kind"] == "tool_requested").unwrap();
    asked["call"] = second["data"]["call"]["id"].clone();
    asked["approval"] = ApprovalId::new().to_string().into();
    asked["question"]["command"]["command"] = "echo two".into();
    lines.add("approval_asked", &asked);

    let (_, mut bob) = lines.import(&world).await;
    assert_eq!(bob.until_done().await, TurnEnd::Interrupted);
    let state = bob.state().await;
    assert_eq!((state.status(), state.pending.len()), (Status::Idle, 0));
    let starts = |told: &Told| matches!(told, Told::Event(event) if matches!(event.body, EventBody::ToolStarted { .. }));
    assert!(!bob.heard.iter().any(starts), "{}", bob.text());
    // Going on is possible, and asks for everything here.
    bob.seat.intend(Intent::Continue).await.unwrap();
    let approval = bob.until_asked().await;
    assert!(!world.root().join("made").exists());
    bob.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    assert!(world.root().join("made").exists());
}

#[tokio::test]
async fn a_question_from_elsewhere_cannot_be_answered_here() {
    let world = world().start(TOUCH).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("touch").await.unwrap();
    let approval = alice.until_asked().await;
    let mut lines = Lines::of(&world, session).await;
    let asked = lines.0.iter_mut().find(|line| line["kind"] == "approval_asked").unwrap();
    asked["data"]["question"]["command"]["command"] = "ls".into();
    let (_, mut bob) = lines.import(&world).await;
    assert_eq!(bob.until_done().await, TurnEnd::Interrupted);
    let late = bob.decide(approval, ApprovalScope::All).await;
    assert!(matches!(late, Err(IntentError::AlreadyDecided { .. })), "{late:?}");
    assert_eq!(bob.state().await.status(), Status::Idle);
    assert!(!world.root().join("made").exists());
}

#[tokio::test]
async fn a_collection_from_elsewhere_is_not_applied_when_its_turn_goes_on() {
    let script = [WRITE.replace("repeat = 2", ""), TALK.to_owned()].concat();
    let world = world_with(&[("a.txt", "old\n")], &script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(preview("write")).await.unwrap();
    alice.until_asked().await;
    let whole = Lines::of(&world, session).await;
    // All of it after the turn's end, where nothing is closed any more.
    let mut lines = Lines(whole.0[..2].to_vec());
    let usage = json!({ "input": 0, "cached": 0, "output": 0 });
    lines.add("turn_ended", &json!({ "end": { "interrupted": {} }, "usage": usage }));
    for kind in ["batch_started", "patch_proposed", "change_collected", "batch_ended", "approval_asked"] {
        lines.add(kind, &whole.first(kind)["data"]);
    }
    lines.allow(&whole.first("approval_asked")["data"]["approval"]);
    let (_, mut bob) = lines.import(&world).await;
    let state = bob.state().await;
    assert_eq!((state.pending.len(), state.proposed.len(), state.batch.is_some()), (0, 0, false));
    assert_eq!(bob.until_done().await, TurnEnd::Interrupted);
    bob.seat.intend(Intent::Continue).await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "old\n");
}

#[tokio::test]
async fn what_waited_elsewhere_does_not_begin_here() {
    let (world, session, _alice, _) = with_one_waiting().await;
    let (_, mut bob) = Lines::of(&world, session).await.import(&world).await;
    assert_eq!(bob.until_done().await, TurnEnd::Interrupted);
    assert!(bob.state().await.queue.is_empty());
    // Would be refused if what waited had begun.
    assert_eq!(bob.play("mine").await, TurnEnd::Done);
}

async fn nothing_to_undo_or_redo(player: &Player) {
    let undone = player.seat.intend(Intent::Undo { steps: 1 }).await;
    assert!(matches!(undone, Err(IntentError::NothingToUndo { available: 0 })), "{undone:?}");
    let redone = player.seat.intend(Intent::Redo { steps: 1 }).await;
    assert!(matches!(redone, Err(IntentError::NothingToRedo { available: 0 })), "{redone:?}");
}

#[tokio::test]
async fn what_changed_elsewhere_cannot_be_undone_or_redone_here() {
    let write = |content: &str| WRITE.replace("repeat = 2", "").replace("new", content);
    let script = [write("one"), write("two"), write("three")].concat();
    let world = world_with(&[("a.txt", "old\n")], &script).await;
    let (session, mut alice) = world.play(Preset::AutoEdit).await;
    alice.play("one").await;
    alice.play("two").await;
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(alice.state().await.undo.done().len(), 1);
    // Everything that undoing needs is here, since it is the same machine; and yet.
    let (imported, mut bob) = Lines::of(&world, session).await.import(&world).await;
    assert_eq!(bob.state().await.history, alice.state().await.history, "the conversation went back there");
    nothing_to_undo_or_redo(&bob).await;
    let at = bob.state().await.last_seq;
    let fork = world.engine.fork_session(imported, at, Actor::Engine).await.unwrap();
    nothing_to_undo_or_redo(&world.join(fork, "carol", Role::Drive, Default::default()).await).await;
    assert_eq!(world.read("a.txt"), "one\n");
    // What is done here can be undone here, and no more than that.
    assert_eq!(bob.play("three").await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "three\n");
    let both = bob.seat.intend(Intent::Undo { steps: 2 }).await;
    assert!(matches!(both, Err(IntentError::NothingToUndo { available: 1 })), "{both:?}");
    bob.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "one\n");
}

#[tokio::test]
async fn what_a_continued_turn_changes_here_can_be_undone_alone() {
    let write = |content: &str| WRITE.replace("repeat = 2", "").replace("new", content);
    let first = write("one").replace(r#"{ text = "Done." }"#, r#"{ text = "well" }, { hang = true }"#);
    let world = world_with(&[("a.txt", "old\n")], &[first, write("two")].concat()).await;
    let (session, mut alice) = world.play(Preset::AutoEdit).await;
    alice.prompt("one").await.unwrap();
    alice.until_started().await;
    alice.until_reply().await;
    let (_, mut bob) = Lines::of(&world, session).await.import(&world).await;
    assert_eq!(bob.until_done().await, TurnEnd::Interrupted);
    nothing_to_undo_or_redo(&bob).await;
    bob.seat.intend(Intent::Continue).await.unwrap();
    let approval = bob.until_asked().await;
    bob.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "two\n");
    bob.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "one\n");
    let more = bob.seat.intend(Intent::Undo { steps: 1 }).await;
    assert!(matches!(more, Err(IntentError::NothingToUndo { available: 0 })), "{more:?}");
}
