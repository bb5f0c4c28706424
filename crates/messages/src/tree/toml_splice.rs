//! Changing TOML in place: comments, order and layout stay.

use toml_edit::{Array, Datetime, Item, Table, Value as TomlValue};

use crate::tree::edit::{Edit, Refusal, What};
use crate::tree::node::{Node, Value};
use crate::tree::path::{Step, shown};
use crate::tree::toml::{item, parse, value};

/// The text after an edit.
pub(crate) fn spliced(text: &str, edit: &Edit) -> Result<String, Refusal> {
    let mut document = parse(text).map_err(|_| Refusal::NotInPlace)?;
    let root = Place::Table(document.as_table_mut());
    match &edit.what {
        What::Replace(new) => {
            let (last, way) = edit.way.split_last().ok_or(Refusal::NotInPlace)?;
            let place = go(root, way)?;
            replace(place, last, new)?;
        }
        What::Add(key, new) => match go(root, &edit.way)? {
            Place::Table(table) => {
                table.insert(key, item(new, key, edit.way.len())?);
            }
            Place::Item(Item::Table(table)) => {
                table.insert(key, item(new, key, edit.way.len())?);
            }
            Place::Item(Item::Value(TomlValue::InlineTable(table)))
            | Place::Value(TomlValue::InlineTable(table)) => {
                table.insert(key, value(new, key)?);
            }
            _ => return Err(Refusal::NotInPlace),
        },
        What::Append(new) => match (go(root, &edit.way)?, &new.value) {
            (
                Place::Item(Item::Value(TomlValue::Array(array))) | Place::Value(TomlValue::Array(array)),
                _,
            ) => {
                array.push(value(new, "")?);
            }
            (Place::Item(Item::ArrayOfTables(tables)), Value::Map(_)) => {
                let made = item(new, "", 0)?.into_table().map_err(|_| Refusal::NotInPlace)?;
                tables.push(made);
            }
            _ => return Err(Refusal::NotInPlace),
        },
        What::RemoveKey(key) => match go(root, &edit.way)? {
            Place::Table(table) => drop(table.remove(key)),
            Place::Item(Item::Table(table)) => drop(table.remove(key)),
            Place::Item(Item::Value(TomlValue::InlineTable(table)))
            | Place::Value(TomlValue::InlineTable(table)) => drop(table.remove(key)),
            _ => return Err(Refusal::NotInPlace),
        },
        What::RemoveIndex(index) => match go(root, &edit.way)? {
            Place::Item(Item::Value(TomlValue::Array(array))) | Place::Value(TomlValue::Array(array)) => {
                let removed = array.remove(*index);
                if let (0, Some(first)) = (*index, array.get_mut(0)) {
                    // What is first now begins where the other one did.
                    let prefix = removed.decor().prefix().cloned().unwrap_or_default();
                    first.decor_mut().set_prefix(prefix);
                }
            }
            Place::Item(place) => remove_table(place, *index)?,
            _ => return Err(Refusal::NotInPlace),
        },
    }
    Ok(document.to_string())
}

/// Takes a table out of a list of them. A list without any has no headings, so it becomes an empty one.
fn remove_table(place: &mut Item, index: usize) -> Result<(), Refusal> {
    let Item::ArrayOfTables(tables) = &mut *place else { return Err(Refusal::NotInPlace) };
    tables.remove(index);
    if tables.is_empty() {
        *place = Item::Value(TomlValue::Array(Array::new()));
    }
    Ok(())
}

/// A place on the way: what it is depends on how the document is written.
enum Place<'d> {
    Table(&'d mut Table),
    Item(&'d mut Item),
    Value(&'d mut TomlValue),
}

fn go<'d>(root: Place<'d>, way: &[Step]) -> Result<Place<'d>, Refusal> {
    way.iter().try_fold(root, |place, step| next(place, step).ok_or_else(|| Refusal::Missing(shown(way))))
}

fn next<'d>(place: Place<'d>, step: &Step) -> Option<Place<'d>> {
    match (place, step) {
        (Place::Table(table) | Place::Item(Item::Table(table)), Step::Key(key)) => {
            table.get_mut(key).map(Place::Item)
        }
        (
            Place::Item(Item::Value(TomlValue::InlineTable(table)))
            | Place::Value(TomlValue::InlineTable(table)),
            Step::Key(key),
        ) => table.get_mut(key).map(Place::Value),
        (
            Place::Item(Item::Value(TomlValue::Array(array))) | Place::Value(TomlValue::Array(array)),
            Step::Index(index),
        ) => array.get_mut(*index).map(Place::Value),
        (Place::Item(Item::ArrayOfTables(tables)), Step::Index(index)) => {
            tables.get_mut(*index).map(Place::Table)
        }
        _ => None,
    }
}

fn replace(parent: Place<'_>, last: &Step, new: &Node) -> Result<(), Refusal> {
    let name = shown(std::slice::from_ref(last));
    match next(parent, last).ok_or(Refusal::Missing(name.clone()))? {
        Place::Item(Item::Value(old)) | Place::Value(old) => replace_value(old, new, &name),
        Place::Item(old) => {
            *old = item(new, &name, 0)?;
            Ok(())
        }
        Place::Table(table) => match item(new, &name, 0)?.into_table() {
            Ok(new) => {
                *table = new;
                Ok(())
            }
            Err(_) => Err(Refusal::NotInPlace),
        },
    }
}

/// Another value with the white space and the notes around the old one.
fn replace_value(old: &mut TomlValue, new: &Node, name: &str) -> Result<(), Refusal> {
    let moment = match &new.value {
        Value::Text(text) if old.is_datetime() => text.parse::<Datetime>().ok(),
        _ => None,
    };
    let mut new = match moment {
        Some(moment) => TomlValue::from(moment),
        None => value(new, name)?,
    };
    *new.decor_mut() = old.decor().clone();
    *old = new;
    Ok(())
}
