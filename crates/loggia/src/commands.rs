//! One file per command: what it does once its arguments are read.
//!
//! A command gets its arguments and, if it needs it, the configuration; it prints through
//! [`crate::output::Printer`] and returns how to leave.

pub(crate) mod ask;
pub(crate) mod attach;
pub(crate) mod chat;
pub(crate) mod client;
pub(crate) mod completions;
pub(crate) mod config_path;
pub(crate) mod config_show;
pub(crate) mod docs;
pub(crate) mod doctor;
pub(crate) mod extension;
pub(crate) mod extension_check;
pub(crate) mod extension_new;
pub(crate) mod index;
pub(crate) mod index_pull;
pub(crate) mod init;
pub(crate) mod inspect;
mod known;
pub(crate) mod message;
pub(crate) mod model;
pub(crate) mod open;
pub(crate) mod plugin;
pub(crate) mod plugin_check;
pub(crate) mod plugin_new;
pub(crate) mod policy;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod task;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod wrap;
