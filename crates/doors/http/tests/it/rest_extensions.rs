//! Extensions, as whoever has them tells of them.

use loggia_engine::dialogs::DialogSettings;
use serde_json::{Value, json};

use crate::support::{Builder, House};

async fn house() -> House {
    Builder::new().world(|world| world.desks(DialogSettings::default())).start("").await
}

fn here(house: &House, rest: &str) -> String {
    format!("/v1/extensions{rest}?workspace_id={}", house.world.workspace.id)
}

fn body(house: &House) -> String {
    json!({"workspace_id": house.world.workspace.id.to_string()}).to_string()
}

fn runs(house: &House, command: &str) -> String {
    json!({"workspace_id": house.world.workspace.id.to_string(), "command": command}).to_string()
}

#[tokio::test]
async fn extensions_are_listed_without_being_started_and_tell_more_once_they_run() {
    let house = house().await;
    let listed = house.get(&here(&house, "")).await.ok(200).json();
    let states: Vec<&Value> =
        listed["extensions"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["idle", "disabled"]);
    let started = house.ask("POST", "/v1/extensions/start", &body(&house)).await.ok(200).json();
    assert_eq!(started["extensions"][0]["state"], "running");
    let demo = house.get(&here(&house, "/demo")).await.ok(200).json();
    assert_eq!(demo["about"], json!({"name": "Demo", "version": "1.0.0"}));
    assert_eq!(
        demo["commands"][0],
        json!({"id": "demo/say", "title": "Say something", "button": {"id": "say", "icon": "<svg viewBox='0 0 9 9'/>"}})
    );
    let log = house.get(&here(&house, "/demo/logs")).await.ok(200).json();
    assert_eq!(log["entries"][0]["message"], "started");
    let stopped = house.ask("POST", "/v1/extensions/demo/stop", &body(&house)).await.ok(200).json();
    assert_eq!(stopped["state"], "stopped");
    let again = house.ask("POST", "/v1/extensions/demo/restart", &body(&house)).await.ok(200).json();
    assert_eq!(again["state"], "running");
}

#[tokio::test]
async fn a_command_runs_and_what_it_said_is_told() {
    let house = house().await;
    let ran = house.ask("POST", "/v1/extensions/demo/run", &runs(&house, "demo/say")).await.ok(200).json();
    assert_eq!((&ran["extension"], &ran["still_busy"]), (&json!("demo"), &json!(false)));
    assert_eq!(ran["said"][0]["message"], "hello");
    assert_eq!(house.world.extensions().ran(), ["demo/say"]);
}

#[tokio::test]
async fn what_is_not_there_or_may_not_run_is_told_apart() {
    let house = house().await;
    let ask = |path: &'static str, body: String| {
        let house = &house;
        async move { house.ask("POST", path, &body).await.problem() }
    };
    assert_eq!(ask("/v1/extensions/none/restart", body(&house)).await, "404 not-found");
    assert_eq!(ask("/v1/extensions/other/restart", body(&house)).await, "409 conflict");
    assert_eq!(ask("/v1/extensions/demo/run", runs(&house, "no/such")).await, "404 not-found");
    assert_eq!(ask("/v1/extensions/demo/run", runs(&house, " ")).await, "422 invalid-body /command");
    assert_eq!(ask("/v1/extensions/demo/run", "{}".to_owned()).await, "422 invalid-body ");
    let never = json!({"workspace_id": house.world.workspace.id.to_string(), "command": "a", "timeout_s": 0});
    assert_eq!(ask("/v1/extensions/demo/run", never.to_string()).await, "422 invalid-body /timeout_s");
    assert_eq!(house.get("/v1/extensions").await.problem(), "400 bad-request");
    assert_eq!(house.get("/v1/extensions?workspace_id=ws_1").await.problem(), "400 bad-request");
    assert_eq!(house.get(&here(&house, "/none")).await.problem(), "404 not-found");
    assert_eq!(house.get(&here(&house, "/%2e%2e")).await.problem(), "404 not-found");
}

#[tokio::test]
async fn looking_running_and_starting_need_more_each() {
    let house = house().await;
    let (watcher, driver) = (house.token("read").await, house.token("drive").await);
    house.ask_as(Some(&watcher), "GET", &here(&house, ""), "").await.ok(200);
    house.ask_as(Some(&watcher), "GET", &here(&house, "/demo/logs"), "").await.ok(200);
    let run = ("/v1/extensions/demo/run", runs(&house, "demo/say"));
    assert_eq!(house.ask_as(Some(&watcher), "POST", run.0, &run.1).await.problem(), "403 forbidden");
    house.ask_as(Some(&driver), "POST", run.0, &run.1).await.ok(200);
    for path in ["/v1/extensions/start", "/v1/extensions/demo/stop", "/v1/extensions/demo/restart"] {
        let answer = house.ask_as(Some(&driver), "POST", path, &body(&house)).await;
        assert_eq!(answer.problem(), "403 forbidden", "{path}");
    }
}

#[tokio::test]
async fn whoever_has_extensions_hears_of_trust() {
    let house = house().await;
    house.ask("POST", &house.workspace_path("/trust"), "").await.ok(200);
    house.ask("DELETE", &house.workspace_path("/trust"), "").await.ok(204);
    assert_eq!(house.world.extensions().ran(), ["trust changed", "trust changed"]);
}

#[tokio::test]
async fn where_there_are_none_nothing_pretends() {
    let house = House::new().await;
    assert_eq!(house.get(&here(&house, "")).await.ok(200).json(), json!({"extensions": []}));
    let run = house.ask("POST", "/v1/extensions/demo/run", &runs(&house, "demo/say")).await;
    assert_eq!(run.problem(), "404 not-found");
    let started = house.ask("POST", "/v1/extensions/start", &body(&house)).await.ok(200).json();
    assert_eq!(started, json!({"extensions": []}));
    assert_eq!(
        house.ask("POST", "/v1/extensions/demo/restart", &body(&house)).await.problem(),
        "404 not-found"
    );
}
