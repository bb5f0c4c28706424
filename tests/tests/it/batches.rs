//! Changes that are collected: what the model hears of the decision, and what a limit makes of them.

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalId, ApprovalScope, Budget, Decision, EventBody, Intent, PatchId, Policy,
    PolicyLimits, Preset, Remember, Role, Rule, TurnEnd,
};
use loggia_engine::{IntentError, NewSession};
use loggia_tests::scripts::{THREE_HUNKS, proposes, says, twenty_lines};
use loggia_tests::{Player, World, preview};

use crate::{world, world_with};

/// Three hunks in one file and another file, collected; then one more turn.
fn collect() -> String {
    let diff = format!("{THREE_HUNKS}--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-two\n+TWO\n");
    proposes(&diff) + &says("Collected.") + &says("I see.")
}

/// A collection about which people are asked: the question, and the patches of the two files.
async fn collected(alice: &mut Player) -> (ApprovalId, PatchId, PatchId) {
    alice.seat.intend(preview("shout")).await.unwrap();
    let approval = alice.until_asked().await;
    let state = alice.state().await;
    let patch = |path: &str| state.proposed.values().find(|patch| patch.path == path).unwrap().id;
    (approval, patch("a.txt"), patch("b.txt"))
}

fn files() -> [(&'static str, String); 2] {
    [("a.txt", twenty_lines()), ("b.txt", "two\n".to_owned())]
}

async fn stage() -> World {
    let [a, b] = files();
    world_with(&[(a.0, &a.1), (b.0, &b.1)], &collect()).await
}

/// What the model was told last.
fn told(world: &World) -> String {
    format!("{:?}", world.model.requests().last().unwrap().messages)
}

#[tokio::test]
async fn the_model_hears_which_collected_hunks_were_refused_and_why() {
    let world = stage().await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    let (approval, a, _) = collected(&mut alice).await;
    let answer = ApprovalAnswer {
        scope: ApprovalScope::Hunks(vec![(a, vec![1])]),
        remember: Remember::Once,
        comment: Some("only the middle".to_owned()),
    };
    alice.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::Done);
    assert_eq!(world.read("a.txt"), twenty_lines().replace("line 10", "LINE 10"));
    alice.play("and?").await;
    let told = told(&world);
    assert!(told.contains("Applied 1 of 3 hunks to `a.txt`. These were refused:"), "{told}");
    assert!(told.contains("+LINE 1\\n") && told.contains("+LINE 20"), "{told}");
    assert!(told.contains("The collected change to `b.txt` was refused"), "{told}");
    let said = told.find("The one who decided says: only the middle").unwrap();
    assert!(said > told.find("Applied 1 of 3 hunks").unwrap());
}

#[tokio::test]
async fn a_comment_on_a_refused_collection_is_told() {
    let world = stage().await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    let (approval, ..) = collected(&mut alice).await;
    let answer = ApprovalAnswer {
        scope: ApprovalScope::None,
        remember: Remember::Once,
        comment: Some("too loud".to_owned()),
    };
    alice.seat.intend(Intent::Decide { approval, answer }).await.unwrap();
    alice.until_done().await;
    alice.play("and?").await;
    assert!(told(&world).contains("The one who decided says: too loud"), "{}", told(&world));
}

#[tokio::test]
async fn what_the_engine_says_when_it_closes_a_question_is_nobodys_comment() {
    let world = stage().await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    collected(&mut alice).await;
    alice.seat.intend(Intent::Cancel { reason: None }).await.unwrap();
    alice.until_done().await;
    alice.play("and?").await;
    let told = told(&world);
    assert!(told.contains("was not decided about") && !told.contains("The one who decided says"), "{told}");
}

#[tokio::test]
async fn secrets_in_the_lines_around_a_refused_hunk_are_masked() {
    let secret = "sk-live-0123456789abcdef0123456789";
    let text = twenty_lines().replace("line 2\n", &format!("{secret}\n"));
    let [_, b] = files();
    let script = collect().replace(" line 2\\n", &format!(" {secret}\\n"));
    let world = world().file("a.txt", text).file(b.0, b.1).secret(secret).start(&script).await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    let (approval, a, _) = collected(&mut alice).await;
    alice.decide(approval, ApprovalScope::Hunks(vec![(a, vec![1])])).await.unwrap();
    alice.until_done().await;
    alice.play("and?").await;
    let requests = world.model.requests();
    let messages = &requests.last().unwrap().messages;
    let users = messages.iter().filter(|message| matches!(message, loggia_domain::ModelMessage::User(_)));
    let users = format!("{:?}", users.collect::<Vec<_>>());
    assert!(users.contains("Applied 1 of 3 hunks") && !users.contains(secret), "{users}");
}

#[tokio::test]
async fn an_answer_that_names_a_patch_twice_takes_the_hunks_of_both() {
    let world = stage().await;
    let (_, mut alice) = world.play(Preset::Ask).await;
    let (approval, a, b) = collected(&mut alice).await;
    let beyond = ApprovalScope::Hunks(vec![(a, vec![0]), (a, vec![3])]);
    let refused = alice.decide(approval, beyond).await;
    assert!(matches!(&refused, Err(IntentError::BadAnswer(why)) if why.contains("none is 3")), "{refused:?}");
    let scope = ApprovalScope::Hunks(vec![(a, vec![0]), (b, vec![]), (a, vec![2, 0]), (a, vec![])]);
    alice.decide(approval, scope).await.unwrap();
    alice.until_done().await;
    assert_eq!(
        world.read("a.txt"),
        twenty_lines().replace("line 1\n", "LINE 1\n").replace("line 20", "LINE 20")
    );
    assert_eq!(world.read("b.txt"), "two\n");
}

