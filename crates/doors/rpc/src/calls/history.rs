//! Saved sessions: listed a page at a time, and read.

use std::sync::Arc;

use loggia_domain::{Seq, SessionId, SessionQuery, SessionSummary as Summary, TurnEnd};
use loggia_engine::{EngineError, State};
use loggia_jsonrpc::ErrorObject;
use loggia_protocol_autohand::{
    self as wire, GetHistoryParams, GetHistoryResult, GetSessionParams, GetSessionResult, SessionDetails,
    SessionStatus, SessionSummary,
};
use loggia_wire::peer::Context;

use crate::calls::conversation::times;
use crate::door::Door;
use crate::messages::message;
use crate::tell::moment::moment;

/// The largest page: each of its sessions is read to count its messages.
const MOST_PER_PAGE: u64 = 100;

/// How many sessions are counted at most. Whoever has more looks for them another way.
const MOST_COUNTED: usize = 10_000;

/// How many summaries are read at a time.
const AT_A_TIME: usize = 500;

pub(super) async fn list(
    door: Arc<Door>,
    _: Context,
    params: GetHistoryParams,
) -> Result<GetHistoryResult, ErrorObject> {
    let (current_page, size) = params.page_and_size();
    let size = size.min(MOST_PER_PAGE);
    // A store that does not answer has no sessions to show, which is what existing agents say then.
    let all = all(&door).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the sessions cannot be listed");
        Vec::new()
    });
    let total_items = all.len() as u64;
    let from = usize::try_from((current_page - 1).saturating_mul(size)).unwrap_or(usize::MAX);
    let mut sessions = Vec::new();
    for summary in all.iter().skip(from).take(usize::try_from(size).unwrap_or(usize::MAX)) {
        match short(&door, summary).await {
            Ok(session) => sessions.push(session),
            Err(error) => tracing::warn!(session = %summary.id, %error, "a session cannot be listed"),
        }
    }
    let total_pages = total_items.div_ceil(size).max(1);
    Ok(GetHistoryResult { sessions, current_page, total_pages, total_items })
}

async fn all(door: &Door) -> Result<Vec<Summary>, EngineError> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let query = SessionQuery { workspace: None, limit: AT_A_TIME, cursor };
        let page = door.parts.engine.sessions(query).await?;
        all.extend(page.items);
        cursor = page.next;
        if cursor.is_none() || all.len() >= MOST_COUNTED {
            return Ok(all);
        }
    }
}

async fn short(door: &Door, summary: &Summary) -> Result<SessionSummary, EngineError> {
    let state = door.parts.engine.peek(summary.id).await?;
    Ok(SessionSummary {
        session_id: wire::SessionId(summary.id.to_string()),
        created_at: moment(summary.created),
        last_active_at: moment(summary.updated),
        project_name: door.parts.engine.workspace(summary.workspace).await?.name,
        model: door.facts(summary.model.as_ref()).name,
        message_count: state.history.items().len() as u64,
        status: status(door, summary, &state).await,
    })
}

async fn status(door: &Door, summary: &Summary, state: &State) -> SessionStatus {
    // One that everybody has left stays in memory for a while.
    let live = door.parts.engine.live(summary.id).await;
    let runs = live.is_some_and(|state| state.turn.is_some());
    let is_used = runs || !door.parts.engine.clients(summary.id).await.is_empty();
    match state.cut {
        _ if summary.closed => SessionStatus::Completed,
        _ if is_used => SessionStatus::Active,
        Some((_, TurnEnd::Interrupted)) => SessionStatus::Crashed,
        // A turn that seems to run in a session that is not in memory was cut.
        _ if state.turn.is_some() && state.pending.is_empty() => SessionStatus::Crashed,
        _ => SessionStatus::Completed,
    }
}

pub(super) async fn read(
    door: Arc<Door>,
    _: Context,
    params: GetSessionParams,
) -> Result<GetSessionResult, ErrorObject> {
    let Ok(id) = params.session_id.0.parse::<SessionId>() else {
        return Ok(GetSessionResult::failed(format!("there is no session `{}`", params.session_id.0)));
    };
    Ok(match details(&door, id).await {
        Ok(session) => GetSessionResult::found(session),
        Err(error) => GetSessionResult::failed(error.to_string()),
    })
}

async fn details(door: &Door, id: SessionId) -> Result<SessionDetails, EngineError> {
    let engine = &door.parts.engine;
    let summary = engine.session(id).await?;
    let state = engine.peek(id).await?;
    let workspace = engine.workspace(summary.workspace).await?;
    let items = state.history.items();
    let (times, mask) = (times(engine, id, Seq(0), state.last_seq).await?, engine.mask());
    Ok(SessionDetails {
        session_id: wire::SessionId(id.to_string()),
        project_name: workspace.name,
        model: door.facts(summary.model.as_ref()).name,
        message_count: items.len() as u64,
        status: status(door, &summary, &state).await,
        created_at: moment(summary.created),
        last_active_at: moment(summary.updated),
        summary: summary.title,
        messages: items.iter().map(|item| message(item, &times, &mask)).collect(),
        workspace_root: workspace.root.display().to_string(),
    })
}
