//! Running other programs: say what runs, show its output, stop at the first failure.

#![expect(clippy::disallowed_methods, reason = "chores run cargo to its end")]

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail};

use crate::workspace;

/// A `cargo` command in the workspace's root.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    // The cargo that runs us, so that a toolchain chosen with `cargo +name` stays chosen.
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(workspace::root());
    command
}

/// A program that was built here, in the workspace's root.
pub(crate) fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.current_dir(workspace::root());
    command
}

/// Says what runs, runs it, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let line = describe(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Runs quietly and gives what was printed.
pub(crate) fn read(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let line = describe(command);
    let output = command.output().with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` failed ({}): {}", output.status, complaint.trim());
    }
    Ok(output.stdout)
}

/// Adds a line that says what to try.
pub(crate) fn with_hint<T>(outcome: anyhow::Result<T>, hint: &str) -> anyhow::Result<T> {
    outcome.map_err(|error| anyhow!("{error:#}\nhint: {hint}"))
}

/// Whether `cargo NAME` is installed.
pub(crate) fn has_cargo_command(name: &str) -> bool {
    let mut command = cargo([name, "--version"]);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The command as a person would type it.
fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_described_as_a_person_would_type_it() {
        assert_eq!(describe(&cargo(["test", "--locked"])), "cargo test --locked");
    }

    #[test]
    fn a_hint_stands_on_a_line_of_its_own() {
        let outcome = with_hint::<()>(Err(anyhow!("no tea").context("no breakfast")), "buy tea");
        assert_eq!(format!("{:#}", outcome.unwrap_err()), "no breakfast: no tea\nhint: buy tea");
    }

    #[test]
    fn a_failing_command_is_named_in_the_error() {
        let error = read(&mut cargo(["no-such-chore"])).unwrap_err();
        assert!(error.to_string().starts_with("`cargo no-such-chore` failed (exit status: 101): error:"));
    }
}
