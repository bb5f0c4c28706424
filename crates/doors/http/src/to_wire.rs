//! Events into messages, as far as lists of events need it: what was said and how turns ended.

use std::path::PathBuf;

use loggia_domain::{Event, EventBody};
use loggia_engine::State;
use loggia_protocol_agent_server as wire;
use wire::ServerMessage;

/// What the events so far amount to.
#[derive(Debug)]
pub(crate) struct Past {
    text: String,
}

impl Past {
    /// Nothing has happened yet, in a workspace at this place.
    pub(crate) fn new(_root: PathBuf) -> Self {
        Self { text: String::new() }
    }

    /// Takes one event in.
    pub(crate) fn apply(&mut self, event: &Event) {
        if let EventBody::MessageEnded { message, .. } = &event.body {
            self.text.clone_from(&message.text);
        }
    }
}

/// What an event is on the wire; then it is part of the past.
pub(crate) fn journal(event: &Event, past: &mut Past) -> Vec<ServerMessage> {
    past.apply(event);
    let stamp = wire::Stamp { seq: Some(event.seq.0), ..wire::Stamp::default() };
    match &event.body {
        EventBody::TurnStarted { instruction, .. } => vec![ServerMessage::ClientEcho(wire::ClientEcho {
            from: String::new(),
            message: instruction.text.clone(),
            stamp,
        })],
        EventBody::TurnEnded { usage, .. } => vec![ServerMessage::MessageFinal(wire::MessageFinal {
            message: past.text.clone(),
            metadata: wire::ReplyMetadata {
                tokens_used: usage.input + usage.output,
                files_modified: 0,
                tools_used: Vec::new(),
                success: true,
            },
            stamp,
        })],
        _ => Vec::new(),
    }
}

/// A session's state on the wire.
pub(crate) fn state(state: &State) -> wire::SessionState {
    let patch = |id: &loggia_domain::PatchId| wire::PatchId(id.to_string());
    wire::SessionState {
        pending_patches: state.proposed.keys().map(patch).collect(),
        applied_patches: state.applied.iter().map(patch).collect(),
        pending_approvals: state.pending.keys().map(|id| wire::ApprovalId(id.to_string())).collect(),
        current_step: 0,
        total_steps: 0,
    }
}
