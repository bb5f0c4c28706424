//! Models behind one trait.
//!
//! Knows how to talk to models; today there is only the scripted one, for tests, demonstrations and benchmarks.
//! Refuses to know sessions and tools: it is handed a conversation and descriptions.

mod scripted;
mod searching;

pub use scripted::{Script, ScriptError, ScriptedCatalogue, ScriptedModel};
pub use searching::{SearchingCatalogue, SearchingModel};
