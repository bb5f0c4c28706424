//! The beginning and the end of a session, as clients are told.

use loggia_domain::Timestamp;
use loggia_protocol_autohand::{self as wire, AgentEndReason, SessionEndReason, SessionType};
use loggia_wire::peer::Notice;

use crate::place::Place;
use crate::tell::moment::moment;
use crate::tell::notice;

/// A session begins for this client.
pub(crate) fn begin(place: &Place, how: SessionType) -> Vec<Notice> {
    let teller = place.teller();
    let timestamp = moment(Timestamp::now());
    let start = wire::AgentStartParams {
        session_id: teller.session_id(),
        model: teller.model.name.clone(),
        workspace: place.workspace.root.display().to_string(),
        timestamp: timestamp.clone(),
        context_percent: teller.context_percent().into(),
    };
    let hook = wire::HookSessionStartParams { session_type: how, timestamp };
    vec![notice::<wire::AgentStart>(&start), notice::<wire::HookSessionStart>(&hook)]
}

/// A session ends for this client, which may go on with another.
pub(crate) fn end(place: &Place, reason: SessionEndReason) -> Notice {
    let milliseconds = u64::try_from(place.began.elapsed().as_millis()).unwrap_or(u64::MAX);
    notice::<wire::HookSessionEnd>(&wire::HookSessionEndParams {
        reason,
        duration: milliseconds.into(),
        timestamp: moment(Timestamp::now()),
    })
}

/// The last word.
pub(crate) fn last(place: &Place, reason: AgentEndReason) -> Notice {
    let session_id = place.teller().session_id();
    let timestamp = moment(Timestamp::now());
    notice::<wire::AgentEnd>(&wire::AgentEndParams { session_id, reason, timestamp })
}
