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

/// The file that is to be changed in two places.
pub(super) const FILE: &str = "greeting.rs";

/// A running server. It ends with this value.
pub(super) struct Server {
    child: Child,
    log: PathBuf,
    project: PathBuf,
    /// The address with the code in it.
    pub(super) page: String,
}

impl Server {
    /// Starts one with everything it keeps below `place`.
    pub(super) fn start(place: &Path) -> anyhow::Result<Self> {
        shell::run(&mut shell::cargo(["build", "--locked", "--package", "loggia"]))?;
        let project = place.join("hello-world");
        std::fs::create_dir_all(&project).context("cannot make the project")?;
        std::fs::write(project.join(FILE), before()).context("cannot write the project")?;
        let script = place.join("script.toml");
        std::fs::write(&script, SCRIPT).context("cannot write the script")?;
        let log = place.join("server.log");

        // Cargo becomes the program it runs, so that ending the child ends the server.
        let mut command = shell::cargo(["run", "--quiet", "--locked", "--package", "loggia", "--", "serve"]);
        command.args(["--addr", "127.0.0.1:0", "--json", "--open"]).arg("--workspace").arg(&project);
        command.arg("--model").arg(format!("scripted:{}", script.display()));
        command.env("PATH", quiet_opener(place)?);
        for name in ["data", "config", "runtime"] {
            command.env(format!("LOGGIA_{}_DIR", name.to_uppercase()), place.join(name));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(File::create(&log).context("cannot make the log")?);
        let mut child = command.spawn().context("cannot start the server")?;
        let stdout = child.stdout.take().context("the server has no output")?;
        // From here on the child is ended whatever happens.
        let mut server = Self { child, log, project, page: String::new() };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).context("cannot read the server's first line")?;
        let missing = || anyhow!("the server did not become ready, see {}", server.log.display());
        let ready: Value = serde_json::from_str(&line).map_err(|_| missing())?;
        let page = ready["page_url"].as_str().ok_or_else(missing)?.to_owned();
        server.page = page;
        Ok(server)
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
