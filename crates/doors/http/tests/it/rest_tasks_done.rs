//! Tasks through the door that go well: unattended, with a question, past a guard, in a tree of their own.

use std::sync::Arc;

use loggia_domain::{Guests, StepPlace, Verdict, WorkflowGuard, WorkflowParts, WorkflowStep};
use loggia_tests::{PretendGuests, PretendHook};
use serde_json::{Value, json};

use crate::rest_tasks::{house_with, post, says, started, writes};
use crate::support::House;

/// A plan, a change, and a word about it.
fn script() -> String {
    let change = writes("src/main.rs", "fn main() { work(); }\n");
    [says("# Summary\n\nChange it."), change, says("It is fine.")].concat()
}

/// A hook that wants an approval after the review, and does not give it.
fn gate() -> Arc<PretendHook> {
    let (name, description) = ("approval".to_owned(), None);
    let step = WorkflowStep { name, description, place: StepPlace::After("reviewing".to_owned()) };
    let steps = vec!["approval".to_owned()];
    let guard = WorkflowGuard { name: "approvalGiven".to_owned(), description: None, steps };
    let gate = PretendHook::new(
        "gate",
        WorkflowParts { steps: vec![step], guards: vec![guard], ..WorkflowParts::default() },
    );
    gate.guard_says("approvalGiven", Ok(Verdict::Stop("nobody has approved".to_owned())));
    gate
}

/// A house whose task is held back by that hook, and where the task is.
async fn held_back(gate: &Arc<PretendHook>) -> (House, String) {
    let guests = Guests { hooks: vec![Arc::clone(gate) as _], ..Guests::default() };
    let guests = Arc::new(PretendGuests(guests));
    let house = house_with(|builder| builder.world(|world| world.guests(guests)), &script()).await;
    let path = started(&house).await;
    for step in ["plan", "implement", "review"] {
        post(&house, &format!("{path}/{step}"), &json!({ "wait": true })).await.ok(200);
    }
    let task = house.get(&path).await.ok(200).json();
    assert_eq!((&task["phase"], &task["held"]["can_override"]), (&json!("paused"), &json!(true)), "{task}");
    (house, path)
}

