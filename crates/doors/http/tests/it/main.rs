//! The http door over a real socket.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod auth_guard;
mod auth_pairing;
mod auth_tokens;
mod bad_input_bodies;
mod bad_input_paths;
mod bad_input_random;
mod page;
mod rest_contract;
mod rest_index;
mod rest_models;
mod rest_plugins;
mod rest_policy;
mod rest_server;
mod rest_sessions;
mod rest_strict;
mod rest_tasks;
mod rest_tasks_done;
mod rest_transfer;
mod rest_trust;
mod rest_undo;
mod rest_workspaces;
mod slash_commands;
mod stream_approvals;
mod stream_bad_input;
mod stream_commands;
mod stream_ends;
mod stream_hello;
mod stream_notices;
mod stream_patches;
mod stream_resume;
mod stream_store;
mod stream_support;
mod stream_turns;
mod support;
