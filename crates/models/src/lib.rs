//! Models behind one trait.
//!
//! Knows how to talk to models: hosted providers and servers on this machine through [`Models`], and a scripted one
//! for tests, demonstrations and benchmarks. Refuses to know sessions and tools: it is handed a conversation and
//! descriptions. It reads no configuration and no environment of its own: it is handed [`Settings`] and an
//! [`Environment`].

mod address;
mod auto;
mod chain;
mod doctor;
mod keyring;
mod keys;
mod listing;
mod models;
mod provider;
mod scripted;
mod searching;
mod secret;
mod service;
mod settings;
mod shelf;

pub use doctor::{Diagnosis, KeyState, KeyringState, ProviderState, Reach, Tested};
pub use keyring::{Keyring, KeyringError, SystemKeyring};
pub use keys::{MAX_KEY_BYTES, NotAKey, checked_key};
pub use models::Models;
pub use provider::Hosted;
pub use scripted::{Script, ScriptError, ScriptedCatalogue, ScriptedModel};
pub use searching::{SearchingCatalogue, SearchingModel};
pub use secret::Secret;
pub use service::Service;
pub use settings::{Effort, Endpoint, EndpointKind, Environment, KeySource, Override, Settings, TimeOuts};
pub use shelf::LEAST_CONTEXT;
