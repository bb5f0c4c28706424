//! TOML: reading a document, and writing one.

use std::str::FromStr;

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value as TomlValue};

use crate::hl7::path::cut;
use crate::limits::MAX_NODES;
use crate::tree::node::{Entry, Node, Value};
use crate::tree::{TreeError, WriteError};

/// How many levels of tables have headings of their own; what is below them stands on one line.
const HEADED_LEVELS: usize = 2;

/// Reads a text.
pub(crate) fn read(text: &str) -> Result<Node, TreeError> {
    let document = parse(text)?;
    let mut left = MAX_NODES;
    read_table(document.as_table(), &mut left)
}

/// A text as a document whose layout is kept.
pub(crate) fn parse(text: &str) -> Result<DocumentMut, TreeError> {
    let broken = |error: toml_edit::TomlError| TreeError::Broken {
        format: "TOML",
        why: error.message().lines().collect::<Vec<_>>().join(" "),
    };
    DocumentMut::from_str(text).map_err(broken)
}

fn read_table(table: &Table, left: &mut usize) -> Result<Node, TreeError> {
    take_one(left)?;
    let entries = table.iter().filter(|(_, item)| !item.is_none());
    let entries = entries.map(|(key, item)| Ok(Entry::new(key, read_item(item, left)?)));
    Ok(Node::map(entries.collect::<Result<_, TreeError>>()?))
}

/// One value of a document.
pub(crate) fn read_item(item: &Item, left: &mut usize) -> Result<Node, TreeError> {
    match item {
        Item::None => Ok(Node::null()),
        Item::Value(value) => read_value(value, left),
        Item::Table(table) => read_table(table, left),
        Item::ArrayOfTables(tables) => {
            take_one(left)?;
            let nodes = tables.iter().map(|table| read_table(table, left)).collect::<Result<_, _>>()?;
            Ok(Node::new(Value::List(nodes)))
        }
    }
}

fn read_value(value: &TomlValue, left: &mut usize) -> Result<Node, TreeError> {
    take_one(left)?;
    let value = match value {
        TomlValue::String(text) => Value::Text(text.value().clone()),
        TomlValue::Integer(number) => Value::Number(number.display_repr().into_owned()),
        TomlValue::Float(number) => Value::Number(number.display_repr().into_owned()),
        TomlValue::Boolean(value) => Value::Bool(*value.value()),
        TomlValue::Datetime(moment) => Value::Text(moment.value().to_string()),
        TomlValue::Array(values) => {
            Value::List(values.iter().map(|value| read_value(value, left)).collect::<Result<_, _>>()?)
        }
        TomlValue::InlineTable(table) => {
            let entries = table.iter().map(|(key, value)| Ok(Entry::new(key, read_value(value, left)?)));
            Value::Map(entries.collect::<Result<_, TreeError>>()?)
        }
    };
    Ok(Node::new(value))
}

fn take_one(left: &mut usize) -> Result<(), TreeError> {
    *left = left.checked_sub(1).ok_or(TreeError::TooManyNodes)?;
    Ok(())
}

/// Writes a document.
pub(crate) fn write(node: &Node) -> Result<String, WriteError> {
    let Value::Map(entries) = &node.value else { return Err(WriteError::NoTable(node.kind())) };
    let mut document = DocumentMut::new();
    *document.as_table_mut() = table(entries, 0)?;
    Ok(document.to_string())
}

fn table(entries: &[Entry], level: usize) -> Result<Table, WriteError> {
    let mut table = Table::new();
    for entry in entries {
        table.insert(&entry.key, item(&entry.node, &entry.key, level)?);
    }
    Ok(table)
}

