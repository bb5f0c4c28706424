//! What happens to one frame: answers go to their callers, calls to their handlers, nonsense back to its sender.
//!
//! Everything here happens at once, without waiting. When the reader must pause before the next frame, the
//! outcome says for what.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
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
use super::lane::Count;
use super::responder::{Batch, Context, Responder, Target};
use super::router::{Route, WrongParams};
use super::stats::Counters;
use crate::framing::FrameError;

/// What the reader does next.
pub(super) enum Next {
    /// Read on.
    Go,
    /// Wait until a call of this order can be held, then serve the frame again: nobody would hear of its refusal.
    Again(Order),
}

/// Serves one frame.
pub(super) fn frame(shared: &Arc<Shared>, cx: &mut TaskContext<'_>, frame: &Bytes) -> Next {
    Counters::add(&shared.counters.frames);
    if let Some(next) = presumed(shared, cx, frame) {
        return next;
    }
    match read(frame, &shared.settings.dialect) {
        Ok(Body::One(message)) => one(shared, cx, frame, &message, Target::Stream),
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
            let strange = id.is_some() && route.kind != Kind::Request;
            // Whom to refuse is for the proper reading to say: an id may follow the parameters.
            let crowded = !shared.serving.admits(route.order, frame.len(), &shared.settings.limits);
            if strange || crowded {
                return None;
            }
            let target = id.clone().map_or(Target::Nobody, Target::Stream);
            match call(shared, cx, route, frame.len(), Some(params), id, target) {
                Ok(()) => Some(Next::Go),
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
        // Members cannot be held back one by one. One that has no id is served over the limit instead; together they
        // are no more than one frame.
        if let Next::Again(_) = one(shared, cx, frame, &message, |id| Target::Batch(id, batch.slot()))
            && let Incoming::Notification { method, params } = &message
            && let Some(route) = shared.router.find(method)
        {
            begin(shared, cx, route, 0, params.map(RawValue::get), None, Target::Nobody);
        }
    }
    Next::Go
}

fn one(
    shared: &Arc<Shared>,
    cx: &mut TaskContext<'_>,
    frame: &Bytes,
    message: &Incoming<'_>,
    target: impl FnOnce(RequestId) -> Target,
) -> Next {
    match message {
        Incoming::Request { id, method, params } => match shared.router.find(method) {
            Some(route) if route.kind == Kind::Request => {
                let target = target(id.clone());
                if shared.serving.admits(route.order, frame.len(), &shared.settings.limits) {
                    begin(
                        shared,
                        cx,
                        route,
                        frame.len(),
                        params.map(RawValue::get),
                        Some(id.clone()),
                        target,
                    );
                } else {
                    Counters::add(&shared.counters.overloaded);
                    Responder::new(shared.clone(), route.name, 0, target).fail(&overloaded(shared));
                }
            }
            _ => {
                let responder = Responder::new(shared.clone(), "", 0, target(id.clone()));
                responder.fail(&ErrorObject::method_not_found(method));
            }
        },
        Incoming::Notification { method, params } => match shared.router.find(method) {
            Some(route) if !shared.serving.admits(route.order, frame.len(), &shared.settings.limits) => {
                return Next::Again(route.order);
            }
            Some(route) => {
                begin(shared, cx, route, frame.len(), params.map(RawValue::get), None, Target::Nobody);
            }
            None => {
                Counters::add(&shared.counters.unheard);
                tracing::debug!(peer = %shared.settings.name, %method, "notification nobody listens to");
            }
        },
        Incoming::Response { id, outcome } => answer(shared, frame, id.clone(), outcome.clone()),
        Incoming::Invalid(why) => malformed(shared, &why.to_error()),
    }
    Next::Go
}

/// Starts a call, or answers what is wrong with its parameters.
fn begin(
    shared: &Arc<Shared>,
    cx: &mut TaskContext<'_>,
    route: &Route,
    bytes: usize,
    params: Option<&str>,
    id: Option<RequestId>,
    target: Target,
) {
    if let Err(wrong) = call(shared, cx, route, bytes, params, id, target) {
        refuse(shared, route, *wrong);
    }
}

/// Answers parameters that do not fit their method.
fn refuse(shared: &Shared, route: &Route, (error, responder): (FieldError, Responder)) {
    if route.kind == Kind::Notification {
        tracing::warn!(peer = %shared.settings.name, method = route.name, %error, "notification dropped");
    }
    responder.fail(&ErrorObject::invalid_params(error));
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
            // Loud once: a peer could fill the log with these.
            if shared.counters.unknown_answers.fetch_add(1, Relaxed) == 0 {
                tracing::warn!(peer = %shared.settings.name, %id, "answer to a call that was never made dropped");
            }
        }
    }
}

/// Starts a call that has been admitted.
fn call(
    shared: &Arc<Shared>,
    cx: &mut TaskContext<'_>,
    route: &Route,
    bytes: usize,
    params: Option<&str>,
    id: Option<RequestId>,
    target: Target,
) -> Result<(), WrongParams> {
    let serving = &shared.serving;
    let serial = serving.serial();
    let responder = Responder::new(shared.clone(), route.name, serial, target).charged(serving.charge(bytes));
    let context = Context { peer: Peer::new(shared.clone()), method: route.name, id: id.clone() };
    let work = route.begin(context, params, &shared.settings.dialect, responder)?;
    match route.order {
        Order::Ordered => serving.start_ordered(cx, work),
        Order::Free => serving.start(cx, serial, id, Count::Free, work),
        Order::Urgent => serving.start(cx, serial, id, Count::Urgent, work),
    }
    Ok(())
}

fn overloaded(shared: &Shared) -> ErrorObject {
    ErrorObject::new(shared.settings.overload_code, "Overloaded: too many calls are under way")
}
