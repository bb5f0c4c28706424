//! `/v1/messages`: the open messages of workspaces.
//!
//! The door knows no format: all of it is asked of the desk that the engine finds. An id names what is open; one that is
//! not open any more is nowhere. What the policy keeps from everybody is neither opened nor saved to.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use loggia_domain::{DocumentId, MessageDesk, Opening, Unsaved, Workspace, WorkspaceId};
use loggia_engine::MessageAccess;
use loggia_protocol_agent_server as wire;
use serde::Deserialize;
use wire::{
    MessageContent, MessageList, MessageSchema, MessageValidation, MessageValue, OpenMessageParams,
    PatchMessageParams, PatchedMessage, ProblemType, SaveMessageParams, SetMessageParams,
};

use crate::ask::{Asked, MessagePath};
use crate::body::{Body, MaybeBody};
use crate::door::Inner;
use crate::problem::Problem;
use crate::rest::message_body::{
    domain_patch, finding, format_named, format_sent, message, native, patched, schema, wire_format,
};
use crate::rest::sessions::known_workspace;
use crate::rest::{Answer, Shared};

/// How many places may be changed at once.
const MAX_PATCHES: usize = 10_000;

/// How long a path may be, in bytes, into a message or to a file.
const MAX_PATH_BYTES: usize = 4 << 10;

/// `GET /v1/messages`.
#[derive(Debug, Deserialize)]
pub(crate) struct Listing {
    workspace_id: Option<String>,
}

pub(crate) async fn list(State(inner): Shared, Asked(asked): Asked<Listing>) -> Answer<Json<MessageList>> {
    let workspaces = match asked.workspace_id {
        Some(id) => vec![inner.parts.engine.workspace(workspace_named(&id)?).await?],
        None => inner.parts.engine.workspaces().await?,
    };
    let mut messages = Vec::new();
    for workspace in workspaces {
        if let Some(desk) = inner.parts.engine.message_desk(workspace.id).await?
            && let Some(open) = desk.current().await
        {
            messages.push(message(&workspace.id, open));
        }
    }
    Ok(Json(MessageList { messages }))
}

pub(crate) async fn open(
    State(inner): Shared,
    Body(params): Body<OpenMessageParams>,
) -> Answer<(StatusCode, Json<wire::OpenMessage>)> {
    let OpenMessageParams { workspace_id, path, text, format } = params;
    let workspace = known_workspace(&inner, &workspace_id).await?;
    let opening = match (path, text) {
        (Some(path), None) => {
            if format.is_some() {
                return Err(Problem::field("/format", "is for `text`; a file says itself what it is"));
            }
            let path = file_path("/path", path)?;
            check_file(&inner, workspace, MessageAccess::Reads, &path).await?;
            Opening::File(path)
        }
        (None, Some(text)) => {
            let format = format.map(|format| format_sent("/format", &format)).transpose()?;
            Opening::New { text, format: format.unwrap_or(loggia_domain::MessageFormat::Hl7) }
        }
        (Some(_), Some(_)) => return Err(Problem::field("/text", "either this or `path`, not both")),
        (None, None) => return Err(Problem::field("/path", "is missing; `text` makes a new message")),
    };
    let opened = desk_of(&inner, workspace).await?.open(opening).await?;
    Ok((StatusCode::CREATED, Json(message(&workspace, opened))))
}

pub(crate) async fn one(
    State(inner): Shared,
    MessagePath(id): MessagePath,
) -> Answer<Json<wire::OpenMessage>> {
    let found = found(&inner, id).await?;
    Ok(Json(message(&found.workspace.id, found.message)))
}

/// `DELETE /v1/messages/{message_id}`.
#[derive(Debug, Deserialize)]
pub(crate) struct Closing {
    unsaved: Option<String>,
}

