//! `GET /v1/sessions/{session_id}/events`: the journal, as the stream would have sent it.
//!
//! What always holds: a page costs what it holds. What the events before it amount to is kept from the page before.

use axum::Json;
use axum::extract::State;
use loggia_domain::Seq;
use loggia_protocol_agent_server::{Event, EventPage};
use serde::Deserialize;

use crate::ask::{Asked, Limit, SessionPath};
use crate::pages::STEP;
use crate::rest::{Answer, Shared};
use crate::to_wire::listed;

/// How many events a page has unless the client says otherwise.
const PAGE: usize = 200;

/// How many it may ask for.
const MAX_PAGE: usize = 1000;

/// After so much text a page ends, whatever was asked for: events can be large.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Deserialize)]
pub(crate) struct Stretch {
    #[serde(default)]
    after: u64,
    limit: Option<Limit>,
}

pub(crate) async fn events(
    State(inner): Shared,
    SessionPath(id): SessionPath,
    Asked(asked): Asked<Stretch>,
) -> Answer<Json<EventPage>> {
    let engine = &inner.parts.engine;
    let summary = engine.session(id).await?;
    let workspace = engine.workspace(summary.workspace).await?;
    let limit = asked.limit.map_or(PAGE, |limit| limit.up_to(MAX_PAGE));
    let after = Seq(asked.after);
    let mut past = inner.marks.past(engine, id, &workspace.root, after.min(summary.last_seq)).await?;
    let (mut page, mut bytes) = (Vec::new(), 0);
    let (mut last, mut left) = (after, limit);
    let mut read = Vec::new().into_iter();
    while left > 0 && bytes < MAX_PAGE_BYTES && last < summary.last_seq {
        let Some(event) = read.next() else {
            read = engine.events(id, last, left.min(STEP)).await?.into_iter();
            if read.len() == 0 {
                break;
            }
            continue;
        };
        last = event.seq;
        left -= 1;
        for message in listed(&event, &mut past) {
            let message = Event::from(&message);
            bytes += message.as_str().len();
            page.push(message);
        }
    }
    let next_after = (last < summary.last_seq).then_some(last.0);
    if next_after.is_some() {
        // Whoever asks for the next page begins here.
        inner.marks.keep(id, last, &past);
    }
    Ok(Json(EventPage { events: page, next_after }))
}
