//! Guards and effects in either spelling.

use loggia_plugin_kit::protocol::{
    EvaluateGuardResult, ExecuteEffectResult, WorkflowContext, WorkflowInitResult,
};
use loggia_plugin_kit::{Json, Plugin, PluginError, Workflow, allow, deny, done, failed, warn};

use crate::support::talk;

struct Gate;

impl Workflow for Gate {
    fn init(&mut self, _config: &Json) -> Result<WorkflowInitResult, PluginError> {
        Ok(WorkflowInitResult::default())
    }
    fn guard(&mut self, guard: &str, context: &WorkflowContext) -> Result<EvaluateGuardResult, PluginError> {
        Ok(match guard {
            "yes" => allow(),
            "well" => warn("mind the gap"),
            _ => deny(context.title.clone().unwrap_or_default()),
        })
    }
    fn effect(
        &mut self,
        effect: &str,
        context: &WorkflowContext,
    ) -> Result<ExecuteEffectResult, PluginError> {
        let title = context.title.clone().unwrap_or_default();
        Ok(if effect == "works" { done(title) } else { failed(title) })
    }
}

/// Adds nothing.
struct Bare;

impl Workflow for Bare {
    fn init(&mut self, _config: &Json) -> Result<WorkflowInitResult, PluginError> {
        Ok(WorkflowInitResult::default())
    }
}

fn check(plugin: fn() -> Plugin, method: &str, params: &str, expected: &str) {
    let line = format!(r#"{{"id":1,"method":"workflow.{method}","params":{params}}}"#);
    assert_eq!(talk(plugin, &line), format!(r#"{{"jsonrpc":"2.0","id":1,{expected}}}"#));
}

#[test]
fn guards_and_effects_are_asked_in_either_spelling() {
    let gate = || Plugin::workflow(Gate);
    check(gate, "init", "{}", r#""result":{}"#);
    check(gate, "evaluateGuard", r#"{"guard":"yes"}"#, r#""result":{"allowed":true,"passed":true}"#);
    check(
        gate,
        "evaluateGuard",
        r#"{"name":"well","context":{}}"#,
        r#""result":{"allowed":true,"passed":true,"warning":"mind the gap"}"#,
    );
    check(
        gate,
        "evaluateGuard",
        r#"{"name":"no","workUnit":{"id":"1","title":"from the unit"}}"#,
        r#""result":{"allowed":false,"passed":false,"reason":"from the unit"}"#,
    );
    check(
        gate,
        "executeEffect",
        r#"{"effect":"works","context":{"title":"told"}}"#,
        r#""result":{"success":true,"message":"told"}"#,
    );
    check(
        gate,
        "executeEffect",
        r#"{"name":"breaks","context":{"title":"no network"}}"#,
        r#""result":{"success":false,"message":"no network","error":"no network"}"#,
    );
}

#[test]
fn what_is_not_there_is_told() {
    let bare = || Plugin::workflow(Bare);
    check(
        bare,
        "evaluateGuard",
        r#"{"guard":"x"}"#,
        r#""error":{"code":-32005,"message":"there is no guard `x`"}"#,
    );
    check(
        bare,
        "executeEffect",
        r#"{"effect":"x"}"#,
        r#""error":{"code":-32005,"message":"there is no effect `x`"}"#,
    );
    check(
        bare,
        "executeEffect",
        "{}",
        r#""error":{"code":-32602,"message":"Invalid params: `effect` is required"}"#,
    );
}
