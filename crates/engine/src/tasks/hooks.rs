//! Guards and effects of hooks, asked and run for a task.
//!
//! Knows whom to ask before a step and whom to run after what happened, in the order of the line. What they say is in the
//! journal before anything else follows from it.

use std::sync::Arc;

use futures_util::future::join_all;
use loggia_domain::{
    EffectResult, GuardWord, JsonText, Occasion, StepMoment, TaskEvent, Verdict, WorkflowHook, WorkflowParts,
    Workspace,
};
use serde_json::{Map, Value, json};

use super::driver::Driver;
use super::error::TaskError;
use super::fold::{GuardName, Held, Task};
use super::line::{DONE, Line, LineGuard};
use crate::engine::Engine;

/// What a hook that does not say what it adds is held back by: none of its guards can be asked.
const SILENT: &str = "start";

/// The line of a workspace, and who is on it.
pub(super) struct Workflow {
    pub(super) line: Line,
    hooks: Vec<(String, Arc<dyn WorkflowHook>)>,
    /// Hooks that do not say what they add, and why not.
    silent: Vec<(String, String)>,
}

impl Workflow {
    /// Asks the hooks of a workspace what they add.
    pub(super) async fn of(engine: &Engine, home: Workspace) -> Result<Self, TaskError> {
        let id = home.id;
        let guests = engine.shared.parts.guests.guests(home).await?.hooks;
        let (mut hooks, mut silent) = (Vec::new(), Vec::new());
        let mut parts: Vec<(String, WorkflowParts)> = Vec::new();
        // All at once: each may have to be started first.
        let answers = join_all(guests.iter().map(|hook| hook.parts())).await;
        for (hook, answer) in guests.into_iter().zip(answers) {
            let name = hook.name();
            match answer {
                Ok(adds) => parts.push((name.clone(), adds)),
                Err(error) => silent.push((name.clone(), error.to_string())),
            }
            hooks.push((name, hook));
        }
        let mut line = Line::new(parts.iter().map(|(name, parts)| (name.as_str(), parts)));
        for (hook, error) in &silent {
            line.refused.push(format!("`{hook}` does not say what it adds: {error}"));
            let (hook, guard, step) = (hook.clone(), SILENT.to_owned(), DONE.to_owned());
            line.guards.push(LineGuard { hook, guard, step });
        }
        engine.shared.desk.lines().insert(id, Arc::new(line.clone()));
        Ok(Self { line, hooks, silent })
    }

    fn hook(&self, name: &str) -> Option<&Arc<dyn WorkflowHook>> {
        self.hooks.iter().find(|(known, _)| known == name).map(|(_, hook)| hook)
    }

    async fn ask(&self, guard: &LineGuard, moment: StepMoment) -> Verdict {
        if let Some((_, error)) = self.silent.iter().find(|(hook, _)| *hook == guard.hook) {
            return Verdict::Stop(format!("it does not say what it guards: {error}"));
        }
        let Some(hook) = self.hook(&guard.hook) else { return Verdict::Stop("it is gone".to_owned()) };
        // One that fails to answer does not allow.
        hook.guard(guard.guard.clone(), moment).await.unwrap_or_else(|error| Verdict::Stop(error.to_string()))
    }
}

impl Driver {
    pub(super) async fn workflow(&self) -> Result<Workflow, TaskError> {
        Workflow::of(&self.engine, self.home.clone()).await
    }

    /// Asks the guards of a step, in order, up to the first that does not allow.
    pub(super) async fn pass_guards(&self, workflow: &Workflow, step: &str) -> Result<(), TaskError> {
        for guard in workflow.line.guards.iter().filter(|guard| guard.step == step) {
            let task = self.task().await?;
            let (hook, name) = (guard.hook.clone(), guard.guard.clone());
            let by = GuardName { hook: hook.clone(), name: name.clone(), step: step.to_owned() };
            if task.overridden.contains(&by) {
                continue;
            }
            let said = |word| TaskEvent::Guarded { step: step.to_owned(), hook, guard: name, word };
            match workflow.ask(guard, self.moment(&task, step, None)).await {
                Verdict::Allow(None) => {}
                Verdict::Allow(Some(warning)) => {
                    self.record(vec![said(GuardWord::Warned(warning))]).await?;
                }
                Verdict::Stop(reason) => {
                    self.record(vec![said(GuardWord::Stopped(reason.clone()))]).await?;
                    return Err(TaskError::Held(Box::new(Held { by, reason, is_guard: true })));
                }
            }
        }
        Ok(())
    }

    /// Runs the effects that follow something, in order; those that have run in this step already are not run again.
    pub(super) async fn run_effects(
        &self,
        workflow: &Workflow,
        step: &str,
        occasion: Occasion,
    ) -> Result<(), TaskError> {
        let is_about_step = matches!(occasion, Occasion::StepEntered | Occasion::StepLeft);
        for effect in &workflow.line.effects {
            let follows = effect
                .steps
                .as_ref()
                .is_none_or(|steps| is_about_step && steps.iter().any(|own| own == step));
            let task = self.task().await?;
            let by =
                GuardName { hook: effect.hook.clone(), name: effect.effect.clone(), step: step.to_owned() };
            let has_run = |open: &super::fold::OpenStep| open.effects.contains(&(occasion, by.clone()));
            if !follows || task.open.as_ref().is_some_and(has_run) {
                continue;
            }
            let Some(hook) = workflow.hook(&effect.hook) else { continue };
            let moment = self.moment(&task, step, Some(occasion));
            let result = match hook.effect(effect.effect.clone(), moment).await {
                Ok(message) => EffectResult::Done(message),
                Err(error) if effect.critical => EffectResult::Stopped(error.to_string()),
                Err(error) => EffectResult::Failed(error.to_string()),
            };
            let stopped = match &result {
                EffectResult::Stopped(reason) => Some(reason.clone()),
                EffectResult::Done(_) | EffectResult::Failed(_) => None,
            };
            let GuardName { hook, name, step } = by.clone();
            self.record(vec![TaskEvent::EffectRun { step, hook, effect: name, occasion, result }]).await?;
            if let Some(reason) = stopped {
                return Err(TaskError::Held(Box::new(Held { by, reason, is_guard: false })));
            }
        }
        Ok(())
    }

    /// What guards and effects are told.
    fn moment(&self, task: &Task, step: &str, occasion: Option<Occasion>) -> StepMoment {
        let metadata = task.metadata.iter().map(|(name, value)| {
            let value = serde_json::from_str(&value.0).unwrap_or_else(|_| Value::String(value.0.clone()));
            (name.clone(), value)
        });
        let facts = json!({
            "metadata": Value::Object(metadata.collect::<Map<_, _>>()),
            "reference": task.start.reference,
            "session": self.session.to_string(),
        });
        let specifications = 1..=task.specifications.len();
        let reached = task.checkpoints.iter().take(task.at.map_or(0, |at| at + 1));
        let mark = |number: u32| super::names::mark(self.id, number);
        StepMoment {
            task: self.id.to_string(),
            step: step.to_owned(),
            occasion,
            item: task.start.item.clone(),
            branch: task.start.branch.as_ref().map(|branch| branch.name.clone()),
            specifications: specifications.map(|number| format!("specification-{number}.md")).collect(),
            checkpoints: reached.map(|checkpoint| mark(checkpoint.number)).collect(),
            facts: JsonText(facts.to_string()),
        }
    }
}
