//! `cargo xtask fuzz`: broken input for the readers, on the stable toolchain.
//!
//! Knows only how to start the `loggia-fuzz` program, which holds the targets.

use clap::Args;

use crate::shell;

/// How long `--long` runs.
const LONG_SECONDS: u64 = 30 * 60;

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
    /// Only this target; all of them otherwise
    #[arg(value_name = "TARGET")]
    target: Option<String>,
}

impl FuzzArguments {
    /// All targets, for a given time.
    pub(crate) fn for_seconds(seconds: u64) -> Self {
        Self { seconds, long: false, target: None }
    }
}

/// Runs the fuzz program.
pub(crate) fn run(arguments: &FuzzArguments) -> anyhow::Result<()> {
    let seconds = if arguments.long { LONG_SECONDS } else { arguments.seconds };
    let mut command =
        shell::cargo(["run", "--profile", "fuzz", "--locked", "-p", "loggia-fuzz", "--", "--seconds"]);
    command.arg(seconds.to_string()).args(&arguments.target);
    shell::run(&mut command)
}
