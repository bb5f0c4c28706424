//! Calls that whoever was asked changed: judged once more, made as they were changed, told to everybody.

use loggia_domain::{
    Abilities, ApprovalId, ApprovalScope, CommandMode, Decision, EventBody, Executor, Intent, JsonText,
    PatchFailure, Preset, Role, Rule, TurnEnd,
};
use loggia_engine::IntentError;
use loggia_tests::scripts::{TWO_FILES, proposes, says};
use loggia_tests::{Player, World, preview};

use crate::commands::runs;
use crate::restarts::until_killed;
use crate::{world, world_with};

fn arguments(value: &str) -> JsonText {
    JsonText(value.to_owned())
}

async fn instead(player: &Player, approval: ApprovalId, value: &str) -> Result<(), IntentError> {
    let intent = Intent::DecideInstead { approval, arguments: arguments(value) };
    player.seat.intend(intent).await.map(drop)
}

/// A file that the model wants to write.
fn writes() -> String {
    "[[reply]]\nparts = [{ call = { tool = \"write_file\", arguments = { path = \"a.txt\", content = \"new\\n\" } } }]\n"
        .to_owned()
        + &says("Done.")
        + &says("And again.")
}

fn denies(path: Option<&str>, command: Option<&str>) -> Rule {
    Rule {
        tool: None,
        path: path.map(str::to_owned),
        command: command.map(str::to_owned),
        decision: Decision::Deny,
        risk: None,
        reason: Some("not here".to_owned()),
        examples: Vec::new(),
    }
}

/// What the model was told last.
fn told(world: &World) -> String {
    format!("{:?}", world.model.requests().last().unwrap().messages)
}

