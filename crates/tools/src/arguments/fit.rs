//! Making a JSON value fit a schema, within reason.
//!
//! Knows the few schema words that [`Shape`](super::Shape) leaves in. Changes a value only where one reading of it
//! is possible; names the field and what was expected where none is.

use std::fmt;

use serde_json::{Map, Value};

/// How much of a wrong value an error repeats: enough to recognise it.
const MAX_SHOWN: usize = 60;

/// How alike two names must be for one to be offered for the other, from 0 to 1.
const LIKENESS: f64 = 0.5;

/// Where a value does not fit, and why.
#[derive(Debug)]
pub(super) enum Misfit {
    NotAnArgument { at: String, nearest: Option<String>, known: Vec<String> },
    Missing { at: String, description: String },
    Wrong { at: String, expected: String, found: String },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnArgument { at, known, .. } if known.is_empty() => {
                write!(f, "`{at}` is not an argument; there are none")
            }
            Self::NotAnArgument { at, nearest, known } => {
                write!(f, "`{at}` is not an argument")?;
                if let Some(nearest) = nearest {
                    write!(f, "; did you mean `{nearest}`?")?;
                } else {
                    f.write_str(";")?;
                }
                write!(f, " known: {}", known.join(", "))
            }
            Self::Missing { at, description } if description.is_empty() => write!(f, "`{at}` is missing"),
            Self::Missing { at, description } => write!(f, "`{at}` is missing: {description}"),
            Self::Wrong { at, expected, found } if at.is_empty() => {
                write!(f, "the arguments must be {expected}, not {found}")
            }
            Self::Wrong { at, expected, found } => write!(f, "`{at}` must be {expected}, not {found}"),
        }
    }
}

/// Makes `value` fit `schema`.
pub(super) fn fit(value: &mut Value, schema: &Value) -> Result<(), Misfit> {
    fit_at(value, schema, "")
}

fn fit_at(value: &mut Value, schema: &Value, at: &str) -> Result<(), Misfit> {
    unquote(value, schema);
    let fits = match kind(schema) {
        "object" => return fit_object(value, schema, at),
        "array" => return fit_list(value, schema, at),
        "integer" => fit_integer(value, schema),
        "boolean" => value.is_boolean(),
        "string" => fit_text(value),
        // Nothing of ours is of another type; what is, serde judges.
        _ => true,
    };
    if fits { Ok(()) } else { Err(wrong(value, schema, at)) }
}

fn fit_object(value: &mut Value, schema: &Value, at: &str) -> Result<(), Misfit> {
    let no_fields = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_fields);
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|known| known == name))
    };
    let Value::Object(object) = value else {
        return Err(wrong(value, schema, at));
    };
    object.retain(|name, value| !(value.is_null() && properties.contains_key(name) && !required(name)));
    for (name, value) in object.iter_mut() {
        let inner = join(at, name);
        let others = schema.get("additionalProperties").filter(|schema| schema.is_object());
        match properties.get(name).or(others) {
            Some(schema) => fit_at(value, schema, &inner)?,
            None => {
                let known: Vec<String> = properties.keys().cloned().collect();
                return Err(Misfit::NotAnArgument { at: inner, nearest: nearest(name, &known), known });
            }
        }
    }
    match properties.iter().find(|(name, _)| required(name) && !object.contains_key(*name)) {
        Some((name, schema)) => {
            let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
            Err(Misfit::Missing { at: join(at, name), description: description.to_owned() })
        }
        None => Ok(()),
    }
}

fn fit_list(value: &mut Value, schema: &Value, at: &str) -> Result<(), Misfit> {
    let nothing = Value::Null;
    let item_schema = schema.get("items").unwrap_or(&nothing);
    if value.is_string() && kind(item_schema) == "string" {
        *value = Value::Array(vec![value.take()]);
    }
    let Value::Array(items) = value else {
        return Err(wrong(value, schema, at));
    };
    for (number, item) in items.iter_mut().enumerate() {
        fit_at(item, item_schema, &format!("{at}[{number}]"))?;
    }
    Ok(())
}

fn fit_integer(value: &mut Value, schema: &Value) -> bool {
    // Some models write every number as a decimal one.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(decimal) = value.as_f64()
        && value.is_f64()
        && decimal.fract() == 0.0
        && decimal.abs() < EXACT
    {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within what a double holds exactly")]
        let whole = decimal as i64;
        *value = Value::from(whole);
    }
    let least = schema.get("minimum").and_then(Value::as_i64);
    match value.as_i64() {
        Some(number) => least.is_none_or(|least| number >= least),
        None => value.is_u64(),
    }
}

fn fit_text(value: &mut Value) -> bool {
    if value.is_number() || value.is_boolean() {
        *value = Value::String(value.to_string());
    }
    value.is_string()
}

/// Takes a value out of the quotes a model put around it, if it is then of the type that is wanted.
fn unquote(value: &mut Value, schema: &Value) {
    let Value::String(text) = &*value else { return };
    let kind = kind(schema);
    let candidate = match kind {
        "boolean" => text.trim().to_ascii_lowercase(),
        "integer" | "array" | "object" => text.trim().to_owned(),
        _ => return,
    };
    let Ok(inner) = serde_json::from_str::<Value>(&candidate) else { return };
    let wanted = match kind {
        "boolean" => inner.is_boolean(),
        "integer" => inner.is_number(),
        "array" => inner.is_array(),
        _ => inner.is_object(),
    };
    if wanted {
        *value = inner;
    }
}

fn kind(schema: &Value) -> &str {
    schema.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn wrong(value: &Value, schema: &Value, at: &str) -> Misfit {
    let found = match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        other => shown(&other.to_string()),
    };
    Misfit::Wrong { at: at.to_owned(), expected: expected(schema), found }
}

fn expected(schema: &Value) -> String {
    match kind(schema) {
        "object" => "an object".to_owned(),
        "array" => match schema.get("items").map(kind) {
            Some("string") => "a list of strings".to_owned(),
            Some("object") => "a list of objects".to_owned(),
            _ => "a list".to_owned(),
        },
        "integer" => match schema.get("minimum").and_then(Value::as_i64) {
            Some(least) => format!("a whole number of at least {least}"),
            None => "a whole number".to_owned(),
        },
        "boolean" => "true or false".to_owned(),
        "string" => "a string".to_owned(),
        other => other.to_owned(),
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

/// The known name that was most likely meant.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    let name = name.to_lowercase();
    let likeness = |known: &String| {
        if name.contains(known.as_str()) { 1.0 } else { strsim::normalized_damerau_levenshtein(&name, known) }
    };
    known
        .iter()
        .map(|known| (likeness(known), known))
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, known)| known.clone())
}
