//! A task as files for people to read: `.loggia/tasks/<id>/` in its home workspace.
//!
//! Made of the task's state alone, so that they can be written again at any time; nothing is read back from them. Written
//! through the handle on the workspace's root, which no tool can do there.

use std::fmt::Write;
use std::sync::Arc;

use loggia_domain::{TaskId, Usage};
use loggia_tree::{Content, Root, TreeError, TreePath};

use super::error::TaskError;
use super::fold::Task;
use crate::engine::Engine;
use crate::session::chronicle::name;
use crate::workspace::blocking;

/// The permission bits of the files.
const MODE: u32 = 0o644;

/// The longest name of the file that holds the source.
const MAX_NAME: usize = 80;

/// The files of a task, relative to its directory, and what they hold.
pub(super) fn render(id: TaskId, task: &Task) -> Vec<(String, String)> {
    let mut files = vec![("plan.md".to_owned(), plan(id, task))];
    files.push((format!("source/{}", source_name(&task.start.reference)), ended(&task.start.source)));
    for (place, text) in task.specifications.iter().enumerate() {
        files.push((format!("specifications/specification-{}.md", place + 1), ended(text)));
    }
    for (place, text) in task.reviews.iter().enumerate() {
        files.push((format!("reviews/review-{}.md", place + 1), ended(text)));
    }
    if !task.notes.is_empty() {
        files.push(("notes.md".to_owned(), notes(task)));
    }
    files.push(("costs.toml".to_owned(), costs(task)));
    files
}

