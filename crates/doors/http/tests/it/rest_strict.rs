//! Bodies of requests are read as their schemas say, and what does not fit is told in plain words.

use std::path::Path;

use loggia_protocol_agent_server::{ENDPOINTS, Endpoint, SCHEMAS, Verb};
use serde_json::{Value, json};

use crate::support::{Answer, House};

/// The good bodies that the protocol's own tests use.
fn golden(name: &str) -> Vec<Value> {
    let protocol = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/agent-server");
    let text = ["golden-http", "golden-http-strict"]
        .iter()
        .find_map(|directory| {
            std::fs::read_to_string(protocol.join(directory).join(format!("{name}.jsonl"))).ok()
        })
        .unwrap();
    text.lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The pointers of all objects in a body, but for those that belong to a model's provider.
fn objects(value: &Value, here: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(here.to_owned());
            let ours = fields.iter().filter(|(key, _)| *key != "options");
            ours.for_each(|(key, value)| objects(value, &format!("{here}/{key}"), found));
        }
        Value::Array(values) => {
            let numbered = values.iter().enumerate();
            numbered.for_each(|(index, value)| objects(value, &format!("{here}/{index}"), found));
        }
        _ => {}
    }
}

async fn ask(house: &House, endpoint: &Endpoint, session: &str, body: &str) -> Answer {
    let workspace = house.world.workspace.id.to_string();
    // Of bodies is told before anybody looks for a task, a plugin, a message or an extension.
    let path = endpoint.path.replace("{workspace_id}", &workspace).replace("{session_id}", session);
    let path = path
        .replace("{task_id}", "00000000")
        .replace("{plugin}", "nothing")
        .replace("{extension}", "nothing");
    let path = path.replace("{message_id}", "doc_00000000000000000000000000000000");
    let method = if endpoint.verb == Verb::Put { "PUT" } else { "POST" };
    house.ask(method, &path, body).await
}

fn endpoints() -> impl Iterator<Item = (&'static Endpoint, &'static str)> {
    ENDPOINTS.iter().filter_map(|endpoint| Some((endpoint, endpoint.request?)))
}

#[tokio::test]
async fn a_key_nobody_knows_is_refused_in_every_object_of_every_request() {
    let house = House::new().await;
    let session = house.session().await;
    let mut tried = 0;
    for (endpoint, name) in endpoints() {
        let schema = SCHEMAS.iter().find(|row| row.name == name).unwrap().schema();
        let schema = jsonschema::validator_for(&schema).unwrap();
        for body in golden(name) {
            assert!(schema.is_valid(&body), "{name}: {body}");
            let mut places = Vec::new();
            objects(&body, "", &mut places);
            for place in places {
                let mut changed = body.clone();
                changed.pointer_mut(&place).unwrap()["titel"] = json!(1);
                assert!(!schema.is_valid(&changed), "{name}: {changed}");
                let answer = ask(&house, endpoint, &session, &changed.to_string()).await;
                assert_eq!(answer.problem(), format!("422 invalid-body {place}/titel"), "{changed}");
                let told = answer.json()["errors"][0]["message"].as_str().unwrap().to_owned();
                assert!(told.starts_with("is not known here; "), "{told}");
                tried += 1;
            }
        }
    }
    assert!(tried > 30, "only {tried} objects were found");
    let path = format!("/v1/sessions/{session}/rename");
    let told = house.ask("POST", &path, r#"{"titel":"x"}"#).await.json();
    assert_eq!(told["detail"], "/titel: is not known here; did you mean `title`?");
}

#[tokio::test]
async fn bad_bodies_and_queries_are_told_in_plain_words() {
    /// What readers of the text would have to know Rust for.
    const FOREIGN: [&str; 16] = [
        "expected",
        "invalid type",
        "invalid value",
        "invalid digit",
        "struct ",
        "variant",
        "sequence",
        "map,",
        "at line 1 column",
        "u64",
        "u32",
        "i64",
        "f64",
        "EOF",
        "deserialize",
        "missing field",
    ];
    let house = House::new().await;
    let session = house.session().await;
    let values =
        [json!(null), json!(true), json!(-1), json!(1.5), json!("x"), json!([]), json!({}), json!([[1]])];
    let mut refused = 0;
    for (endpoint, name) in endpoints() {
        let mut bodies: Vec<String> = [
            "",
            "{",
            "[",
            "{\"a\"",
            "nul",
            "{}",
            "[]",
            "7",
            "\"x\"",
            "{\"a\":1,\"a\":2}",
            "{} {}",
            "\u{feff}{}",
        ]
        .map(str::to_owned)
        .to_vec();
        for body in golden(name) {
            for key in body.as_object().unwrap().keys() {
                bodies.extend(values.iter().map(|value| {
                    let mut changed = body.clone();
                    changed[key] = value.clone();
                    changed.to_string()
                }));
                let mut shorter = body.clone();
                shorter.as_object_mut().unwrap().remove(key);
                bodies.push(shorter.to_string());
            }
        }
        for body in bodies {
            let answer = ask(&house, endpoint, &session, &body).await;
            if ![400, 422].contains(&answer.status) {
                continue;
            }
            refused += 1;
            answer.problem();
            let foreign = FOREIGN.iter().find(|words| answer.body.contains(**words));
            assert_eq!(foreign, None, "{} {body}: {}", endpoint.path, answer.body);
        }
    }
    assert!(refused > 200, "only {refused} bodies were refused");
    let told = house.ask("POST", "/v1/sessions", "{\"workspace_id\":\n [}").await.json();
    assert_eq!(told["detail"], "the body is not JSON: look at line 2, column 3");
    let told = house.ask("POST", "/v1/sessions", "{\"workspace_id\":").await.json();
    assert_eq!(told["detail"], "the body is not JSON: it ends too early");
    for (query, told) in [
        ("?limit=%2B1", "the query cannot be read: limit: must be a whole number, in digits only"),
        ("?limit=0", "the query cannot be read: limit: must be 1 or more"),
        ("?limit=1&limit=1", "the query cannot be read: limit: is there twice"),
    ] {
        assert_eq!(house.get(&format!("/v1/sessions{query}")).await.json()["detail"], told);
    }
}

#[tokio::test]
async fn a_key_without_end_is_not_sent_back_whole() {
    let house = House::new().await;
    let body = format!(r#"{{"{}":1}}"#, "k".repeat(1 << 20));
    let answer = house.ask("POST", "/v1/sessions", &body).await;
    assert!(
        answer.problem().starts_with("422 invalid-body /kkk") && answer.body.len() < 1000,
        "{}",
        answer.body
    );
    // Nor is it compared with everything we know.
    let model = json!({"provider": "scripted", "model_name": "m".repeat(1 << 20)}).to_string();
    assert_eq!(
        house.ask("PUT", "/v1/models/current", &model).await.problem(),
        "422 invalid-body /model_name"
    );
}
