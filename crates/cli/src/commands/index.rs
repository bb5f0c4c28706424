//! The code index of a workspace: how it is, building it, and steering its builds.

mod build;
mod progress;
mod tell;
mod watch;

use std::path::PathBuf;

use loggia_client::Client;
use loggia_protocol_agent_server::{IndexStatus, SkippedFile};
use serde::Serialize;

use super::{confirm, say, say_json};
use crate::ask::workspace;
use crate::{CliError, Interrupts, Outcome, Terminal};

pub(super) use build::{Built, build_missing, cancelled_by_others};
pub use build::{IndexBuilding, index_build};
pub use watch::index_watch;

/// How many files that are left out are listed: as many as a server tells.
const MAX_SKIPPED: u64 = 1_000;

/// The index of a workspace.
#[derive(Debug, Clone)]
pub struct IndexOf {
    /// The workspace.
    pub workspace: PathBuf,
    /// As JSON.
    pub json: bool,
}

/// How an index is shown.
#[derive(Debug, Clone)]
pub struct IndexShow {
    /// Whose.
    pub of: IndexOf,
    /// With the files that are left out.
    pub skipped: bool,
}

/// What is done to the build that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexSteer {
    /// It does nothing until it is resumed.
    Pause,
    /// It goes on.
    Resume,
    /// It ends; what was there before stays.
    Cancel,
}

/// An index to take away.
#[derive(Debug, Clone)]
pub struct IndexDrop {
    /// Whose.
    pub of: IndexOf,
    /// Without asking.
    pub yes: bool,
}

/// Shows how the index is. None is built.
///
/// # Errors
/// See [`CliError`].
pub async fn index_status(
    client: &Client,
    options: IndexShow,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let IndexShow { of, skipped } = options;
    let id = workspace(client, &of.workspace).await?.workspace_id;
    // This opens what is kept of an index; before, nobody knows what is left out of it.
    let status = client.index_status(&id).await?;
    if !skipped {
        tell::all(&status, of.json, terminal)?;
        return Ok(Outcome::Done);
    }
    let skipped = client.skipped_files(&id, Some(MAX_SKIPPED)).await?.skipped;
    match of.json {
        true => say_json(terminal, &WithSkipped { status: &status, skipped_files: &skipped })?,
        false => tell::with_skipped(&status, &skipped, terminal)?,
    }
    Ok(Outcome::Done)
}

/// What the server said of an index, and of the files it lacks.
#[derive(Debug, Serialize)]
struct WithSkipped<'s> {
    #[serde(flatten)]
    status: &'s IndexStatus,
    skipped_files: &'s [SkippedFile],
}

/// Holds builds up, lets them go on, or ends the one that runs. A pause is also about what comes.
///
/// # Errors
/// See [`CliError`].
pub async fn index_steer(
    client: &Client,
    options: IndexOf,
    how: IndexSteer,
    terminal: &mut Terminal,
) -> Result<Outcome, CliError> {
    let id = workspace(client, &options.workspace).await?.workspace_id;
    let was_running = build::is_under_way(&client.index_status(&id).await?);
    let status = match how {
        IndexSteer::Pause => client.pause_index(&id).await?,
        IndexSteer::Resume => client.resume_index(&id).await?,
        IndexSteer::Cancel => client.cancel_index(&id).await?,
    };
    if options.json {
        say_json(terminal, &status)?;
        return Ok(Outcome::Done);
    }
    let text = match how {
        IndexSteer::Cancel if !was_running => "No build is under way.",
        IndexSteer::Pause => {
            "Builds and the making of vectors are held up; `loggia index resume` lets them go on."
        }
        IndexSteer::Resume => "Builds and the making of vectors go on.",
        IndexSteer::Cancel => "The build is cancelled; what was there before stays.",
    };
    say(terminal, text)?;
    Ok(Outcome::Done)
}

/// Takes the index away, with all that is kept of it.
///
/// # Errors
/// See [`CliError`].
pub async fn index_drop(
    client: &Client,
    options: IndexDrop,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let IndexDrop { of, yes } = options;
    let workspace = workspace(client, &of.workspace).await?;
    let what = format!("Drop the code index of {}?", workspace.root_path);
    if !yes && !confirm(terminal, &what, interrupts).await? {
        return Ok(Outcome::Refused);
    }
    let status = client.drop_index(&workspace.workspace_id).await?;
    match of.json {
        true => say_json(terminal, &status)?,
        false => say(terminal, "The index is gone; it is built again when somebody next needs it.")?,
    }
    Ok(Outcome::Done)
}
