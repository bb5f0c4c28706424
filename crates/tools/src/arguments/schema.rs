//! The JSON Schema of an argument type, in the plain form that every model provider takes.
//!
//! Invariant: no references, no titles, no formats, no `null` beside another type: an argument that may be left out
//! is one that `required` does not name.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// A tool's description and the schema of its arguments, both from one Rust type.
pub(crate) struct Shape {
    description: String,
    schema: Value,
}

impl Shape {
    /// The shape of `A`: its doc comment is the description, its fields' doc comments are in the schema.
    pub(crate) fn of<A: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        });
        let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
        simplify(&mut schema);
        let description = match schema.as_object_mut().and_then(|object| object.remove("description")) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        if let Some(object) = schema.as_object_mut() {
            // A tool without arguments has a type without fields; providers want the member all the same.
            object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        }
        Self { description, schema }
    }

    /// What the tool does.
    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// The schema.
    pub(crate) fn as_value(&self) -> &Value {
        &self.schema
    }
}

fn simplify(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    for noise in ["title", "format", "default"] {
        object.remove(noise);
    }
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = unwrapped(description);
    }
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_mut_slice() {
            let kind = kind.take();
            object.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(simplify);
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(inner) {
            simplify(inner);
        }
    }
}

/// A doc comment's lines as running text; empty lines still part paragraphs.
fn unwrapped(text: &str) -> String {
    let paragraphs: Vec<String> =
        text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    paragraphs.join("\n\n")
}
