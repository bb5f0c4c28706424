//! The schemas of the bodies as components of one document.
//!
//! Each schema of the protocol stands alone and carries the parts it needs. Here the parts move to one place, under
//! one name for each shape. A part that is read otherwise than it is written (see the protocol's schemas) is there
//! twice, and the one that is read has `Input` after its name.

use std::collections::BTreeMap;

use loggia_protocol_agent_server::{BODIES, CLIENT, SCHEMAS, STRICT_BODIES, SchemaInfo};
use serde_json::{Map, Value};

/// Where a schema of the protocol keeps its parts.
const PARTS: &str = "#/$defs/";
/// Where the document keeps them.
const COMPONENTS: &str = "#/components/schemas/";

/// All components, by name.
pub(super) fn schemas() -> Map<String, Value> {
    let is_body = |row: &&SchemaInfo| BODIES.iter().chain(STRICT_BODIES).any(|body| body.name == row.name);
    let mut all = Components::default();
    let mut rows: Vec<&SchemaInfo> = SCHEMAS.iter().filter(is_body).collect();
    // Bodies take their names first, and then what the server writes: the shape most readers want has the plain name.
    rows.sort_by_key(|row| row.sender == CLIENT);
    let bodies: Vec<Body> = rows.into_iter().map(Body::new).collect();
    for body in &bodies {
        all.names.insert(body.name.to_owned(), body.expanded(&body.root));
    }
    for body in &bodies {
        all.add(body);
    }
    all.schemas
}

/// A body's schema, taken apart.
struct Body {
    name: &'static str,
    root: Value,
    parts: Map<String, Value>,
}

impl Body {
    fn new(row: &SchemaInfo) -> Self {
        let mut root = row.schema();
        let mut parts = Map::new();
        if let Value::Object(fields) = &mut root {
            fields.remove("$schema");
            fields.remove("$id");
            fields.remove("title");
            if let Some(Value::Object(found)) = fields.remove("$defs") {
                parts = found;
            }
        }
        Self { name: row.name, root, parts }
    }

    /// The schema with its parts in the place of references, for comparing. Our types hold none of themselves.
    fn expanded(&self, schema: &Value) -> Value {
        map_references(schema, &|target| {
            let part = target.strip_prefix(PARTS).and_then(|name| self.parts.get(name));
            part.map_or_else(|| Value::from(target), |part| self.expanded(part))
        })
    }
}

#[derive(Default)]
struct Components {
    schemas: Map<String, Value>,
    /// What stands behind each name.
    names: BTreeMap<String, Value>,
}

impl Components {
    fn add(&mut self, body: &Body) {
        let names: BTreeMap<&str, String> = body
            .parts
            .iter()
            .map(|(name, part)| (name.as_str(), self.name(name, body.expanded(part))))
            .collect();
        let moved = |schema: &Value| {
            map_references(schema, &|target| {
                let name = target.strip_prefix(PARTS).and_then(|name| names.get(name));
                Value::from(name.map_or_else(|| target.to_owned(), |name| format!("{COMPONENTS}{name}")))
            })
        };
        self.schemas.insert(body.name.to_owned(), moved(&body.root));
        for (name, part) in &body.parts {
            self.schemas.entry(names[name.as_str()].clone()).or_insert_with(|| moved(part));
        }
    }

    /// The name of a part: that of the body with the same shape, its own, or its own as input.
    fn name(&mut self, own: &str, shape: Value) -> String {
        let choices = [snake_case(own), own.to_owned(), format!("{own}Input")];
        let [body, own, input] = choices;
        if self.names.get(&body) == Some(&shape) {
            return body;
        }
        let name = if self.names.get(&own).is_none_or(|taken| *taken == shape) { own } else { input };
        self.names.insert(name.clone(), shape);
        name
    }
}

/// A copy with every reference replaced.
fn map_references(schema: &Value, replace: &impl Fn(&str) -> Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let changed = fields.iter().map(|(key, value)| match value {
                Value::String(target) if key == "$ref" => (key.clone(), replace(target)),
                value => (key.clone(), map_references(value, replace)),
            });
            Value::Object(changed.collect())
        }
        Value::Array(values) => values.iter().map(|value| map_references(value, replace)).collect(),
        other => other.clone(),
    }
}

/// `IndexStatus` as `index_status`.
fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for char in name.chars() {
        if char.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(char.to_ascii_lowercase());
    }
    text
}
