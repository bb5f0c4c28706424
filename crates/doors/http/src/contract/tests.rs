use std::collections::BTreeSet;

use loggia_protocol_agent_server::{BODIES, ENDPOINTS, STRICT_BODIES, Verb};
use serde_json::Value;

use super::facts::FACTS;
use super::*;

fn parsed() -> Value {
    serde_json::from_str(openapi()).unwrap()
}

fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::Get | Verb::WebSocket => "get",
        Verb::Post => "post",
        Verb::Put => "put",
        Verb::Delete => "delete",
    }
}

/// All operations: path, method, operation.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap();
        methods.iter().map(move |(method, operation)| (path.clone(), method.clone(), operation))
    });
    all.collect()
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn facts_are_told_about_every_endpoint() {
    let endpoints: Vec<_> = ENDPOINTS.iter().map(|endpoint| (endpoint.verb, endpoint.path)).collect();
    let facts: Vec<_> = FACTS.iter().map(|facts| (facts.verb, facts.path)).collect();
    assert_eq!(facts, endpoints);
}

#[test]
fn the_document_has_every_endpoint_and_no_other() {
    let document = parsed();
    let found: BTreeSet<_> =
        operations(&document).into_iter().map(|(path, method, _)| format!("{method} {path}")).collect();
    let wanted: BTreeSet<_> =
        ENDPOINTS.iter().map(|endpoint| format!("{} {}", method(endpoint.verb), endpoint.path)).collect();
    assert_eq!(found, wanted);
    assert_eq!(wanted.len(), ENDPOINTS.len());
}

#[test]
fn every_reference_leads_somewhere_and_every_component_is_used() {
    let document = parsed();
    let mut found = Vec::new();
    references(&document, &mut found);
    for target in &found {
        let pointer = target.strip_prefix('#').expect("a reference into the document");
        assert!(document.pointer(pointer).is_some(), "`{target}` leads nowhere");
    }
    let used: BTreeSet<&str> = found.into_iter().collect();
    for (kind, components) in document["components"].as_object().unwrap() {
        for name in components.as_object().unwrap().keys().filter(|_| kind != "securitySchemes") {
            assert!(
                used.contains(format!("#/components/{kind}/{name}").as_str()),
                "nothing uses {kind} `{name}`"
            );
        }
    }
}

#[test]
fn every_schema_of_the_document_is_one() {
    for (name, schema) in parsed()["components"]["schemas"].as_object().unwrap() {
        jsonschema::draft202012::meta::validate(schema).unwrap_or_else(|fault| panic!("`{name}`: {fault}"));
    }
    let broken = serde_json::json!({ "type": "text" });
    assert!(jsonschema::draft202012::meta::validate(&broken).is_err(), "the rules refuse nothing");
}

#[test]
fn bodies_have_the_shapes_of_the_protocol() {
    let document = parsed();
    for endpoint in ENDPOINTS {
        let operation = &document["paths"][endpoint.path][method(endpoint.verb)];
        let reference = |name: &str| format!("#/components/schemas/{name}");
        if let Some(name) = endpoint.request {
            let taken = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
            assert_eq!(*taken, reference(name), "{}", endpoint.path);
        }
        for (status, answer) in operation["responses"].as_object().unwrap() {
            let good = status.starts_with('2');
            if let (true, Some(name)) = (good, endpoint.answer) {
                let given = &answer["content"]["application/json"]["schema"]["$ref"];
                assert_eq!(*given, reference(name), "{}", endpoint.path);
            }
            let problem =
                answer["$ref"].as_str().is_some_and(|target| target.starts_with("#/components/responses/"));
            assert_eq!(
                problem,
                status.starts_with('4') || status.starts_with('5'),
                "{} {status}",
                endpoint.path
            );
        }
    }
    // Moving the parts of a schema changes nothing about what it takes.
    for row in
        SCHEMAS.iter().filter(|row| BODIES.iter().chain(STRICT_BODIES).any(|body| body.name == row.name))
    {
        let alone = jsonschema::dereference(&row.schema()).unwrap();
        let mut whole = document.clone();
        whole["$ref"] = format!("#/components/schemas/{}", row.name).into();
        let moved = jsonschema::dereference(&whole).unwrap();
        for key in ["properties", "required", "additionalProperties"] {
            assert_eq!(moved["components"]["schemas"][row.name][key], alone[key], "`{}`: {key}", row.name);
        }
    }
}

#[test]
fn every_operation_has_its_own_name_and_its_tokens_scope() {
    let document = parsed();
    let mut names = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        assert!(names.insert(operation["operationId"].to_string()), "{method} {path}");
    }
    let security = |path: &str, method: &str| document["paths"][path][method]["security"].to_string();
    assert_eq!(security("/v1/health", "get"), "[]");
    assert_eq!(security("/v1/sessions", "get"), r#"[{"token":["read"]}]"#);
    assert_eq!(security("/v1/sessions", "post"), r#"[{"token":["drive"]}]"#);
    assert_eq!(security("/v1/stop", "post"), r#"[{"token":["admin"]}]"#);
}

#[test]
fn every_parameter_of_a_path_is_described() {
    let document = parsed();
    for (path, _, operation) in operations(&document) {
        let in_path: Vec<&str> = path.split(['{', '}']).skip(1).step_by(2).collect();
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let described: Vec<&str> = parameters
            .filter(|parameter| parameter["in"] == "path" && parameter["required"] == true)
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        assert_eq!(described, in_path, "{path}");
    }
}

#[test]
fn schemas_are_served_as_they_are_committed() {
    for row in SCHEMAS {
        let file = format!("{}/../../../schemas/{}.json", env!("CARGO_MANIFEST_DIR"), row.name);
        assert_eq!(schema(row.name), Some(std::fs::read_to_string(file).unwrap().as_str()), "{}", row.name);
    }
    assert_eq!(schema("client.bye"), None);
}
