//! `abort`, `getState`, `getMessages`: around the turn.

use std::sync::Arc;

use loggia_domain::{Intent, Seq, SessionId};
use loggia_engine::{Engine, EngineError, IntentError};
use loggia_jsonrpc::{ErrorObject, NoParams};
use loggia_protocol_autohand::{GetMessagesParams, GetMessagesResult, GetStateResult, SuccessResult};
use loggia_wire::peer::Context;

use crate::calls::refused;
use crate::door::Door;
use crate::messages::{Times, message};
use crate::thinking;

/// How many events are read at a time when their times are looked up.
const PAGE: usize = 512;

pub(super) async fn abort(door: Arc<Door>, _: Context, _: NoParams) -> Result<SuccessResult, ErrorObject> {
    let place = door.place();
    if !place.teller().place.is_taken() {
        return Ok(SuccessResult { success: false });
    }
    // A prompt that has not become a turn yet never does.
    if place.teller().place.call_off() {
        place.has_told();
    }
    let reason = Some("the client aborted it".to_owned());
    match place.seat.intend(Intent::Cancel { reason }).await {
        // Cancelled before, and its end is on its way to the client: it is active for the client all the same.
        Ok(_) | Err(IntentError::NothingRuns) => Ok(SuccessResult { success: true }),
        Err(error) => Err(refused(&error)),
    }
}

pub(super) async fn get_state(
    door: Arc<Door>,
    _: Context,
    _: NoParams,
) -> Result<GetStateResult, ErrorObject> {
    let place = door.place();
    let teller = place.teller();
    let (thinking_level, max_thinking_tokens) = thinking::told(teller.thinking());
    Ok(GetStateResult {
        status: teller.status(),
        session_id: Some(teller.session_id()),
        model: teller.model.name.clone(),
        workspace: place.workspace.root.display().to_string(),
        context_percent: teller.context_percent().into(),
        message_count: teller.state.history.items().len() as u64,
        thinking_level,
        max_thinking_tokens,
        authenticated_user: None,
    })
}

pub(super) async fn get_messages(
    door: Arc<Door>,
    _: Context,
    params: GetMessagesParams,
) -> Result<GetMessagesResult, ErrorObject> {
    let place = door.place();
    let items = {
        let teller = place.teller();
        let items = teller.state.history.items();
        let from = params.last().map_or(0, |last| items.len().saturating_sub(last));
        items[from..].to_vec()
    };
    let Some(first) = items.first() else { return Ok(GetMessagesResult { messages: Vec::new() }) };
    let last = items.last().map_or(first.seq, |item| item.seq);
    let times = times(&door.parts.engine, place.seat.session(), first.seq, last).await;
    let (times, mask) = (times.map_err(ErrorObject::internal)?, door.parts.engine.mask());
    Ok(GetMessagesResult { messages: items.iter().map(|item| message(item, &times, &mask)).collect() })
}

/// When the events from one to another happened.
pub(super) async fn times(
    engine: &Engine,
    session: SessionId,
    first: Seq,
    last: Seq,
) -> Result<Times, EngineError> {
    let mut times = Times::new();
    let mut after = Seq(first.0.saturating_sub(1));
    while after < last {
        let events = engine.events(session, after, PAGE).await?;
        let Some(newest) = events.last() else { break };
        after = newest.seq;
        times.extend(events.iter().map(|event| (event.seq, event.at)));
    }
    Ok(times)
}
