//! The desk as others see it, and what must hold for any document.

mod bad_input;
mod desk;
mod formats;
mod properties;
mod schema;
mod support;
mod trees;
