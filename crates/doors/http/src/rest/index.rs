//! `…/index`: the code index of a workspace, through whoever fills the domain's trait.
//!
//! A workspace without one says so: its index is empty, and changes are not taken.

mod builds;
mod moment;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use loggia_domain::{CodeIndex, IndexBuild, IndexControl, IndexState, IndexStep, Workspace, WorkspaceId};
use loggia_protocol_agent_server as wire;
use serde::Deserialize;
use wire::{
    ChangesParams, ChangesResult, FileChange, FileChangeKind, ProblemType, RejectedChange, SkippedList,
};

use crate::ask::{Asked, Limit, WorkspacePath};
use crate::body::Body;
use crate::door::Inner;
use crate::from_wire::leads_inside;
use crate::problem::Problem;
use crate::rest::index::builds::Times;
use crate::rest::index::moment::{MOMENT, is_moment};
use crate::rest::{Answer, Shared};
use crate::to_wire::moment::moment;

pub(crate) use crate::rest::index::builds::Builds;

/// What is said of a workspace without an index.
const NO_INDEX: &str = "there is no code index here; searches read the files themselves";

/// How many files that are left out are listed unless the client says otherwise.
const SKIPPED: usize = 100;

/// How many it may ask for.
const MAX_SKIPPED: usize = 1000;

#[derive(Debug, Deserialize)]
pub(crate) struct SkippedWanted {
    limit: Option<Limit>,
}

pub(crate) async fn status(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
) -> Answer<Json<wire::IndexStatus>> {
    let workspace = inner.parts.engine.workspace(id).await?;
    if let Some(index) = (inner.parts.index)(&workspace) {
        // What is kept of it is read first; nothing is built for that.
        index.opened().await;
        return Ok(Json(body(&*index, inner.builds.times(id))));
    }
    Ok(Json(empty()))
}

pub(crate) async fn rebuild(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
) -> Answer<(StatusCode, Json<wire::IndexStatus>)> {
    build(&inner, id, IndexBuild::Rebuild).await
}

pub(crate) async fn refresh(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
) -> Answer<(StatusCode, Json<wire::IndexStatus>)> {
    build(&inner, id, IndexBuild::Refresh).await
}

pub(crate) async fn skipped(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
    Asked(wanted): Asked<SkippedWanted>,
) -> Answer<Json<SkippedList>> {
    let workspace = inner.parts.engine.workspace(id).await?;
    let limit = wanted.limit.map_or(SKIPPED, |limit| limit.up_to(MAX_SKIPPED));
    let found = (inner.parts.index)(&workspace).map_or_else(Vec::new, |index| index.skipped(limit));
    let file =
        |file: loggia_domain::SkippedFile| wire::SkippedFile { file_path: file.path, reason: file.reason };
    Ok(Json(SkippedList { skipped: found.into_iter().take(limit).map(file).collect() }))
}

pub(crate) async fn pause(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
) -> Answer<Json<wire::IndexStatus>> {
    control(&inner, id, IndexControl::Pause).await
}

pub(crate) async fn resume(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
) -> Answer<Json<wire::IndexStatus>> {
    control(&inner, id, IndexControl::Resume).await
}

pub(crate) async fn cancel(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
) -> Answer<Json<wire::IndexStatus>> {
    control(&inner, id, IndexControl::Cancel).await
}

pub(crate) async fn forget(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
) -> Answer<Json<wire::IndexStatus>> {
    let workspace = inner.parts.engine.workspace(id).await?;
    let Some(index) = (inner.parts.index)(&workspace) else {
        return Err(Problem::of(ProblemType::Conflict, NO_INDEX));
    };
    index.forget().await?;
    Ok(Json(status_of(&inner, &workspace)))
}

/// Does something to a build; without one, or without an index, nothing changes.
async fn control(inner: &Inner, id: WorkspaceId, control: IndexControl) -> Answer<Json<wire::IndexStatus>> {
    let workspace = inner.parts.engine.workspace(id).await?;
    if let Some(index) = (inner.parts.index)(&workspace) {
        index.control(control);
    }
    Ok(Json(status_of(inner, &workspace)))
}

