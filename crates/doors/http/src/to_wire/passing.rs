//! What is told and not kept: what the agent is about, and what a command prints.

use loggia_domain::{Door, Event, EventBody, OutputStream, Passing};
use loggia_protocol_agent_server as wire;
use wire::{Phase, ServerMessage, Thinking};

use crate::to_wire::names::{command_id, tool_name};
use crate::to_wire::notice::presence;
use crate::to_wire::past::Past;

/// What the agent is about when this happens, for those who watch it happen.
pub(super) fn thinking(event: &Event, past: &Past) -> Option<ServerMessage> {
    match &event.body {
        EventBody::TurnStarted { .. } => Some(phase(Phase::Analyzing, "Reading the instruction")),
        EventBody::TurnContinued { .. } => Some(phase(Phase::Analyzing, "Going on where the turn was cut")),
        EventBody::Retrieved { .. } => Some(phase(Phase::Retrieving, "Looking for relevant code")),
        EventBody::PlanChanged { .. } => Some(phase(Phase::Planning, "Making a plan")),
        EventBody::ToolStarted { call, .. } => {
            let open = past.calls.get(call)?;
            Some(phase(Phase::Executing, format!("Running `{}`", tool_name(&open.call.tool))))
        }
        _ => None,
    }
}

/// What passes.
pub(super) fn passing(passing: &Passing) -> Option<ServerMessage> {
    match passing {
        Passing::Retrying { message, attempt, wait } => {
            let seconds = wait.div_ceil(1000);
            let text = format!("Asking the model again in {seconds} s (attempt {attempt}): {message}");
            let attempt = Some(*attempt);
            Some(ServerMessage::Thinking(Thinking { phase: Phase::Analyzing, message: text, attempt }))
        }
        Passing::ToolOutput { call, stream, chunk } => {
            let stream = match stream {
                OutputStream::Stdout => wire::OutputStream::Stdout,
                OutputStream::Stderr => wire::OutputStream::Stderr,
            };
            Some(ServerMessage::ToolOutput(wire::ToolOutput {
                command_id: wire::CommandId(command_id(*call)),
                stream,
                chunk: chunk.clone(),
            }))
        }
        // Those of our own door are announced by it: most of them are there for one request only.
        Passing::ClientJoined { client } | Passing::ClientLeft { client } if client.door == Door::Http => {
            None
        }
        Passing::ClientJoined { client } => Some(ServerMessage::SessionNotice(presence(&client.name, true))),
        Passing::ClientLeft { client } => Some(ServerMessage::SessionNotice(presence(&client.name, false))),
        // A reply begins with its first piece.
        Passing::MessageStarted { .. } => None,
    }
}

/// What the model thinks aloud.
pub(super) fn thought(text: &str) -> ServerMessage {
    phase(Phase::Analyzing, text)
}

fn phase(phase: Phase, message: impl Into<String>) -> ServerMessage {
    ServerMessage::Thinking(Thinking { phase, message: message.into(), attempt: None })
}