/// A value at some level of headings.
pub(crate) fn item(node: &Node, key: &str, level: usize) -> Result<Item, WriteError> {
    let maps = |nodes: &[Node]| -> Option<Vec<Vec<Entry>>> {
        let maps = nodes
            .iter()
            .map(|node| if let Value::Map(entries) = &node.value { Some(entries.clone()) } else { None });
        maps.collect()
    };
    match &node.value {
        Value::Map(entries) if level < HEADED_LEVELS => Ok(Item::Table(table(entries, level + 1)?)),
        Value::List(nodes) if level < HEADED_LEVELS && !nodes.is_empty() => match maps(nodes) {
            None => Ok(Item::Value(value(node, key)?)),
            Some(maps) => {
                let mut tables = ArrayOfTables::new();
                for entries in maps {
                    tables.push(table(&entries, level + 1)?);
                }
                Ok(Item::ArrayOfTables(tables))
            }
        },
        _ => Ok(Item::Value(value(node, key)?)),
    }
}

/// A value on one line.
pub(crate) fn value(node: &Node, key: &str) -> Result<TomlValue, WriteError> {
    match &node.value {
        Value::Null => Err(WriteError::Null(cut(key))),
        Value::Bool(value) => Ok(TomlValue::from(*value)),
        Value::Text(text) => Ok(TomlValue::from(text.as_str())),
        Value::Number(text) => number(text),
        Value::List(nodes) => {
            let mut array = Array::new();
            for node in nodes {
                array.push(value(node, key)?);
            }
            Ok(TomlValue::Array(array))
        }
        Value::Map(entries) => {
            let mut table = InlineTable::new();
            for entry in entries {
                table.insert(&entry.key, value(&entry.node, &entry.key)?);
            }
            Ok(TomlValue::InlineTable(table))
        }
    }
}

/// A number of any of the formats.
fn number(text: &str) -> Result<TomlValue, WriteError> {
    let bare = text.trim_start_matches(['+', '-']);
    let special = match bare.to_ascii_lowercase().as_str() {
        ".inf" | "inf" => Some("inf"),
        ".nan" | "nan" => Some("nan"),
        _ => None,
    };
    let written = match special {
        Some("inf") if text.starts_with('-') => "-inf".to_owned(),
        Some(special) => special.to_owned(),
        None => text.to_owned(),
    };
    let parsed =
        TomlValue::from_str(&written).ok().or_else(|| TomlValue::from_str(&super::json::number(text)?).ok());
    let parsed = parsed.filter(|value| value.is_integer() || value.is_float());
    parsed.ok_or_else(|| WriteError::Number(cut(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::json;

    fn check(text: &str, expected: &str) {
        let node = read(text).unwrap();
        assert_eq!(json::write_compact(&node), expected, "{text}");
        let written = write(&node).unwrap();
        assert_eq!(read(&written).unwrap(), node, "{written}");
    }

    #[test]
    fn documents_are_read_and_written() {
        check(
            "a = 1\nb = \"é\"\n[c]\nd = [1, 2.50, { e = true }]\n",
            r#"{"a":1,"b":"é","c":{"d":[1,2.50,{"e":true}]}}"#,
        );
        check(
            "[[s]]\nx = 1\n[s.f]\n\"1\" = '^~\\&'\n[[s]]\nx = 2\n",
            r#"{"s":[{"x":1,"f":{"1":"^~\\&"}},{"x":2}]}"#,
        );
        check("a = 1979-05-27T07:32:00Z\nb = 1_000\n", r#"{"a":"1979-05-27T07:32:00Z","b":1000}"#);
        check("", "{}");
    }

    #[test]
    fn what_toml_has_not_is_refused() {
        let refusal = |text: &str| write(&json::read(text).unwrap()).unwrap_err();
        assert_eq!(refusal("[1]"), WriteError::NoTable("a list"));
        assert_eq!(refusal(r#"{"a":{"b":null}}"#), WriteError::Null("b".to_owned()));
        assert_eq!(
            refusal(r#"{"a":99999999999999999999}"#),
            WriteError::Number("99999999999999999999".to_owned())
        );
        for text in ["a", "a = ", "a = 1\na = 2", "[a"] {
            assert!(matches!(read(text), Err(TreeError::Broken { .. })), "{text}");
        }
    }
}
