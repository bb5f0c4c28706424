//! A phase for approval, a guard that waits for it, and an effect that writes down what happens.

use std::io::Write as _;
use std::process::ExitCode;

use loggia_plugin_kit::protocol::{
    EffectDeclaration, EvaluateGuardResult, ExecuteEffectResult, GuardDeclaration, PhaseDeclaration,
    WorkflowContext, WorkflowInitResult,
};
use loggia_plugin_kit::{Json, Plugin, PluginError, Workflow, allow, deny, done, run, warn};

struct Approval;

impl Workflow for Approval {
    fn init(&mut self, _config: &Json) -> Result<WorkflowInitResult, PluginError> {
        Ok(WorkflowInitResult {
            phases: vec![PhaseDeclaration {
                name: "approval".to_owned(),
                description: Some("Somebody looks at it".to_owned()),
                after: Some("reviewing".to_owned()),
                before: None,
            }],
            guards: vec![GuardDeclaration {
                name: "approved".to_owned(),
                description: Some("Critical tasks need an approval".to_owned()),
            }],
            effects: vec![EffectDeclaration {
                name: "write_down".to_owned(),
                description: Some("Writes down what happens to a task".to_owned()),
                critical: Some(false),
            }],
        })
    }

    fn guard(&mut self, guard: &str, context: &WorkflowContext) -> Result<EvaluateGuardResult, PluginError> {
        if guard != "approved" {
            return Err(PluginError::not_found(format!("there is no guard `{guard}`")));
        }
        let labels = context.labels.as_deref().unwrap_or_default();
        let approved = context.metadata.as_ref().is_some_and(|data| data.0["approved"] == true);
        Ok(match (labels.iter().any(|label| label == "critical"), approved) {
            (false, _) => allow(),
            (true, true) => warn("it is critical; somebody approved it"),
            (true, false) => deny("critical tasks need an approval: set `approved` in the task's metadata"),
        })
    }

    fn effect(
        &mut self,
        effect: &str,
        context: &WorkflowContext,
    ) -> Result<ExecuteEffectResult, PluginError> {
        if effect != "write_down" {
            return Err(PluginError::not_found(format!("there is no effect `{effect}`")));
        }
        let title = context.title.as_deref().unwrap_or("a task");
        // What goes to standard error is in the host's log.
        writeln!(std::io::stderr(), "{:?} of {title}", context.event)?;
        Ok(done("written down"))
    }
}

fn main() -> ExitCode {
    run(Plugin::workflow(Approval))
}
