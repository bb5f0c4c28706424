//! The built `loggia` binary, run as people run it: own directories, own environment, transcript as snapshot.
#![expect(clippy::unwrap_used, reason = "a test whose stage cannot be set should fail")]

mod ask;
mod ask_killed;
mod ask_models;
mod auto;
mod choosing;
mod color;
mod command_line;
mod completions;
mod config;
mod config_errors;
mod config_trust;
mod documents;
mod getting_started;
mod guide;
mod http_faults;
mod http_guide;
mod init;
mod inspect;
mod logs;
mod looking_after;
mod models_page;
mod no_model;
mod page;
mod pty;
mod serve;
mod serve_details;
mod serve_lifetime;
mod serve_network;
mod server;
mod stage;
mod status;
mod supervise;
mod telemetry;
mod turn;
