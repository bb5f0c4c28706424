//! `update_plan`: what the agent says it is going to do.

use loggia_domain::{ArgumentError, Demand, Plan, PlanStep, ToolEffect, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Arguments, Call};
use crate::text::counted;
use crate::view::View;

/// How many steps a plan may have: people read it.
const MAX_STEPS: usize = 100;

/// Tells people the plan: all of its steps, each time, and which one is under way. Use it for work of several steps,
/// and again whenever a step is done or the plan changes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdatePlan {
    /// The steps, in order.
    steps: Vec<Step>,
    /// The step under way, counted from 0; the number of steps when all are done.
    current: usize,
    /// Why it is done this way, in a sentence or two.
    rationale: String,
}

/// One step of the plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Step {
    /// What is done in this step.
    description: String,
    /// The files it touches, as far as is known.
    #[serde(default)]
    files_involved: Vec<String>,
}

/// A checked call.
pub(crate) struct Update(Plan);

impl Arguments for UpdatePlan {
    const NAME: &'static str = "update_plan";
    type Call = Update;

    fn check(self) -> Result<Update, ArgumentError> {
        let count = self.steps.len();
        if !(1..=MAX_STEPS).contains(&count) {
            return Err(ArgumentError(format!("`steps` must be 1 to {MAX_STEPS} steps, not {count}")));
        }
        if self.current > count {
            return Err(ArgumentError(format!(
                "`current` is {}, but the plan has {}: 0 is the first, {count} means all are done",
                self.current,
                counted(count, "step")
            )));
        }
        if let Some(number) = self.steps.iter().position(|step| step.description.trim().is_empty()) {
            return Err(ArgumentError(format!("`steps[{number}].description` is empty")));
        }
        let step = |step: Step| PlanStep { description: step.description, files: step.files_involved };
        let steps = self.steps.into_iter().map(step).collect();
        Ok(Update(Plan { steps, current: self.current, rationale: self.rationale }))
    }
}

impl Call for Update {
    fn demand(&self) -> Demand {
        Demand::default()
    }

    fn run(self, _view: &View) -> Result<ToolEffect, ToolError> {
        Ok(ToolEffect::Plan(self.0))
    }
}
