//! `loggia task`: pieces of work from somewhere, step by step to a finished change.

use loggia_cli::{
    Approvals, Browse, Outcome, Page, TaskAct, TaskAuto, TaskBrowse, TaskList, TaskNamed, TaskStart,
    TaskStep, TaskSteps, task_act, task_auto, task_browse, task_list, task_start, task_status, task_step,
};
use loggia_protocol_agent_server::{FinishTaskParams, PolicyPreset, TaskAgents, TaskFinish, TaskPlace};
use tracing::level_filters::LevelFilter;

use super::client::{self, Home};
use super::trust::lending;
use crate::cli::{
    PlaceName, TaskAbandonArguments, TaskAutoArguments, TaskBegin, TaskBrowseArguments, TaskCommand,
    TaskEnding, TaskFinishArguments, TaskListArguments, TaskOf, TaskResumeArguments, TaskSetArguments,
    TaskStepArguments, TaskUndoArguments,
};
use crate::config::Config;
use crate::errors::Error;

/// Runs the command.
pub(crate) fn run(config: &Config, home: &Home, command: TaskCommand) -> Result<Outcome, Error> {
    let quiet = config.log_level() < LevelFilter::WARN;
    let steps = |of: TaskOf, how: How, step: TaskStep| take(home, of, how, quiet, step);
    match command {
        TaskCommand::Browse(arguments) => browse(home, arguments),
        TaskCommand::List(arguments) => list(home, arguments),
        TaskCommand::Start(arguments) => {
            let trusts = arguments.begin.trust;
            let options = begin(home, arguments.begin)?;
            let trusted = trusts.then(|| options.workspace.clone());
            client::run(home, async |client, terminal| {
                lending(trusted, client, task_start(client, options, terminal)).await
            })
        }
        TaskCommand::Status(of) => {
            let options = named(home, of)?;
            client::run(home, async |client, terminal| task_status(client, options, terminal).await)
        }
        TaskCommand::Plan(TaskStepArguments { agent, trust, of, yes }) => {
            steps(of, How { yes, trust }, TaskStep::Plan(agent))
        }
        TaskCommand::Implement(TaskStepArguments { agent, trust, of, yes }) => {
            steps(of, How { yes, trust }, TaskStep::Implement(agent))
        }
        TaskCommand::Review(TaskStepArguments { agent, trust, of, yes }) => {
            steps(of, How { yes, trust }, TaskStep::Review(agent))
        }
        TaskCommand::Resume(TaskResumeArguments { trust, of, yes }) => {
            steps(of, How { yes, trust }, TaskStep::Resume)
        }
        TaskCommand::Finish(TaskFinishArguments { ending, trust, of, yes }) => {
            steps(of, How { yes, trust }, TaskStep::Finish(finish(ending)))
        }
        TaskCommand::Auto(arguments) => auto(home, arguments, quiet),
        TaskCommand::Note(arguments) => act(home, arguments.of, TaskAct::Note(arguments.text.join(" "))),
        TaskCommand::Answer(arguments) => act(home, arguments.of, TaskAct::Answer(arguments.text.join(" "))),
        TaskCommand::Undo(TaskUndoArguments { steps, discard, of }) => {
            act(home, of, TaskAct::Undo { steps, discard })
        }
        TaskCommand::Redo(arguments) => act(home, arguments.of, TaskAct::Redo(arguments.steps)),
        TaskCommand::Override(of) => act(home, of, TaskAct::Override),
        TaskCommand::Abandon(TaskAbandonArguments { keep_branch, keep_files, discard, of, yes }) => {
            act(home, of, TaskAct::Abandon { keep_branch, keep_files, discard, yes })
        }
        TaskCommand::Set(TaskSetArguments { name, value, unset: _, of }) => {
            act(home, of, TaskAct::Set { name, value })
        }
    }
}

fn list(home: &Home, arguments: TaskListArguments) -> Result<Outcome, Error> {
    let workspace = match arguments.global {
        true => None,
        false => Some(home.workspace(arguments.workspace.as_deref())?),
    };
    let options = TaskList { workspace, all: arguments.all, json: arguments.json };
    client::run(home, async |client, terminal| task_list(client, options, terminal).await)
}

