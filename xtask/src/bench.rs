//! `cargo xtask bench`: benchmarks, compared with a floor and with what people use instead, in one run.
//!
//! Knows only how to start the `loggia-bench` program, which holds the suites.

use clap::Args;

use crate::shell;

/// What the bench chore can be told.
#[derive(Args)]
pub(crate) struct BenchArguments {
    /// Only this suite, such as `wire`; all of them otherwise
    #[arg(value_name = "SUITE")]
    suite: Option<String>,
    /// Print JSON for a program instead of tables for people
    #[arg(long)]
    json: bool,
}

/// Runs the bench program.
pub(crate) fn run(arguments: &BenchArguments) -> anyhow::Result<()> {
    let mut command = shell::cargo(["run", "--profile", "bench", "--locked", "-p", "loggia-bench", "--"]);
    command.args(&arguments.suite);
    if arguments.json {
        command.arg("--json");
    }
    shell::run(&mut command)
}
