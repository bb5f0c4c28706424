//! `cargo xtask test`: everything a change must pass, in order, with the time each step took.

use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use clap::Args;

use crate::fuzz;
use crate::shell;
use crate::tidy;
use crate::workspace::Workspace;

/// How long the fuzz step runs: long enough to notice a slip, short enough to wait for.
const FUZZ_SECONDS: u64 = 30;

/// What the test command can be told.
#[derive(Args)]
pub(crate) struct TestArguments {
    /// Leave out the fuzz step
    #[arg(long)]
    fast: bool,
}

/// A part of the test command.
struct Step {
    headline: &'static str,
    run: fn() -> anyhow::Result<()>,
}

const STEPS: &[Step] = &[
    Step { headline: "format", run: format },
    Step { headline: "clippy", run: clippy },
    Step { headline: "tidy", run: tidy_up },
    Step { headline: "tests", run: tests },
    Step { headline: "doc tests", run: doc_tests },
    Step { headline: "fuzz", run: short_fuzz },
];

/// Runs the steps up to the first that fails.
pub(crate) fn run(arguments: &TestArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut done = Vec::new();
    for step in STEPS {
        println!("\n== {} ==", step.headline);
        if arguments.fast && step.headline == "fuzz" {
            println!(
                "left out by --fast; run `cargo xtask fuzz --seconds {FUZZ_SECONDS}` before you call it done"
            );
            done.push("fuzz left out".to_owned());
            continue;
        }
        let begin = Instant::now();
        let outcome = (step.run)();
        let time = seconds(begin.elapsed());
        outcome.with_context(|| format!("step `{}` failed after {time}", step.headline))?;
        println!("{} took {time}", step.headline);
        done.push(format!("{} {time}", step.headline));
    }
    println!("\nall passed in {}: {}", seconds(start.elapsed()), done.join(", "));
    Ok(())
}

fn format() -> anyhow::Result<()> {
    need("fmt", "rustfmt")?;
    let outcome = shell::run(&mut shell::cargo(["fmt", "--all", "--check"]));
    shell::with_hint(outcome, "run `cargo fmt --all`")
}

fn clippy() -> anyhow::Result<()> {
    need("clippy", "clippy")?;
    let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    shell::run(&mut shell::cargo(arguments))
}

fn tidy_up() -> anyhow::Result<()> {
    tidy::run(&Workspace::load()?)
}

fn tests() -> anyhow::Result<()> {
    if shell::has_cargo_command("nextest") {
        return shell::run(&mut shell::cargo(["nextest", "run", "--workspace", "--locked"]));
    }
    println!("cargo-nextest is not installed; the plain test runner does the same, more slowly");
    shell::run(&mut shell::cargo(["test", "--workspace", "--locked", "--lib", "--bins", "--tests"]))
}

fn doc_tests() -> anyhow::Result<()> {
    shell::run(&mut shell::cargo(["test", "--doc", "--workspace", "--locked"]))
}

fn short_fuzz() -> anyhow::Result<()> {
    fuzz::repeatable(FUZZ_SECONDS)
}

/// Says how to get a part of the toolchain that a minimal installation lacks.
fn need(command: &str, component: &str) -> anyhow::Result<()> {
    if !shell::has_cargo_command(command) {
        let outcome = Err(anyhow!("`cargo {command}` is not installed"));
        return shell::with_hint(outcome, &format!("run `rustup component add {component}`"));
    }
    Ok(())
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
