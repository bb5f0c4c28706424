//! A session as an answer shows it.

use loggia_domain::{ModelName, SessionId};
use loggia_engine::{State, Status};
use loggia_protocol_agent_server as wire;

use crate::door::Inner;
use crate::rest::models::session_model;
use crate::to_wire;
use crate::to_wire::moment::moment;

/// How much of the first instruction makes a title, in characters: one line of a list.
const TITLE_CHARS: usize = 80;

/// What a session without a word is called.
const UNTITLED: &str = "New session";

/// A session as an answer shows it.
pub(super) fn session(inner: &Inner, id: SessionId, state: &State) -> wire::Session {
    wire::Session {
        session_id: wire::SessionId(id.to_string()),
        workspace_id: wire::WorkspaceId(state.opened.workspace.to_string()),
        title: title(state),
        status: status(state.status()),
        can_continue: state.turn.is_none() && state.cut.is_some() && !state.closed,
        can_undo: count(state.undo.done().len()),
        can_redo: count(state.undo.undone().count()),
        model: state.model.clone().or_else(|| default_model(inner)).as_ref().map(session_model),
        stand_in: state.stand_in.as_ref().map(|stand_in| session_model(&stand_in.model)),
        created_at: moment(state.opened.at),
        updated_at: moment(state.updated),
        last_seq: state.last_seq.0,
        state: to_wire::state(state),
    }
}

/// A session as an answer shows it that is not in memory: whatever its journal says, nothing runs there. A turn without
/// an end was cut, and goes on when somebody wishes.
pub(super) fn stored_session(inner: &Inner, id: SessionId, state: &State) -> wire::Session {
    let session = session(inner, id, state);
    match session.status {
        wire::SessionStatus::Running => {
            wire::Session { status: wire::SessionStatus::Idle, can_continue: true, ..session }
        }
        _ => session,
    }
}

fn count(steps: usize) -> u32 {
    u32::try_from(steps).unwrap_or(u32::MAX)
}

/// What a session without a model of its own uses.
pub(super) fn default_model(inner: &Inner) -> Option<ModelName> {
    let name = inner.parts.models.find(None).ok()?.info().name;
    (!name.is_none()).then_some(name)
}

fn status(status: Status) -> wire::SessionStatus {
    match status {
        Status::Idle => wire::SessionStatus::Idle,
        Status::Running => wire::SessionStatus::Running,
        Status::Waiting => wire::SessionStatus::WaitingApproval,
        Status::Closed => wire::SessionStatus::Ended,
    }
}

/// The title it was given, else its first instruction in short.
fn title(state: &State) -> String {
    if let Some(title) = &state.title {
        return title.clone();
    }
    state.beginning.as_deref().map_or_else(|| UNTITLED.to_owned(), shortened)
}

/// A line, cut where a list would cut it.
fn shortened(line: &str) -> String {
    let mut short: String = line.chars().filter(|char| !char.is_control()).take(TITLE_CHARS).collect();
    if line.chars().nth(TITLE_CHARS).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_short() {
        assert_eq!(shortened("Fix\u{7} the bug"), "Fix the bug");
        let long = "é".repeat(TITLE_CHARS + 1);
        assert_eq!(shortened(&long).chars().count(), TITLE_CHARS + 1);
        assert_eq!(shortened(&long[..2 * TITLE_CHARS]), long[..2 * TITLE_CHARS]);
    }
}
