//! `POST …/undo` and `…/redo`.
//!
//! What was done is read from the journal, so the answer names the files that really changed.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use axum::{Extension, Json};
use loggia_domain::{CallId, EventBody, Executor, Intent, Seq, SessionId, ToolCall, TurnId};
use loggia_engine::{Engine, OnLeave, State as Session};
use loggia_protocol_agent_server::{UndoParams, UndoResult};
use serde::Deserialize;

use crate::ask::SessionPath;
use crate::body::MaybeBody;
use crate::door::Inner;
use crate::identity::Identity;
use crate::pages::each;
use crate::problem::Problem;
use crate::rest::{Answer, Shared, client};

/// The tool that runs commands.
const RUN_COMMAND: &str = "run_command";

pub(crate) async fn undo(
    State(inner): Shared,
    Extension(identity): Extension<Identity>,
    SessionPath(id): SessionPath,
    MaybeBody(params): MaybeBody<UndoParams>,
) -> Answer<Json<UndoResult>> {
    step(&inner, &identity, id, params, Way::Back).await
}

pub(crate) async fn redo(
    State(inner): Shared,
    Extension(identity): Extension<Identity>,
    SessionPath(id): SessionPath,
    MaybeBody(params): MaybeBody<UndoParams>,
) -> Answer<Json<UndoResult>> {
    step(&inner, &identity, id, params, Way::Forth).await
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Back,
    Forth,
}

async fn step(
    inner: &Inner,
    identity: &Identity,
    id: SessionId,
    params: UndoParams,
    way: Way,
) -> Answer<Json<UndoResult>> {
    let steps = params.steps.unwrap_or(1);
    if steps == 0 {
        return Err(Problem::field("/steps", "must be at least 1"));
    }
    let wanted = usize::try_from(steps).unwrap_or(usize::MAX);
    let engine = &inner.parts.engine;
    let (seat, before) = engine.join(id, client(identity), OnLeave::Keep).await?;
    let intent = match way {
        Way::Back => Intent::Undo { steps: wanted },
        Way::Forth => Intent::Redo { steps: wanted },
    };
    let done = seat.intend(intent).await?;
    let files = changed(engine, id, before.last_seq, done.seq).await?;
    let out_of_reach = match way {
        Way::Back => own_commands(engine, id, &before, wanted).await?,
        Way::Forth => Vec::new(),
    };
    Ok(Json(UndoResult { steps, files, out_of_reach }))
}

/// The files that undoing or redoing changed, as the journal tells.
async fn changed(engine: &Engine, id: SessionId, after: Seq, through: Seq) -> Answer<Vec<String>> {
    let mut paths = BTreeSet::new();
    each(engine, id, after, through, |event| {
        if let EventBody::Undone { files, .. } | EventBody::Redone { files, .. } = event.body {
            paths.extend(files.into_iter().map(|change| change.path));
        }
    })
    .await?;
    Ok(paths.into_iter().collect())
}

/// The commands of the undone turns that ran in somebody's terminal.
async fn own_commands(engine: &Engine, id: SessionId, before: &Session, steps: usize) -> Answer<Vec<String>> {
    let undone = before.undo.done().iter().rev().take(steps);
    let turns: BTreeSet<TurnId> = undone.clone().map(|step| step.turn).collect();
    let Some(first) = undone.map(|step| step.began_at).min() else { return Ok(Vec::new()) };
    let mut calls: BTreeMap<CallId, ToolCall> = BTreeMap::new();
    let mut lines = Vec::new();
    each(engine, id, first, before.last_seq, |event| {
        if !event.turn.is_some_and(|turn| turns.contains(&turn)) {
            return;
        }
        match event.body {
            EventBody::ToolRequested { call } if call.tool == RUN_COMMAND => {
                calls.insert(call.id, call);
            }
            EventBody::CallChanged { call, arguments, .. } => {
                calls.entry(call).and_modify(|made| made.arguments = arguments);
            }
            EventBody::ToolStarted { call, executor: Executor::Client(_) } => {
                lines.extend(calls.remove(&call).and_then(|call| command_line(&call)));
            }
            _ => {}
        }
    })
    .await?;
    Ok(lines)
}

fn command_line(call: &ToolCall) -> Option<String> {
    #[derive(Deserialize)]
    struct Arguments {
        command: String,
    }
    serde_json::from_str::<Arguments>(&call.arguments.0).ok().map(|arguments| arguments.command)
}
