//! What takes steps of a task: followed to its end, with questions asked.

use loggia_client::Client;
use loggia_protocol_agent_server::{AutoTaskParams, FinishTaskParams, Task, TaskStepParams};
use serde_json::json;

use super::{TaskNamed, TaskStart, named, show};
use crate::ask::{Approvals, Ask, Work, Worked, attend};
use crate::{CliError, Interrupts, Outcome, Terminal};

/// A step to take.
#[derive(Debug, Clone)]
pub enum TaskStep {
    /// An agent writes the next specification; perhaps this one.
    Plan(Option<String>),
    /// An agent does what it says.
    Implement(Option<String>),
    /// An agent looks at that.
    Review(Option<String>),
    /// What was cut goes on.
    Resume,
    /// It ends like this.
    Finish(FinishTaskParams),
}

/// How steps are followed.
#[derive(Debug, Clone)]
pub struct TaskSteps {
    /// Of which task.
    pub named: TaskNamed,
    /// Who answers questions.
    pub approvals: Approvals,
    /// The agents' words, questions and errors, and nothing around them.
    pub quiet: bool,
}

/// Takes a step, and shows what happens until it is done.
///
/// # Errors
/// See [`CliError`]; also why the step came to nothing.
pub async fn task_step(
    client: &Client,
    options: TaskSteps,
    step: TaskStep,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let task = named(client, options.named.task.clone(), &options.named.workspace).await?;
    let work = work(client.clone(), task.task_id.clone(), step);
    follow(client, &task, work, &options, terminal, interrupts).await
}

/// A task to be done from beginning to end.
#[derive(Debug, Clone)]
pub struct TaskAuto {
    /// What.
    pub start: TaskStart,
    /// How it is to be finished.
    pub finish: FinishTaskParams,
    /// How often it tries to pass the check.
    pub tries: Option<u32>,
    /// Who answers questions.
    pub approvals: Approvals,
    /// The agents' words, questions and errors, and nothing around them.
    pub quiet: bool,
}

/// Does a task from beginning to end, or goes on with the one of the same reference that is under way.
///
/// # Errors
/// See [`CliError`]; also why it came to nothing.
pub async fn task_auto(
    client: &Client,
    options: TaskAuto,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let TaskAuto { start, finish, tries, approvals, quiet } = options;
    let params = start.params(client).await?;
    let listing = client.tasks(Some(&params.workspace_id)).await?;
    let same = |task: &Task| !show::is_over(task) && task.reference == params.reference;
    // Its session is to be followed from the beginning.
    let task = match listing.tasks.into_iter().find(same) {
        Some(task) => task,
        None => client.start_task(&params).await?,
    };
    let (asker, params) = (client.clone(), AutoTaskParams { start: params, finish, tries, wait: true });
    let work: Work = Box::pin(async move { asker.auto_task(&params).await });
    let named = TaskNamed { task: None, workspace: start.workspace, json: start.json };
    follow(client, &task, work, &TaskSteps { named, approvals, quiet }, terminal, interrupts).await
}

fn work(client: Client, id: String, step: TaskStep) -> Work {
    let with = |agent| TaskStepParams { agent, wait: true };
    Box::pin(async move {
        match step {
            TaskStep::Plan(agent) => client.plan_task(&id, &with(agent)).await,
            TaskStep::Implement(agent) => client.implement_task(&id, &with(agent)).await,
            TaskStep::Review(agent) => client.review_task(&id, &with(agent)).await,
            TaskStep::Resume => client.resume_task(&id, &with(None)).await,
            TaskStep::Finish(params) => {
                client.finish_task(&id, &FinishTaskParams { wait: true, ..params }).await
            }
        }
    })
}

async fn follow(
    client: &Client,
    task: &Task,
    work: Work,
    options: &TaskSteps,
    terminal: &mut Terminal,
    interrupts: &mut Interrupts,
) -> Result<Outcome, CliError> {
    let session = client.session(&task.session_id).await?;
    let json = options.named.json;
    let shown = Ask {
        approvals: options.approvals,
        json,
        quiet: options.quiet,
        ..Ask::new(String::new(), options.named.workspace.clone())
    };
    let Worked { outcome, answer } = attend(client, &session, work, &shown, terminal, interrupts).await?;
    let (now, error) = match answer {
        Some(Ok(now)) => (Some(now), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    if json {
        let line = json!({"type": "task.ended", "outcome": outcome.as_str(), "task": now});
        terminal.out(&format!("{line}\n")).map_err(CliError::Output)?;
    }
    if let Some(now) = now.filter(|_| !json && !options.quiet) {
        let next = show::next(&now).map(|next| format!("{next}\n")).unwrap_or_default();
        terminal.err(&format!("{}\n{next}", show::line(&now))).map_err(CliError::Output)?;
    }
    match error {
        // The rest was told when its turn ended.
        Some(error) if outcome == Outcome::Failed => Err(error.into()),
        Some(error) if error.problem().is_none() => {
            let text = format!("The server is gone; `loggia task resume --task {}` goes on.\n", task.task_id);
            terminal.err(&text).map_err(CliError::Output)?;
            Ok(outcome)
        }
        _ => Ok(outcome),
    }
}
