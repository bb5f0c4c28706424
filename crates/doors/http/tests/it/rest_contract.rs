//! Every endpoint of the protocol's table is served, and only to those it is for.

use crate::rest_plugins::Shelf;
use crate::rest_tasks;
use crate::support::{Answer, House};
use loggia_engine::dialogs::DialogSettings;
use loggia_protocol_agent_server::{ENDPOINTS, Endpoint, Scope, Verb};

fn method(endpoint: &Endpoint) -> &'static str {
    match endpoint.verb {
        Verb::Get | Verb::WebSocket => "GET",
        Verb::Post => "POST",
        Verb::Put => "PUT",
        Verb::Delete => "DELETE",
    }
}

/// The endpoint's address for things that are there.
async fn address(house: &House, endpoint: &Endpoint) -> String {
    let mut path = endpoint.path.replace("{workspace_id}", &house.world.workspace.id.to_string());
    if path.contains("{session_id}") {
        path = path.replace("{session_id}", &house.session().await);
    }
    if path.contains("{token_id}") {
        let made = house.ask("POST", "/v1/tokens", r#"{"name":"x","scope":"read"}"#).await.ok(201).json();
        path = path.replace("{token_id}", made["info"]["token_id"].as_str().unwrap());
    }
    if path.contains("{task_id}") {
        let there = house.get("/v1/tasks").await.ok(200).json();
        let task = match there["tasks"][0]["task_id"].as_str() {
            Some(id) => format!("/v1/tasks/{id}"),
            None => rest_tasks::started(house).await,
        };
        path = path.replace("/v1/tasks/{task_id}", &task);
    }
    if path.contains("{message_id}") {
        let there = house.get("/v1/messages").await.ok(200).json();
        let id = match there["messages"][0]["message_id"].as_str() {
            Some(id) => id.to_owned(),
            None => {
                let body =
                    format!(r#"{{"workspace_id":"{}","path":"src/main.rs"}}"#, house.world.workspace.id);
                let opened = house.ask("POST", "/v1/messages", &body).await.ok(201).json();
                opened["message_id"].as_str().unwrap().to_owned()
            }
        };
        path = path.replace("{message_id}", &id);
    }
    if path.ends_with("/value") {
        path.push_str("?path=A");
    }
    let is_asked_of_one = path.starts_with("/v1/extensions") || path == "/v1/messages/schema";
    if is_asked_of_one && endpoint.verb == Verb::Get {
        path = format!("{path}?workspace_id={}", house.world.workspace.id);
    }
    if path.ends_with("/browse") {
        path = format!("{path}?workspace_id={}&reference=link", house.world.workspace.id);
    }
    path.replace("{plugin}", "link")
        .replace("{extension}", "demo")
        .replace("{name}", "health")
        .replace("{file}", "main.js")
}

async fn ask(house: &House, endpoint: &Endpoint, token: Option<&str>) -> Answer {
    let path = address(house, endpoint).await;
    let body = if endpoint.request.is_some() { "{}" } else { "" };
    house.ask_as(token, method(endpoint), &path, body).await
}

#[tokio::test]
async fn every_endpoint_is_served_and_its_scope_enforced() {
    let house = rest_tasks::house_with(
        |builder| builder.plugins(Shelf::new()).world(|world| world.desks(DialogSettings::default())),
        "",
    )
    .await;
    let tokens = [
        (Scope::Read, house.token("read").await),
        (Scope::Drive, house.token("drive").await),
        (Scope::Admin, house.token("admin").await),
    ];
    for endpoint in ENDPOINTS {
        let name = format!("{} {}", method(endpoint), endpoint.path);
        let unknown = ask(&house, endpoint, None).await;
        match endpoint.scope {
            Some(_) => assert_eq!(unknown.problem(), "401 unauthorized", "{name}"),
            None => assert!(![401, 403, 404, 405].contains(&unknown.status), "{name}: {unknown:?}"),
        }
        for (scope, token) in &tokens {
            let answer = ask(&house, endpoint, Some(token)).await;
            match endpoint.scope {
                Some(needed) if *scope < needed => assert_eq!(answer.problem(), "403 forbidden", "{name}"),
                _ => assert!(![401, 403, 404, 405].contains(&answer.status), "{name}: {answer:?}"),
            }
            assert!(answer.status < 500, "{name}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn an_unknown_path_and_a_wrong_method_are_problems() {
    let house = House::new().await;
    for path in ["/v2", "/v1/nothing", "/v1/sessions/x/y/z", "/v1/health/", "//v1/health", "/v1/Health"] {
        assert_eq!(house.get(path).await.problem(), "404 not-found", "{path}");
        // What there is is for those who may know.
        assert_eq!(house.ask_as(None, "GET", path, "").await.problem(), "401 unauthorized", "{path}");
    }
    for (method, path, allow) in [
        ("POST", "/v1/health", "GET,HEAD"),
        ("DELETE", "/v1/sessions", "GET,HEAD,POST"),
        ("PATCH", "/v1/models/current", "DELETE,GET,HEAD,PUT"),
        ("OPTIONS", "/v1/sessions", "GET,HEAD,POST"),
        ("GET", "/v1/stop", "POST"),
    ] {
        let answer = house.ask(method, path, "").await;
        assert_eq!(answer.problem(), "405 method-not-allowed", "{method} {path}");
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
    }
}

#[tokio::test]
async fn answers_are_for_the_asker_alone() {
    let house = House::new().await;
    for path in ["/v1/health", "/v1/sessions", "/v1/nothing"] {
        let answer = house.get(path).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
}
