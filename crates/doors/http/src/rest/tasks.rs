//! `/v1/tasks`: pieces of work that go from step to step.
//!
//! Each handler calls the engine's tasks and shows the task; what happens meanwhile is told by the task's session. A step
//! goes on however its asker leaves.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use loggia_domain::{Actor, JsonText, TaskAgents, TaskId, WorkQuery, WorkspaceId};
use loggia_engine::Tasks;
use loggia_engine::tasks::{
    AbandonTask, AutoTask, FinishHow, FinishTask, Quality, StartTask, StepRequest, TaskError, TaskPlace,
    TaskRun, TaskView, Uncommitted,
};
use loggia_protocol_agent_server as wire;
use serde::Deserialize;
use wire::{
    AbandonTaskParams, AutoTaskParams, FinishTaskParams, StartTaskParams, TaskFinish, TaskList,
    TaskMetadataParams, TaskStepParams, TaskTextParams, UndoParams, UndoTaskParams, WorkItemPage,
};

use crate::ask::{Asked, Limit, TaskPath};
use crate::body::{Body, MaybeBody};
use crate::door::Inner;
use crate::identity::Identity;
use crate::problem::Problem;
use crate::rest::sessions::{budget, check_preset, known_workspace};
use crate::rest::task_body::{items, task, whole_task};
use crate::rest::{Answer, Shared, client, policy};

/// How many items a page has unless the client says otherwise, and how many it may ask for.
const PAGE: usize = 50;
const MAX_PAGE: usize = 200;

/// How long a reference may be, in bytes: the engine's bound.
const MAX_REFERENCE_BYTES: usize = 4 << 10;

/// Who asks.
type Asker = Extension<Identity>;

/// A task, and with which status it is answered.
type Told = (StatusCode, Json<wire::Task>);

/// `GET /v1/tasks`.
#[derive(Debug, Deserialize)]
pub(crate) struct Listing {
    workspace_id: Option<String>,
}

pub(crate) async fn list(State(inner): Shared, Asked(asked): Asked<Listing>) -> Answer<Json<TaskList>> {
    let workspace = asked.workspace_id.as_deref().map(workspace_named).transpose()?;
    let views = inner.parts.engine.tasks().list(workspace).await?;
    Ok(Json(TaskList { tasks: views.iter().map(task).collect() }))
}

/// `GET /v1/tasks/browse`.
#[derive(Debug, Deserialize)]
pub(crate) struct Browsing {
    workspace_id: String,
    reference: String,
    status: Option<String>,
    tag: Option<String>,
    limit: Option<Limit>,
    cursor: Option<String>,
}

pub(crate) async fn browse(
    State(inner): Shared,
    Asked(asked): Asked<Browsing>,
) -> Answer<Json<WorkItemPage>> {
    let workspace = workspace_named(&asked.workspace_id)?;
    let scheme = match asked.reference.split_once(':') {
        None | Some((_, "")) => asked.reference.trim_end_matches(':'),
        Some((scheme, _)) => {
            let detail =
                format!("reference: what `{scheme}` has is listed as a whole; leave out what follows it");
            return Err(Problem::bad_request(detail));
        }
    };
    let tags = asked.tag.as_deref().unwrap_or_default().split(',').map(str::trim);
    let query = WorkQuery {
        status: asked.status,
        tags: tags.filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
        limit: asked.limit.map_or(PAGE, |limit| limit.up_to(MAX_PAGE)),
        cursor: asked.cursor,
    };
    let page = inner.parts.engine.tasks().browse(workspace, scheme, query).await?;
    Ok(Json(items(scheme, page)))
}

pub(crate) async fn one(State(inner): Shared, TaskPath(id): TaskPath) -> Answer<Json<wire::Task>> {
    let tasks = inner.parts.engine.tasks();
    let view = tasks.status(id).await?;
    Ok(Json(whole_task(&view, tasks.known_line(&view).as_deref())))
}

pub(crate) async fn start(
    State(inner): Shared,
    Extension(identity): Asker,
    Body(params): Body<StartTaskParams>,
) -> Answer<Told> {
    let request = start_request(&inner, &identity, params, "").await?;
    let view = inner.parts.engine.tasks().start(request, actor(&identity)).await;
    Ok((StatusCode::CREATED, Json(task(&view.map_err(|error| of_reference(error, ""))?))))
}

