//! Tests of the Mehrhof wire types: text in, text out.

mod agent;
mod errors;
mod golden;
mod provider;
mod rules;
mod stream;
mod unwrap;
mod workflow;

use loggia_jsonrpc::{FieldError, decode};
use loggia_protocol_mehrhof::METHODS;
use serde::de::DeserializeOwned;

/// Reads a value as its type.
fn value<T: DeserializeOwned>(text: &str) -> T {
    decode(text).unwrap_or_else(|error: FieldError| panic!("{text}: {error}"))
}

/// Reads a result of a method and gives it back as written, or says what was wrong.
fn result(method: &str, text: &str) -> String {
    let row = METHODS.iter().find(|row| row.name == method).expect("a method of the table");
    row.rewrite_result(text).unwrap_or_else(|error| format!("error: {error}"))
}
