//! The end of a task: checked, delivered, done; or given up.
//!
//! Guards come first, before anything is checked or merged. Each part is in the journal before the next begins. How the
//! task is to be finished is not in the journal: whoever goes on with it says so again.

use std::sync::Arc;
use std::time::Duration;

use loggia_domain::{
    Actor, CheckResult, CommandExit, CommandRequest, CommandSpec, Decision, Delivery, Demand, Merge,
    Occasion, Proposal, ProviderAbility, RepositoryError, TaskBranch, TaskEvent, TaskProvider,
};
use loggia_tree::TreePath;

use super::driver::Driver;
use super::error::TaskError;
use super::fold::Task;
use super::hooks::Workflow;
use super::line::DONE;
use super::machine::{Trigger, allowed};
use super::request::{AbandonTask, FinishHow, FinishTask, Quality, Uncommitted};
use super::{Tasks, files, tree};
use crate::workspace::{OpenWorkspace, blocking};

/// The names of files that `make` looks for.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// What `make -q` ends with for a target it does not know.
const NO_TARGET: i32 = 2;

/// The tool whose rules hold for what is run here.
const RUN_COMMAND: &str = "run_command";

/// How much of what a failed check wrote is kept: its end says what is wrong.
const MAX_OUTPUT: usize = 16 << 10;

impl Driver {
    /// Whether the task may be finished like that.
    pub(super) async fn check_finish(&self, request: &FinishTask) -> Result<(), TaskError> {
        self.check_step(DONE).await?;
        let task = self.task().await?;
        if let Quality::Target(target) = &request.quality {
            check_target(target)?;
        }
        match (&request.how, &task.start.branch) {
            (FinishHow::Merge { .. }, None) => Err(TaskError::NoBranch("merge")),
            (FinishHow::Propose { .. }, None) => Err(TaskError::NoBranch("propose")),
            (FinishHow::Keep, None) if request.push => Err(TaskError::NoBranch("push")),
            (FinishHow::Propose { .. }, Some(_)) => self.proposer(&task).await.map(drop),
            (FinishHow::Merge { .. } | FinishHow::Keep, _) => Ok(()),
        }
    }

    /// Checks the work, brings it where it belongs, and ends the task.
    pub(super) async fn finish(&self, request: FinishTask) -> Result<(), TaskError> {
        self.check_finish(&request).await?;
        let workflow = self.workflow().await?;
        self.settle(&workflow, DONE).await?;
        let task = self.task().await?;
        if !task.open.as_ref().is_some_and(|open| open.delivered) {
            self.pass_guards(&workflow, DONE).await?;
            if !task.open.as_ref().is_some_and(|open| open.checkpoint) {
                self.go_on_branch().await?;
            }
            self.enter(&workflow, DONE).await?;
            self.check_quality(&request.quality).await?;
            let delivered = match self.prepare(&workflow).await {
                Ok(()) => self.deliver(&request).await,
                Err(error) => Err(error),
            };
            match delivered {
                Ok(delivery) => self.record(vec![TaskEvent::Delivered { delivery }]).await?,
                Err(error @ (TaskError::Stopping | TaskError::Engine(_) | TaskError::Held(_))) => {
                    return Err(error);
                }
                Err(error) => {
                    let hint = error.hint().map(|hint| format!("\n{hint}")).unwrap_or_default();
                    self.fail(DONE, &format!("{error}{hint}")).await?;
                    return Err(error);
                }
            }
        }
        self.conclude(&workflow, request.drop_branch).await
    }

    /// Goes on with an end that was cut: one whose work is delivered needs no more words.
    pub(super) async fn finish_on(&self) -> Result<(), TaskError> {
        let task = self.task().await?;
        match task.open.as_ref().is_some_and(|open| open.delivered) {
            true => self.conclude(&self.workflow().await?, false).await,
            false => {
                Err(TaskError::Bad("the task was being finished: finish it again, and say how".to_owned()))
            }
        }
    }

    async fn conclude(&self, workflow: &Workflow, drop_branch: bool) -> Result<(), TaskError> {
        self.enter(workflow, DONE).await?;
        self.run_effects(workflow, DONE, Occasion::StepLeft).await?;
        self.run_effects(workflow, DONE, Occasion::TaskDone).await?;
        let task = self.task().await?;
        let merged = matches!(task.delivery, Some(Delivery::Merged { .. }));
        if let (true, true, Some(branch)) = (drop_branch, merged, &task.start.branch)
            && let Err(error) = self.drop_branch(&task, branch, Uncommitted::Keep).await
        {
            let text = format!("The branch `{}` could not be removed: {error}", branch.name);
            self.record(vec![TaskEvent::Noted { text, by: Actor::Engine }]).await?;
        }
        self.record(vec![TaskEvent::Finished { by: self.by.clone() }]).await
    }

