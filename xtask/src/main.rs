//! Loggia's chores, as `cargo xtask NAME`.
//!
//! Each chore is one module; `shell` runs commands for them and `workspace` tells them where they are.
//! Nothing of the product is linked in, so that a broken product can still be tidied and tested.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who started it")]

mod bench;
mod contract;
mod crash;
mod fuzz;
mod generate;
mod page;
mod shell;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use workspace::Workspace;

/// Loggia's chores.
#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Runs everything a change must pass: format, clippy, tidy, tests, doc tests and a short fuzz
    Test(test::TestArguments),
    /// Checks what the compiler does not: edges between crates, module docs, forgotten files, licences, pages
    Tidy,
    /// Writes the files that are made from code
    Generate(generate::GenerateArguments),
    /// Feeds the readers with broken input
    Fuzz(fuzz::FuzzArguments),
    /// Kills an engine under load, many times, and checks that nothing told is lost
    Crash(crash::CrashArguments),
    /// Lets a stranger try a running server against its OpenAPI document
    Contract(contract::ContractArguments),
    /// Lets a real browser work with the page of a running server
    Page(page::PageArguments),
    /// Runs benchmarks and prints ratios
    Bench(bench::BenchArguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments.chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &Chore) -> anyhow::Result<()> {
    match chore {
        Chore::Test(arguments) => test::run(arguments),
        Chore::Tidy => tidy::run(&Workspace::load()?),
        Chore::Generate(arguments) => generate::run(arguments, &Workspace::load()?),
        Chore::Fuzz(arguments) => fuzz::run(arguments),
        Chore::Crash(arguments) => crash::run(arguments),
        Chore::Contract(arguments) => contract::run(arguments),
        Chore::Page(arguments) => page::run(arguments),
        Chore::Bench(arguments) => bench::run(arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
