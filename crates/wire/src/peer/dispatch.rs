//! What happens to one frame: answers go to their callers, calls to their handlers, nonsense back to its sender.
//!
//! Everything here happens at once, without waiting. When the reader must pause before the next frame, the
//! outcome says for what.

use std::sync::Arc;
use std::task::Context as TaskContext;

use bytes::Bytes;
use loggia_jsonrpc::{
    Body, ErrorObject, FieldError, Incoming, Invalid, Kind, Malformed, Order, OrphanErrors, Presumed,
    RequestId, codes, presume, read, write_error,
};
use serde_json::value::RawValue;

use super::Peer;
use super::calls::{Failure, Match, RawResult};
use super::handle::Shared;
use super::lane::{Count, Work};
use super::responder::{Batch, Context, Responder, Target};
use super::router::{Route, WrongParams};
use super::stats::Counters;
use crate::framing::FrameError;

/// What the reader does next.
pub(super) enum Next {
    /// Read on.
    Go,
    /// Wait until this call, which nobody would hear of if it were refused, can start.
    Wait(Held),
}

/// A call that found no place.
pub(super) enum Held {
    /// In the queue of ordered calls.
    Ordered(Work),
    /// Among those under way.
    Counted(u64, Count, Work),
}

/// Serves one frame.
pub(super) fn frame(shared: &Arc<Shared>, cx: &mut TaskContext<'_>, frame: &Bytes) -> Next {
    Counters::add(&shared.counters.frames);
    if let Some(next) = presumed(shared, cx, frame) {
        return next;
    }
    match read(frame, &shared.settings.dialect) {
        Ok(Body::One(message)) => one(shared, cx, frame, message, Target::Stream),
        Ok(Body::Batch(members)) => batch(shared, cx, frame, &members),
        Err(error) => {
            malformed(shared, &error.to_error());
            Next::Go
        }
    }
}

/// Serves a frame that is what it seems to be; nothing if it has to be read properly.
fn presumed(shared: &Arc<Shared>, cx: &mut TaskContext<'_>, frame: &Bytes) -> Option<Next> {
    match presume(frame, &shared.settings.dialect)? {
        Presumed::Result { id, result } => {
            let answer = RawResult { frame: frame.clone(), text: frame.slice_ref(result.as_bytes()) };
            deliver(shared, &id, shared.calls.answer(&id, Ok(answer)));
            Some(Next::Go)
        }
        Presumed::Call { id, method, params } => {
            let route = shared.router.find(method)?;
            if id.is_some() && route.kind != Kind::Request {
                return None;
            }
            let target = id.clone().map_or(Target::Nobody, Target::Stream);
            match call(shared, cx, route, Some(params), id, target) {
                Ok(next) => Some(next),
                Err(wrong) => {
                    // Read properly, the message tells what is wrong with it; this responder is not needed.
                    wrong.1.forget();
                    None
                }
            }
        }
    }
}

/// Answers a frame that could not even be taken.
pub(super) fn refused(shared: &Shared, error: &FrameError) {
    malformed(shared, &ErrorObject::new(codes::INVALID_REQUEST, format!("Invalid Request: {error}")));
}

/// Counts input that is no message, and answers it where the protocol wants that.
pub(super) fn malformed(shared: &Shared, error: &ErrorObject) {
    Counters::add(&shared.counters.malformed);
    tracing::debug!(peer = %shared.settings.name, %error, "malformed input");
    if shared.settings.dialect.malformed == Malformed::Answered {
        answer_at_once(shared, &RequestId::null(), error);
    }
}

fn answer_at_once(shared: &Shared, id: &RequestId, error: &ErrorObject) {
    let dialect = &shared.settings.dialect;
    // Over the limit, since the reader waits for room before it reads on. A closed outbox has nobody to tell.
    let _ = shared.outbox.push_over_limit(&|out: &mut Vec<u8>| write_error(out, dialect, id, error));
}

fn batch(shared: &Arc<Shared>, cx: &mut TaskContext<'_>, frame: &Bytes, members: &[&RawValue]) -> Next {
    if members.len() > shared.settings.limits.batch_members {
        malformed(shared, &Invalid::BatchTooLong.to_error());
        return Next::Go;
    }
    let batch = Batch::new(shared.clone());
    for member in members {
        let message = Body::member(member, &shared.settings.dialect);
        if let Incoming::Invalid(why) = message {
            Counters::add(&shared.counters.malformed);
            let target = Target::Batch(RequestId::null(), batch.slot());
            Responder::new(shared.clone(), "", 0, target).fail(&why.to_error());
            continue;
        }
        let next = one(shared, cx, frame, message, |id| Target::Batch(id, batch.slot()));
        if let Next::Wait(held) = next {
            // A batch's members cannot be held back one by one; only a call without an id asks to wait.
            Counters::add(&shared.counters.overloaded);
            tracing::warn!(peer = %shared.settings.name, "call without id in a batch dropped: too many are under way");
            drop(held);
        }
    }
    Next::Go
}

