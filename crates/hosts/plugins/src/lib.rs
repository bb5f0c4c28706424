//! Hosts Mehrhof plugins: finds them, starts them, speaks to them and offers what they can do to the engine.
//!
//! Knows manifests, where plugins lie, their processes, and what existing plugins get wrong. Refuses to know sessions,
//! tasks and what becomes of anything a plugin says: it fills the traits of `domain` and decides nothing. The
//! environment, the directories, the configuration and the answer to "is this workspace trusted?" arrive as values.
//!
//! What always holds:
//! - finding plugins starts none. A plugin is started when it is first needed, and only if it is enabled and, where a
//!   workspace brought it, trusted at that moment;
//! - a plugin is asked one thing at a time; only results of tools reach it in between. Different plugins do not wait
//!   for each other;
//! - every call ends: with an answer, its time limit, or the plugin's end. A plugin that missed a limit or whose
//!   caller went away is stopped, because it is still busy with what nobody wants any more;
//! - an error names the plugin and the method and tells the last lines of the plugin's stderr;
//! - what a plugin sends is bounded in size before it is kept.

mod agent;
mod aliases;
mod check;
mod context;
mod discovery;
mod ear;
mod error;
mod executable;
mod limits;
mod lines;
mod manifest;
mod plugin;
mod plugins;
mod process;
mod provider;
mod settings;
mod starters;
mod workflow;

pub use agent::GuestAgent;
pub use aliases::{AgentAlias, AgentSettings};
pub use check::{Case, CheckOptions, Outcome, Report, USUAL_PROMPT, check};
pub use context::TrustQuestion;
pub use discovery::{Found, Place, Scope, discover, usual_places};
pub use error::{Fault, PluginError};
pub use executable::{ExecutableError, Invocation, resolve};
pub use limits::Limits;
pub use manifest::{
    AgentRole, Executable, Manifest, ManifestError, PluginKind, ProviderRole, Role, Variable, WorkflowRole,
};
pub use plugin::{Plugin, Sketch};
pub use plugins::{AgentListing, HostSettings, Listing, PluginState, Plugins, ProbeError};
pub use provider::GuestProvider;
pub use settings::{PluginSettings, SettingsError, read_variables};
pub use starters::{Language, Starter, StarterError, StarterFile};
pub use workflow::GuestWorkflow;
