//! Points in time as text.

use loggia_domain::{Event, Seq, Timestamp, TurnId};
use loggia_protocol_agent_server as wire;

/// A moment as it is on the wire.
pub(crate) fn moment(at: Timestamp) -> wire::Timestamp {
    wire::Timestamp(at.to_string())
}

/// The place of an event, for its messages.
pub(super) fn stamp(event: &Event) -> wire::Stamp {
    stamped(event.seq, event.at, event.turn)
}

/// A place in the journal, for messages.
pub(super) fn stamped(seq: Seq, at: Timestamp, turn: Option<TurnId>) -> wire::Stamp {
    wire::Stamp {
        seq: Some(seq.0),
        at: Some(moment(at)),
        turn_id: turn.map(|turn| wire::TurnId(turn.to_string())),
    }
}