pub(crate) async fn close(
    State(inner): Shared,
    MessagePath(id): MessagePath,
    Asked(asked): Asked<Closing>,
) -> Answer<StatusCode> {
    let unsaved = match asked.unsaved.as_deref() {
        None | Some("keep") => Unsaved::Keep,
        Some("discard") => Unsaved::Discard,
        Some(_) => return Err(Problem::bad_request("unsaved: must be `keep` or `discard`")),
    };
    found(&inner, id).await?.desk.close(unsaved).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET …/text`.
#[derive(Debug, Deserialize)]
pub(crate) struct Reading {
    format: Option<String>,
}

pub(crate) async fn text(
    State(inner): Shared,
    MessagePath(id): MessagePath,
    Asked(asked): Asked<Reading>,
) -> Answer<Json<MessageContent>> {
    let found = found(&inner, id).await?;
    let format = match asked.format {
        Some(word) => format_named(&word)?,
        None => native(found.message.kind),
    };
    let read = found.desk.read(format).await?;
    let message = message(&found.workspace.id, read.message);
    Ok(Json(MessageContent { text: read.text, format: wire_format(format), message }))
}

pub(crate) async fn set_text(
    State(inner): Shared,
    MessagePath(id): MessagePath,
    Body(params): Body<SetMessageParams>,
) -> Answer<Json<wire::OpenMessage>> {
    let found = found(&inner, id).await?;
    let format = params.format.map(|format| format_sent("/format", &format)).transpose()?;
    let format = format.unwrap_or(native(found.message.kind));
    let changed = found.desk.replace(params.text, format).await?;
    Ok(Json(message(&found.workspace.id, changed)))
}

/// `GET …/value`.
#[derive(Debug, Deserialize)]
pub(crate) struct Getting {
    path: String,
}

pub(crate) async fn value(
    State(inner): Shared,
    MessagePath(id): MessagePath,
    Asked(asked): Asked<Getting>,
) -> Answer<Json<MessageValue>> {
    let found = found(&inner, id).await?;
    if asked.path.len() > MAX_PATH_BYTES {
        return Err(Problem::bad_request(format!("path: has at most {MAX_PATH_BYTES} bytes")));
    }
    let value = found.desk.get(asked.path.clone()).await.map_err(|error| match error {
        loggia_domain::MessageError::BadPath(why) => Problem::bad_request(format!("path: {why}")),
        error => error.into(),
    })?;
    Ok(Json(MessageValue { path: asked.path, value }))
}

pub(crate) async fn patch(
    State(inner): Shared,
    MessagePath(id): MessagePath,
    Body(params): Body<PatchMessageParams>,
) -> Answer<Json<PatchedMessage>> {
    let found = found(&inner, id).await?;
    if params.patches.len() > MAX_PATCHES {
        return Err(Problem::field("/patches", format!("has at most {MAX_PATCHES} entries")));
    }
    let patches = params.patches.into_iter().map(domain_patch).collect();
    let done = found.desk.patch(patches).await?;
    Ok(Json(patched(&found.workspace.id, done)))
}

pub(crate) async fn undo(
    State(inner): Shared,
    MessagePath(id): MessagePath,
) -> Answer<Json<wire::OpenMessage>> {
    let found = found(&inner, id).await?;
    let changed = found.desk.undo().await?;
    Ok(Json(message(&found.workspace.id, changed)))
}

pub(crate) async fn redo(
    State(inner): Shared,
    MessagePath(id): MessagePath,
) -> Answer<Json<wire::OpenMessage>> {
    let found = found(&inner, id).await?;
    let changed = found.desk.redo().await?;
    Ok(Json(message(&found.workspace.id, changed)))
}

pub(crate) async fn save(
    State(inner): Shared,
    MessagePath(id): MessagePath,
    MaybeBody(params): MaybeBody<SaveMessageParams>,
) -> Answer<Json<wire::OpenMessage>> {
    let found = found(&inner, id).await?;
    let path = params.path.map(|path| file_path("/path", path)).transpose()?;
    if let Some(path) = path.as_ref().or(found.message.path.as_ref()) {
        check_file(&inner, found.workspace.id, MessageAccess::Writes, path).await?;
    }
    let saved = found.desk.save(path).await?;
    Ok(Json(message(&found.workspace.id, saved)))
}

pub(crate) async fn validate(
    State(inner): Shared,
    MessagePath(id): MessagePath,
) -> Answer<Json<MessageValidation>> {
    let findings = found(&inner, id).await?.desk.validate().await?;
    let valid = findings.iter().all(|finding| !finding.wrong);
    Ok(Json(MessageValidation { valid, findings: findings.into_iter().map(finding).collect() }))
}

/// `GET /v1/messages/schema`.
#[derive(Debug, Deserialize)]
pub(crate) struct OfWorkspace {
    workspace_id: String,
}

pub(crate) async fn the_schema(
    State(inner): Shared,
    Asked(asked): Asked<OfWorkspace>,
) -> Answer<Json<MessageSchema>> {
    let workspace = workspace_named(&asked.workspace_id)?;
    Ok(Json(schema(desk_of(&inner, workspace).await?.schema())))
}

/// A message that is open, and where.
struct Found {
    workspace: Workspace,
    desk: Arc<dyn MessageDesk>,
    message: loggia_domain::OpenMessage,
}

/// Looks for a message on all desks.
async fn found(inner: &Inner, id: DocumentId) -> Answer<Found> {
    let engine = &inner.parts.engine;
    for workspace in engine.workspaces().await? {
        let Some(desk) = engine.message_desk(workspace.id).await? else { continue };
        match desk.current().await {
            Some(message) if message.id == id => return Ok(Found { workspace, desk, message }),
            _ => {}
        }
    }
    Err(Problem::not_found("this message is not open, or not any more")
        .hint(Some("`GET /v1/messages` lists what is open".to_owned())))
}

async fn desk_of(inner: &Inner, workspace: WorkspaceId) -> Answer<Arc<dyn MessageDesk>> {
    let desk = inner.parts.engine.message_desk(workspace).await?;
    desk.ok_or_else(|| Problem::not_found("no messages can be opened in this workspace"))
}

/// Whether everybody is kept from a file, whoever asks.
async fn check_file(inner: &Inner, workspace: WorkspaceId, access: MessageAccess, path: &str) -> Answer<()> {
    match inner.parts.engine.check_message_file(workspace, access, path).await? {
        Ok(()) => Ok(()),
        Err(why) => Err(Problem::of(ProblemType::Forbidden, why)),
    }
}

fn file_path(pointer: &str, path: String) -> Answer<String> {
    let is_path = !path.trim().is_empty() && path.len() <= MAX_PATH_BYTES && !path.contains('\0');
    match is_path && PathBuf::from(&path).is_relative() {
        true => Ok(path),
        false => Err(Problem::field(pointer, "must be a path relative to the workspace root")),
    }
}

fn workspace_named(text: &str) -> Answer<WorkspaceId> {
    text.parse().map_err(|error| Problem::bad_request(format!("workspace_id: {error}")))
}
