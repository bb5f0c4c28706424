//! The other end: an extension that patches twice, with the kit that authors use.

use std::process::ExitCode;

use loggia_extension_kit::{Extension, run, set};

/// Its command.
pub(super) const COMMAND: &str = "bench/go";

/// Is that extension.
pub fn serve() -> ExitCode {
    run(Extension::new("Bench", "1.0.0").command(COMMAND, |host| {
        host.patch([set("PID.5.1", "x")])?;
        host.patch([set("PID.5.1", "y")]).map(drop)
    }))
}