    async fn check_quality(&self, quality: &Quality) -> Result<(), TaskError> {
        let target = match quality {
            Quality::Skip => return Ok(()),
            Quality::Usual => self.engine.shared.settings.tasks.quality_target.clone(),
            Quality::Target(target) => target.clone(),
        };
        let task = self.task().await?;
        let checked = task.open.as_ref().and_then(|open| open.checked.as_ref());
        if matches!(checked, Some(CheckResult::Passed | CheckResult::Absent)) {
            return Ok(());
        }
        match self.run_target(&target).await? {
            CheckResult::Passed | CheckResult::Absent => Ok(()),
            CheckResult::Failed(output) => {
                Err(self.fail(DONE, &format!("it does not pass `make {target}`:\n{output}")).await?)
            }
        }
    }

    /// Runs a target of the workspace's `Makefile`, and records what came of it.
    pub(super) async fn run_target(&self, target: &str) -> Result<CheckResult, TaskError> {
        check_target(target)?;
        let before = self.uncommitted().await?;
        let result = match self.has_target(target).await {
            Ok(false) => CheckResult::Absent,
            Ok(true) => match self.make(&format!("make {target}")).await {
                Ok((CommandExit::Code(0), _)) => CheckResult::Passed,
                Ok((_, output)) => CheckResult::Failed(tail(&output)),
                Err(reason) => CheckResult::Failed(reason),
            },
            Err(reason) => CheckResult::Failed(reason),
        };
        // What it left is the task's own: nobody else is asked to put it away.
        let after = self.uncommitted().await?;
        self.note_left(after.into_iter().filter(|path| !before.contains(path)));
        let target = target.to_owned();
        self.record(vec![TaskEvent::Checked { target, result: result.clone() }]).await?;
        Ok(result)
    }

    /// What no commit holds, if the task has a branch.
    async fn uncommitted(&self) -> Result<Vec<String>, TaskError> {
        let task = self.task().await?;
        if task.start.branch.is_none() { Ok(Vec::new()) } else { self.changed(&task).await }
    }

    async fn has_target(&self, target: &str) -> Result<bool, String> {
        let workspace = self.workspace().await?;
        let root = workspace.root();
        let there = blocking(move || {
            MAKEFILES
                .iter()
                .any(|name| TreePath::parse(name).is_ok_and(|path| matches!(root.stat(&path), Ok(Some(_)))))
        });
        if !there.await {
            return Ok(false);
        }
        Ok(self.make(&format!("make -q {target}")).await?.0 != CommandExit::Code(NO_TARGET))
    }

    pub(super) async fn workspace(&self) -> Result<Arc<OpenWorkspace>, String> {
        let state = self.state().await.map_err(|error| error.to_string())?;
        let opened = self.engine.shared.open_workspace(state.opened.workspace).await;
        opened.map_err(|error| error.to_string())
    }

    /// Runs a command under the policy. What that would ask about, whoever finishes the task has asked for.
    async fn make(&self, line: &str) -> Result<(CommandExit, String), String> {
        let shared = &self.engine.shared;
        let state = self.state().await.map_err(|error| error.to_string())?;
        let workspace = self.workspace().await?;
        let request = CommandRequest {
            line: line.to_owned(),
            directory: String::new(),
            environment: Vec::new(),
            reason: Some("the work is checked before its end".to_owned()),
            timeout_s: None,
        };
        let judge = workspace.judge(shared, &state).await.map_err(|error| error.to_string())?;
        let demand = Demand { command: Some(request.clone()), ..Demand::default() };
        let verdict = judge.judge(RUN_COMMAND, &demand);
        if verdict.decision == Decision::Deny {
            return Err(format!("`{line}` may not run: {}", verdict.reason));
        }
        let policy = workspace.policy(shared).await.map_err(|error| error.to_string())?;
        let limit = Duration::from_secs(policy.limits.command_timeout_s);
        let spec: CommandSpec = workspace.command_spec(shared, request, &policy, limit).await?;
        let end = shared.parts.runner.run(spec, Box::new(|_, _| {})).await;
        let end = end.map_err(|error| error.to_string())?;
        let output = format!("{}{}", end.stdout.text(), end.stderr.text());
        Ok((end.exit, shared.masker.mask(&output).into_owned()))
    }

