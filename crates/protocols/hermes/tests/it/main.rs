//! What a reader of the protocol may rely on, in one test binary.

#![allow(clippy::unwrap_used, reason = "whatever fails here fails a test")]

mod dialect;
mod fields;
mod golden;
mod schema;
mod table;
