//! Parts of tests that run in a process of their own: this very binary, told to run one test.
//!
//! Such a test does nothing unless the variable is set, so that it can stand among the others.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the directory to work in; only set for a process of our own.
const DIRECTORY: &str = "LOGGIA_STORE_TEST_DIRECTORY";

/// The directory a test was given, if it is the one that was started for it.
pub(crate) fn given_directory() -> Option<PathBuf> {
    std::env::var_os(DIRECTORY).map(PathBuf::from)
}

/// This binary, about to run one test in a directory. What it writes can be read.
pub(crate) fn running(test: &str, directory: &Path) -> Command {
    let mut command = command(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(DIRECTORY, directory).stdout(Stdio::piped());
    command
}

#[expect(clippy::disallowed_methods, reason = "a test's own process, waited for by the test")]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}
