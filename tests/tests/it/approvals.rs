//! Questions and answers: durable, answered by anybody who drives, the first answer wins.

use loggia_domain::{
    Abilities, ApprovalAnswer, ApprovalId, ApprovalScope, Decision, Event, EventBody, Intent, NewEvent,
    Policy, PolicyLimits, Preset, Remember, Risk, Role, Rule, SessionId, TurnEnd,
};
use loggia_engine::{IntentError, Status};
use loggia_tests::{World, preview};

use crate::commands::runs;
use crate::{world, world_with};

const WRITE: &str = r#"
    [[reply]]
    parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n", reason = "asked for" } } }]

    [[reply]]
    parts = [{ text = "Done." }]
"#;

#[tokio::test]
async fn a_write_is_proposed_asked_about_and_applied() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    assert_eq!(world.read("a.txt"), "old\n");
    let state = alice.state().await;
    assert_eq!(state.status(), Status::Waiting);
    assert_eq!(state.pending.len(), 1);
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "new\n");
    insta::assert_snapshot!(alice.text());
}

#[tokio::test]
async fn a_refusal_is_told_to_the_model_with_its_comment() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]

        [[reply]]
        expect = "use tabs"
        parts = [{ text = "I see." }]
    "#;
    let world = world_with(&[("a.txt", "old\n")], script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    let answer = ApprovalAnswer {
        scope: ApprovalScope::None,
        remember: Remember::Once,
        comment: Some("use tabs".to_owned()),
    };
    alice.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "old\n");
    insta::assert_snapshot!(alice.text());
}

#[tokio::test]
async fn the_first_decision_wins_and_later_ones_hear_whose_it_was() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    let mut bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    alice.prompt("write").await.unwrap();
    let approval = bob.until_asked().await;
    let (first, second) =
        tokio::join!(bob.decide(approval, ApprovalScope::All), alice.decide(approval, ApprovalScope::None));
    assert!(first.is_ok() != second.is_ok());
    let late = first.and(second).unwrap_err();
    let IntentError::AlreadyDecided { held: told, .. } = late else { panic!("{late}") };
    let held = alice.until_event(|event| match &event.body {
        EventBody::ApprovalDecided { answer, by, .. } => Some((answer.clone(), by.clone())),
        _ => None,
    });
    assert_eq!(held.await, *told);
    alice.until_done().await;
    let unknown = alice.decide(ApprovalId::new(), ApprovalScope::All).await;
    assert!(matches!(unknown, Err(IntentError::UnknownApproval(_))));
}

#[tokio::test]
async fn auto_approval_belongs_to_the_client_that_wants_it() {
    let script = format!("{WRITE}\n{}", WRITE.replace("new", "newer"));
    let world = world_with(&[("a.txt", "old\n")], &script).await;
    let session = world.open(Preset::Ask).await;
    let abilities = Abilities { auto_approves: true, ..Abilities::default() };
    let alice = world.join(session, "alice", Role::Drive, abilities).await;
    let mut bob = world.join(session, "bob", Role::Drive, Abilities::default()).await;
    alice.prompt("write").await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "new\n");
    // Bob's own turns ask, although Alice is there.
    bob.prompt("write").await.unwrap();
    let approval = bob.until_asked().await;
    assert_eq!(bob.state().await.status(), Status::Waiting);
    bob.decide(approval, ApprovalScope::All).await.unwrap();
    bob.until_done().await;
    assert!(bob.text().contains("ask#1 decided by alice: yes"), "{}", bob.text());
    assert!(bob.text().contains("ask#2 decided by bob: yes"), "{}", bob.text());
}

#[tokio::test]
async fn a_question_waits_no_longer_than_the_policy_says() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let limits = PolicyLimits { approval_timeout_s: Some(1), ..PolicyLimits::default() };
    let policy = Policy { limits, ..Policy::default() };
    world.engine.set_policy(world.workspace.id, policy, 0).unwrap();
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert!(alice.text().contains("decided by the policy: no (nobody answered in time)"), "{}", alice.text());
    assert_eq!(world.read("a.txt"), "old\n");
}

#[tokio::test]
async fn a_cancelled_turn_withdraws_its_question() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Cancelled);
    insta::assert_snapshot!(alice.text());
    let late = alice.decide(approval, ApprovalScope::All).await;
    assert!(matches!(late, Err(IntentError::AlreadyDecided { .. })));
    assert_eq!(world.read("a.txt"), "old\n");
}

