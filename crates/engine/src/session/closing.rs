//! How a turn that did not come to its own end is closed: what was open gets an end, so that nothing hangs.
//!
//! The same for a cancelled turn, a failed one and one that a crash cut.

use loggia_domain::{
    Actor, ApprovalAnswer, ApprovalScope, AssistantMessage, EventBody, PatchFailure, Remember, RunningReply,
    ToolOutcome, TurnEnd, Usage,
};

use crate::session::state::{CallStage, OpenCall, State};

/// The events that close the turn under way; none if there is no turn.
pub(super) fn closing(state: &State, end: TurnEnd, reply: Option<RunningReply>) -> Vec<EventBody> {
    let Some(turn) = &state.turn else { return Vec::new() };
    let mut events: Vec<EventBody> = reply.map(cut_reply).into_iter().collect();
    for approval in state.pending.keys() {
        let answer = ApprovalAnswer {
            scope: ApprovalScope::None,
            remember: Remember::Once,
            comment: Some("the turn ended".to_owned()),
        };
        events.push(EventBody::ApprovalDecided { approval: *approval, answer, by: Actor::Engine });
    }
    let withdrawn = |patch| EventBody::PatchDropped { patch, failure: PatchFailure::Withdrawn };
    events.extend(state.proposed.keys().copied().map(withdrawn));
    events.extend(turn.calls.iter().map(|open| end_of(open, ToolOutcome::Cancelled)));
    events.push(EventBody::TurnEnded { end, usage: turn.usage, by: None });
    events
}

/// What a crash cut although the turn goes on: calls that ran, or had been decided about, while another one waited for
/// an answer. No turn leaves one that is decided about: it would have begun before the next one was asked about. So
/// that answer is nobody's here.
pub(super) fn interrupted(state: &State) -> Vec<EventBody> {
    let calls = state.turn.iter().flat_map(|turn| &turn.calls);
    let cut = |open: &OpenCall| {
        let message = match open.stage {
            CallStage::Started(_) => "cut by a restart; part of it may have been done",
            CallStage::Decided(_) => "cut by a restart before it began",
            CallStage::Requested | CallStage::Asked(_) => return None,
        };
        Some(end_of(open, ToolOutcome::Failed { message: message.to_owned() }))
    };
    calls.filter_map(cut).collect()
}

fn end_of(open: &OpenCall, outcome: ToolOutcome) -> EventBody {
    EventBody::ToolEnded { call: open.call.id, outcome, files: Vec::new(), command: None, milliseconds: 0 }
}

fn cut_reply(reply: RunningReply) -> EventBody {
    let RunningReply { turn: _, message, text, thought } = reply;
    let thought = Some(thought).filter(|thought| !thought.is_empty());
    let message = AssistantMessage { id: message, text, thought, calls: Vec::new() };
    // What a cut reply used, nobody said.
    EventBody::MessageEnded { message, cut: true, usage: Usage::NONE }
}
