//! Tasks through the door: from a reference to a merged change, and everything that stands in the way.

use std::sync::Arc;

use loggia_domain::ProviderAbility;
use loggia_tests::{PretendProvider, item};
use serde_json::{Value, json};

use crate::support::{Answer, Builder, House};

/// A reply in words.
pub(crate) fn says(text: &str) -> String {
    format!("[[reply]]\nparts = [{{ text = {text:?} }}]\n")
}

/// A turn that writes a file and says so.
pub(crate) fn writes(path: &str, content: &str) -> String {
    let arguments = format!("{{ path = {path:?}, content = {content:?} }}");
    let call = format!("{{ call = {{ tool = \"write_file\", arguments = {arguments} }} }}");
    format!("[[reply]]\nparts = [{call}]\n{}", says(&format!("wrote {path}")))
}

/// A house in a repository, with a provider of two items.
async fn house(script: &str) -> House {
    house_with(|builder| builder, script).await
}

/// The same with something else besides.
pub(crate) async fn house_with(change: impl FnOnce(Builder) -> Builder, script: &str) -> House {
    let mut provider = PretendProvider::new("link")
        .item(item("42", "Fix login bug", "It says 500."))
        .item(item("43", "Other", ""));
    provider.abilities.push(ProviderAbility::List);
    let builder = Builder::new().world(|world| world.in_repository().source(Arc::new(provider)));
    change(builder).start(script).await
}

pub(crate) async fn post(house: &House, path: &str, body: &Value) -> Answer {
    house.ask("POST", path, &body.to_string()).await
}

/// Starts the task, and gives where it is.
pub(crate) async fn started(house: &House) -> String {
    let id = house.world.workspace.id.to_string();
    let params = json!({ "workspace_id": id, "reference": "link:42", "policy_preset": "auto-edit" });
    let task = post(house, "/v1/tasks", &params).await.ok(201).json();
    format!("/v1/tasks/{}", task["task_id"].as_str().unwrap())
}

#[tokio::test]
async fn a_task_goes_from_its_reference_to_a_merged_change() {
    let script = [says("# Summary\n\nChange it."), writes("src/main.rs", "fn main() { work(); }\n")].concat();
    let house = house(&format!("{script}{}", says("It is fine."))).await;
    let path = started(&house).await;
    let task = house.get(&path).await.ok(200).json();
    let expected = json!({ "phase": "idle", "position": "idle", "title": "Fix login bug", "running": false });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&task[name], value, "{task}");
    }
    assert_eq!(task["branch"]["base"], "main");
    let wait = json!({ "wait": true });
    let planned = post(&house, &format!("{path}/plan"), &wait).await.ok(200).json();
    assert_eq!((&planned["position"], &planned["specifications"]), (&json!("planning"), &json!(1)));
    let done = post(&house, &format!("{path}/implement"), &wait).await.ok(200).json();
    assert_eq!(done["checkpoints"].as_array().unwrap().len(), 3);
    // Answered at once: what happens is told by the session.
    let begun = house.ask("POST", &format!("{path}/review"), "").await.ok(202).json();
    assert_eq!(begun["session_id"], task["session_id"]);
    while house.get(&path).await.ok(200).json()["reviews"] != 1 {
        tokio::task::yield_now().await;
    }
    let merged = json!({ "how": "merge", "squash": true, "wait": true });
    let merged = finished(&house, &path, &merged).await;
    assert_eq!((&merged["phase"], &merged["delivery"]["into"]), (&json!("done"), &json!("main")));
    let main = std::fs::read_to_string(house.world.workspace.root.join("src/main.rs")).unwrap();
    assert_eq!(main, "fn main() { work(); }\n");
    let events = house.get(&format!("/v1/sessions/{}/events", task["session_id"].as_str().unwrap())).await;
    let events = events.ok(200).json();
    let told: Vec<&str> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["kind"] == "task")
        .map(|event| event["message"].as_str().unwrap())
        .collect();
    for line in ["task: has specification 1", "task: implementing is done", "task: was merged into main"] {
        assert!(told.contains(&line), "{line}: {told:?}");
    }
}

