//! Journals on their way elsewhere and back, as JSON Lines.

use std::collections::VecDeque;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use loggia_domain::{Seq, SessionId, WorkspaceId};
use loggia_engine::{Engine, EngineError};
use loggia_protocol_agent_server as wire;
use serde::Deserialize;

use crate::ask::{Asked, SessionPath};
use crate::body::Lines;
use crate::problem::Problem;
use crate::rest::{Answer, Shared, sessions};

/// What a journal is called on the way.
const JSON_LINES: HeaderValue = HeaderValue::from_static("application/x-ndjson");

/// `GET …/export`: the journal as it is now, a page at a time, however long it is.
pub(crate) async fn export(State(inner): Shared, SessionPath(id): SessionPath) -> Answer<Response> {
    let engine = inner.parts.engine.clone();
    let through = engine.session(id).await?.last_seq;
    // The first page now, while a problem can still be answered as one.
    let first = engine.export_session(id, Seq(0)).await?;
    let pages = Pages { engine, id, through, after: Seq(0), ready: Some(first.into()) };
    let body = Body::from_stream(stream::try_unfold(pages, Pages::next));
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, JSON_LINES);
    let name = HeaderValue::from_str(&format!("attachment; filename=\"{id}.jsonl\""));
    headers.insert(CONTENT_DISPOSITION, name.expect("an id is plain text"));
    Ok(response)
}

/// A journal being exported.
struct Pages {
    engine: Engine,
    id: SessionId,
    /// The last event there was when it began: a session at work does not make it endless.
    through: Seq,
    after: Seq,
    ready: Option<VecDeque<(Seq, String)>>,
}

impl Pages {
    /// The next page as bytes. An error cuts the body off, so that half a journal is not taken for a whole one.
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, EngineError> {
        let page = match self.ready.take() {
            Some(page) => page,
            None if self.after >= self.through => return Ok(None),
            None => self.engine.export_session(self.id, self.after).await?.into(),
        };
        let Some((last, _)) = page.back() else { return Ok(None) };
        self.after = *last;
        let lines = page.into_iter().filter(|(seq, _)| *seq <= self.through);
        let text = lines.fold(String::new(), |mut text, (_, line)| {
            text.push_str(&line);
            text.push('\n');
            text
        });
        Ok(Some((text.into(), self)))
    }
}

/// Where an imported session shall work.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    workspace_id: String,
}

/// `POST /v1/sessions/import?workspace_id=`.
pub(crate) async fn import(
    State(inner): Shared,
    Asked(asked): Asked<Target>,
    Lines(text): Lines,
) -> Answer<(StatusCode, Json<wire::Session>)> {
    let workspace: WorkspaceId =
        asked.workspace_id.parse().map_err(|error| Problem::bad_request(format!("workspace_id: {error}")))?;
    let lines: Vec<String> =
        text.lines().filter(|line| !line.trim().is_empty()).map(ToOwned::to_owned).collect();
    drop(text);
    if lines.is_empty() {
        return Err(Problem::field("", "there is no event in it"));
    }
    let summary = inner.parts.engine.import_session(workspace, lines).await?;
    Ok((StatusCode::CREATED, sessions::answer(&inner, summary.id).await?))
}