#[tokio::test]
async fn a_decision_is_remembered_for_the_session_or_the_workspace() {
    let command = |line: &str| {
        format!(
            "[[reply]]\nparts = [{{ call = {{ tool = \"run_command\", arguments = {{ command = \"{line}\" }} }} }}]\n\
             [[reply]]\nparts = [{{ text = \"ran\" }}]\n"
        )
    };
    let script =
        [command("echo one"), command("echo one"), command("echo two"), command("echo two")].concat();
    let world = world_with(&[], &script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("run").await.unwrap();
    let approval = alice.until_asked().await;
    let answer = ApprovalAnswer { scope: ApprovalScope::All, remember: Remember::Session, comment: None };
    alice.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
    alice.until_done().await;
    // The same again is not asked, another command is.
    alice.prompt("run").await.unwrap();
    alice.until_done().await;
    assert_eq!(alice.text().matches("may `echo one` run?").count(), 1, "{}", alice.text());
    alice.prompt("run").await.unwrap();
    let approval = alice.until_asked().await;
    let answer = ApprovalAnswer { scope: ApprovalScope::All, remember: Remember::Workspace, comment: None };
    alice.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
    alice.until_done().await;
    // The workspace's policy has it now, and no other session asks either.
    let policy = world.engine.policy(world.workspace.id).unwrap();
    assert_eq!((policy.rules.len(), policy.revision), (1, 1), "{policy:?}");
    assert_eq!(alice.state().await.rules.len(), 2);
    let (_, mut bob) = world.play(Preset::Ask).await;
    bob.prompt("run").await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    assert!(!bob.text().contains("may `echo two` run?"), "{}", bob.text());
}

#[tokio::test]
async fn what_was_allowed_elsewhere_or_together_is_asked_about_by_itself() {
    let call = |arguments: &str| {
        format!(
            "[[reply]]\nparts = [{{ call = {{ tool = \"run_command\", arguments = {{ {arguments} }} }} }}]\n\
             [[reply]]\nparts = [{{ text = \"ran\" }}]\n"
        )
    };
    for remember in [Remember::Session, Remember::Workspace] {
        for shown in [
            "command = 'cd sub && rm -f x.txt'",
            "command = 'rm -f x.txt', cwd = 'sub'",
            "command = 'test -f nofile && rm -f x.txt; true'",
        ] {
            let script = [call(shown), call("command = 'rm -f x.txt'")].concat();
            let world = world_with(&[("x.txt", "root\n")], &script).await;
            std::fs::create_dir(world.root().join("sub")).unwrap();
            let (_, mut alice) = world.play(Preset::Ask).await;
            alice.prompt("run").await.unwrap();
            let approval = alice.until_asked().await;
            let answer = ApprovalAnswer { scope: ApprovalScope::All, remember, comment: None };
            alice.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
            alice.until_done().await;
            alice.prompt("run").await.unwrap();
            let approval = alice.until_asked().await;
            assert_eq!(world.read("x.txt"), "root\n", "{shown}");
            alice.decide(approval, ApprovalScope::None).await.unwrap();
            alice.until_done().await;
            assert!(alice.state().await.rules.is_empty(), "{shown}");
            assert!(world.engine.policy(world.workspace.id).unwrap().rules.is_empty(), "{shown}");
        }
    }
}

#[tokio::test]
async fn answers_must_be_about_what_was_asked() {
    let world = world_with(&[("a.txt", "old\n")], WRITE).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    let approval = alice.until_asked().await;
    let patch = *alice.state().await.proposed.keys().next().unwrap();
    let stranger = ApprovalScope::Patches(vec![loggia_domain::PatchId::new()]);
    assert!(matches!(alice.decide(approval, stranger).await, Err(IntentError::BadAnswer(_))));
    let beyond = ApprovalScope::Hunks(vec![(patch, vec![7])]);
    assert!(matches!(alice.decide(approval, beyond).await, Err(IntentError::BadAnswer(_))));
    alice.decide(approval, ApprovalScope::Hunks(vec![(patch, vec![0])])).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), "new\n");
}

#[tokio::test]
async fn an_answer_that_chooses_nothing_allows_nothing() {
    let world = world_with(&[("a.txt", "old\n")], &[WRITE, WRITE].concat()).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    for turn in ["no file", "no hunk"] {
        alice.prompt(turn).await.unwrap();
        let approval = alice.until_asked().await;
        let patch = *alice.state().await.proposed.keys().next().unwrap();
        let nothing = match turn {
            "no file" => ApprovalScope::Patches(Vec::new()),
            _ => ApprovalScope::Hunks(vec![(patch, Vec::new())]),
        };
        alice.decide(approval, nothing).await.unwrap();
        assert_eq!(alice.until_done().await, TurnEnd::Done);
        assert_eq!(world.read("a.txt"), "old\n", "{turn}");
    }
}

#[tokio::test]
async fn an_answer_about_changes_is_none_to_a_question_about_a_command() {
    let world = world().start(&runs("touch ran.txt")).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("run").await.unwrap();
    let approval = alice.until_asked().await;
    for nothing in [ApprovalScope::Patches(Vec::new()), ApprovalScope::Hunks(Vec::new())] {
        let refused = alice.decide(approval, nothing).await;
        assert!(matches!(refused, Err(IntentError::BadAnswer(_))), "{refused:?}");
    }
    assert_eq!(alice.state().await.status(), Status::Waiting);
    alice.decide(approval, ApprovalScope::None).await.unwrap();
    alice.until_done().await;
    assert!(!world.root().join("ran.txt").exists());
}

/// A rule that forbids something from now on.
fn deny(tool: Option<&str>, path: Option<&str>) -> Rule {
    Rule {
        tool: tool.map(str::to_owned),
        path: path.map(str::to_owned),
        command: None,
        decision: Decision::Deny,
        risk: None,
        reason: Some("not any more".to_owned()),
        examples: Vec::new(),
    }
}

