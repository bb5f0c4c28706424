//! The agent's own tools: reading, searching, proposing changes, asking for commands.
//!
//! Fills the domain's `Tool` for the files below one root. Knows files, diffs, git repositories and what helps a model;
//! refuses to change a file, to run a program, and to know sessions, policies and people.
//!
//! What always holds:
//! - a tool only reads, and only through the root: what is to change comes back as an effect, for the engine to do;
//! - a path in the overlay is as if it were written; what may not be read is not told;
//! - every output is bounded, and says so where it is cut and how to get at the rest;
//! - reading happens on blocking threads, and ends soon after the call's future is dropped;
//! - wrong arguments are answered with the field, what was expected there and, for a wrong name, the nearest one.

mod arguments;
mod call;
mod code;
mod desk;
mod glob;
mod near_miss;
mod path;
mod proposal;
mod text;
mod tools;
mod view;

use std::sync::Arc;

use loggia_domain::Tool;
use loggia_tree::Root;

pub use code::for_index;
pub use desk::{for_commands, for_messages};

/// The tools for the files below a root.
pub fn standard(root: Arc<Root>) -> Vec<Arc<dyn Tool>> {
    tools::all(&root)
}
