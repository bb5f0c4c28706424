//! Write Mehrhof plugins in Rust: fill one of three traits, and hand it to [`run`].
//!
//! ```no_run
//! use loggia_plugin_kit::protocol::{ReferenceId, WorkUnit};
//! use loggia_plugin_kit::{Plugin, PluginError, Provider, run};
//!
//! struct Shop;
//!
//! impl Provider for Shop {
//!     fn schemes(&self) -> Vec<String> {
//!         vec!["shop".to_owned()]
//!     }
//!
//!     fn fetch(&mut self, id: &ReferenceId) -> Result<WorkUnit, PluginError> {
//!         match id.0.as_str() {
//!             "1" => Ok(WorkUnit::new("1", "Sweep the floor")),
//!             other => Err(PluginError::not_found(format!("there is no task `{other}`"))),
//!         }
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     run(Plugin::provider(Shop))
//! }
//! ```
//!
//! Knows the conversation: lines, answers, errors, streams and the end. Refuses to know hosts, manifests and what a plugin
//! is for. It blocks and starts one thread; a plugin that wants a runtime brings its own.
//!
//! What always holds:
//! - every request gets exactly one answer, also when the plugin's code panics;
//! - under [`run`] nothing the plugin prints reaches the host: standard output is standard error meanwhile;
//! - a plugin leaves when the host says `shutdown` or closes its input.

mod agent;
mod error;
mod plugin;
mod provider;
mod serve;
mod stdio;
mod wire;
mod workflow;

pub use agent::{Agent, Run, ToolCall};
pub use error::PluginError;
pub use loggia_jsonrpc::Json;
pub use loggia_protocol_mehrhof as protocol;
pub use plugin::Plugin;
pub use provider::Provider;
pub use serde_json::json;
pub use serve::serve;
pub use stdio::run;
pub use workflow::{Workflow, allow, deny, done, failed, warn};
