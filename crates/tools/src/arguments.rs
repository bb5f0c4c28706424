//! Arguments as models send them, made into a tool's argument type.
//!
//! Knows JSON Schema only as far as our own argument types produce it: objects, lists, texts, whole numbers and
//! booleans. Refuses to know any tool.
//!
//! What always holds: what the schema promises is what is accepted, and a little more: a number or a boolean in
//! quotes, a list or an object in quotes, one text where a list of texts is wanted, and `null` for what may be left
//! out. Whatever else is wrong is told with the field's name and what was expected there.

mod fit;
mod schema;

use loggia_domain::{ArgumentError, JsonText};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use schema::Shape;

/// How much text one call's arguments may be: room for the largest file a tool writes, escaped as JSON, and no more.
const MAX_ARGUMENTS: usize = 32 * 1024 * 1024;

/// Reads the arguments of a call to `tool`.
///
/// # Errors
/// What is wrong with them, for the model.
pub(crate) fn read<A: DeserializeOwned>(
    tool: &str,
    shape: &Shape,
    text: &JsonText,
) -> Result<A, ArgumentError> {
    let error = |message: String| ArgumentError(format!("{tool}: {message}"));
    if text.0.len() > MAX_ARGUMENTS {
        return Err(error(format!(
            "the arguments are {} bytes long; the limit is {MAX_ARGUMENTS}",
            text.0.len()
        )));
    }
    let mut value =
        parse(&text.0).map_err(|source| error(format!("the arguments are not valid JSON: {source}")))?;
    fit::fit(&mut value, shape.as_value()).map_err(|misfit| error(misfit.to_string()))?;
    serde_path_to_error::deserialize(value)
        .map_err(|source| error(format!("`{}`: {}", source.path(), source.inner())))
}

/// Models send nothing at all to tools without arguments, and some send the object as a text.
fn parse(text: &str) -> Result<Value, serde_json::Error> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(text)
}
