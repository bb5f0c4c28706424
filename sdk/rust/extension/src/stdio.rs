//! An extension as a program: its own streams, its log, and nothing of what it prints on the wire.

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use crate::extension::Extension;
use crate::serve::{Ended, serve_until};

/// How long a command that is under way may go on once the host has told us to leave, or has gone. Hosts kill after two
/// seconds.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Serves the host that started this program, to the end.
pub fn run(extension: Extension) -> ExitCode {
    let leave: Ended = Arc::new(|| {
        // The main thread is usually faster and ends the program itself.
        std::thread::sleep(LAST_MOMENT);
        std::process::exit(0);
    });
    let served =
        take_stdout().and_then(|writer| serve_until(extension, BufReader::new(io::stdin()), writer, leave));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            error(format!("the host cannot be served: {problem}"));
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

/// Says something for people. Hosts keep it in the extension's log.
pub fn info(text: impl AsRef<str>) {
    log("info", text.as_ref());
}

/// The same for something worth a look.
pub fn warn(text: impl AsRef<str>) {
    log("warn", text.as_ref());
}

/// The same for something that failed.
pub fn error(text: impl AsRef<str>) {
    log("error", text.as_ref());
}

fn log(level: &str, text: &str) {
    let mut stderr = io::stderr().lock();
    for line in text.lines() {
        // If this cannot be told, there is nobody to tell that.
        let _ = writeln!(stderr, "[{level}] {line}");
    }
}
