//! Tasks, and what there is to do, as answers show them.

use std::collections::BTreeMap;

use loggia_domain::{self as domain, Delivery, JsonText, Page};
use loggia_engine::tasks::line::{Line, LineStep};
use loggia_engine::tasks::{Held, StepCost, TaskCheckpoint, TaskView};
use loggia_jsonrpc::Json;
use loggia_protocol_agent_server as wire;

use crate::to_wire::moment::moment;

/// A task as an answer shows it.
pub(super) fn task(view: &TaskView) -> wire::Task {
    let task = &view.task;
    let start = &task.start;
    let branch = start.branch.as_ref().map(|branch| wire::TaskBranch {
        name: branch.name.clone(),
        base: branch.base.clone(),
        worktree: branch.tree.as_ref().map(|tree| tree.to_string_lossy().into_owned()),
    });
    let question = task
        .question
        .as_ref()
        .map(|asked| wire::TaskQuestion { text: asked.text.clone(), options: asked.options.clone() });
    wire::Task {
        task_id: view.id.to_string(),
        session_id: wire::SessionId(view.session.to_string()),
        workspace_id: wire::WorkspaceId(start.home.to_string()),
        reference: start.reference.clone(),
        provider: start.provider.clone(),
        title: start.item.title.clone(),
        phase: task.phase.to_string(),
        step: task.open.as_ref().map(|open| open.name.clone()),
        position: task.position.clone(),
        running: view.running,
        interrupted: view.is_interrupted(),
        branch,
        directory: format!(".loggia/tasks/{}", view.id),
        held: task.held.as_ref().map(held),
        question,
        trouble: task.trouble.clone(),
        notices: task.notices.iter().map(ToString::to_string).collect(),
        steps: Vec::new(),
        left_out: Vec::new(),
        specifications: count(task.specifications.len()),
        reviews: count(task.reviews.len()),
        notes: count(task.notes.len()),
        checkpoints: task.checkpoints.iter().map(checkpoint).collect(),
        checkpoint: task.checkpoint().map(|at| at.number),
        metadata: task.metadata.iter().map(|(name, value)| (name.clone(), json(value))).collect(),
        costs: task.costs.iter().map(cost).collect::<BTreeMap<_, _>>(),
        delivery: task.delivery.as_ref().map(delivery),
        created_at: moment(task.began),
        updated_at: moment(task.updated),
    }
}

/// The same with the line of steps that it goes along, as far as that is known.
pub(super) fn whole_task(view: &TaskView, line: Option<&Line>) -> wire::Task {
    let step = |step: &LineStep| wire::TaskLineStep {
        name: step.name.clone(),
        plugin: step.hook.clone(),
        description: step.description.clone(),
    };
    let steps = line.map(|line| line.steps.iter().map(step).collect()).unwrap_or_default();
    let left_out = line.map(|line| line.refused.clone()).unwrap_or_default();
    wire::Task { steps, left_out, ..task(view) }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A fact. The engine takes none that is no JSON; one from elsewhere is told as the text it is.
fn json(JsonText(text): &JsonText) -> Json {
    Json(serde_json::from_str(text).unwrap_or_else(|_| serde_json::Value::String(text.clone())))
}

fn held(held: &Held) -> wire::TaskHeld {
    wire::TaskHeld {
        plugin: held.by.hook.clone(),
        name: held.by.name.clone(),
        step: held.by.step.clone(),
        reason: held.reason.clone(),
        can_override: held.is_guard,
    }
}

fn checkpoint(checkpoint: &TaskCheckpoint) -> wire::TaskCheckpoint {
    wire::TaskCheckpoint {
        number: checkpoint.number,
        step: checkpoint.step.clone(),
        at: moment(checkpoint.at),
        commit: checkpoint.commit.as_ref().map(|commit| commit.commit.0.clone()),
    }
}

fn cost((step, cost): (&String, &StepCost)) -> (String, wire::TaskCost) {
    let StepCost { usage, calls } = *cost;
    let cost = wire::TaskCost {
        input_tokens: usage.input,
        cached_tokens: usage.cached,
        output_tokens: usage.output,
        calls,
        micro_usd: usage.micro_dollars,
    };
    (step.clone(), cost)
}

fn delivery(delivery: &Delivery) -> wire::TaskDelivery {
    let kept = wire::TaskDelivery {
        how: wire::TaskFinish::Keep,
        into: None,
        commit: None,
        pushed: false,
        proposal: None,
    };
    match delivery {
        Delivery::Merged { into, commit, pushed } => wire::TaskDelivery {
            how: wire::TaskFinish::Merge,
            into: Some(into.clone()),
            commit: Some(commit.0.clone()),
            pushed: *pushed,
            ..kept
        },
        // What is proposed was sent away.
        Delivery::Proposed { label, location } => wire::TaskDelivery {
            how: wire::TaskFinish::Propose,
            pushed: true,
            proposal: location.clone().or_else(|| label.clone()),
            ..kept
        },
        Delivery::Kept { pushed } => wire::TaskDelivery { pushed: *pushed, ..kept },
    }
}

/// What there is to do at a provider with this scheme.
pub(super) fn items(scheme: &str, page: Page<domain::WorkItem>) -> wire::WorkItemPage {
    let prefix = format!("{scheme}:");
    let item = |item: domain::WorkItem| wire::WorkItem {
        reference: if item.key.starts_with(&prefix) { item.key } else { format!("{prefix}{}", item.key) },
        label: item.label,
        kind: item.kind,
        title: item.title,
        status: item.status,
        priority: item.priority,
        tags: item.tags,
        url: item.location,
    };
    wire::WorkItemPage { items: page.items.into_iter().map(item).collect(), next_cursor: page.next }
}