/// What the session of a task tells of it.
async fn told(house: &House, path: &str) -> Vec<String> {
    let task = house.get(path).await.ok(200).json();
    let events = house.get(&format!("/v1/sessions/{}/events", task["session_id"].as_str().unwrap())).await;
    let events = events.ok(200).json();
    let lines = events["events"].as_array().unwrap().iter().filter(|event| event["kind"] == "task");
    lines.map(|event| event["message"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_task_is_done_from_beginning_to_end_by_one_request() {
    let house = house_with(|builder| builder, &script()).await;
    let workspace = house.world.workspace.id.to_string();
    let start = json!({ "workspace_id": workspace, "reference": "link:42", "policy_preset": "auto-edit", "key": "K-1" });
    let body = json!({
        "start": start,
        "finish": { "how": "merge", "squash": true, "skip_quality": true },
        "tries": 1,
        "wait": true,
    });
    let task = post(&house, "/v1/tasks/auto", &body).await.ok(200).json();
    assert_eq!((&task["phase"], &task["delivery"]["into"]), (&json!("done"), &json!("main")), "{task}");
    assert_eq!(house.world.read("src/main.rs"), "fn main() { work(); }\n");
    assert_eq!(task["reviews"], 0, "nobody is asked to look at it");
}

#[tokio::test]
async fn a_task_that_nobody_waits_for_is_done_all_the_same() {
    let house = house_with(|builder| builder, &script()).await;
    let workspace = house.world.workspace.id.to_string();
    let start = json!({ "workspace_id": workspace, "reference": "link:42", "policy_preset": "auto-edit" });
    let body = json!({ "start": start, "finish": { "skip_quality": true } });
    let begun = post(&house, "/v1/tasks/auto", &body).await.ok(202).json();
    let path = format!("/v1/tasks/{}", begun["task_id"].as_str().unwrap());
    let done = until(&house, &path, |task| task["phase"] == "done").await;
    assert_eq!(done["delivery"]["how"], "keep");
}

/// Asks for a task until it is so.
async fn until(house: &House, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    loop {
        let task = house.get(path).await.ok(200).json();
        if is_so(&task) {
            return task;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_question_is_answered_and_planning_goes_on() {
    let asks = says("I looked around.\n\nQUESTION: Which one?\n- this\n- that");
    let planned =
        "[[reply]]\nexpect = \"That one, please.\"\nparts = [{ text = \"# Summary\\n\\nThat.\" }]\n";
    let house = house_with(|builder| builder, &format!("{asks}{planned}")).await;
    let path = started(&house).await;
    let wait = json!({ "wait": true });
    let asked = post(&house, &format!("{path}/plan"), &wait).await.ok(200).json();
    let question = json!({ "text": "Which one?", "options": ["this", "that"] });
    assert_eq!((&asked["phase"], &asked["question"]), (&json!("waiting"), &question));
    let answer = json!({ "text": "That one, please." });
    let answered = post(&house, &format!("{path}/answer"), &answer).await.ok(200).json();
    assert_eq!((&answered["phase"], answered.get("question")), (&json!("idle"), None));
    assert_eq!(post(&house, &format!("{path}/answer"), &answer).await.problem(), "409 conflict");
    let planned = post(&house, &format!("{path}/plan"), &wait).await.ok(200).json();
    assert_eq!((&planned["position"], &planned["specifications"]), (&json!("planning"), &json!(1)));
}

#[tokio::test]
async fn resuming_asks_again_whoever_holds_a_task_back() {
    let gate = gate();
    let (house, path) = held_back(&gate).await;
    let wait = json!({ "wait": true });
    let held = post(&house, &format!("{path}/resume"), &wait).await;
    assert_eq!(held.problem(), "409 conflict");
    assert!(held.body.contains("nobody has approved"), "{}", held.body);
    gate.guard_says("approvalGiven", Ok(Verdict::Allow(None)));
    let resumed = post(&house, &format!("{path}/resume"), &wait).await.ok(200).json();
    assert_eq!((&resumed["phase"], &resumed["position"]), (&json!("idle"), &json!("approval")));
    assert_eq!(gate.log(), ["approvalGiven before approval"; 3].join("\n"));
}

#[tokio::test]
async fn an_admin_goes_past_a_guard_and_nobody_else_does() {
    let gate = gate();
    let (house, path) = held_back(&gate).await;
    for scope in ["read", "drive"] {
        let token = house.token(scope).await;
        let refused = house.ask_as(Some(&token), "POST", &format!("{path}/override"), "").await;
        assert_eq!(refused.problem(), "403 forbidden", "{scope}");
    }
    let past = house.ask("POST", &format!("{path}/override"), "").await.ok(200).json();
    assert_eq!((&past["phase"], past.get("held")), (&json!("idle"), None));
    let merged = json!({ "how": "merge", "skip_quality": true, "wait": true });
    let done = post(&house, &format!("{path}/finish"), &merged).await.ok(200).json();
    assert_eq!(done["phase"], "done");
    assert_eq!(gate.log(), "approvalGiven before approval", "it is not asked again");
    let told = told(&house, &path).await;
    let kept =
        |line: &String| line.starts_with("task: goes past approvalGiven of gate before approval, says ");
    assert!(told.iter().any(kept), "{told:?}");
}

#[tokio::test]
async fn a_task_has_a_tree_of_its_own_if_that_is_asked_for() {
    let house = house_with(|builder| builder, &script()).await;
    let start = |reference: &str| {
        let workspace = house.world.workspace.id.to_string();
        json!({ "workspace_id": workspace, "reference": reference, "place": "worktree", "policy_preset": "auto-edit" })
    };
    let task = post(&house, "/v1/tasks", &start("link:42")).await.ok(201).json();
    let tree = std::path::PathBuf::from(task["branch"]["worktree"].as_str().unwrap());
    assert!(!tree.starts_with(house.world.root()) && tree.join("src/main.rs").exists(), "{}", tree.display());
    // Two of them are in nobody's way.
    post(&house, "/v1/tasks", &start("link:43")).await.ok(201);
    let path = format!("/v1/tasks/{}", task["task_id"].as_str().unwrap());
    for step in ["plan", "implement"] {
        post(&house, &format!("{path}/{step}"), &json!({ "wait": true })).await.ok(200);
    }
    let changed = std::fs::read_to_string(tree.join("src/main.rs")).unwrap();
    assert_eq!(changed, "fn main() { work(); }\n");
    assert_eq!(house.world.read("src/main.rs"), "fn main() {}\n");
}