/// One change, then reading for ever.
const COLLECT_AND_READ: &str = r#"
    [[reply]]
    usage = { input = 100, output = 10, cached = 0, micro_dollars = 50 }
    parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]

    [[reply]]
    repeat = 100
    usage = { input = 100, output = 10, cached = 0, micro_dollars = 50 }
    parts = [{ call = { tool = "find_files", arguments = { glob = "*" } } }]
"#;

#[tokio::test]
async fn what_was_collected_is_asked_about_at_the_step_limit() {
    let world = world_with(&[("a.txt", "old\n")], COLLECT_AND_READ).await;
    let limits = PolicyLimits { max_steps: 3, ..PolicyLimits::default() };
    world.engine.set_policy(world.workspace.id, Policy { limits, ..Policy::default() }, 0).unwrap();
    let (_, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(preview("write")).await.unwrap();
    let approval = alice.until_asked().await;
    assert_eq!((world.read("a.txt").as_str(), world.model.requests().len()), ("old\n", 3));
    alice.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::StepLimit);
    assert_eq!(world.read("a.txt"), "new\n");
    alice.seat.intend(Intent::Continue).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::StepLimit);
    alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
    assert_eq!(world.read("a.txt"), "old\n");
}

#[tokio::test]
async fn what_was_collected_is_asked_about_when_the_budget_is_used_up() {
    let world = world_with(&[("a.txt", "old\n")], COLLECT_AND_READ).await;
    let budget = Budget { tokens: Some(200), micro_dollars: None };
    let new = NewSession { budget, ..NewSession::new(world.workspace.id) };
    let session = world.engine.open_session(new, Actor::Engine).await.unwrap();
    let mut alice = world.join(session, "alice", Role::Drive, Default::default()).await;
    alice.seat.intend(preview("write")).await.unwrap();
    let approval = alice.until_asked().await;
    alice.decide(approval, ApprovalScope::None).await.unwrap();
    assert_eq!(alice.until_done().await, TurnEnd::BudgetLimit);
    assert_eq!((world.read("a.txt").as_str(), world.model.requests().len()), ("old\n", 2));
}

#[tokio::test]
async fn a_question_at_a_limit_waits_across_a_restart() {
    let world = world_with(&[("a.txt", "old\n")], COLLECT_AND_READ).await;
    let limits = PolicyLimits { max_steps: 2, ..PolicyLimits::default() };
    world.engine.set_policy(world.workspace.id, Policy { limits, ..Policy::default() }, 0).unwrap();
    let (session, mut alice) = world.play(Preset::Ask).await;
    alice.seat.intend(preview("write")).await.unwrap();
    let approval = alice.until_asked().await;
    drop(alice);
    let world = world.restart("").await;
    let mut bob = world.join(session, "bob", Role::Drive, Default::default()).await;
    bob.decide(approval, ApprovalScope::All).await.unwrap();
    assert_eq!(bob.until_done().await, TurnEnd::StepLimit);
    assert_eq!(world.read("a.txt"), "new\n");
}

/// Three changes, of which the middle one cannot be made; the others are, and one undo takes both back.
#[tokio::test]
async fn a_change_that_cannot_be_made_keeps_no_other_out() {
    let file = |name: &str| {
        format!(
            r#"{{ call = {{ tool = "write_file", arguments = {{ path = "{name}", content = "new\n" }} }} }}"#
        )
    };
    let script = |names: [&str; 3]| {
        let calls: Vec<String> = names.iter().map(|name| file(name)).collect();
        format!("[[reply]]\nparts = [{}]\n", calls.join(", ")) + &says("Collected.") + &says("I see.")
    };
    let files = [("a.txt", "old\n"), ("b.txt", "old\n"), ("d/c.txt", "old\n")];
    let names = ["a.txt", "b.txt", "d/c.txt"];
    type Harm = fn(&World);
    let harms: [(Harm, &str); 3] = [
        (|world| std::fs::write(world.root().join("b.txt"), "mine\n").unwrap(), "the file has changed"),
        (|world| world.change_policy(|policy| policy.rules.push(denies("b.txt"))), "could not be written"),
        (
            |world| {
                std::fs::remove_file(world.root().join("b.txt")).unwrap();
                std::fs::create_dir(world.root().join("b.txt")).unwrap();
            },
            "could not be written",
        ),
    ];
    for (harm, why) in harms {
        let world = world_with(&files, &script(names)).await;
        let (session, mut alice) = world.play(Preset::Ask).await;
        alice.seat.intend(preview("write")).await.unwrap();
        let approval = alice.until_asked().await;
        harm(&world);
        alice.decide(approval, ApprovalScope::All).await.unwrap();
        assert_eq!(alice.until_done().await, TurnEnd::Done);
        assert_eq!((world.read("a.txt").as_str(), world.read("d/c.txt").as_str()), ("new\n", "new\n"));
        let journal = world.journal(session).await;
        let dropped = journal.iter().filter(|event| matches!(event.body, EventBody::PatchDropped { .. }));
        assert_eq!(dropped.count(), 1, "{}", alice.text());
        alice.play("and?").await;
        assert!(
            told(&world).contains("The collected change to `b.txt`") && told(&world).contains(why),
            "{why}"
        );
        assert!(!told(&world).contains("The collected change to `a.txt`"), "{}", told(&world));
        assert_eq!(alice.state().await.undo.done().len(), 1);
        alice.seat.intend(Intent::Undo { steps: 1 }).await.unwrap();
        assert_eq!((world.read("a.txt").as_str(), world.read("d/c.txt").as_str()), ("old\n", "old\n"));
    }
}

fn denies(path: &str) -> Rule {
    Rule {
        tool: None,
        path: Some(path.to_owned()),
        command: None,
        decision: Decision::Deny,
        risk: None,
        reason: None,
        examples: Vec::new(),
    }
}
