//! Turns that the client may stop after each step. Beyond the specification.

use loggia_jsonrpc::{Json, Method, Notification, Order};
use serde::{Deserialize, Serialize};

use crate::{StepId, SuccessResult, Timestamp, ToolCall, ToolId};

/// A step is done; the turn waits for the client. Sent only where the prompt asked for it.
#[derive(Debug)]
pub struct StepEnd;

impl Notification for StepEnd {
    const NAME: &'static str = "autohand.stepEnd";
    type Params = StepEndParams;
}

/// The step that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepEndParams {
    /// To be named in the decision.
    pub step_id: StepId,
    /// What was done.
    pub step: Step,
    /// When.
    pub timestamp: Timestamp,
}

/// What was done in a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Its number in the turn.
    pub step_number: u64,
    /// What the model thought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// Which tools it called.
    pub tool_calls: Vec<StepCall>,
    /// What they answered; no client agrees with another on their shape, so they are handed on as they are. All that read them
    /// want the tool's name as `tool`.
    pub tool_results: Vec<Json>,
}

/// One tool call of a step. Client libraries demand `tool`; `name` is what it is called everywhere else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepCall {
    /// The call's id.
    pub id: ToolId,
    /// The tool.
    pub name: String,
    /// The tool once more.
    pub tool: String,
    /// Its arguments, an object the tool understands.
    pub args: Json,
}

impl From<ToolCall> for StepCall {
    fn from(call: ToolCall) -> Self {
        let ToolCall { id, name, args } = call;
        Self { id, tool: name.clone(), name, args }
    }
}

/// Lets the turn go on, or stops it.
#[derive(Debug)]
pub struct StepDecision;

impl Method for StepDecision {
    const NAME: &'static str = "autohand.stepDecision";
    const ORDER: Order = Order::Urgent;
    type Params = StepDecisionParams;
    type Result = SuccessResult;
}

/// The client's decision about a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepDecisionParams {
    /// The step.
    pub step_id: StepId,
    /// Whether the turn ends here.
    pub stop: bool,
}