pub(crate) async fn auto(
    State(inner): Shared,
    Extension(identity): Asker,
    Body(params): Body<AutoTaskParams>,
) -> Answer<Told> {
    let AutoTaskParams { start, finish, tries, wait } = params;
    if tries == Some(0) {
        return Err(Problem::field("/tries", "must be at least 1"));
    }
    let request = AutoTask {
        start: start_request(&inner, &identity, start, "/start").await?,
        finish: finish_request(finish, "/finish")?,
        tries,
    };
    let tasks = inner.parts.engine.tasks();
    let run = tasks.auto(request, actor(&identity)).await;
    told(&tasks, run.map_err(|error| of_reference(error, "/start"))?, wait).await
}

pub(crate) async fn plan(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    MaybeBody(params): MaybeBody<TaskStepParams>,
) -> Answer<Told> {
    let (tasks, wait) = (inner.parts.engine.tasks(), params.wait);
    told(&tasks, tasks.plan(id, step_request(params), actor(&identity)).await?, wait).await
}

pub(crate) async fn implement(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    MaybeBody(params): MaybeBody<TaskStepParams>,
) -> Answer<Told> {
    let (tasks, wait) = (inner.parts.engine.tasks(), params.wait);
    told(&tasks, tasks.implement(id, step_request(params), actor(&identity)).await?, wait).await
}

pub(crate) async fn review(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    MaybeBody(params): MaybeBody<TaskStepParams>,
) -> Answer<Told> {
    let (tasks, wait) = (inner.parts.engine.tasks(), params.wait);
    told(&tasks, tasks.review(id, step_request(params), actor(&identity)).await?, wait).await
}

pub(crate) async fn resume(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    MaybeBody(params): MaybeBody<TaskStepParams>,
) -> Answer<Told> {
    if params.agent.is_some() {
        return Err(Problem::field("/agent", "what was cut goes on with the agent it had; leave it out"));
    }
    let tasks = inner.parts.engine.tasks();
    told(&tasks, tasks.resume(id, actor(&identity)).await?, params.wait).await
}

pub(crate) async fn finish(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    MaybeBody(params): MaybeBody<FinishTaskParams>,
) -> Answer<Told> {
    let (tasks, wait) = (inner.parts.engine.tasks(), params.wait);
    let run = tasks.finish(id, finish_request(params, "")?, actor(&identity)).await?;
    told(&tasks, run, wait).await
}

pub(crate) async fn abandon(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    MaybeBody(params): MaybeBody<AbandonTaskParams>,
) -> Answer<Json<wire::Task>> {
    let AbandonTaskParams { keep_branch, keep_files, discard } = params;
    let uncommitted = if discard { Uncommitted::Discard } else { Uncommitted::Keep };
    let request = AbandonTask { keep_branch, keep_files, uncommitted };
    shown(inner.parts.engine.tasks().abandon(id, request, actor(&identity)).await)
}

pub(crate) async fn note(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    Body(params): Body<TaskTextParams>,
) -> Answer<Json<wire::Task>> {
    shown(inner.parts.engine.tasks().note(id, params.text, actor(&identity)).await)
}

pub(crate) async fn answer(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    Body(params): Body<TaskTextParams>,
) -> Answer<Json<wire::Task>> {
    shown(inner.parts.engine.tasks().answer(id, params.text, actor(&identity)).await)
}

pub(crate) async fn set_metadata(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    Body(params): Body<TaskMetadataParams>,
) -> Answer<Json<wire::Task>> {
    let value = params.value.map(|value| JsonText(value.0.to_string()));
    shown(inner.parts.engine.tasks().set_metadata(id, params.name, value, actor(&identity)).await)
}

pub(crate) async fn undo(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    MaybeBody(params): MaybeBody<UndoTaskParams>,
) -> Answer<Json<wire::Task>> {
    let (tasks, by) = (inner.parts.engine.tasks(), actor(&identity));
    let UndoTaskParams { steps: wanted, discard } = params;
    match (wanted, discard) {
        (Some(0), true) => shown(tasks.undo_and_discard(id, 0, by).await),
        (_, true) => shown(tasks.undo_and_discard(id, steps(wanted)?, by).await),
        (_, false) => shown(tasks.undo(id, steps(wanted)?, by).await),
    }
}

pub(crate) async fn redo(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
    MaybeBody(params): MaybeBody<UndoParams>,
) -> Answer<Json<wire::Task>> {
    shown(inner.parts.engine.tasks().redo(id, steps(params.steps)?, actor(&identity)).await)
}

pub(crate) async fn override_guard(
    State(inner): Shared,
    Extension(identity): Asker,
    TaskPath(id): TaskPath,
) -> Answer<Json<wire::Task>> {
    shown(inner.parts.engine.tasks().override_guard(id, actor(&identity)).await)
}