fn browse(home: &Home, arguments: TaskBrowseArguments) -> Result<Outcome, Error> {
    let TaskBrowseArguments { scheme, status, tag, limit, trust, cursor, workspace, json } = arguments;
    let browse = Browse { reference: scheme, status, tag, page: Page { limit, cursor } };
    let options = TaskBrowse { workspace: home.workspace(workspace.as_deref())?, browse, json };
    let trusted = trust.then(|| options.workspace.clone());
    client::run(home, async |client, terminal| {
        lending(trusted, client, task_browse(client, options, terminal)).await
    })
}

fn act(home: &Home, of: TaskOf, act: TaskAct) -> Result<Outcome, Error> {
    let options = named(home, of)?;
    client::run_asking(home, async |client, terminal, interrupts| {
        task_act(client, options, act, terminal, interrupts).await
    })
}

/// How a step is taken.
#[derive(Debug, Clone, Copy)]
struct How {
    /// Everything that is asked is answered with yes.
    yes: bool,
    /// The workspace is trusted meanwhile.
    trust: bool,
}

fn take(home: &Home, of: TaskOf, how: How, quiet: bool, step: TaskStep) -> Result<Outcome, Error> {
    let options = TaskSteps { named: named(home, of)?, approvals: approvals(how.yes), quiet };
    let trusted = how.trust.then(|| options.named.workspace.clone());
    client::run_asking(home, async |client, terminal, interrupts| {
        lending(trusted, client, task_step(client, options, step, terminal, interrupts)).await
    })
}

fn auto(home: &Home, arguments: TaskAutoArguments, quiet: bool) -> Result<Outcome, Error> {
    let trusts = arguments.begin.trust;
    let options = TaskAuto {
        start: begin(home, arguments.begin)?,
        finish: finish(arguments.ending),
        tries: arguments.tries,
        approvals: approvals(arguments.yes),
        quiet,
    };
    let trusted = trusts.then(|| options.start.workspace.clone());
    client::run_asking(home, async |client, terminal, interrupts| {
        lending(trusted, client, task_auto(client, options, terminal, interrupts)).await
    })
}

fn approvals(yes: bool) -> Approvals {
    if yes { Approvals::Yes } else { Approvals::Ask }
}

fn named(home: &Home, of: TaskOf) -> Result<TaskNamed, Error> {
    Ok(TaskNamed { task: of.task, workspace: home.workspace(of.workspace.as_deref())?, json: of.json })
}

fn begin(home: &Home, arguments: TaskBegin) -> Result<TaskStart, Error> {
    let place = match arguments.place {
        PlaceName::Branch => None,
        PlaceName::Worktree => Some(TaskPlace::Worktree),
        PlaceName::Here => Some(TaskPlace::Here),
    };
    Ok(TaskStart {
        workspace: home.workspace(arguments.workspace.as_deref())?,
        reference: arguments.reference,
        place,
        key: arguments.key,
        title: arguments.title,
        slug: arguments.slug,
        branch_pattern: arguments.branch_pattern,
        commit_prefix: arguments.commit_prefix,
        agents: TaskAgents {
            any: arguments.agent,
            planning: arguments.plan_agent,
            implementing: arguments.implement_agent,
            reviewing: arguments.review_agent,
        },
        preset: arguments.policy.map(PolicyPreset::from),
        budget: arguments.budget,
        json: arguments.json,
    })
}

fn finish(ending: TaskEnding) -> FinishTaskParams {
    let how = match (ending.merge, ending.propose) {
        (true, _) => TaskFinish::Merge,
        (_, true) => TaskFinish::Propose,
        (false, false) => TaskFinish::Keep,
    };
    FinishTaskParams {
        how: Some(how),
        squash: ending.squash,
        title: ending.proposal_title,
        description: ending.description,
        draft: ending.draft,
        push: ending.push,
        quality_target: ending.quality,
        skip_quality: ending.no_quality,
        drop_branch: ending.drop_branch,
        wait: false,
    }
}
