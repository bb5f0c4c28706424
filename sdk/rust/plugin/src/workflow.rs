//! Steps, guards and effects for the work on tasks.

use loggia_jsonrpc::{Json, Method};
use loggia_protocol_mehrhof as p;
use loggia_protocol_mehrhof::{
    EvaluateGuardResult, ExecuteEffectResult, WorkUnitView, WorkflowContext, WorkflowInitResult,
};
use serde_json::value::RawValue;

use crate::error::PluginError;
use crate::plugin::{needed, reply};

/// Something that has a say in how work goes.
pub trait Workflow {
    /// Called first, with what the user configured, an object; says what it adds.
    ///
    /// # Errors
    /// When it cannot work with that.
    fn init(&mut self, config: &Json) -> Result<WorkflowInitResult, PluginError>;

    /// Whether a task may go on: [`allow`], [`warn`] or [`deny`].
    ///
    /// # Errors
    /// When that cannot be told; the task then may not. [`PluginError::not_found`] for a guard it does not have.
    fn guard(&mut self, guard: &str, context: &WorkflowContext) -> Result<EvaluateGuardResult, PluginError> {
        let _ = context;
        Err(PluginError::not_found(format!("there is no guard `{guard}`")))
    }

    /// Does something when a task moves on: [`done`] or [`failed`].
    ///
    /// # Errors
    /// When it cannot be done. [`PluginError::not_found`] for an effect it does not have.
    fn effect(
        &mut self,
        effect: &str,
        context: &WorkflowContext,
    ) -> Result<ExecuteEffectResult, PluginError> {
        let _ = context;
        Err(PluginError::not_found(format!("there is no effect `{effect}`")))
    }
}

/// The task may go on.
pub fn allow() -> EvaluateGuardResult {
    // Some hosts look for the one word and some for the other.
    EvaluateGuardResult { allowed: Some(true), passed: Some(true), ..EvaluateGuardResult::default() }
}

/// The task may go on, and people see this.
pub fn warn(warning: impl Into<String>) -> EvaluateGuardResult {
    EvaluateGuardResult { warning: Some(warning.into()), ..allow() }
}

/// The task may not go on, and people see why.
pub fn deny(reason: impl Into<String>) -> EvaluateGuardResult {
    EvaluateGuardResult {
        allowed: Some(false),
        passed: Some(false),
        reason: Some(reason.into()),
        ..EvaluateGuardResult::default()
    }
}

/// The effect worked; people see this.
pub fn done(message: impl Into<String>) -> ExecuteEffectResult {
    ExecuteEffectResult { success: true, message: Some(message.into()), ..ExecuteEffectResult::default() }
}

/// The effect did not work, because.
pub fn failed(reason: impl Into<String>) -> ExecuteEffectResult {
    let reason = reason.into();
    ExecuteEffectResult {
        success: false,
        message: Some(reason.clone()),
        error: Some(reason),
        ..ExecuteEffectResult::default()
    }
}

pub(crate) fn answer(
    workflow: &mut dyn Workflow,
    method: &str,
    params: &str,
) -> Result<Box<RawValue>, PluginError> {
    match method {
        p::WorkflowInit::NAME => reply::<p::WorkflowInit>(params, |given| workflow.init(&given.config)),
        p::EvaluateGuard::NAME => reply::<p::EvaluateGuard>(params, |given| {
            let context = context(given.context.as_ref(), given.work_unit.as_ref());
            workflow.guard(needed(given.guard_name(), "guard")?, &context)
        }),
        p::ExecuteEffect::NAME => reply::<p::ExecuteEffect>(params, |given| {
            let context = context(given.context.as_ref(), given.work_unit.as_ref());
            workflow.effect(needed(given.effect_name(), "effect")?, &context)
        }),
        _ => Err(PluginError::method_not_found(method)),
    }
}

/// The task's circumstances, from whichever a host sent.
fn context(given: Option<&WorkflowContext>, unit: Option<&WorkUnitView>) -> WorkflowContext {
    match (given, unit) {
        (Some(context), _) => context.clone(),
        (None, Some(unit)) => WorkflowContext {
            task_id: Some(unit.id.clone()),
            title: unit.title.clone(),
            specifications: Some(unit.specifications.clone()),
            checkpoints: Some(unit.checkpoints.clone()),
            ..WorkflowContext::default()
        },
        (None, None) => WorkflowContext::default(),
    }
}
