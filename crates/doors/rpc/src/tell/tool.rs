//! Calls of tools: announced, begun, heard, ended.

use loggia_domain::{CallId, FileChange, JsonText, OutputStream, Timestamp, ToolCall, ToolOutcome};
use loggia_protocol_autohand as wire;
use loggia_protocol_autohand::limits::{MAX_ARGUMENT_BYTES, MAX_OUTPUT_BYTES};

use crate::tell::moment::{between, moment};
use crate::tell::said::Said;
use crate::tell::turn::Turn;
use crate::tell::{Teller, fit, names};

/// A call without an end.
#[derive(Debug)]
pub(super) struct Call {
    /// As clients see it, no longer than they can.
    pub(super) call: wire::ToolCall,
    /// The engine's name of the tool.
    pub(super) tool: String,
    announced: bool,
    started: Option<Timestamp>,
    /// Whether somebody was asked and said yes.
    pub(super) allowed: bool,
}

/// How a call ended.
#[derive(Debug)]
pub(super) struct Ended<'a> {
    pub(super) outcome: &'a ToolOutcome,
    pub(super) files: &'a [FileChange],
    pub(super) is_command: bool,
    pub(super) milliseconds: &'a u64,
}

impl Teller {
    pub(super) fn tool_requested(&mut self, call: &ToolCall) {
        let Some(turn) = &mut self.turn else { return };
        let known = Call {
            call: fit::call(names::call(call, &self.mask), MAX_OUTPUT_BYTES),
            tool: call.tool.clone(),
            announced: false,
            started: None,
            allowed: false,
        };
        turn.calls.insert(call.id, known);
    }

    /// What is told of a call from here on is what it was changed to.
    pub(super) fn call_changed(&mut self, id: CallId, arguments: &JsonText) {
        let known = self.turn.as_mut().and_then(|turn| turn.calls.get_mut(&id));
        if let Some(known) = known {
            let args = names::arguments(&known.tool, arguments, &self.mask);
            known.call.args = fit::arguments(args, MAX_OUTPUT_BYTES);
        }
    }

    /// Says that a call is about to be made; it may still be refused.
    pub(super) fn announce_tool(&mut self, id: CallId, at: Timestamp, said: &mut Said) {
        let Some(call) = self.turn.as_mut().and_then(|turn| turn.calls.get_mut(&id)) else { return };
        if !std::mem::replace(&mut call.announced, true) {
            said.say::<wire::HookPreTool>(&wire::HookPreToolParams {
                tool_id: call.call.id.clone(),
                tool_name: call.call.name.clone(),
                args: call.call.args.clone(),
                timestamp: moment(at),
            });
        }
    }

    pub(super) fn start_tool(&mut self, id: CallId, at: Timestamp, said: &mut Said) {
        self.announce_tool(id, at, said);
        let Some(turn) = &mut self.turn else { return };
        let Some(call) = turn.calls.get_mut(&id) else { return };
        if call.started.is_none() {
            call.started = Some(at);
            turn.tool_calls += 1;
            said.say::<wire::ToolStart>(&wire::ToolStartParams {
                tool_id: call.call.id.clone(),
                tool_name: call.call.name.clone(),
                args: call.call.args.clone(),
                timestamp: moment(at),
            });
        }
    }

    pub(super) fn tool_output(
        &mut self,
        id: CallId,
        stream: OutputStream,
        chunk: &str,
        now: Timestamp,
        said: &mut Said,
    ) {
        let Some(call) = self.turn.as_ref().and_then(|turn| turn.calls.get(&id)) else { return };
        for piece in fit::pieces(chunk) {
            said.say::<wire::ToolUpdate>(&wire::ToolUpdateParams {
                tool_id: call.call.id.clone(),
                tool_name: Some(call.call.name.clone()),
                output: piece.to_owned(),
                stream: match stream {
                    OutputStream::Stdout => wire::OutputStream::Stdout,
                    OutputStream::Stderr => wire::OutputStream::Stderr,
                },
                timestamp: moment(now),
            });
        }
    }

    pub(super) fn tool_ended(&mut self, id: CallId, ended: &Ended<'_>, at: Timestamp, said: &mut Said) {
        let Some(call) = self.turn.as_ref().and_then(|turn| turn.calls.get(&id)) else { return };
        let is_told = match ended.outcome {
            ToolOutcome::Succeeded { .. } => true,
            // What cannot even be tried was never begun; what somebody allowed and could not be done was.
            ToolOutcome::Failed { .. } => call.started.is_some() || call.allowed,
            ToolOutcome::Denied { .. } | ToolOutcome::Cancelled => call.started.is_some(),
        };
        if is_told {
            self.start_tool(id, at, said);
        }
        let Some(call) = self.turn.as_mut().and_then(|turn| turn.calls.remove(&id)) else { return };
        if is_told {
            tell_end(&call, ended, at, said);
        }
    }
}

impl Turn {
    /// Ends the calls that were told as begun and whose end will not be heard any more.
    pub(super) fn end_calls(&mut self, at: Timestamp, said: &mut Said) {
        let cut = Ended { outcome: &ToolOutcome::Cancelled, files: &[], is_command: false, milliseconds: &0 };
        let calls = std::mem::take(&mut self.calls).into_values();
        calls.filter(|call| call.started.is_some()).for_each(|call| tell_end(&call, &cut, at, said));
    }
}

fn tell_end(Call { call, started, .. }: &Call, ended: &Ended<'_>, at: Timestamp, said: &mut Said) {
    for change in ended.files {
        said.say::<wire::HookFileModified>(&wire::HookFileModifiedParams {
            file_path: change.path.clone(),
            change_type: names::change_type(change.kind()),
            tool_id: call.id.clone(),
            timestamp: moment(at),
        });
    }
    let (success, output, error) = match ended.outcome {
        ToolOutcome::Succeeded { output } => (true, Some(output.as_str()), None),
        // What a failed command printed is worth as much as that of any other.
        ToolOutcome::Failed { message } => {
            (false, ended.is_command.then_some(message.as_str()), Some(message.as_str()))
        }
        ToolOutcome::Denied { reason } => (false, None, Some(reason.as_str())),
        ToolOutcome::Cancelled => (false, None, Some("cancelled")),
    };
    let output = output.map(|output| fit::shortened(output, MAX_OUTPUT_BYTES).into_owned());
    // Nobody has measured how long a call took that was cut.
    let duration = match (*ended.milliseconds, started) {
        (0, Some(started)) => between(*started, at),
        (milliseconds, _) => milliseconds,
    };
    said.say::<wire::HookPostTool>(&wire::HookPostToolParams {
        tool_id: call.id.clone(),
        tool_name: call.name.clone(),
        success,
        duration: duration.into(),
        output: output.clone(),
        timestamp: moment(at),
    });
    said.say::<wire::ToolEnd>(&wire::ToolEndParams {
        tool_id: call.id.clone(),
        tool_name: call.name.clone(),
        success,
        output,
        error: error.map(|error| fit::shortened(error, MAX_ARGUMENT_BYTES).into_owned()),
        timestamp: moment(at),
    });
}
