//! Tasks as people see them.

use loggia_protocol_agent_server::{Task, TaskFinish, TaskLineStep};

use crate::Terminal;
use crate::paint::{ASIDE, SUBJECT, first_line, grouped, printable};

/// Whether nothing more will happen to it.
pub(super) fn is_over(task: &Task) -> bool {
    matches!(task.phase.as_str(), "done" | "abandoned")
}

/// A row of a table.
pub(super) fn row(task: &Task) -> Vec<String> {
    let branch = task.branch.as_ref().map_or_else(|| "-".to_owned(), |branch| branch.name.clone());
    vec![task.task_id.clone(), phase(task), branch, first_line(&task.title).into_owned()]
}

/// Where it is, for people.
fn phase(task: &Task) -> String {
    match (task.interrupted, task.position.as_str()) {
        (true, _) => format!("{} (cut off)", task.phase),
        (false, "idle") => task.phase.clone(),
        (false, position) if task.phase == "idle" => format!("idle after {position}"),
        (false, _) => task.phase.clone(),
    }
}

/// A task in a line.
pub(super) fn line(task: &Task) -> String {
    let branch = task.branch.as_ref().map(|branch| format!(", on {}", branch.name)).unwrap_or_default();
    let text = format!("{} is {}: {}{branch}", task.task_id, phase(task), first_line(&task.title));
    printable(&text).into_owned()
}

/// What can be done next.
pub(super) fn next(task: &Task) -> Option<String> {
    if task.interrupted {
        return Some("`loggia task resume` goes on.".to_owned());
    }
    if let Some(question) = &task.question {
        let options = match question.options.is_empty() {
            true => String::new(),
            false => format!(" ({})", question.options.join(", ")),
        };
        let asks = format!("It asks: {}{options}\n`loggia task answer TEXT` answers it.", question.text);
        return Some(asks.lines().map(printable).collect::<Vec<_>>().join("\n"));
    }
    if let Some(held) = &task.held {
        let past = if held.can_override { ", `loggia task override` goes past it" } else { "" };
        let (name, plugin, reason) = (&held.name, &held.plugin, first_line(&held.reason));
        let text =
            format!("{name} of {plugin} holds it back: {reason}; `loggia task resume` asks again{past}.");
        return Some(printable(&text).into_owned());
    }
    let word = match (task.phase.as_str(), task.position.as_str()) {
        ("done" | "abandoned", _) => return None,
        ("idle" | "failed", "idle") => "plan",
        ("idle" | "failed", "planning") => "implement",
        ("idle" | "failed", "implementing") => "review",
        ("idle" | "failed", _) => "finish",
        _ => return None,
    };
    Some(format!("`loggia task {word}` comes next."))
}

/// All there is to know about it.
pub(super) fn facts(task: &Task, terminal: &Terminal) -> String {
    let paint = terminal.paint_out();
    let mut lines = vec![format!(
        "{} {}",
        paint.text(SUBJECT, printable(&task.task_id)),
        printable(&first_line(&task.title))
    )];
    let mut fact = |name: &str, value: &str| {
        let name = paint.text(ASIDE, format!("{name:<12}"));
        let value = value.lines().map(printable).collect::<Vec<_>>().join("\n               ");
        lines.push(format!("  {name} {value}"));
    };
    fact("phase", &phase(task));
    task.step.iter().for_each(|step| fact("step", step));
    fact("from", &format!("{} (by {})", task.reference, task.provider));
    if let Some(branch) = &task.branch {
        fact("branch", &format!("{} from {}", branch.name, branch.base));
        branch.worktree.iter().for_each(|tree| fact("worktree", tree));
    }
    if task.steps.iter().any(|step| step.plugin.is_some()) {
        let name = |step: &TaskLineStep| match &step.plugin {
            Some(plugin) => format!("{} (of {plugin})", step.name),
            None => step.name.clone(),
        };
        fact("steps", &task.steps.iter().map(name).collect::<Vec<_>>().join(", "));
    }
    task.left_out.iter().for_each(|words| fact("left out", words));
    task.trouble.iter().for_each(|trouble| fact("trouble", trouble));
    if let Some(held) = &task.held {
        fact("held by", &format!("{} of {} before {}: {}", held.name, held.plugin, held.step, held.reason));
    }
    task.question.iter().for_each(|question| fact("asks", &question.text));
    let counts = [("specification", task.specifications), ("review", task.reviews), ("note", task.notes)];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{count} {name}{}", if count == 1 { "" } else { "s" }))
        .collect();
    if !counts.is_empty() {
        fact("has", &counts.join(", "));
    }
    for checkpoint in &task.checkpoints {
        let here = if task.checkpoint == Some(checkpoint.number) { " (here)" } else { "" };
        let commit = checkpoint.commit.as_deref().map(|commit| format!(" {}", short(commit)));
        fact(
            "checkpoint",
            &format!("{} after {}{}{here}", checkpoint.number, checkpoint.step, commit.unwrap_or_default()),
        );
    }
    for (name, value) in &task.metadata {
        fact("fact", &format!("{name} = {}", value.0));
    }
    for (step, cost) in &task.costs {
        let tokens = grouped(cost.input_tokens.saturating_add(cost.output_tokens));
        fact("cost", &format!("{step}: {tokens} tokens in {} calls", cost.calls));
    }
    task.notices.iter().for_each(|notice| fact("notice", notice));
    if let Some(delivery) = &task.delivery {
        let where_to = match &delivery.how {
            TaskFinish::Merge => format!("merged into {}", delivery.into.as_deref().unwrap_or("-")),
            TaskFinish::Propose => format!("proposed {}", delivery.proposal.as_deref().unwrap_or_default()),
            _ => "kept where it is".to_owned(),
        };
        fact("work", where_to.trim());
    }
    fact("files", &task.directory);
    fact("session", &task.session_id.0);
    if let Some(next) = next(task) {
        lines.push(next);
    }
    lines.join("\n")
}

/// A commit as people write it.
fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}
