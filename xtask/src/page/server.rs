//! The product with a script for the visit, in a directory of its own.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context, anyhow};
use serde_json::Value;

use crate::shell;

/// What the model does in the visit.
const SCRIPT: &str = include_str!("visit.toml");

/// What it does after the server was killed.
const SCRIPT_AFTERWARDS: &str = "[[reply]]\nrepeat = true\nparts = [{ text = \"Here I go on.\" }]\n";

/// The file that is to be changed in two places.
pub(super) const FILE: &str = "greeting.rs";

/// A running server. It ends with this value.
pub(super) struct Server {
    child: Child,
    place: PathBuf,
    log: PathBuf,
    project: PathBuf,
    /// The address it first had, with the code in it.
    pub(super) page: String,
}

impl Server {
    /// Starts one with everything it keeps below `place`.
    pub(super) fn start(place: &Path) -> anyhow::Result<Self> {
        shell::run(&mut shell::cargo(["build", "--locked", "--package", "loggia"]))?;
        let project = place.join("hello-world");
        std::fs::create_dir_all(&project).context("cannot make the project")?;
        std::fs::write(project.join(FILE), before()).context("cannot write the project")?;
        let log = place.join("server.log");
        let (child, page) = launch(place, &project, &log, "127.0.0.1:0", SCRIPT)?;
        Ok(Self { child, place: place.to_owned(), log, project, page })
    }

    /// Kills it and starts it again where it was, with what it has kept.
    pub(super) fn restart(&mut self) -> anyhow::Result<()> {
        self.child.kill().context("cannot kill the server")?;
        self.child.wait().context("the server does not end")?;
        let address = self.page.trim_start_matches("http://").split('/').next().unwrap_or_default();
        (self.child, _) = launch(&self.place, &self.project, &self.log, address, SCRIPT_AFTERWARDS)?;
        Ok(())
    }

    /// What the server logs.
    pub(super) fn log(&self) -> &Path {
        &self.log
    }

    /// What the project's file holds now.
    pub(super) fn file(&self) -> anyhow::Result<String> {
        std::fs::read_to_string(self.project.join(FILE)).context("cannot read the project")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; there is nobody left to tell about anything else.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the product and waits until it is ready; gives the address of its page, with a code in it.
fn launch(
    place: &Path,
    project: &Path,
    log: &Path,
    address: &str,
    script: &str,
) -> anyhow::Result<(Child, String)> {
    let script_file = place.join("script.toml");
    std::fs::write(&script_file, script).context("cannot write the script")?;
    // Cargo becomes the program it runs, so that ending the child ends the server.
    let mut command = shell::cargo(["run", "--quiet", "--locked", "--package", "loggia", "--", "serve"]);
    command.args(["--addr", address, "--json", "--open"]).arg("--workspace").arg(project);
    command.arg("--model").arg(format!("scripted:{}", script_file.display()));
    command.env("PATH", quiet_opener(place)?);
    for name in ["data", "config", "runtime"] {
        command.env(format!("LOGGIA_{}_DIR", name.to_uppercase()), place.join(name));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let log_file = File::options().create(true).append(true).open(log).context("cannot make the log")?;
    command.stderr(log_file);
    let mut child = command.spawn().context("cannot start the server")?;
    match ready(&mut child) {
        Some(page) => Ok((child, page)),
        None => {
            // Whatever it is doing, nobody waits for it.
            let _ = child.kill();
            let _ = child.wait();
            Err(anyhow!("the server did not become ready, see {}", log.display()))
        }
    }
}

/// The address in the first line it prints.
fn ready(child: &mut Child) -> Option<String> {
    let mut line = String::new();
    BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
    let ready: Value = serde_json::from_str(&line).ok()?;
    ready["page_url"].as_str().map(str::to_owned)
}

/// What the file holds at first: enough lines between the two changes for two hunks.
pub(super) fn before() -> String {
    let middle: String = (1..=20).map(|number| format!("// line {number}\n")).collect();
    format!("const HELLO: &str = \"hello\";\n{middle}const GOODBYE: &str = \"goodbye\";\n")
}

/// A `PATH` on which the page is opened by nobody: the chore opens it itself.
fn quiet_opener(place: &Path) -> anyhow::Result<std::ffi::OsString> {
    let programs = place.join("bin");
    std::fs::create_dir_all(&programs)?;
    for name in ["xdg-open", "open"] {
        let program = programs.join(name);
        std::fs::write(&program, "#!/bin/sh\n")?;
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700))?;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(programs).chain(std::env::split_paths(&path));
    Ok(std::env::join_paths(all)?)
}