/// Answers at the end, or at once with the task as it is now.
async fn told(tasks: &Tasks, run: TaskRun, wait: bool) -> Answer<Told> {
    if wait {
        return Ok((StatusCode::OK, Json(task(&run.wait().await?))));
    }
    let id = run.task;
    tokio::spawn(log_failure(id, run));
    Ok((StatusCode::ACCEPTED, Json(task(&tasks.status(id).await?))))
}

/// Somebody who does not wait hears of what fails by the task's session; what comes before its first word is logged.
async fn log_failure(id: TaskId, run: TaskRun) {
    if let Err(error) = run.wait().await {
        tracing::info!(task = %id, %error, "a step of a task came to nothing");
    }
}

fn shown(view: Result<TaskView, TaskError>) -> Answer<Json<wire::Task>> {
    Ok(Json(task(&view?)))
}

fn actor(identity: &Identity) -> Actor {
    Actor::from(&client(identity))
}

fn steps(wanted: Option<u32>) -> Answer<usize> {
    match wanted.unwrap_or(1) {
        0 => Err(Problem::field("/steps", "must be at least 1")),
        steps => Ok(usize::try_from(steps).unwrap_or(usize::MAX)),
    }
}

fn step_request(params: TaskStepParams) -> StepRequest {
    StepRequest { agent: params.agent }
}

/// The workspace that a query names.
fn workspace_named(text: &str) -> Answer<WorkspaceId> {
    text.parse().map_err(|error| Problem::bad_request(format!("workspace_id: {error}")))
}

/// What is wrong with the reference of a body.
fn of_reference(error: TaskError, below: &str) -> Problem {
    match error {
        TaskError::UnknownScheme { .. } | TaskError::NoProvider { .. } => {
            Problem::field(format!("{below}/reference"), error.to_string()).hint(error.hint())
        }
        error => error.into(),
    }
}

async fn start_request(
    inner: &Inner,
    identity: &Identity,
    params: StartTaskParams,
    below: &str,
) -> Answer<StartTask> {
    let workspace = known_workspace(inner, &params.workspace_id).await?;
    let reference = params.reference;
    if reference.trim().is_empty() || reference.len() > MAX_REFERENCE_BYTES || reference.contains('\0') {
        let message = format!("must be a reference or a text of at most {MAX_REFERENCE_BYTES} bytes");
        return Err(Problem::field(format!("{below}/reference"), message));
    }
    let place = match params.place {
        None | Some(wire::TaskPlace::Branch) => TaskPlace::Branch,
        Some(wire::TaskPlace::Worktree) => TaskPlace::Tree,
        Some(wire::TaskPlace::Here) => TaskPlace::Here,
        Some(wire::TaskPlace::Other(_)) => {
            let message = "must be `branch`, `worktree` or `here`";
            return Err(Problem::field(format!("{below}/place"), message));
        }
    };
    let preset = params.policy_preset.map(policy::preset);
    if let Some(preset) = preset {
        check_preset(inner, identity, workspace, preset).await?;
    }
    let agents = params.agents.unwrap_or_default();
    Ok(StartTask {
        place,
        key: params.key,
        title: params.title,
        slug: params.slug,
        branch_pattern: params.branch_pattern,
        commit_prefix: params.commit_prefix,
        agents: TaskAgents {
            any: agents.any,
            planning: agents.planning,
            implementing: agents.implementing,
            reviewing: agents.reviewing,
        },
        preset,
        budget: params.budget.map(budget).transpose()?.unwrap_or_default(),
        ..StartTask::new(workspace, reference)
    })
}

fn finish_request(params: FinishTaskParams, below: &str) -> Answer<FinishTask> {
    let FinishTaskParams { squash, title, description, draft, push, drop_branch, .. } = params;
    let wrong = |field: &str, message: &str| Err(Problem::field(format!("{below}/{field}"), message));
    let how = match params.how {
        Some(TaskFinish::Merge) => FinishHow::Merge { squash },
        Some(TaskFinish::Propose) => FinishHow::Propose { title, description, draft },
        Some(TaskFinish::Keep) | None => FinishHow::Keep,
        Some(TaskFinish::Other(_)) => return wrong("how", "must be `merge`, `propose` or `keep`"),
    };
    let quality = match (params.quality_target, params.skip_quality) {
        (Some(_), true) => return wrong("skip_quality", "does not go together with `quality_target`"),
        (Some(target), false) => Quality::Target(target),
        (None, true) => Quality::Skip,
        (None, false) => Quality::Usual,
    };
    Ok(FinishTask { how, push, quality, drop_branch })
}