/// Finishes once nothing is being done about the task any more: a review is over a moment after it can be read.
async fn finished(house: &House, path: &str, body: &Value) -> Value {
    loop {
        let answer = post(house, &format!("{path}/finish"), body).await;
        if answer.status == 200 {
            return answer.json();
        }
        assert_eq!(answer.problem(), "409 conflict");
        assert!(answer.body.contains("something is being done"), "{}", answer.body);
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_there_is_to_do_is_listed_and_so_are_tasks() {
    let house = house("").await;
    let id = house.world.workspace.id;
    let browse = format!("/v1/tasks/browse?workspace_id={id}&reference=");
    let page = house.get(&format!("{browse}link:&limit=1")).await.ok(200).json();
    assert_eq!(page["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&page["items"][0]["reference"], &page["items"][0]["type"]),
        (&json!("link:42"), &json!("issue"))
    );
    let unknown = house.get(&format!("{browse}jira")).await;
    assert_eq!(unknown.problem(), "422 invalid-body");
    assert!(unknown.body.contains("there are `link:`"), "{}", unknown.body);
    assert_eq!(house.get("/v1/tasks").await.ok(200).json(), json!({ "tasks": [] }));
    started(&house).await;
    let listed = house.get(&format!("/v1/tasks?workspace_id={id}")).await.ok(200).json();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 1);
    let elsewhere = loggia_domain::WorkspaceId::new();
    let none = house.get(&format!("/v1/tasks?workspace_id={elsewhere}")).await.ok(200).json();
    assert_eq!(none, json!({ "tasks": [] }));
    assert_eq!(house.get("/v1/tasks?workspace_id=x").await.problem(), "400 bad-request");
}

#[tokio::test]
async fn single_things_are_done_about_a_task() {
    let house = house(&says("# Summary\n\nChange it.")).await;
    let path = started(&house).await;
    let noted = post(&house, &format!("{path}/note"), &json!({ "text": "mind the tests" })).await;
    assert_eq!(noted.ok(200).json()["notes"], 1);
    let fact = json!({ "name": "approved", "value": { "by": "alice" } });
    let stated = post(&house, &format!("{path}/metadata"), &fact).await.ok(200).json();
    assert_eq!(stated["metadata"], json!({ "approved": { "by": "alice" } }));
    let taken_back = post(&house, &format!("{path}/metadata"), &json!({ "name": "approved" })).await;
    assert_eq!(taken_back.ok(200).json().get("metadata"), None);
    post(&house, &format!("{path}/plan"), &json!({ "wait": true })).await.ok(200);
    let back = house.ask("POST", &format!("{path}/undo"), "").await.ok(200).json();
    assert_eq!((&back["position"], &back["checkpoint"]), (&json!("idle"), &json!(1)));
    let forth = post(&house, &format!("{path}/redo"), &json!({ "steps": 1 })).await.ok(200).json();
    assert_eq!((&forth["position"], &forth["checkpoint"]), (&json!("planning"), &json!(2)));
    let over = house.ask("POST", &format!("{path}/abandon"), "").await.ok(200).json();
    assert_eq!(over["phase"], "abandoned");
}

#[tokio::test]
async fn what_cannot_be_done_is_a_problem_that_says_why() {
    let house = house("").await;
    let path = started(&house).await;
    let id = house.world.workspace.id.to_string();
    let start = |more: Value| {
        let mut params = json!({ "workspace_id": id, "reference": "link:43" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    for (body, expected) in [
        (start(json!({})), "409 conflict"),
        (start(json!({ "reference": "jira:1" })), "422 invalid-body /reference"),
        (start(json!({ "reference": " " })), "422 invalid-body /reference"),
        (start(json!({ "place": "moon" })), "422 invalid-body /place"),
        (start(json!({ "workspace_id": "ws_x" })), "422 invalid-body /workspace_id"),
        (start(json!({ "refrence": "x" })), "422 invalid-body /refrence"),
        (start(json!({ "reference": "link:99", "place": "here" })), "404 not-found"),
    ] {
        assert_eq!(post(&house, "/v1/tasks", &body).await.problem(), expected, "{body}");
    }
    let taken = post(&house, "/v1/tasks", &start(json!({}))).await;
    assert!(taken.body.contains("is under way here"), "{}", taken.body);
    for (what, body, expected) in [
        ("implement", json!({}), "409 conflict"),
        ("finish", json!({}), "409 conflict"),
        ("finish", json!({ "how": "burn" }), "422 invalid-body /how"),
        ("finish", json!({ "skip_quality": true, "quality_target": "x" }), "422 invalid-body /skip_quality"),
        ("answer", json!({ "text": "yes" }), "409 conflict"),
        ("note", json!({ "text": " " }), "422 invalid-body"),
        ("note", json!({}), "422 invalid-body "),
        ("undo", json!({}), "409 conflict"),
        ("undo", json!({ "steps": 0 }), "422 invalid-body /steps"),
        ("resume", json!({ "agent": "x:y" }), "422 invalid-body /agent"),
    ] {
        let answer = post(&house, &format!("{path}/{what}"), &body).await;
        assert_eq!(answer.problem(), expected, "{what} {body}");
    }
    assert_eq!(house.ask("POST", &format!("{path}/override"), "").await.problem(), "409 conflict");
    let unplanned = post(&house, &format!("{path}/implement"), &json!({})).await;
    assert!(unplanned.body.contains("plan it first"), "{}", unplanned.body);
    for id in ["00000000", "x", "..%2f..", "7C8D9E0F"] {
        assert_eq!(house.get(&format!("/v1/tasks/{id}")).await.problem(), "404 not-found", "{id}");
    }
}

#[tokio::test]
async fn somebodys_changes_keep_a_task_from_beginning() {
    let house = house("").await;
    std::fs::write(house.world.workspace.root.join("src/main.rs"), "mine\n").unwrap();
    let params = json!({ "workspace_id": house.world.workspace.id.to_string(), "reference": "link:42" });
    let answer = post(&house, "/v1/tasks", &params).await;
    assert_eq!(answer.problem(), "409 conflict");
    assert!(answer.body.contains("`src/main.rs`): commit or stash them first"), "{}", answer.body);
}
