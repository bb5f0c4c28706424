//! A task from beginning to end while nobody looks.
//!
//! Goes on from wherever the task is, so that the same command after a crash takes up where it was. Questions of agents
//! are not asked; questions of the policy are, and wait for people.

use loggia_domain::{Actor, CheckResult, TaskEvent};

use super::driver::Driver;
use super::error::TaskError;
use super::line::{DONE, IDLE, IMPLEMENTING, PLANNING, REVIEWING};
use super::render::Company;
use super::request::{FinishTask, Quality};

impl Driver {
    pub(super) async fn auto(&self, finish: FinishTask, tries: u32) -> Result<(), TaskError> {
        let task = self.task().await?;
        let is_in = |step: &str| task.open.as_ref().is_some_and(|open| open.name == step);
        if !is_in(DONE) {
            if is_in(PLANNING) || task.specifications.is_empty() || task.own_position == IDLE {
                self.step(PLANNING, None, Company::Nobody).await?;
            }
            let position = self.task().await?.own_position.clone();
            if is_in(IMPLEMENTING) || position == PLANNING {
                self.step(IMPLEMENTING, None, Company::Nobody).await?;
            }
            if is_in(REVIEWING) {
                self.step(REVIEWING, None, Company::Nobody).await?;
            }
            self.improve(&finish.quality, tries).await?;
        }
        // What was passed just now need not be passed again.
        self.finish(FinishTask { quality: Quality::Skip, ..finish }).await
    }

    /// Has the work done again until it passes the check.
    async fn improve(&self, quality: &Quality, tries: u32) -> Result<(), TaskError> {
        let target = match quality {
            Quality::Skip => return Ok(()),
            Quality::Usual => self.engine.shared.settings.tasks.quality_target.clone(),
            Quality::Target(target) => target.clone(),
        };
        let mut tried = 1;
        loop {
            let CheckResult::Failed(output) = self.run_target(&target).await? else { return Ok(()) };
            if tried >= tries.max(1) {
                let reason = format!("it does not pass `make {target}` after {tried} tries:\n{output}");
                return Err(TaskError::Failed { step: target, reason });
            }
            tried += 1;
            let text = format!("`make {target}` failed:\n\n{output}");
            self.record(vec![TaskEvent::Noted { text, by: Actor::Engine }]).await?;
            self.step(IMPLEMENTING, None, Company::Nobody).await?;
        }
    }
}
