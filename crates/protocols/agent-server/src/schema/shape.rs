//! What the derived schemas leave to say: how large integers are, that the server writes no `null`, which objects
//! are closed, and descriptions without the marks of Rust's documentation.

use schemars::Schema;
use serde_json::{Number, Value};

/// Gives integers the bounds of their type, where nothing narrower is said.
pub(super) fn bound_integers(schema: &mut Schema) {
    let bounds: (Number, Number) = match schema.get("format").and_then(Value::as_str) {
        Some("uint16") => (0.into(), u16::MAX.into()),
        Some("uint32") => (0.into(), u32::MAX.into()),
        Some("uint" | "uint64") => (0.into(), u64::MAX.into()),
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        Some("int64") => (i64::MIN.into(), i64::MAX.into()),
        _ => return,
    };
    let fields = schema.ensure_object();
    fields.entry("minimum").or_insert(bounds.0.into());
    fields.entry("maximum").or_insert(bounds.1.into());
}

/// Describes properties as the server writes them: one that may be absent is never `null`, and one that is always
/// there needs no default.
pub(super) fn as_written(schema: &mut Schema) {
    let required: Vec<String> = match schema.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (name, property) in properties {
        let Value::Object(fields) = property else { continue };
        if required.contains(name) {
            fields.remove("default");
        } else {
            drop_null(fields);
        }
    }
}

/// Lets objects have no properties but those they name.
pub(super) fn close(schema: &mut Schema) {
    if schema.get("properties").is_some() {
        schema.ensure_object().entry("additionalProperties").or_insert(Value::Bool(false));
    }
}

/// Undoes each of the ways in which an optional type is marked as one.
fn drop_null(fields: &mut serde_json::Map<String, Value>) {
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = fields.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    let is_null = |choice: &Value| choice.get("type").is_some_and(|name| name == "null");
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf")
        && choices.iter().any(is_null)
    {
        choices.retain(|choice| !is_null(choice));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            fields.remove("anyOf");
            // What the field says about itself counts more than what its type says.
            for (key, value) in only {
                fields.entry(key).or_insert(value);
            }
        }
    }
}

/// Takes the marks of links to Rust items out of a description, and its line breaks.
pub(super) fn plain_description(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let paragraphs = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
        *text = paragraphs.collect::<Vec<_>>().join("\n\n").replace("[`", "`").replace("`]", "`");
    }
}
