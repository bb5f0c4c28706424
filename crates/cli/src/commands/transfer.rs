//! Whole journals, out and in.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use loggia_client::Client;
use loggia_protocol_agent_server::SessionId;

use super::sessions::tell;
use crate::ask::workspace;
use crate::{CliError, Outcome, Terminal, session_id};

/// Who may read a journal: its owner. All that was said is in it, and all that was read.
const PRIVATE: u32 = 0o600;

/// A session to write down.
#[derive(Debug, Clone)]
pub struct SessionExport {
    /// Which, by its id or the beginning of it.
    pub session: SessionId,
    /// Into this new file, which only its owner can read; to standard output otherwise.
    pub to: Option<PathBuf>,
}

/// Writes a session's journal as JSON Lines.
///
/// # Errors
/// See [`CliError`]. A file that is there already is left alone; one that was begun may be incomplete.
pub async fn sessions_export(
    client: &Client,
    options: SessionExport,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let id = session_id::find(client, &options.session).await?.session_id;
    let mut export = client.export_session(&id).await?;
    let Some(path) = options.to else {
        while let Some(bytes) = export.next().await? {
            terminal.out_bytes(&bytes).map_err(CliError::Output)?;
        }
        return Ok(Outcome::Done);
    };
    let broken = |source| CliError::File { path: path.clone(), source };
    let mut options = File::options();
    let mut file = options.write(true).create_new(true).mode(PRIVATE).open(&path).map_err(broken)?;
    while let Some(bytes) = export.next().await? {
        file.write_all(&bytes).map_err(broken)?;
    }
    file.sync_all().map_err(broken)?;
    Ok(Outcome::Done)
}

/// A session to take in.
#[derive(Debug, Clone)]
pub struct SessionImport {
    /// Where it is to work.
    pub workspace: PathBuf,
    /// What was exported.
    pub lines: Vec<u8>,
    /// As JSON.
    pub json: bool,
}

/// Makes a session from an exported journal.
///
/// # Errors
/// See [`CliError`].
pub async fn sessions_import(
    client: &Client,
    options: SessionImport,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let workspace = workspace(client, &options.workspace).await?;
    let session = client.import_session(&workspace.workspace_id, options.lines).await?;
    tell(terminal, &session, options.json, "is new:")
}