    /// Commits what checking left, so that nothing of it is lost or in the way.
    async fn prepare(&self, workflow: &Workflow) -> Result<(), TaskError> {
        let task = self.task().await?;
        if task.start.branch.is_none() {
            return Ok(());
        }
        let standing = self.repository.standing(&self.tree(&task)).await?;
        let is_ours = standing.branch.as_ref() == task.start.branch.as_ref().map(|branch| &branch.name);
        // A crash came after the merge, which went to the other branch: what is to be merged is committed.
        match !is_ours && task.open.as_ref().is_some_and(|open| open.checkpoint) {
            true => Ok(()),
            false => self.checkpoint(workflow, DONE).await,
        }
    }

    async fn deliver(&self, request: &FinishTask) -> Result<Delivery, TaskError> {
        let task = self.task().await?;
        match (&request.how, &task.start.branch) {
            (FinishHow::Merge { squash }, Some(branch)) => {
                self.merge(&task, branch, *squash, request.push).await
            }
            (FinishHow::Propose { title, description, draft }, Some(branch)) => {
                let specification =
                    || task.specifications.last().map(ToString::to_string).unwrap_or_default();
                let proposal = Proposal {
                    key: Some(task.start.key.clone()),
                    title: title.clone().unwrap_or_else(|| task.start.item.title.clone()),
                    description: description.clone().unwrap_or_else(specification),
                    from: branch.name.clone(),
                    into: branch.base.clone(),
                    draft: *draft,
                };
                self.propose(&task, proposal).await
            }
            (FinishHow::Keep, Some(branch)) if request.push => {
                self.repository.push(branch.name.clone()).await?;
                Ok(Delivery::Kept { pushed: true })
            }
            (FinishHow::Keep, _) => Ok(Delivery::Kept { pushed: false }),
            (FinishHow::Merge { .. }, None) => Err(TaskError::NoBranch("merge")),
            (FinishHow::Propose { .. }, None) => Err(TaskError::NoBranch("propose")),
        }
    }

    async fn merge(
        &self,
        task: &Task,
        branch: &TaskBranch,
        squash: bool,
        push: bool,
    ) -> Result<Delivery, TaskError> {
        let tree = &self.home.root;
        let standing = self.repository.standing(tree).await?;
        let into = branch.base.clone();
        let commit = match self.merged_already(task, &standing, &into).await? {
            Some(commit) => commit,
            None => {
                let prefix = &task.start.commit_prefix;
                let title = &task.start.item.title;
                let message =
                    format!("{prefix} {title}\n\nMerged from {}.\n", branch.name).trim_start().to_owned();
                let merge = Merge { from: branch.name.clone(), into: into.clone(), message, squash };
                self.repository.merge(tree, merge).await.map_err(|error| match error {
                    RepositoryError::Conflict(files) => TaskError::Conflict {
                        branch: branch.name.clone(),
                        into: into.clone(),
                        files,
                        tree: self.tree(task),
                        squash,
                    },
                    error => error.into(),
                })?
            }
        };
        if push {
            self.repository.push(into.clone()).await?;
        }
        Ok(Delivery::Merged { into, commit, pushed: push })
    }

    /// The commit of a merge that a crash kept out of the journal: the tree is on the other branch, and holds our work.
    async fn merged_already(
        &self,
        task: &Task,
        standing: &loggia_domain::Standing,
        into: &str,
    ) -> Result<Option<loggia_domain::Commit>, TaskError> {
        let is_there = standing.branch.as_deref() == Some(into);
        let ours = task.checkpoint().and_then(|checkpoint| checkpoint.commit.clone());
        let (true, Some(there), Some(ours)) = (is_there, standing.commit.clone(), ours) else {
            return Ok(None);
        };
        let differs = self.repository.changes(there.clone(), ours.commit, 1 << 10).await?;
        Ok(differs.trim().is_empty().then_some(there))
    }

    async fn proposer(&self, task: &Task) -> Result<Arc<dyn TaskProvider>, TaskError> {
        let tasks = Tasks { engine: self.engine.clone() };
        let providers = tasks.sources(&self.home).await?.providers;
        let name = task.start.provider.clone();
        let found = providers.into_iter().map(|found| found.provider).find(|found| found.name() == name);
        // Before anything is sent anywhere: one that has not been started yet may say only then what it can do.
        if let Some(provider) = &found {
            provider.ready().await?;
        }
        match found {
            Some(provider) if provider.can(ProviderAbility::Propose) => Ok(provider),
            _ => Err(TaskError::ProviderCannot { provider: name, what: "take proposals" }),
        }
    }

