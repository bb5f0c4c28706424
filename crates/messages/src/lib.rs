//! The open message of a workspace: a document that is read and changed by paths into it.
//!
//! Fills [`MessageDesk`](loggia_domain::MessageDesk). Knows HL7 version 2, JSON, YAML and TOML, paths into them, undo,
//! the file a message is saved to, and what a schema says about fields. Refuses to know who asks and whether they
//! may: extensions, tools and people are all callers.
//!
//! # What always holds
//!
//! - A message is its text. A change replaces a range of it, and every other byte stays; nothing is ever put together
//!   anew from what was understood.
//! - Taking a step back gives the text before it, to the byte.
//! - Files are reached through the handle on the workspace's root, written whole or not at all, and never in
//!   `.loggia/`, `.git/` or `.mehrhof/`.
//! - No input is too large or too deep for its limit in [`limits`], and none makes anything panic.

mod desk;
mod document;
mod history;
mod hl7;
pub mod limits;
mod schema;
mod tree;
mod validate;

pub use desk::Desk;
pub use document::{Document, Patched};
