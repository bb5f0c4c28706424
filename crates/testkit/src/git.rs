//! The real git, apart from whoever runs the tests.
//!
//! What always holds: it reads no configuration but the repository's own, and nothing of the environment but where
//! programs are.

#![expect(clippy::disallowed_methods, reason = "repositories of tests are made by git itself")]

use std::path::Path;
use std::process::Command;

/// A call of git in a directory, to be given its arguments. Whoever commits says as whom.
pub fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(directory).env_clear().env("HOME", directory);
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command
}
