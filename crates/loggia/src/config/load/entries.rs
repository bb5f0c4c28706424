//! Lists of tables in a file, such as `[[extensions]]`: each table becomes one assignment, checked field by field.

use loggia_jsonrpc::Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::error::ConfigError;
use super::super::keys::{self, Key};
use super::super::layers::{Assignment, Origin};
use super::super::value::Value;
use super::{Walk, describe, join, read_value};
use crate::nearest::nearest;

/// Fields without which a table says nothing.
const NEEDED: [&Key; 1] = [&keys::EXTENSION_PATH];

impl<F: Fn(usize) -> Origin> Walk<'_, F> {
    /// All tables of a list.
    pub(super) fn entries(&mut self, key: &'static Key, value: &Spanned<DeValue<'_>>) {
        let DeValue::Array(list) = value.get_ref() else { return self.no_list(key, value) };
        for one in list {
            match one.get_ref() {
                DeValue::Table(table) => self.entry(key, one.span().start, table),
                _ => self.no_list(key, one),
            }
        }
    }

    fn entry(&mut self, key: &'static Key, start: usize, table: &DeTable<'_>) {
        let mut entry = serde_json::Map::new();
        for (name, value) in table {
            let Some(field) = keys::field(key, name.get_ref()) else {
                self.unknown_field(key, name);
                continue;
            };
            match read_value(field, value.get_ref()).filter(|read| !is_empty_where_needed(field, read)) {
                Some(read) => {
                    entry.insert(name.get_ref().to_string(), as_json(read));
                }
                None => self.wrong_field(field, join(key.path, name.get_ref()), value),
            }
        }
        for needed in NEEDED {
            let Some(name) = needed.field_of(key) else { continue };
            if !table.keys().any(|given| given.get_ref() == name) {
                self.fault(
                    start,
                    ConfigError::WrongValue {
                        key: join(key.path, name),
                        found: "left out".to_owned(),
                        place: self.place(start).to_string(),
                        expected: format!("`{name}` in each `[[{}]]`", key.path),
                    },
                );
            }
        }
        let origin = (self.origin)(self.place(start).line);
        let value = Value::Object(Json(entry.into()));
        self.assignments.push(Assignment { key, path: key.path.into(), value, origin });
    }

    fn no_list(&mut self, key: &Key, value: &Spanned<DeValue<'_>>) {
        let start = value.span().start;
        let place = self.place(start).to_string();
        let (found, expected) = (describe(value.get_ref()), key.kind.expectation());
        self.fault(start, ConfigError::WrongValue { key: key.path.to_owned(), found, place, expected });
    }

    fn unknown_field(&mut self, list: &Key, name: &Spanned<std::borrow::Cow<'_, str>>) {
        let start = name.span().start;
        let known = keys::FIELDS.iter().filter_map(|field| field.field_of(list));
        let nearest = nearest(name.get_ref(), known);
        let (key, place) = (join(list.path, name.get_ref()), self.place(start));
        self.fault(start, ConfigError::UnknownKey { key, place, nearest });
    }

    fn wrong_field(&mut self, field: &Key, key: String, value: &Spanned<DeValue<'_>>) {
        let start = value.span().start;
        let place = self.place(start).to_string();
        let (found, expected) = (describe(value.get_ref()), field.kind.expectation());
        self.fault(start, ConfigError::WrongValue { key, found, place, expected });
    }
}

/// Whether a field says nothing that has to say something.
fn is_empty_where_needed(field: &Key, value: &Value) -> bool {
    let needed = NEEDED.iter().any(|needed| needed.path == field.path);
    needed && matches!(value, Value::Text(text) if text.trim().is_empty())
}

fn as_json(value: Value) -> serde_json::Value {
    match value {
        Value::Text(text) => text.into_owned().into(),
        Value::Count(count) | Value::Decimal(count) => count.into(),
        Value::Switch(switch) => switch.into(),
        Value::Object(Json(object)) => object,
    }
}
