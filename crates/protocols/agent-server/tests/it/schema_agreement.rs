//! Types and schemas say the same about the golden files, and about thousands of documents made from them by
//! breaking one place at a time.

use std::path::Path;

use loggia_jsonrpc::MessageInfo;
use loggia_protocol_agent_server::{BODIES, CLIENT, ClientMessage, MESSAGES, STRICT_BODIES};
use serde_json::{Value, json};

use crate::schemas::validator;

/// The tables and where their golden files are.
const TABLES: [(&str, &[MessageInfo]); 3] =
    [("golden", MESSAGES), ("golden-http", BODIES), ("golden-http-strict", STRICT_BODIES)];

/// Every row with its golden documents.
fn rows() -> impl Iterator<Item = (&'static MessageInfo, Vec<Value>)> {
    TABLES.into_iter().flat_map(|(directory, rows)| {
        rows.iter().map(move |row| {
            let path =
                Path::new(env!("CARGO_MANIFEST_DIR")).join(directory).join(format!("{}.jsonl", row.name));
            let text = std::fs::read_to_string(path).expect("a golden file");
            let lines = text.lines().filter(|line| line.starts_with('{'));
            (row, lines.map(|line| serde_json::from_str(line).expect("JSON")).collect())
        })
    })
}

/// Whether the type reads it, with the rules between fields.
fn type_reads(row: &MessageInfo, document: &Value) -> bool {
    let text = document.to_string();
    row.rewrite(&text).is_ok()
        && (row.name != "client.approval_response" || ClientMessage::decode(&text).is_ok())
}

/// The pointers of all places in a document.
fn places(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    let escape = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| places(value, &format!("{here}/{}", escape(key)), all));
        }
        Value::Array(values) => {
            values
                .iter()
                .enumerate()
                .for_each(|(index, value)| places(value, &format!("{here}/{index}"), all));
        }
        _ => {}
    }
}

/// The document with one place taken out or replaced, in every way we know.
fn broken(document: &Value, place: &str) -> Vec<Value> {
    let others = [
        json!(null),
        json!(true),
        json!(7),
        json!(-1),
        json!(1.5),
        json!(u64::from(u32::MAX) + 1),
        json!("x"),
        json!([]),
        json!({}),
        json!([[1]]),
    ];
    let mut all = Vec::new();
    for other in others {
        let mut copy = document.clone();
        let target = copy.pointer_mut(place).expect("a place of the document");
        // A list in an object's place is read by its order, which is serde's habit and nobody's promise.
        if *target != other && !(target.is_object() && other.is_array()) {
            *target = other;
            all.push(copy);
        }
    }
    if let Some((parent, key)) = place.rsplit_once('/') {
        let mut copy = document.clone();
        if let Some(Value::Object(fields)) = copy.pointer_mut(parent) {
            fields.remove(&key.replace("~1", "/").replace("~0", "~"));
            all.push(copy);
        }
    }
    all
}

#[test]
fn golden_messages_and_bodies_fit_their_schemas() {
    for (row, documents) in rows() {
        let validator = validator(row.name);
        for document in documents {
            let faults: Vec<_> = validator.iter_errors(&document).map(|fault| fault.to_string()).collect();
            assert!(faults.is_empty(), "`{}`: {document}\n{}", row.name, faults.join("\n"));
        }
    }
}

/// What clients send: the schema takes exactly what the type reads. What the server sends: the schema promises at
/// least as much as the type needs.
#[test]
fn schemas_and_types_agree_about_broken_documents() {
    for (row, documents) in rows() {
        let validator = validator(row.name);
        let mut refused = 0;
        for document in documents {
            let mut all = Vec::new();
            places(&document, "", &mut all);
            for changed in all.iter().flat_map(|place| broken(&document, place)) {
                let by_schema = validator.is_valid(&changed);
                let by_type = type_reads(row, &changed);
                assert!(by_type || !by_schema, "`{}`: only the schema takes {changed}", row.name);
                if row.sender == CLIENT {
                    assert!(by_schema || !by_type, "`{}`: only the type takes {changed}", row.name);
                }
                refused += usize::from(!by_schema);
            }
        }
        // Seven values are no object, so even a schema without required fields refuses that many.
        assert!(refused >= 7, "`{}` refused only {refused} broken documents", row.name);
    }
}

#[test]
fn a_schema_refuses_another_message() {
    for (row, documents) in rows().filter(|(row, _)| MESSAGES.iter().any(|message| message.name == row.name))
    {
        for mut document in documents {
            document["type"] = json!("client.bye");
            assert!(!validator(row.name).is_valid(&document), "{}", row.name);
        }
    }
}