fn ended(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// What the task is and how it stands.
fn plan(id: TaskId, task: &Task) -> String {
    let start = &task.start;
    let mut text = format!("# {}\n\n", start.item.title.trim());
    let mut line = |what: &str, value: &str| text.push_str(&format!("- {what}: {value}\n"));
    line("task", &id.to_string());
    line("from", &format!("{} ({})", start.reference, start.provider));
    if let Some(label) = &start.item.label {
        line("key", label);
    }
    if let Some(status) = &start.item.status {
        line("status there", status);
    }
    if !start.item.tags.is_empty() {
        line("marked", &start.item.tags.join(", "));
    }
    line("began", &task.began.to_string());
    line("phase", &task.phase.to_string());
    if let Some(branch) = &start.branch {
        line("branch", &format!("{} (from {})", branch.name, branch.base));
        if let Some(tree) = &branch.tree {
            line("tree", &tree.display().to_string());
        }
    }
    if let Some(held) = &task.held {
        line(
            "held back",
            &format!("{} of {} before {}: {}", held.by.name, held.by.hook, held.by.step, held.reason),
        );
    }
    if let Some(trouble) = &task.trouble {
        line("last trouble", trouble.lines().next().unwrap_or_default());
    }
    for (name, value) in &task.metadata {
        line(name, &value.0);
    }
    // Writing to a string does not fail.
    if let Some(question) = &task.question {
        let _ = write!(text, "\n## Question\n\n{}\n", question.text);
        for option in &question.options {
            let _ = writeln!(text, "- {option}");
        }
    }
    if !task.checkpoints.is_empty() {
        text.push_str("\n## Checkpoints\n\n");
        for (place, checkpoint) in task.checkpoints.iter().enumerate() {
            let mark = if Some(place) == task.at { "*" } else { " " };
            let commit =
                checkpoint.commit.as_ref().map(|commit| commit.commit.0.chars().take(12).collect::<String>());
            let commit = commit.map(|commit| format!(" {commit}")).unwrap_or_default();
            let _ = writeln!(
                text,
                "{mark} {}. {}{commit} ({})",
                checkpoint.number, checkpoint.step, checkpoint.at
            );
        }
    }
    text
}

fn notes(task: &Task) -> String {
    let mut text = String::from("# Notes\n");
    for note in &task.notes {
        let _ =
            write!(text, "\n## {} [{}] {}\n\n{}\n", note.at, note.phase, name(&note.by), note.text.trim());
    }
    text
}

fn costs(task: &Task) -> String {
    let mut text = String::from("# What the steps of this task have used.\n");
    let mut all = (Usage::NONE, 0);
    for (step, cost) in &task.costs {
        all = (all.0.plus(cost.usage), all.1 + cost.calls);
        let step: String =
            step.chars().map(|c| if c == '"' || c == '\\' || c.is_control() { '-' } else { c }).collect();
        let _ = write!(text, "\n[steps.\"{step}\"]\n{}", used(cost.usage, cost.calls));
    }
    let _ = write!(text, "\n[total]\n{}", used(all.0, all.1));
    text
}

fn used(usage: Usage, calls: u64) -> String {
    let Usage { input, cached, output, micro_dollars } = usage;
    let cost = micro_dollars.map(|cost| format!("micro_dollars = {cost}\n")).unwrap_or_default();
    format!(
        "calls = {calls}\ninput_tokens = {input}\ncached_tokens = {cached}\noutput_tokens = {output}\n{cost}"
    )
}

/// A name for the source that is a file's on every disk: the last part of the reference.
fn source_name(reference: &str) -> String {
    let path = reference.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let last = path.rsplit(['/', ':', '\\']).next().unwrap_or_default();
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = last.chars().map(plain).take(MAX_NAME).collect();
    let name = name.trim_matches(['.', '-']);
    match (name.is_empty(), name.contains('.')) {
        (true, _) => "source.md".to_owned(),
        (false, true) => name.to_owned(),
        (false, false) => format!("{name}.md"),
    }
}

fn directory(id: TaskId) -> String {
    format!(".loggia/tasks/{id}")
}

/// Writes those files that are not as they should be.
pub(super) async fn write(engine: &Engine, id: TaskId, task: &Arc<Task>) -> Result<(), TaskError> {
    let root = engine.shared.open_workspace(task.start.home).await?.root();
    let task = Arc::clone(task);
    let written = blocking(move || -> Result<(), TreeError> {
        for (file, text) in render(id, &task) {
            let path = TreePath::parse(&format!("{}/{file}", directory(id)))?;
            let is_there =
                root.read(&path, crate::changes::MAX_FILE).is_ok_and(|there| there.bytes == text.as_bytes());
            if !is_there {
                let staged = root.stage(&path, &Content::Bytes(text.as_bytes()), MODE)?;
                root.commit_unsynced(staged)?;
            }
        }
        Ok(())
    });
    written.await.map_err(|error| TaskError::Bad(format!("the task's files cannot be written: {error}")))
}

/// The same; one that does not work out costs nothing but the files.
pub(super) async fn write_or_warn(engine: &Engine, id: TaskId, task: &Arc<Task>) {
    // One that was given up has none.
    if task.phase == super::TaskPhase::Abandoned {
        return;
    }
    if let Err(error) = write(engine, id, task).await {
        tracing::warn!(task = %id, %error, "readable files of a task are missing or old");
    }
}

/// Takes a task's files away: those that we write, and the directories they leave empty.
pub(super) async fn remove(engine: &Engine, id: TaskId, task: &Arc<Task>) -> Result<(), TaskError> {
    let root = engine.shared.open_workspace(task.start.home).await?.root();
    let task = Arc::clone(task);
    let removed = blocking(move || -> Result<(), TreeError> {
        for (file, _) in render(id, &task) {
            let path = TreePath::parse(&format!("{}/{file}", directory(id)))?;
            remove_file(&root, &path)?;
        }
        Ok(())
    });
    removed.await.map_err(|error| TaskError::Bad(format!("the task's files cannot be removed: {error}")))
}

fn remove_file(root: &Root, path: &TreePath) -> Result<(), TreeError> {
    match root.remove_unsynced(path) {
        Ok(()) => root.remove_empty_parents(path),
        Err(TreeError::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::source_name;

    #[test]
    fn the_source_has_a_name_on_every_disk() {
        for (reference, expected) in [
            ("file:docs/task.md", "task.md"),
            ("https://e.com/issues/42/", "42.md"),
            ("https://e.com/x?y=/etc/passwd#z", "x.md"),
            ("text:fix it, please", "fix-it--please.md"),
            ("file:..", "source.md"),
            ("dir:", "source.md"),
            ("C:\\work\\a b.txt", "a-b.txt"),
        ] {
            assert_eq!(source_name(reference), expected, "{reference}");
        }
    }
}
