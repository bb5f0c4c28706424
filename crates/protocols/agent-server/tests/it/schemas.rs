//! The schemas against the tables, the committed files and the rules of JSON Schema.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use loggia_protocol_agent_server::{BODIES, CLIENT, MESSAGES, SCHEMAS, STRICT_BODIES};
use serde_json::{Value, json};

/// Where the committed schemas are.
pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../schemas")
}

/// The validator of a message or a body.
pub(crate) fn validator(name: &str) -> Validator {
    let row = SCHEMAS.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no schema `{name}`"));
    jsonschema::validator_for(&row.schema()).unwrap_or_else(|error| panic!("`{name}`: {error}"))
}

/// Calls `visit` for every `$ref` in a schema.
fn references(schema: &Value, visit: &mut impl FnMut(&str)) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get("$ref") {
                visit(target);
            }
            fields.values().for_each(|value| references(value, visit));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, visit)),
        _ => {}
    }
}

#[test]
fn every_message_and_body_has_a_schema() {
    let rows = MESSAGES.iter().chain(BODIES).chain(STRICT_BODIES);
    let expected: Vec<_> = rows.map(|row| (row.name, row.sender)).collect();
    let found: Vec<_> = SCHEMAS.iter().map(|row| (row.name, row.sender)).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_committed_schemas_are_current() {
    let wanted: BTreeMap<String, String> =
        SCHEMAS.iter().map(|row| (format!("{}.json", row.name), row.text())).collect();
    let names = std::fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let found: BTreeMap<String, String> = names
        .filter(|name| name.ends_with(".json"))
        .map(|name| (name.clone(), std::fs::read_to_string(directory().join(&name)).unwrap()))
        .collect();
    let stale: BTreeSet<&String> =
        wanted.keys().chain(found.keys()).filter(|name| wanted.get(*name) != found.get(*name)).collect();
    assert!(stale.is_empty(), "not current: {stale:?}; run `cargo xtask generate`");
}

#[test]
fn every_schema_follows_the_rules_and_stands_alone() {
    let mut ids = BTreeSet::new();
    for row in SCHEMAS {
        let schema = row.schema();
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("`{}`: {error}", row.name));
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert!(ids.insert(schema["$id"].to_string()), "{}", row.name);
        references(&schema, &mut |target| {
            let pointer = target.strip_prefix('#').expect("a reference into the schema itself");
            assert!(schema.pointer(pointer).is_some(), "`{}`: `{target}` leads nowhere", row.name);
        });
    }
}

#[test]
fn everything_is_described() {
    fn check(place: &str, schema: &Value) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            // The one property whose name says all.
            let described = name == "type" || property["description"].is_string();
            assert!(described, "`{place}`: `{name}` has no description");
        }
    }
    for row in SCHEMAS {
        let schema = row.schema();
        assert!(schema["description"].is_string(), "{}", row.name);
        check(row.name, &schema);
        for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
            assert!(part["description"].is_string(), "`{}`: `{name}`", row.name);
            check(name, part);
        }
    }
}

#[test]
fn closed_words_are_closed_and_open_words_open() {
    let answer = |scope: &str| json!({"type": "client.approval_response", "request_id": "req_1", "approved": true, "scope": scope});
    assert!(validator("client.approval_response").is_valid(&answer("all")));
    assert!(!validator("client.approval_response").is_valid(&answer("everything")));

    let thinking = |phase: &str| json!({"type": "assistant.thinking", "phase": phase, "message": "m"});
    assert!(validator("assistant.thinking").is_valid(&thinking("planning")));
    assert!(validator("assistant.thinking").is_valid(&thinking("reflecting")));
}

#[test]
fn null_is_taken_from_clients_and_not_written_by_the_server() {
    assert!(validator("client.cancel").is_valid(&json!({"type": "client.cancel", "reason": null})));
    let token = json!({"type": "assistant.token", "token": "x", "cumulative_text": null});
    assert!(!validator("assistant.token").is_valid(&token));
    let session = include_str!("../../golden-http/session.jsonl").lines().find(|line| line.starts_with('{'));
    let mut session: Value = serde_json::from_str(session.unwrap()).unwrap();
    session["model"] = Value::Null;
    assert!(!validator("session").is_valid(&session));
}

#[test]
fn what_the_server_always_writes_is_required() {
    let state = json!({"type": "session.state", "state": {"pending_patches": [], "applied_patches": []}});
    assert!(!validator("session.state").is_valid(&state));
}

#[test]
fn only_bodies_of_requests_refuse_unknown_keys_and_they_do_at_every_depth() {
    /// Whether every object with properties is closed, and whether none is.
    fn closed(schema: &Value, found: &mut Vec<bool>) {
        match schema {
            Value::Object(fields) => {
                if fields.contains_key("properties") {
                    found.push(fields.get("additionalProperties") == Some(&json!(false)));
                }
                fields.values().for_each(|value| closed(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| closed(value, found)),
            _ => {}
        }
    }
    for row in SCHEMAS {
        let mut found = Vec::new();
        closed(&row.schema(), &mut found);
        let is_request =
            row.sender == CLIENT && BODIES.iter().chain(STRICT_BODIES).any(|body| body.name == row.name);
        assert!(found.iter().all(|closed| *closed == is_request), "{}: {found:?}", row.name);
    }
    let rule = json!({"revision": 1, "preset": "ask", "rules": [{"decision": "allow", "comand": "rm"}]});
    assert!(!validator("policy").is_valid(&rule));
    let session = json!({"workspace_id": "ws_1", "budget": {"max_token": 1}});
    assert!(!validator("create_session_params").is_valid(&session));
}
