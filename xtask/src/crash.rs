//! `cargo xtask crash`: the crash tests with many more kills than the test command has time for.

use clap::Args;

use crate::shell;

/// What the crash chore can be told.
#[derive(Args)]
pub(crate) struct CrashArguments {
    /// How often the engine under load is killed, and the index that is being built
    #[arg(long, default_value_t = 200)]
    kills: u64,
    /// How much of a running reply may be lost, in milliseconds; other work on the machine makes it more
    #[arg(long, default_value_t = 250)]
    loss_ms: u64,
}

/// Kills a whole engine under load again and again, then an index, and looks at what is left each time.
pub(crate) fn run(arguments: &CrashArguments) -> anyhow::Result<()> {
    let mut command = shell::cargo(["test", "--locked", "-p", "loggia-tests", "--test", "it"]);
    command.args(["--", "--nocapture", "crash::"]);
    command.env("LOGGIA_CRASH_KILLS", arguments.kills.to_string());
    command.env("LOGGIA_CRASH_LOSS_MS", arguments.loss_ms.to_string());
    shell::run(&mut command)?;
    // An index that is being built is killed as often.
    let mut command = shell::cargo(["test", "--locked", "-p", "loggia-index", "--test", "it"]);
    command.args(["--", "--nocapture", "crash::"]);
    command.env("LOGGIA_CRASH_KILLS", arguments.kills.to_string());
    shell::run(&mut command)
}