pub(crate) async fn incremental(
    State(inner): Shared,
    WorkspacePath(id): WorkspacePath,
    Body(params): Body<ChangesParams>,
) -> Answer<(StatusCode, Json<ChangesResult>)> {
    let workspace = inner.parts.engine.workspace(id).await?;
    let index = (inner.parts.index)(&workspace);
    for (place, change) in params.changes.iter().enumerate() {
        if change.timestamp.as_ref().is_some_and(|moment| !is_moment(&moment.0)) {
            return Err(Problem::field(format!("/changes/{place}/timestamp"), MOMENT));
        }
    }
    let (mut paths, mut rejected) = (Vec::new(), Vec::new());
    for change in params.changes {
        let fault = if index.is_none() { Some(NO_INDEX) } else { fault(&change) };
        match fault {
            None => paths.push(change.file_path),
            Some(reason) => {
                rejected.push(RejectedChange { file_path: change.file_path, reason: reason.to_owned() });
            }
        }
    }
    let accepted = u64::try_from(paths.len()).unwrap_or(u64::MAX);
    if let Some(index) = index
        && !paths.is_empty()
    {
        index.changed(paths).await?;
    }
    Ok((StatusCode::ACCEPTED, Json(ChangesResult { accepted, rejected })))
}

/// Begins a build, or joins the one that runs.
async fn build(
    inner: &Arc<Inner>,
    id: WorkspaceId,
    how: IndexBuild,
) -> Answer<(StatusCode, Json<wire::IndexStatus>)> {
    let workspace = inner.parts.engine.workspace(id).await?;
    let Some(index) = (inner.parts.index)(&workspace) else {
        let status = wire::IndexStatus { last_error: Some(NO_INDEX.to_owned()), ..empty() };
        return Ok((StatusCode::ACCEPTED, Json(status)));
    };
    inner.builds.begin(id);
    tokio::spawn(run(Arc::clone(&index), how, Running { inner: Arc::clone(inner), id }));
    // So that the build has begun when its state is told.
    tokio::task::yield_now().await;
    Ok((StatusCode::ACCEPTED, Json(body(&*index, inner.builds.times(id)))))
}

/// The build goes on when whoever asked for it has gone.
async fn run(index: Arc<dyn CodeIndex>, how: IndexBuild, running: Running) {
    if let Err(error) = index.build(how).await {
        tracing::warn!(%error, "an index could not be built");
    }
    drop(running);
}

/// A build that somebody asked for. It ends with this value, however that comes about.
struct Running {
    inner: Arc<Inner>,
    id: WorkspaceId,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.inner.builds.end(self.id);
    }
}

/// Why a change is not for the index.
fn fault(change: &FileChange) -> Option<&'static str> {
    if !leads_inside(&change.file_path) {
        return Some("the path does not lie in the workspace");
    }
    matches!(change.kind, FileChangeKind::Other(_)).then_some("the kind of change is not known")
}

/// How a workspace's index is.
pub(super) fn status_of(inner: &Inner, workspace: &Workspace) -> wire::IndexStatus {
    let times = inner.builds.times(workspace.id);
    (inner.parts.index)(workspace).map_or_else(empty, |index| body(&*index, times))
}

fn empty() -> wire::IndexStatus {
    wire::IndexStatus {
        state: wire::IndexState::Empty,
        files: 0,
        symbols: 0,
        chunks: 0,
        bytes: 0,
        done: 0,
        total: 0,
        started_at: None,
        finished_at: None,
        last_error: None,
        step: None,
        per_second: None,
        seconds_left: None,
        paused: None,
        cancelled: None,
        skipped: None,
        notes: Vec::new(),
        vectors: None,
    }
}

fn step(step: IndexStep) -> wire::IndexStep {
    match step {
        IndexStep::Walking => wire::IndexStep::Walking,
        IndexStep::Text => wire::IndexStep::Text,
        IndexStep::Symbols => wire::IndexStep::Symbols,
        IndexStep::Writing => wire::IndexStep::Writing,
    }
}

fn body(index: &dyn CodeIndex, times: Times) -> wire::IndexStatus {
    let (status, details) = (index.status(), index.details());
    let progress = details.progress;
    wire::IndexStatus {
        state: match status.state {
            IndexState::Empty => wire::IndexState::Empty,
            IndexState::Building => wire::IndexState::Building,
            IndexState::Ready => wire::IndexState::Ready,
            IndexState::Stale => wire::IndexState::Stale,
            IndexState::Failed => wire::IndexState::Failed,
        },
        files: status.files,
        symbols: status.symbols,
        chunks: status.chunks,
        bytes: status.bytes,
        done: status.done,
        total: status.total,
        started_at: times.started.map(moment),
        finished_at: times.finished.map(moment),
        last_error: status.last_error,
        step: progress.map(|progress| step(progress.step)),
        per_second: progress.map(|progress| progress.per_second),
        seconds_left: progress.and_then(|progress| progress.seconds_left),
        paused: (details.is_paused || progress.is_some()).then_some(details.is_paused),
        cancelled: details.was_cancelled.then_some(true),
        skipped: (details.skipped > 0).then_some(details.skipped),
        notes: details.notes,
        vectors: details.vectors,
    }
}