#[tokio::test]
async fn another_command_runs_in_the_place_of_the_one_that_was_asked_about() {
    let world = world().start(&runs("touch asked")).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    let bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    alice.prompt("run").await.unwrap();
    let approval = alice.until_asked().await;
    instead(&bob, approval, r#"{"command":"echo hello > wanted"}"#).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("wanted"), "hello\n");
    assert!(!world.root().join("asked").exists());
    assert!(
        told(&world).contains("changed it: `command` became \\\"echo hello > wanted\\\"."),
        "{}",
        told(&world)
    );
    insta::assert_snapshot!(alice.text());
    // The answer was to this call only.
    assert!(alice.state().await.rules.is_empty());
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert!(!world.root().join("wanted").exists());
}

#[tokio::test]
async fn what_the_policy_denies_stays_denied_whoever_asks_for_it() {
    for line in ["sudo ls", "rm -rf /", "touch forbidden"] {
        let world = world().start(&runs("touch asked")).await;
        world.change_policy(|policy| policy.rules.push(denies(None, Some("touch forbidden"))));
        let (session, mut alice) = world.play(Preset::Ask).await;
        alice.prompt("run").await.unwrap();
        let approval = alice.until_asked().await;
        instead(&alice, approval, &format!(r#"{{"command":"{line}"}}"#)).await.unwrap();
        assert_eq!(alice.until_done().await, TurnEnd::Done);
        let journal = world.journal(session).await;
        let started = journal.iter().any(|event| matches!(event.body, EventBody::ToolStarted { .. }));
        assert!(!started, "{line}: {}", alice.text());
        assert!(told(&world).contains("Not allowed") && told(&world).contains(line), "{}", told(&world));
        assert!(!world.root().join("asked").exists() && !world.root().join("forbidden").exists());
    }
}

#[tokio::test]
async fn another_file_is_written_in_the_place_of_the_one_that_was_asked_about() {
    let world = world_with(&[("a.txt", "old\n"), ("b.txt", "other\n")], &writes()).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    instead(&alice, approval, r#"{"path":"b.txt","content":"new\n"}"#).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("old\n", "new\n"));
    insta::assert_snapshot!(alice.text());
    let dropped = world.journal(session).await.into_iter().find_map(|event| match event.body {
        EventBody::PatchDropped { failure, .. } => Some(failure),
        _ => None,
    });
    assert_eq!(dropped, Some(PatchFailure::Superseded));
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!((world.read("a.txt").as_str(), world.read("b.txt").as_str()), ("old\n", "other\n"));
}

#[tokio::test]
async fn a_file_that_no_call_may_write_is_not_written_instead_either() {
    for path in ["../outside.txt", ".env", ".git/config", "locked/c.txt"] {
        let world = world_with(&[("a.txt", "old\n")], &writes()).await;
        world.change_policy(|policy| policy.rules.push(denies(Some("locked/**"), None)));
        let (session, mut alice) = world.play(Preset::Ask).await;
        alice.prompt("write").await.unwrap();
        let approval = alice.until_asked().await;
        instead(&alice, approval, &format!(r#"{{"path":"{path}","content":"new\n"}}"#)).await.unwrap();
        assert_eq!(alice.until_done().await, TurnEnd::Done);
        assert!(told(&world).contains("Not allowed"), "{path}: {}", told(&world));
        assert!(!world.root().join(path).exists(), "{path}");
        assert_eq!(world.read("a.txt"), "old\n");
        // Nothing of it is left open.
        let state = world.engine.state(session).await.unwrap();
        assert!(state.proposed.is_empty() && state.pending.is_empty());
    }
}

#[tokio::test]
async fn only_what_is_a_call_can_be_made_otherwise() {
    let world =
        world_with(&[("a.txt", "one\n"), ("b.txt", "two\n")], &(proposes(TWO_FILES) + &says("Done."))).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(preview("shout")).await.unwrap();
    let approval = alice.until_asked().await;
    let collected = instead(&alice, approval, r#"{"path":"c.txt"}"#).await;
    assert!(matches!(collected, Err(IntentError::BadAnswer(_))), "{collected:?}");
    alice.decide(approval, ApprovalScope::None).await.unwrap();
    alice.until_done().await;

    let world = world_with(&[("a.txt", "old\n")], &writes()).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    for nonsense in ["nonsense", "[]", r#"{"content":"without a path"}"#] {
        let refused = instead(&alice, approval, nonsense).await;
        assert!(matches!(refused, Err(IntentError::BadAnswer(_))), "{nonsense}: {refused:?}");
    }
    let long = format!(r#"{{"path":"a.txt","content":"{}"}}"#, "x".repeat(5 << 20));
    let refused = instead(&alice, approval, &long).await;
    assert!(matches!(refused, Err(IntentError::TooLong { .. })), "{refused:?}");
    // The question is as open as it was, and the first answer counts.
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    let late = instead(&alice, approval, r#"{"path":"b.txt","content":""}"#).await;
    assert!(matches!(late, Err(IntentError::AlreadyDecided { .. })), "{late:?}");
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "new\n");
}

#[tokio::test]
async fn the_same_arguments_are_a_plain_yes() {
    let world = world_with(&[("a.txt", "old\n")], &writes()).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    let given = alice.state().await.turn.as_ref().unwrap().calls[0].call.arguments.clone();
    instead(&alice, approval, &given.0).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "new\n");
    let journal = world.journal(session).await;
    assert!(!journal.iter().any(|event| matches!(event.body, EventBody::CallChanged { .. })));
}

#[tokio::test]
async fn a_client_that_runs_commands_is_told_the_one_that_was_changed() {
    let world = world().start(&runs("touch asked")).await;
    world.change_policy(|policy| policy.command_mode = CommandMode::LocalTerminal);
    let session = world.open(Preset::Ask).await;
    let abilities = Abilities { runs_commands: true, ..Abilities::default() };
    let mut alice = world.join(session, "alice", Role::Drive, abilities).await;
    alice.prompt("run").await.unwrap();
    let approval = alice.until_asked().await;
    instead(&alice, approval, r#"{"command":"touch wanted"}"#).await.unwrap();
    alice.until_started().await;
    let state = alice.state().await;
    let open = &state.turn.as_ref().unwrap().calls[0];
    assert_eq!(open.call.arguments, arguments(r#"{"command":"touch wanted"}"#));
    assert!(matches!(open.stage, loggia_engine::CallStage::Started(Executor::Client(_))));
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
}

/// Secrets stay in what is carried out, and are told to nobody else.
#[tokio::test]
async fn a_secret_in_a_changed_call_is_not_told_to_the_model() {
    let secret = "sk-live-0123456789abcdef0123456789";
    let world = world().secret(secret).start(&runs("touch asked")).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("run").await.unwrap();
    let approval = alice.until_asked().await;
    instead(&alice, approval, &format!(r#"{{"command":"echo {secret} > wanted"}}"#)).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("wanted"), format!("{secret}\n"));
    assert!(told(&world).contains("`command` became") && !told(&world).contains(secret), "{}", told(&world));
}

/// What a kill leaves of a changed call that had begun is closed, and nothing is made as it was.
#[test]
fn a_changed_call_that_a_crash_cut_is_closed_as_it_was_changed() {
    let (session, remains) = until_killed(async {
        let world = world().start(&runs("touch asked")).await;
        let (session, mut alice) = world.play(Preset::Ask).await;
        alice.prompt("run").await.unwrap();
        let approval = alice.until_asked().await;
        instead(&alice, approval, r#"{"command":"touch wanted; sleep 1000"}"#).await.unwrap();
        alice.until_started().await;
        (session, world.leave())
    });
    until_killed(async move {
        let world = remains.start(&says("Going on.")).await;
        let mut bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
        assert!(bob.state().await.turn.is_none());
        bob.seat.intend(Intent::Continue).await.unwrap();
        bob.until_event(|event| matches!(event.body, EventBody::TurnContinued { .. }).then_some(())).await;
        assert_eq!(bob.until_done().await, TurnEnd::Done);
        assert!(told(&world).contains("became \\\"touch wanted; sleep 1000\\\""), "{}", told(&world));
        assert!(!world.root().join("asked").exists());
        let journal = world.journal(session).await;
        let started = journal.iter().filter(|event| matches!(event.body, EventBody::ToolStarted { .. }));
        assert_eq!(started.count(), 1);
    });
}
