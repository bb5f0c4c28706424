//! A plugin as a program: its own streams, and nothing of what it prints on the wire.

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::process::ExitCode;

use crate::plugin::Plugin;
use crate::serve::serve;

/// Serves the host that started this program, to the end.
pub fn run(plugin: Plugin) -> ExitCode {
    match take_stdout().and_then(|writer| serve(plugin, BufReader::new(io::stdin()), writer)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If this cannot be told either, the exit status still can.
            let _ = writeln!(io::stderr(), "the host cannot be spoken to: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The host's end of standard output, for us alone: whatever is printed goes to standard error from now on.
fn take_stdout() -> io::Result<File> {
    let ours = rustix::io::dup(rustix::stdio::stdout())?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(File::from(ours))
}
