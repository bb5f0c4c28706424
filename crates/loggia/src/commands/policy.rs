//! `loggia policy`: what the agent may do in a workspace.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

use loggia_cli::{CliError, Outcome, PolicyCheck, PolicyShow};
use loggia_client::Client;
use loggia_protocol_agent_server::{Policy, RegisterWorkspaceParams};

use super::client::{self, Home};
use crate::cli::{PolicyCheckArguments, PolicyCommand, PolicyEditArguments, PolicyShowArguments};
use crate::errors::Error;
use crate::output::Printer;

/// Who edits, if nobody says otherwise.
const EDITOR: &str = "vi";

/// Runs the command.
pub(crate) fn run(home: &Home, command: PolicyCommand) -> Result<Outcome, Error> {
    match command {
        PolicyCommand::Show(PolicyShowArguments { workspace, json }) => {
            let options = PolicyShow { workspace: home.workspace(workspace.as_deref())?, json };
            client::run(home, async |client, terminal| {
                loggia_cli::policy_show(client, options, terminal).await
            })
        }
        PolicyCommand::Check(PolicyCheckArguments { command, path, tool, workspace, json }) => {
            let workspace = home.workspace(workspace.as_deref())?;
            let options = PolicyCheck { workspace, command, path, tool, json };
            client::run(home, async |client, terminal| {
                loggia_cli::policy_check(client, options, terminal).await
            })
        }
        PolicyCommand::Edit(PolicyEditArguments { workspace }) => edit(home, workspace.as_deref()),
    }
}

/// Lets somebody change the policy in an editor, and puts it back if it was changed.
fn edit(home: &Home, workspace: Option<&Path>) -> Result<Outcome, Error> {
    let workspace = home.workspace(workspace)?;
    client::runtime()?.block_on(async {
        let client = home.client().await?;
        let changed = change(&client, &workspace).await?;
        let mut printer = Printer::new();
        match changed {
            Some(revision) => printer.line(format!("the policy is changed; this is revision {revision}"))?,
            None => printer.line("nothing was changed")?,
        }
        printer.finish()?;
        Ok(Outcome::Done)
    })
}

async fn change(client: &Client, workspace: &Path) -> Result<Option<u64>, Error> {
    let root_path = workspace.to_str().map(str::to_owned);
    let root_path = root_path.ok_or_else(|| CliError::Workspace(workspace.to_owned()))?;
    let served = |error| Error::from(CliError::Server(error));
    let params = RegisterWorkspaceParams { root_path, name: None };
    let id = client.register_workspace(&params).await.map_err(served)?.workspace_id;
    let before = client.policy(&id).await.map_err(served)?;
    let text = serde_json::to_string_pretty(&before).expect("texts and numbers can always be written");
    let edited = edited(&text)?;
    if edited.trim() == text.trim() {
        return Ok(None);
    }
    let mut after: Policy =
        serde_json::from_str(&edited).map_err(|error| Error::Policy { reason: error.to_string() })?;
    // The one that was changed, whatever became of the number.
    after.revision = before.revision;
    let put = client.put_policy(&id, &after).await.map_err(served)?;
    Ok(Some(put.revision))
}

/// The text as an editor leaves it.
#[expect(clippy::disallowed_methods, reason = "an editor is the user's, and has the terminal")]
fn edited(text: &str) -> Result<String, Error> {
    let failed = |source| Error::Editor { source };
    let mut file = tempfile::Builder::new().prefix("policy-").suffix(".json").tempfile().map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| OsString::from(EDITOR));
    // As others do: an editor is named with its arguments, so a shell has to read it.
    let mut script = editor;
    script.push(" \"$1\"");
    let status = Command::new("sh").arg("-c").arg(script).arg("sh").arg(file.path()).status();
    let status = status.map_err(failed)?;
    if !status.success() {
        return Err(failed(io::Error::other(format!("the editor ended with {status}"))));
    }
    // By its name: an editor may have put another file in its place.
    std::fs::read_to_string(file.path()).map_err(failed)
}