    async fn propose(&self, task: &Task, proposal: Proposal) -> Result<Delivery, TaskError> {
        let provider = self.proposer(task).await?;
        self.repository.push(proposal.from.clone()).await?;
        let proposed = provider.propose(proposal).await?;
        if let (true, Some(location)) = (provider.can(ProviderAbility::Comment), &proposed.location) {
            let text = format!("Proposed: {location}");
            // The proposal is there, whatever becomes of a word about it.
            if let Err(error) = provider.comment(task.start.key.clone(), text).await {
                let text = format!("The provider did not take a comment about the proposal: {error}");
                self.record(vec![TaskEvent::Noted { text, by: Actor::Engine }]).await?;
            }
        }
        Ok(Delivery::Proposed { label: proposed.label, location: proposed.location })
    }

    /// Takes away a task's marks, its tree and its branch, in this order: what is gone already is no trouble.
    async fn drop_branch(
        &self,
        task: &Task,
        branch: &TaskBranch,
        uncommitted: Uncommitted,
    ) -> Result<(), TaskError> {
        let marks = task.checkpoints.iter().filter_map(|checkpoint| checkpoint.commit.as_ref());
        let marks: Vec<String> = marks.map(|commit| commit.mark.clone()).collect();
        if let Some(tree) = branch.tree.clone().filter(|tree| tree.exists()) {
            let state = self.state().await?;
            let own = self.engine.workspace(state.opened.workspace).await?;
            self.repository.drop_tree(tree, uncommitted == Uncommitted::Discard).await?;
            // Whatever comes to lie there later is nobody's to trust.
            tree::forget(&self.engine, &own.root).await?;
        }
        // A task that was cut before it had its branch may find somebody's own in its place.
        if !task.checkpoints.is_empty() || self.is_untouched(branch).await? {
            match self.repository.drop_branch(branch.name.clone()).await {
                Err(RepositoryError::NoBranch(_)) => {}
                done => done?,
            }
        }
        Ok(self.repository.unmark(marks).await?)
    }

    /// Gives the task up.
    pub(super) async fn abandon(&self, request: AbandonTask) -> Result<(), TaskError> {
        let task = self.task().await?;
        allowed(task.phase.kind(), Trigger::Abandon, task.facts())?;
        let discards = request.uncommitted == Uncommitted::Discard;
        if discards && (request.keep_branch || task.start.branch.is_none()) {
            return Err(TaskError::Bad("only what is on a branch that goes can be thrown away".to_owned()));
        }
        if let (false, Some(branch)) = (request.keep_branch, &task.start.branch) {
            let dropped = self.leave_branch(&task, branch, request.uncommitted).await;
            dropped.map_err(TaskError::discardable)?;
        }
        self.record(vec![TaskEvent::Abandoned { by: self.by.clone() }]).await?;
        if !request.keep_files {
            files::remove(&self.engine, self.id, &task).await?;
        }
        Ok(())
    }
}

impl Driver {
    /// Goes off a task's branch and takes it away.
    async fn leave_branch(
        &self,
        task: &Task,
        branch: &TaskBranch,
        uncommitted: Uncommitted,
    ) -> Result<(), TaskError> {
        if branch.tree.is_none() {
            let standing = self.repository.standing(&self.home.root).await?;
            if standing.branch.as_ref() == Some(&branch.name) {
                if uncommitted == Uncommitted::Discard {
                    self.repository.discard(&self.home.root, branch.name.clone()).await?;
                }
                // Refused while something is not committed: it may be somebody's own.
                self.repository.switch(&self.home.root, branch.base.clone()).await?;
            }
        }
        self.drop_branch(task, branch, uncommitted).await
    }
}

/// A target is one word that a shell and `make` take as it stands.
fn check_target(target: &str) -> Result<(), TaskError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let is_word = !target.is_empty() && !target.starts_with('-') && target.chars().all(is_plain);
    match is_word {
        true => Ok(()),
        false => Err(TaskError::Bad(format!("`{target}` is no target: a target is one plain word"))),
    }
}

/// The end of a text.
fn tail(text: &str) -> String {
    let text = text.trim();
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_OUTPUT));
    text[from..].to_owned()
}