fn one(
    shared: &Arc<Shared>,
    cx: &mut TaskContext<'_>,
    frame: &Bytes,
    message: Incoming<'_>,
    target: impl FnOnce(RequestId) -> Target,
) -> Next {
    match message {
        Incoming::Request { id, method, params } => match shared.router.find(&method) {
            Some(route) if route.kind == Kind::Request => {
                let called = call(shared, cx, route, params.map(RawValue::get), Some(id.clone()), target(id));
                called.unwrap_or_else(|wrong| refuse(shared, route, *wrong))
            }
            _ => {
                let responder = Responder::new(shared.clone(), "", 0, target(id));
                responder.fail(&ErrorObject::method_not_found(&method));
                Next::Go
            }
        },
        Incoming::Notification { method, params } => match shared.router.find(&method) {
            Some(route) => {
                let called = call(shared, cx, route, params.map(RawValue::get), None, Target::Nobody);
                called.unwrap_or_else(|wrong| refuse(shared, route, *wrong))
            }
            None => {
                Counters::add(&shared.counters.unheard);
                tracing::debug!(peer = %shared.settings.name, %method, "notification nobody listens to");
                Next::Go
            }
        },
        Incoming::Response { id, outcome } => {
            answer(shared, frame, id, outcome);
            Next::Go
        }
        Incoming::Invalid(why) => {
            malformed(shared, &why.to_error());
            Next::Go
        }
    }
}

/// Answers parameters that do not fit their method.
fn refuse(shared: &Shared, route: &Route, (error, responder): (FieldError, Responder)) -> Next {
    if route.kind == Kind::Notification {
        tracing::warn!(peer = %shared.settings.name, method = route.name, %error, "notification dropped");
    }
    responder.fail(&ErrorObject::invalid_params(error));
    Next::Go
}

fn answer(shared: &Shared, frame: &Bytes, id: Option<RequestId>, outcome: Result<&RawValue, ErrorObject>) {
    let matched = match (&id, outcome) {
        (Some(id), Ok(result)) => {
            let text = frame.slice_ref(result.get().as_bytes());
            shared.calls.answer(id, Ok(RawResult { frame: frame.clone(), text }))
        }
        (Some(id), Err(error)) => shared.calls.answer(id, Err(Failure::Answered(error))),
        (None, Err(error)) if shared.settings.dialect.orphan_errors == OrphanErrors::FailTheOnlyCall => {
            shared.calls.answer_the_only_one(error)
        }
        (None, _) => Match::Unknown,
    };
    deliver(shared, &id.unwrap_or_else(RequestId::null), matched);
}

/// Counts answers that belong to nobody.
fn deliver(shared: &Shared, id: &RequestId, matched: Match) {
    match matched {
        Match::Delivered => {}
        Match::Late => {
            Counters::add(&shared.counters.late_answers);
            tracing::debug!(peer = %shared.settings.name, %id, "late answer dropped");
        }
        Match::Unknown => {
            Counters::add(&shared.counters.unknown_answers);
            tracing::warn!(peer = %shared.settings.name, %id, "answer to a call that was never made dropped");
        }
    }
}

fn call(
    shared: &Arc<Shared>,
    cx: &mut TaskContext<'_>,
    route: &Route,
    params: Option<&str>,
    id: Option<RequestId>,
    target: Target,
) -> Result<Next, WrongParams> {
    let serving = &shared.serving;
    let limits = &shared.settings.limits;
    let serial = serving.serial();
    let responder = Responder::new(shared.clone(), route.name, serial, target);
    let count = match route.order {
        Order::Urgent => Count::Urgent,
        Order::Free | Order::Ordered => Count::Free,
    };
    let crowded = route.order != Order::Ordered && serving.under_way(count) >= limits.in_flight;
    if crowded && id.is_some() {
        Counters::add(&shared.counters.overloaded);
        responder.fail(&overloaded(shared));
        return Ok(Next::Go);
    }
    let context = Context { peer: Peer::new(shared.clone()), method: route.name, id: id.clone() };
    let work = route.begin(context, params, &shared.settings.dialect, responder)?;
    if crowded {
        return Ok(Next::Wait(Held::Counted(serial, count, work)));
    }
    if route.order != Order::Ordered {
        serving.start(cx, serial, id, count, work);
        return Ok(Next::Go);
    }
    Ok(match serving.start_ordered(cx, limits.ordered_queue, work) {
        Ok(()) => Next::Go,
        Err(work) if id.is_none() => Next::Wait(Held::Ordered(work)),
        Err(work) => {
            Counters::add(&shared.counters.overloaded);
            serving.refuse(serial, overloaded(shared), work);
            Next::Go
        }
    })
}

fn overloaded(shared: &Shared) -> ErrorObject {
    ErrorObject::new(shared.settings.overload_code, "Overloaded: too many calls are under way")
}
