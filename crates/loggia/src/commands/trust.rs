//! `loggia trust`, and `--trust` for one run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loggia_cli::{CliError, Outcome, Trust};
use loggia_client::Client;
use loggia_protocol_agent_server::{RegisterWorkspaceParams, TrustParams, WorkspaceId};
use serde::Serialize;
use tokio::task::JoinHandle;

use super::client::{self, Home};
use crate::cli::TrustArguments;
use crate::config::trust;
use crate::errors::Error;
use crate::output::{Printer, printable};

/// How long a run is trusted at once: a command that is killed leaves no more than that behind.
const LOAN_SECONDS: u64 = 60;

/// How often it is renewed: twice may fail.
const RENEW: Duration = Duration::from_secs(LOAN_SECONDS / 3);

/// A trusted directory as JSON shows it.
#[derive(Debug, Serialize)]
struct Trusted {
    path: String,
    /// Whether it is there.
    exists: bool,
}

/// Runs the command.
pub(crate) fn run(home: &Home, arguments: &TrustArguments) -> Result<Outcome, Error> {
    if arguments.list {
        return list(home, arguments.json);
    }
    let workspace = home.workspace(arguments.directory.as_deref())?;
    let options = Trust { workspace, yes: arguments.yes, json: arguments.json };
    if arguments.revoke {
        return client::run(home, async |client, terminal| {
            loggia_cli::distrust(client, options, terminal).await
        });
    }
    client::run_asking(home, async |client, terminal, interrupts| {
        loggia_cli::trust(client, options, terminal, interrupts).await
    })
}

/// Lists what is trusted, as it is written down. No server is needed for that.
fn list(home: &Home, json: bool) -> Result<Outcome, Error> {
    let trusted: Vec<Trusted> = trust::list(&home.places.trust_file())?
        .into_iter()
        .map(|path| Trusted { exists: path.is_dir(), path: path.display().to_string() })
        .collect();
    let mut printer = Printer::new();
    if json {
        printer.line(serde_json::to_string(&trusted).expect("texts and switches can always be written"))?;
    } else {
        for Trusted { path, exists } in &trusted {
            let gone = if *exists { "" } else { "  (not there)" };
            printer.line(format_args!("{}{gone}", printable(path)))?;
        }
    }
    printer.finish()?;
    Ok(Outcome::Done)
}

/// Trust in a workspace as long as a command runs.
pub(super) struct RunTrust {
    client: Client,
    workspace: WorkspaceId,
    run: String,
    renewing: JoinHandle<()>,
}

impl RunTrust {
    /// Begins to trust a directory.
    pub(super) async fn begin(client: &Client, directory: &Path) -> Result<Self, CliError> {
        let root_path = directory.to_str().map(str::to_owned);
        let root_path = root_path.ok_or_else(|| CliError::Workspace(directory.to_owned()))?;
        let params = RegisterWorkspaceParams { root_path, name: None };
        let workspace = client.register_workspace(&params).await?.workspace_id;
        let run = format!("command {} on {}", std::process::id(), nanoseconds());
        let loan = TrustParams { run: Some(run.clone()), for_seconds: Some(LOAN_SECONDS) };
        client.trust_for_run(&workspace, &loan).await?;
        let renewing = tokio::spawn(renew(client.clone(), workspace.clone(), loan));
        Ok(Self { client: client.clone(), workspace, run, renewing })
    }

    /// Ends it. If that cannot be told, it lapses.
    pub(super) async fn end(self) {
        self.renewing.abort();
        let none = TrustParams { run: Some(self.run), for_seconds: Some(0) };
        if let Err(error) = self.client.trust_for_run(&self.workspace, &none).await {
            tracing::debug!(%error, "the trust of this run lapses by itself");
        }
    }
}

/// Does something in a directory that is trusted meanwhile, if one is given.
pub(super) async fn lending<T>(
    directory: Option<PathBuf>,
    client: &Client,
    work: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    let Some(directory) = directory else { return work.await };
    let run = RunTrust::begin(client, &directory).await?;
    let done = work.await;
    run.end().await;
    done
}

async fn renew(client: Client, workspace: WorkspaceId, loan: TrustParams) {
    loop {
        tokio::time::sleep(RENEW).await;
        if let Err(error) = client.trust_for_run(&workspace, &loan).await {
            // A server that was started again is told with the next one.
            tracing::debug!(%error, "the trust of this run was not renewed");
        }
    }
}

/// Something that no other run of this process id has.
fn nanoseconds() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos()
}
