//! Tests of several crates together: whole turns of a whole engine, text in and text out.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod approvals;
mod batches;
mod bounds;
mod budgets;
mod cancelling;
mod clients;
mod commands;
mod company;
mod context;
mod crash;
mod desks;
mod ends;
mod examples;
mod forks;
mod gathering;
mod guest_agents;
mod guest_agents_changes;
mod guest_agents_faults;
mod guest_agents_plugin;
mod handed_out;
mod images;
mod instead;
mod limits;
mod loading;
mod masking;
mod patches;
mod properties;
mod redo;
mod reports;
mod restarts;
mod retrieval;
mod rpc;
mod rules;
mod searching;
mod sessions;
mod steps;
mod switching;
mod tasks;
mod tasks_agents;
mod tasks_finish;
mod tasks_held;
mod tasks_kills;
mod tasks_places;
mod tasks_references;
mod tasks_undo;
mod tasks_workflow;
mod thinking;
mod transfers;
mod turns;
mod undo;

use loggia_tests::{World, WorldBuilder};

/// The program that keeps commands.
const KEEPER: &str = env!("CARGO_BIN_EXE_under-test");

fn world() -> WorldBuilder {
    WorldBuilder::new(KEEPER)
}

async fn world_with(files: &[(&str, &str)], script: &str) -> World {
    files.iter().fold(world(), |world, (path, content)| world.file(path, *content)).start(script).await
}
