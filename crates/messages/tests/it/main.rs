//! The desk as others see it, and what must hold for any document.

#![expect(clippy::unwrap_used, reason = "a step that fails is the test's failure")]

mod bad_input;
mod desk;
mod formats;
mod properties;
mod schema;
mod support;
mod trees;
