//! Workflow plugins: steps they add, guards that hold a task back, effects that follow its steps.

mod moments;
mod parts;

use loggia_domain::{BoxFuture, GuestError, StepMoment, Verdict, WorkflowHook, WorkflowParts};
use loggia_protocol_mehrhof::{
    EvaluateGuard, EvaluateGuardParams, EvaluateGuardResult, ExecuteEffect, ExecuteEffectParams,
    WorkflowInitResult,
};

use crate::error::{Fault, PluginError};
use crate::manifest::{Role, WorkflowRole};
use crate::plugin::{Plugin, Told};

/// A plugin that has a say in how work goes.
#[derive(Debug, Clone)]
pub struct GuestWorkflow {
    plugin: Plugin,
    role: WorkflowRole,
}

impl GuestWorkflow {
    /// The workflow in a plugin, if it is one.
    pub fn of(plugin: Plugin) -> Option<Self> {
        let role = match &plugin.manifest().role {
            Role::Workflow(role) => role.clone(),
            _ => return None,
        };
        Some(Self { plugin, role })
    }

    /// The plugin it is in.
    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    async fn ask(&self, guard: String, moment: &StepMoment) -> Result<EvaluateGuardResult, PluginError> {
        let params = EvaluateGuardParams::new(guard, moments::context(moment), moments::work_unit(moment));
        self.plugin.call_in_both_spellings::<EvaluateGuard>(params, EvaluateGuardParams::documented).await
    }

    async fn order(&self, effect: String, moment: &StepMoment) -> Result<Option<String>, PluginError> {
        let params = ExecuteEffectParams::new(effect, moments::context(moment), moments::work_unit(moment));
        let documented = ExecuteEffectParams::documented;
        let answer = self.plugin.call_in_both_spellings::<ExecuteEffect>(params, documented).await?;
        let words = answer.words().map(str::to_owned);
        if answer.success {
            return Ok(words);
        }
        let reason = words.unwrap_or_else(|| "it does not say why".to_owned());
        Err(self.plugin.complain("workflow.executeEffect", Fault::Failed(reason)))
    }
}

impl WorkflowHook for GuestWorkflow {
    fn name(&self) -> String {
        self.plugin.name().to_owned()
    }

    fn parts(&self) -> BoxFuture<'_, Result<WorkflowParts, GuestError>> {
        Box::pin(async {
            self.plugin.start().await?;
            let told = match &self.plugin.known().told {
                Some(Told::Workflow(told)) => told.clone(),
                _ => WorkflowInitResult::default(),
            };
            Ok(parts::read(told, &self.role))
        })
    }

    fn guard(&self, guard: String, moment: StepMoment) -> BoxFuture<'_, Result<Verdict, GuestError>> {
        Box::pin(async move {
            let answer = self.ask(guard.clone(), &moment).await?;
            if answer.is_allowed() {
                return Ok(Verdict::Allow(answer.warning));
            }
            let silent = || format!("`{guard}` of the plugin `{}` does not allow it", self.plugin.name());
            Ok(Verdict::Stop(answer.reason.filter(|reason| !reason.is_empty()).unwrap_or_else(silent)))
        })
    }

    fn effect(
        &self,
        effect: String,
        moment: StepMoment,
    ) -> BoxFuture<'_, Result<Option<String>, GuestError>> {
        Box::pin(async move { Ok(self.order(effect, &moment).await?) })
    }
}
