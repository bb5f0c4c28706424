//! Schemathesis, in a Python environment of its own below `target`.

#![expect(clippy::disallowed_methods, reason = "chores run Python to its end")]

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use super::ContractArguments;
use super::ids::Ids;
use super::server::Server;
use crate::shell;

/// Pinned, so that a run says something about us and not about its news.
const VERSION: &str = "4.32.5";

/// What must hold for every answer: no fault of ours, nothing that the document does not promise, and no success for
/// what it does not allow.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance,negative_data_rejection,missing_required_header,\
    unsupported_method";

/// Journals are JSON Lines, which schemathesis does not know.
const HOOKS: &str =
    "import schemathesis\n\nschemathesis.serializer.alias(\"application/x-ndjson\", \"text/plain\")\n";

/// Would end the server; the chore asks for it itself, at the end.
pub(super) const STOP: &str = "/v1/stop";

/// The installed tool.
pub(super) struct Schemathesis(PathBuf);

impl Schemathesis {
    /// Installs the pinned version, unless it is there.
    pub(super) fn install(directory: &Path) -> anyhow::Result<Self> {
        let environment = directory.join(format!("schemathesis-{VERSION}"));
        let program = environment.join("bin/schemathesis");
        if !program.exists() {
            let mut make = Command::new("python3");
            make.args(["-m", "venv", "--clear"]).arg(&environment);
            shell::with_hint(shell::run(&mut make), "this chore needs Python 3.10 or newer with `venv`")?;
            let mut install = Command::new(environment.join("bin/pip"));
            install.args(["install", "--quiet", "--disable-pip-version-check"]);
            shell::run(install.arg(format!("schemathesis=={VERSION}")))?;
        }
        Ok(Self(program))
    }

    /// Tries the server against its own document.
    pub(super) fn run(
        &self,
        server: &Server,
        place: &Path,
        ids: &Ids,
        record: &Path,
        arguments: &ContractArguments,
    ) -> anyhow::Result<()> {
        // In a file and not on the command line, where everybody on the machine could read the token.
        let bearer = Value::from(format!("Bearer {}", server.token));
        let hooks = place.join("hooks.py");
        let mut configuration = format!("hooks = \"hooks.py\"\nheaders = {{ Authorization = {bearer} }}\n");
        configuration.push_str(&ids.configuration());
        let file = place.join("schemathesis.toml");
        std::fs::write(&hooks, HOOKS).with_context(|| format!("cannot write `{}`", hooks.display()))?;
        std::fs::write(&file, configuration).with_context(|| format!("cannot write `{}`", file.display()))?;

        let mut command = Command::new(&self.0);
        command.current_dir(place).env("PYTHONPATH", place).arg("--config-file").arg(&file).arg("run");
        command.arg(format!("{}/v1/openapi.json", server.url)).args(["--checks", CHECKS]);
        command.args(["--phases", "coverage,fuzzing", "--exclude-path", STOP, "--workers", "1"]);
        command.args(["--continue-on-failure", "--suppress-health-check", "all", "--warnings", "off"]);
        command.args(["--max-examples", &arguments.examples.to_string()]);
        command.args(["--seed", &arguments.seed.to_string()]);
        command.arg("--report-har-path").arg(record);
        shell::run(&mut command)
    }
}
