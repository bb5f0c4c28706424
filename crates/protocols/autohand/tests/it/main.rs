//! Tests of the Autohand wire types: text in, text out.

mod changes;
mod constructors;
mod golden;
mod permission;
mod prompts;
mod rules;

use loggia_jsonrpc::{FieldError, decode};
use loggia_protocol_autohand::METHODS;
use serde::de::DeserializeOwned;

/// Reads parameters as their type.
fn params<T: DeserializeOwned>(text: &str) -> T {
    decode(text).unwrap_or_else(|error: FieldError| panic!("{text}: {error}"))
}

/// Reads parameters of a method and gives them back as written, or says what was wrong.
fn rewritten(method: &str, text: &str) -> String {
    let row = METHODS.iter().find(|row| row.name == method).expect("a method of the table");
    row.rewrite_params(text).unwrap_or_else(|error| format!("error: {error}"))
}
