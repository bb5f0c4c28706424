//! `GET /v1/sessions/{session_id}/events`: the journal, as the stream would have sent it.
//!
//! What an event is called depends on the events before it, so those are read as well; what they hold is dropped again
//! page by page.

use axum::Json;
use axum::extract::State;
use loggia_domain::{Seq, SessionId};
use loggia_engine::Engine;
use loggia_protocol_agent_server::{Event, EventPage};
use serde::Deserialize;

use crate::ask::{Asked, Limit, SessionPath};
use crate::rest::{Answer, Shared};
use crate::to_wire::{Past, journal};

/// How many events a page has unless the client says otherwise.
const PAGE: usize = 200;

/// How many it may ask for.
const MAX_PAGE: usize = 1000;

/// After so much text a page ends, whatever was asked for: events can be large.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Events read at a time on the way to a page.
const STEP: usize = 512;

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
    let mut past = Past::new(workspace.root);
    skip(engine, id, after.min(summary.last_seq), &mut past).await?;
    let (mut page, mut bytes) = (Vec::new(), 0);
    let (mut next_after, mut left) = (None, limit);
    let mut read = engine.events(id, after, limit.min(STEP)).await?.into_iter();
    let mut last = after;
    while left > 0 && bytes < MAX_PAGE_BYTES {
        let Some(event) = read.next() else {
            read = engine.events(id, last, left.min(STEP)).await?.into_iter();
            if read.len() == 0 {
                break;
            }
            continue;
        };
        last = event.seq;
        left -= 1;
        for message in journal(&event, &mut past) {
            let message = Event::from(&message);
            bytes += message.as_str().len();
            page.push(message);
        }
    }
    if last > after && !engine.events(id, last, 1).await?.is_empty() {
        next_after = Some(last.0);
    }
    Ok(Json(EventPage { events: page, next_after }))
}

/// Takes in what was before a page.
async fn skip(engine: &Engine, id: SessionId, through: Seq, past: &mut Past) -> Answer<()> {
    let mut after = Seq(0);
    while after < through {
        let events = engine.events(id, after, STEP).await?;
        let Some(last) = events.last().map(|event| event.seq) else { break };
        events.iter().filter(|event| event.seq <= through).for_each(|event| past.apply(event));
        after = last;
    }
    Ok(())
}