#[tokio::test]
async fn what_was_forbidden_while_people_thought_is_not_done_although_they_say_yes() {
    let command = runs("touch a.txt");
    for (script, rule) in [
        (command.as_str(), deny(Some("run_command"), None)),
        (WRITE, deny(None, Some("a.txt"))),
        (WRITE, deny(Some("write_file"), None)),
    ] {
        let world = world().start(script).await;
        let (_, mut alice) = world.play(Preset::Ask).await;
        alice.prompt("go").await.unwrap();
        let approval = alice.until_asked().await;
        world.change_policy(|policy| policy.rules.push(rule));
        alice.decide(approval, ApprovalScope::All).await.unwrap();
        assert_eq!(alice.until_done().await, TurnEnd::Done);
        assert!(!world.root().join("a.txt").exists(), "{}", alice.text());
        assert!(
            alice.text().contains("denied: ") && alice.text().contains("not any more"),
            "{}",
            alice.text()
        );
        assert!(alice.state().await.proposed.is_empty());
    }
}

#[tokio::test]
async fn collected_changes_are_judged_again_before_they_are_made() {
    let world = world().start(WRITE).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(preview("write")).await.unwrap();
    let approval = alice.until_asked().await;
    world.change_policy(|policy| policy.rules.push(deny(None, Some("a.txt"))));
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert!(!world.root().join("a.txt").exists());
    assert!(
        alice.text().contains("patch#1 dropped: unwritable: rule 1 denies changing `a.txt`"),
        "{}",
        alice.text()
    );
}

/// A session with another's journal, in which somebody has edited what happened.
async fn edited(world: &World, session: SessionId, edit: impl Fn(&mut EventBody)) -> SessionId {
    let copy = world.open(Preset::Ask).await;
    let events = world.journal(session).await.into_iter().skip(1).map(|event| {
        let Event { at, turn, mut body, .. } = event;
        edit(&mut body);
        NewEvent { at, turn, body }
    });
    world.store.append(copy, events.collect()).await.unwrap();
    copy
}

#[tokio::test]
async fn an_edited_question_cannot_get_a_yes_to_what_the_built_in_rules_forbid() {
    let world = world().start(WRITE).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("write").await.unwrap();
    alice.until_asked().await;
    // So that the question is about something else than was judged.
    let elsewhere = ".git/hooks/post-checkout";
    let copy = edited(&world, session, |body| match body {
        EventBody::ToolRequested { call } => call.arguments.0 = call.arguments.0.replace("a.txt", elsewhere),
        EventBody::PatchProposed { patch } => patch.path = elsewhere.to_owned(),
        _ => {}
    });
    let mut bob = world.join(copy.await, "bob", Role::Drive, Abilities::default()).await;
    let approval = *bob.state().await.pending.keys().next().unwrap();
    bob.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::Done);
    assert!(!world.root().join(".git").exists(), "{}", bob.text());
    assert!(bob.text().contains("denied: "), "{}", bob.text());
}

#[tokio::test]
async fn a_question_whose_call_cannot_be_understood_any_more_is_withdrawn() {
    let script = r#"
        [[reply]]
        parts = [{ call = { tool = "run_command", arguments = { command = "true" } } }]

        [[reply]]
        expect = "there is no tool `run_it`"
        parts = [{ text = "I see" }, { hang = true }]
    "#;
    let world = world().start(script).await;
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.prompt("run").await.unwrap();
    alice.until_asked().await;
    // The journal of a version that had a tool which is not here.
    let copy = edited(&world, session, |body| {
        if let EventBody::ToolRequested { call } = body {
            call.tool = "run_it".to_owned();
        }
    });
    let mut bob = world.join(copy.await, "bob", Role::Drive, Abilities::default()).await;
    bob.until_reply().await;
    assert!(bob.text().contains("decided by the engine: no (the call ended)"), "{}", bob.text());
    let state = bob.state().await;
    assert_eq!((state.status(), state.pending.len()), (Status::Running, 0));
}

#[tokio::test]
async fn the_question_about_a_collection_has_its_risk_and_expires_as_any_other() {
    let delete = r#"
        [[reply]]
        parts = [{ call = { tool = "delete_file", arguments = { path = "a.txt" } } }]

        [[reply]]
        parts = [{ text = "Done." }]
    "#;
    for (script, risk) in [(WRITE, Risk::Medium), (delete, Risk::High)] {
        let world = world_with(&[("a.txt", "old\n")], script).await;
        world.change_policy(|policy| policy.limits.approval_timeout_s = Some(3600));
        let (_, mut alice) = world.play(Preset::Ask).await;
        alice.seat.intend(preview("later")).await.unwrap();
        alice.until_asked().await;
        let state = alice.state().await;
        let pending = state.pending.values().next().unwrap();
        assert_eq!(pending.risk, risk);
        // Counted from a moment before the question is stored.
        let left = pending.expires.unwrap().0 - pending.at.0;
        assert!((3_500_000..=3_600_000).contains(&left), "{left} ms");
    }
}
