//! What a workflow plugin is asked.

use std::collections::HashSet;
use std::time::Duration;

use loggia_jsonrpc::{Method, decode};
use loggia_protocol_mehrhof::{
    EvaluateGuard, EvaluateGuardParams, ExecuteEffect, ExecuteEffectParams, WorkUnitView, WorkflowContext,
    WorkflowInitResult,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::judge::{Tolerance, failed, noted, skipped};
use super::report::Outcome;
use super::session::Session;

/// What no plugin declares.
const NOTHING: &str = "check-no-such-thing";

/// The steps that are there without plugins.
const PHASES: &[&str] = &["idle", "planning", "implementing", "reviewing", "done"];

pub(super) async fn check(session: &mut Session<'_>, told: &RawValue) {
    let said: WorkflowInitResult = decode(told.get()).unwrap_or_default();
    declarations(session, &said);
    if said.guards.is_empty() {
        session.tell(EvaluateGuard::NAME, Duration::ZERO, skipped("no guard is declared"));
    }
    for guard in &said.guards {
        let params = EvaluateGuardParams::new(&guard.name, context(), unit());
        let heard = session.ask(EvaluateGuard::NAME, written(&params)).await;
        let outcome = match heard.answer.read::<EvaluateGuard>() {
            Ok(said) if said.allowed.is_some() => Outcome::Passed,
            Ok(said) if said.passed.is_some() => noted("`allowed`", "`passed`, which is another host's word"),
            Ok(_) => failed("`allowed`", "neither `allowed` nor `passed`; hosts hold every task back"),
            Err(outcome) => outcome,
        };
        session.judge(format!("{}: `{}`", EvaluateGuard::NAME, guard.name), &heard, outcome);
    }
    let params = EvaluateGuardParams::new(NOTHING, context(), unit());
    let heard = session.ask(EvaluateGuard::NAME, written(&params)).await;
    let outcome = heard.answer.should_fail("an error, best -32005", &[], Tolerance::Tolerated);
    session.judge(format!("{}: a guard that is not there", EvaluateGuard::NAME), &heard, outcome);
    without_params(session, EvaluateGuard::NAME).await;
    effects(session, &said).await;
}

fn declarations(session: &mut Session<'_>, said: &WorkflowInitResult) {
    let mut names = HashSet::new();
    let all = said.phases.iter().map(|phase| &phase.name);
    let all = all.chain(said.guards.iter().map(|guard| &guard.name));
    let all = all.chain(said.effects.iter().map(|effect| &effect.name));
    let twice: Vec<&str> = all.filter(|name| !names.insert(*name)).map(String::as_str).collect();
    let outcome = if twice.is_empty() {
        Outcome::Passed
    } else {
        noted("a name for each", format!("`{}` twice", twice.join("`, `")))
    };
    session.tell("workflow.init: names", Duration::ZERO, outcome);
    for phase in &said.phases {
        let place = phase.after.as_deref().or(phase.before.as_deref());
        let known =
            |place: &str| PHASES.contains(&place) || said.phases.iter().any(|other| other.name == place);
        let outcome = match place {
            Some(place) if known(place) => Outcome::Passed,
            Some(place) => noted("`after` or `before` of a phase", format!("`{place}`, which nobody knows")),
            None => noted("`after` or `before` of a phase", "neither"),
        };
        session.tell(format!("workflow.init: phase `{}`", phase.name), Duration::ZERO, outcome);
    }
}

async fn effects(session: &mut Session<'_>, said: &WorkflowInitResult) {
    for effect in &said.effects {
        let name = format!("{}: `{}`", ExecuteEffect::NAME, effect.name);
        if !session.options.effects {
            let reason = "it would do something; `--effects` runs it";
            session.tell(name, Duration::ZERO, skipped(reason));
            continue;
        }
        let params = ExecuteEffectParams::new(&effect.name, context(), unit());
        let heard = session.ask(ExecuteEffect::NAME, written(&params)).await;
        let outcome = match heard.answer.read::<ExecuteEffect>() {
            Ok(said) if said.success => Outcome::Passed,
            Ok(said) => noted("`success`", said.words().unwrap_or("no word of it").to_owned()),
            Err(outcome) => outcome,
        };
        session.judge(name, &heard, outcome);
    }
    if said.effects.is_empty() {
        session.tell(ExecuteEffect::NAME, Duration::ZERO, skipped("no effect is declared"));
    }
    let params = ExecuteEffectParams::new(NOTHING, context(), unit());
    let heard = session.ask(ExecuteEffect::NAME, written(&params)).await;
    let outcome = heard.answer.should_fail("an error, best -32005", &[], Tolerance::Tolerated);
    session.judge(format!("{}: an effect that is not there", ExecuteEffect::NAME), &heard, outcome);
    without_params(session, ExecuteEffect::NAME).await;
}

async fn without_params(session: &mut Session<'_>, method: &str) {
    let heard = session.ask(method, json!({})).await;
    let outcome = heard.answer.should_fail("an error, best -32602", &[], Tolerance::Tolerated);
    session.judge(format!("{method}: without what it needs"), &heard, outcome);
}

/// A task's circumstances, as hosts tell them.
fn context() -> WorkflowContext {
    WorkflowContext {
        task_id: Some("0c0ffee0".to_owned()),
        title: Some("A task of the check".to_owned()),
        labels: Some(vec!["check".to_owned()]),
        phase: Some("reviewing".to_owned()),
        event: Some(loggia_protocol_mehrhof::EffectEvent::PhaseEntered),
        metadata: Some(loggia_jsonrpc::Json::object()),
        ..WorkflowContext::default()
    }
}

fn unit() -> WorkUnitView {
    WorkUnitView {
        id: "0c0ffee0".to_owned(),
        title: Some("A task of the check".to_owned()),
        ..WorkUnitView::default()
    }
}

fn written(params: &impl serde::Serialize) -> Value {
    serde_json::to_value(params).unwrap_or_default()
}
