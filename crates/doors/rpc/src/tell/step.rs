//! Turns that the client takes step by step: what was done in a step, and that the turn waits.

use loggia_domain::{Timestamp, ToolCall, ToolOutcome};
use loggia_engine::Said as Spoken;
use loggia_jsonrpc::Json;
use loggia_protocol_autohand as wire;
use loggia_protocol_autohand::limits::{MAX_ARGUMENT_BYTES, MAX_OUTPUT_BYTES};
use serde_json::json;

use crate::messages::outcome_text;
use crate::tell::moment::moment;
use crate::tell::said::Said;
use crate::tell::{Teller, fit, names};

/// The most of a thought that is repeated with its step, which has its calls and results beside it.
const MAX_THOUGHT_BYTES: usize = 8 * 1024;

impl Teller {
    /// Tells that a step is done, once, if the turn waits for a word about it.
    pub(super) fn step_done(&mut self, at: Timestamp, said: &mut Said) {
        let Some(number) = self.state.step_done() else { return };
        let Some(turn) = &mut self.turn else { return };
        if turn.step.replace(number) == Some(number) {
            return;
        }
        let step_id = step_id(turn.id, number);
        let step = self.last_step(number);
        said.say::<wire::StepEnd>(&wire::StepEndParams { step_id, step, timestamp: moment(at) });
    }

    /// The number of the step a client names, if it is the one that was told last.
    pub(crate) fn step(&self, id: &wire::StepId) -> Option<u32> {
        let turn = self.turn.as_ref()?;
        turn.step.filter(|number| step_id(turn.id, *number) == *id)
    }

    /// What was done since the model was asked last.
    fn last_step(&self, number: u32) -> wire::Step {
        let mut step = wire::Step {
            step_number: number.into(),
            thought: None,
            tool_calls: Vec::new(),
            tool_results: Vec::new(),
        };
        let mut results = Vec::new();
        for item in self.state.history.items().iter().rev() {
            match &item.said {
                Spoken::Tool { call, outcome } => results.push((call, outcome)),
                Spoken::Assistant { message, .. } => {
                    let thought = message.thought.as_ref();
                    step.thought =
                        thought.map(|thought| fit::shortened(thought, MAX_THOUGHT_BYTES).into_owned());
                    let room = MAX_ARGUMENT_BYTES / message.calls.len().max(1);
                    let told = |call| fit::call(names::call(call, &self.mask), room).into();
                    step.tool_calls = message.calls.iter().map(told).collect();
                    break;
                }
                _ => {}
            }
        }
        let room = MAX_OUTPUT_BYTES / results.len().max(1);
        step.tool_results = results.iter().rev().map(|(call, outcome)| result(call, outcome, room)).collect();
        step
    }
}

fn step_id(turn: loggia_domain::TurnId, number: u32) -> wire::StepId {
    wire::StepId(format!("step_{turn}_{number}"))
}

/// With the words of `toolEnd`, and the one that client libraries look for.
fn result(call: &ToolCall, outcome: &ToolOutcome, room: usize) -> Json {
    let success = matches!(outcome, ToolOutcome::Succeeded { .. });
    let text = if success { "output" } else { "error" };
    Json(json!({
        "toolId": call.id.to_string(),
        "toolName": names::tool_name(&call.tool),
        "tool": names::tool_name(&call.tool),
        "success": success,
        text: fit::shortened(outcome_text(outcome), room),
    }))
}
