//! `cargo xtask fuzz`: broken input for the readers, on the stable toolchain.
//!
//! Knows only how to start the `loggia-fuzz` program, which holds the targets.

use clap::Args;

use crate::shell;

/// How long `--long` runs.
const LONG_SECONDS: u64 = 30 * 60;

/// The seed of the test command: the same commit gets the same verdict. New inputs are the chore's business.
const TEST_SEED: u64 = 792_617_704;

/// What the fuzz chore can be told.
#[derive(Args)]
#[command(
    after_help = "With a nightly toolchain and cargo-fuzz installed, `cargo fuzz run --features libfuzzer TARGET` runs the same \
                        targets guided by coverage."
)]
pub(crate) struct FuzzArguments {
    /// For how many seconds in all
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u64,
    /// For 30 minutes
    #[arg(long, conflicts_with = "seconds")]
    long: bool,
    /// Try the inputs of this seed; new ones otherwise
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Only this target; all of them otherwise
    #[arg(value_name = "TARGET")]
    target: Option<String>,
}

/// Runs all targets for a given time, with the same inputs every time, in the program that the tests were built with. It
/// tries fewer inputs than an optimised one, which would take four times as long to build as to run.
pub(crate) fn repeatable(seconds: u64) -> anyhow::Result<()> {
    let own = std::env::current_exe()?;
    let program = own.with_file_name(format!("loggia-fuzz{}", std::env::consts::EXE_SUFFIX));
    let mut command = shell::program(&program);
    command.args(["--seconds", &seconds.to_string(), "--seed", &TEST_SEED.to_string()]);
    shell::run(&mut command)
}

/// Runs the fuzz program.
pub(crate) fn run(arguments: &FuzzArguments) -> anyhow::Result<()> {
    let seconds = if arguments.long { LONG_SECONDS } else { arguments.seconds };
    let mut command =
        shell::cargo(["run", "--profile", "fuzz", "--locked", "-p", "loggia-fuzz", "--", "--seconds"]);
    command.arg(seconds.to_string());
    if let Some(seed) = arguments.seed {
        command.args(["--seed", &seed.to_string()]);
    }
    command.args(&arguments.target);
    shell::run(&mut command)
}
