//! `loggia policy`: what the agent may do in a workspace.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use loggia_cli::{CliError, Outcome, PolicyCheck, PolicyShow};
use loggia_client::Client;
use loggia_protocol_agent_server::{Policy, RegisterWorkspaceParams};
use tempfile::TempDir;

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
        PolicyCommand::Edit(arguments) => edit(home, &arguments),
    }
}

/// Lets somebody change the policy in an editor, and puts it back if it was changed.
fn edit(home: &Home, arguments: &PolicyEditArguments) -> Result<Outcome, Error> {
    // One that nobody named draws on a terminal, and would wait for ever for keys that nobody can press.
    if named_editor().is_none() && !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(Error::NoEditor);
    }
    let workspace = home.workspace(arguments.workspace.as_deref())?;
    client::runtime()?.block_on(async {
        let client = home.client().await?;
        let changed = change(&client, &workspace, arguments).await?;
        let mut printer = Printer::new();
        match changed {
            Some(revision) => printer.line(format!("the policy is changed; this is revision {revision}"))?,
            None => printer.line("nothing was changed")?,
        }
        printer.finish()?;
        Ok(Outcome::Done)
    })
}

async fn change(
    client: &Client,
    workspace: &Path,
    arguments: &PolicyEditArguments,
) -> Result<Option<u64>, Error> {
    let root_path = workspace.to_str().map(str::to_owned);
    let root_path = root_path.ok_or_else(|| CliError::Workspace(workspace.to_owned()))?;
    let served = |error| Error::from(CliError::from(error));
    let params = RegisterWorkspaceParams { root_path, name: None };
    let id = client.register_workspace(&params).await.map_err(served)?.workspace_id;
    let before = client.policy(&id).await.map_err(served)?;
    let text = serde_json::to_string_pretty(&before).expect("texts and numbers can always be written");
    let draft = match &arguments.from {
        None => Draft::new(&text)?,
        Some(path) => Draft::new(&read(path)?)?,
    };
    let edited = match draft.edited() {
        Ok(edited) => edited,
        Err((editor, what)) => return Err(Error::Editor { editor, what, draft: draft.keep_if_changed() }),
    };
    if edited.trim() == text.trim() {
        return Ok(None);
    }
    let refused = |reason: String| Error::Policy {
        reason,
        draft: draft.keep(),
        workspace: arguments.workspace.clone(),
    };
    let mut after: Policy = match serde_json::from_str(&edited) {
        Ok(after) => after,
        Err(error) => return Err(refused(error.to_string())),
    };
    // The one that was changed, whatever became of the number.
    after.revision = before.revision;
    match client.put_policy(&id, &after).await {
        Ok(put) => Ok(Some(put.revision)),
        // Whatever the reason: what somebody wrote is not thrown away.
        Err(error) => Err(refused(CliError::from(error).to_string())),
    }
}

/// Who edits, if somebody said so.
fn named_editor() -> Option<OsString> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    set("VISUAL").or_else(|| set("EDITOR"))
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::Input { path: path.to_owned(), source })
}

/// A text that somebody edits. It goes with this value, unless it is kept.
struct Draft {
    directory: TempDir,
    path: PathBuf,
    before: String,
}

impl Draft {
    fn new(text: &str) -> Result<Self, Error> {
        let place = std::env::temp_dir();
        let made = tempfile::Builder::new().prefix("loggia-policy-").tempdir_in(&place);
        let directory = made.map_err(|source| Error::WriteFile { path: place, source })?;
        let path = directory.path().join("policy.json");
        std::fs::write(&path, text).map_err(|source| Error::WriteFile { path: path.clone(), source })?;
        Ok(Self { directory, path, before: text.to_owned() })
    }

    /// The text as an editor leaves it; else the editor, and what it did.
    #[expect(clippy::disallowed_methods, reason = "an editor is the user's, and has the terminal")]
    fn edited(&self) -> Result<String, (String, String)> {
        let editor = named_editor().unwrap_or_else(|| OsString::from(EDITOR));
        let failed = |what: String| (editor.to_string_lossy().into_owned(), what);
        // As others do: an editor is named with its arguments, so a shell has to read it.
        let mut script = editor.clone();
        script.push(" \"$1\"");
        let status = Command::new("sh").arg("-c").arg(script).arg("sh").arg(&self.path).status();
        let status = status.map_err(|error| failed(format!("cannot be started: {error}")))?;
        match status.code() {
            Some(0) => {}
            // What a shell says of a program that is not there, or is none.
            Some(126 | 127) => return Err(failed("cannot be started".to_owned())),
            _ => return Err(failed(format!("ended with {status}"))),
        }
        // By its name: an editor may have put another file in its place.
        std::fs::read_to_string(&self.path).map_err(|error| failed(format!("left nothing to read: {error}")))
    }

    /// The file, which stays.
    fn keep(self) -> PathBuf {
        let _ = self.directory.keep();
        self.path
    }

    /// The same if somebody wrote something.
    fn keep_if_changed(self) -> Option<PathBuf> {
        let changed = std::fs::read_to_string(&self.path).is_ok_and(|text| text != self.before);
        changed.then(|| self.keep())
    }
}
