//! `cargo xtask contract`: a stranger reads our OpenAPI document and tries a running server against it.
//!
//! Starts the product in a directory of its own, with a scripted model, and lets schemathesis ask it thousands of
//! things, well formed and broken. Knows nothing of the product but its command line and its ready line.

mod ids;
mod seen;
mod server;
mod tool;

use anyhow::{Context, bail};
use clap::Args;

use crate::workspace;
use ids::Ids;
use seen::Seen;
use server::Server;
use tool::Schemathesis;

/// What the contract chore can be told.
#[derive(Args)]
pub(crate) struct ContractArguments {
    /// How many requests to make up for each operation, beside those that every run tries
    #[arg(long, value_name = "N", default_value_t = 50)]
    examples: u32,
    /// What the made-up requests follow from; the same seed asks the same
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u32,
}

/// Runs the chore.
pub(crate) fn run(arguments: &ContractArguments) -> anyhow::Result<()> {
    let directory = workspace::root().join("target/contract");
    let tool = Schemathesis::install(&directory)?;
    let place = directory.join(format!("run-{}", std::process::id()));
    let mut server = Server::start(&place)?;
    let document = server.ask("GET", "/v1/openapi.json", None)?;
    // Once as a stranger would, with ids that nobody has, and once with real ones, which get further. The real things
    // are made between the two: whoever asks for anything at random deletes what there is.
    let mut failed = Vec::new();
    for (name, is_stranger) in [("with ids that nobody has", true), ("with real ids", false)] {
        println!("\n== {name} ==");
        let ids = if is_stranger { Ids::of_nobody() } else { Ids::make(&server)? };
        let record = place.join("requests.har");
        if let Err(error) = tool.run(&server, &place, &ids, &record, arguments) {
            failed.push(format!("{name}: {error}"));
        }
        server.check_alive()?;
        let seen = Seen::read(&record, &document)?;
        print!("answers, by status:\n{}", seen.table());
        if let Err(error) = seen.check(!is_stranger) {
            failed.push(format!("{name}: {error}"));
        }
    }
    server.stop()?;
    let log = std::fs::read_to_string(server.log()).context("cannot read the server's log")?;
    if let Some(line) = log.lines().find(|line| line.contains("panicked at")) {
        failed.push(format!("the server panicked: {line}"));
    }
    if !failed.is_empty() {
        bail!("{}\nthe server's log is {}", failed.join("\n"), server.log().display());
    }
    std::fs::remove_dir_all(&place).with_context(|| format!("cannot remove `{}`", place.display()))?;
    println!("\nthe server keeps its contract");
    Ok(())
}
