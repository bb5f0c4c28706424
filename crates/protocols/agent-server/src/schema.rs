//! The contract as JSON Schema (2020-12): one schema for each message and each body, made from its type.
//!
//! Knows which of our types stands behind each name. Refuses to know where the schemas are kept or served.
//!
//! What always holds:
//! - A schema stands alone: all its references point into itself.
//! - What clients send is described as we read it, `null` for an absent field included. What the server sends is
//!   described as we write it: a field that is always there is required, and none is ever `null`.
//! - Lists of words that may grow take any text; closed ones do not.
//! - Messages may hold fields that their reader does not know. The body of a request may not: somebody mistyped it.

mod shape;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::http::{BODY_SCHEMAS, STRICT_BODY_SCHEMAS};
use crate::message::{CLIENT, MESSAGE_SCHEMAS, Message};

/// What every schema's `$id` begins with.
const ID_PREFIX: &str = "urn:loggia:agent-server:v1:";

/// One schema of the contract.
#[derive(Debug, Clone, Copy)]
pub struct SchemaInfo {
    /// The message's `type`, or the body's name in [`BODIES`](crate::BODIES).
    pub name: &'static str,
    /// Which side writes what it describes: [`CLIENT`] or [`SERVER`].
    pub sender: &'static str,
    make: fn(&str) -> Schema,
}

/// A schema for every row of [`MESSAGES`](crate::MESSAGES), [`BODIES`](crate::BODIES) and
/// [`STRICT_BODIES`](crate::STRICT_BODIES), in their order.
pub const SCHEMAS: &[SchemaInfo] = {
    const LISTS: [&[SchemaInfo]; 3] = [MESSAGE_SCHEMAS, BODY_SCHEMAS, STRICT_BODY_SCHEMAS];
    const ALL: [SchemaInfo; LISTS[0].len() + LISTS[1].len() + LISTS[2].len()] = joined(LISTS);
    &ALL
};

/// One list of all of them; a table is a constant and cannot use iterators.
const fn joined<const N: usize>(lists: [&[SchemaInfo]; 3]) -> [SchemaInfo; N] {
    let mut all = [lists[0][0]; N];
    let (mut list, mut next) = (0, 0);
    while list < lists.len() {
        let mut row = 0;
        while row < lists[list].len() {
            all[next] = lists[list][row];
            next += 1;
            row += 1;
        }
        list += 1;
    }
    all
}

impl SchemaInfo {
    pub(crate) const fn message<M: Message + JsonSchema>(sender: &'static str) -> Self {
        Self { name: M::TYPE, sender, make: message_schema::<M> }
    }

    pub(crate) const fn body<B: JsonSchema>(name: &'static str, sender: &'static str) -> Self {
        Self { name, sender, make: body_schema::<B> }
    }

    /// The schema, whole.
    pub fn schema(&self) -> Value {
        let mut schema = (self.make)(self.sender);
        schema.insert("$id".to_owned(), format!("{ID_PREFIX}{}", self.name).into());
        schema.insert("title".to_owned(), self.name.into());
        let mut schema = schema.to_value();
        // The same text whether or not some crate makes maps keep their order.
        schema.sort_all_objects();
        schema
    }

    /// The schema as the text of a file.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.schema()).expect("a schema is JSON");
        text.push('\n');
        text
    }
}

/// A message's schema with its `type`, which the derive leaves out of structs.
fn message_schema<M: Message + JsonSchema>(sender: &str) -> Schema {
    let mut schema = settings(sender).into_generator().into_root_schema_for::<M>();
    let tag = json!({ "type": "string", "const": M::TYPE });
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("type".to_owned(), tag);
    }
    let mut required = vec![Value::from("type")];
    if let Some(Value::Array(names)) = schema.remove("required") {
        required.extend(names);
    }
    schema.insert("required".to_owned(), required.into());
    schema
}

/// A body's schema; one that is asked with takes no key that nobody knows.
fn body_schema<B: JsonSchema>(sender: &str) -> Schema {
    let settings = settings(sender);
    let settings = match sender {
        CLIENT => settings.with_transform(RecursiveTransform(shape::close)),
        _ => settings,
    };
    settings.into_generator().into_root_schema_for::<B>()
}

fn settings(sender: &str) -> SchemaSettings {
    let settings = SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(shape::bound_integers))
        .with_transform(RecursiveTransform(shape::plain_description));
    if sender == CLIENT {
        settings.for_deserialize()
    } else {
        settings.for_serialize().with_transform(RecursiveTransform(shape::as_written))
    }
}
