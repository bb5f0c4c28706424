//! `run_command`: asking for a command to be run.
//!
//! Knows what a command request is; runs nothing. Who runs it, where and how confined is decided elsewhere.

use std::collections::BTreeMap;

use loggia_domain::{ArgumentError, CommandRequest, Demand, ToolEffect, ToolError};
use loggia_tree::{Kind, TreePath};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Arguments, Call};
use crate::path::ModelPath;
use crate::view::View;

/// How long a command line may be: what Linux takes as one argument of a shell.
const MAX_LINE: usize = 128 * 1024;

/// How many variables a command may be given: far more than any needs.
const MAX_VARIABLES: usize = 64;

/// How long a variable's value may be.
const MAX_VALUE: usize = 32 * 1024;

/// Runs a command in a shell and gives back its output and exit status. There is no terminal and nobody to type:
/// commands must not ask questions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunCommand {
    /// The command line, as a shell reads it.
    command: String,
    /// The directory to run it in, relative to the workspace; the workspace itself if left out.
    cwd: Option<String>,
    /// Environment variables to set besides the usual ones.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Why the command is run, in a sentence.
    reason: Option<String>,
    /// After how many seconds to stop it.
    #[schemars(range(min = 1))]
    timeout_s: Option<u64>,
}

/// A checked call.
pub(crate) struct Run {
    directory: ModelPath,
    request: CommandRequest,
}

impl Arguments for RunCommand {
    const NAME: &'static str = "run_command";
    type Call = Run;

    fn check(self) -> Result<Run, ArgumentError> {
        check_line(&self.command).map_err(|why| ArgumentError(format!("`command` {why}")))?;
        check_variables(&self.env)?;
        let directory = ModelPath::new(self.cwd.unwrap_or_default());
        let request = CommandRequest {
            line: self.command,
            directory: written(&directory),
            environment: self.env.into_iter().collect(),
            reason: self.reason.filter(|reason| !reason.trim().is_empty()),
            timeout_s: self.timeout_s,
        };
        Ok(Run { directory, request })
    }
}

impl Call for Run {
    fn demand(&self) -> Demand {
        Demand { command: Some(self.request.clone()), ..Demand::default() }
    }

    fn run(self, view: &View) -> Result<ToolEffect, ToolError> {
        let path = self.directory.tree()?;
        let real = view.real_path(path)?;
        let is_directory = real.is_root() || view.kind(&real)? == Some(Kind::Directory);
        if !is_directory {
            return Err(ToolError::Failed(format!("`cwd`: `{path}` is not a directory")));
        }
        let directory = real.as_str().to_owned();
        Ok(ToolEffect::Command(CommandRequest { directory, ..self.request }))
    }
}

/// The root is the empty directory in a request.
fn written(directory: &ModelPath) -> String {
    match directory.tree() {
        Ok(path) => TreePath::as_str(path).to_owned(),
        Err(_) => directory.named(),
    }
}

fn check_line(line: &str) -> Result<(), String> {
    if line.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    if line.contains('\0') {
        return Err("holds a NUL character".to_owned());
    }
    if line.len() > MAX_LINE {
        return Err(format!("is {} bytes long; the limit is {MAX_LINE}", line.len()));
    }
    Ok(())
}

fn check_variables(variables: &BTreeMap<String, String>) -> Result<(), ArgumentError> {
    if variables.len() > MAX_VARIABLES {
        let message = format!("`env` has {} variables; the limit is {MAX_VARIABLES}", variables.len());
        return Err(ArgumentError(message));
    }
    for (name, value) in variables {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(ArgumentError(format!("`env`: `{name}` is no name for a variable")));
        }
        if value.contains('\0') || value.len() > MAX_VALUE {
            return Err(ArgumentError(format!(
                "`env.{name}` holds a NUL character or is over {MAX_VALUE} bytes long"
            )));
        }
    }
    Ok(())
}
