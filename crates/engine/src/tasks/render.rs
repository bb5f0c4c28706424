//! What an agent is asked in each step, as text; and what its reply says.
//!
//! Pure. Texts from elsewhere are quoted whole up to a bound, each under a heading of its own.
//!
//! A plan asks instead of planning if its last line with words begins with `QUESTION:`; lines that begin with `-` after it
//! are answers it offers. A call of a tool named `AskUserQuestion` says the same.

use std::fmt::Write;

use loggia_domain::{Actor, TaskQuestion};
use serde_json::Value;

use super::fold::{Task, TaskNote};
use super::machine::PhaseKind;

/// How much of one text is quoted: more than a person writes, and well within a model's window.
const MAX_QUOTED: usize = 128 << 10;

/// How much of a diff is quoted.
pub(super) const MAX_DIFF: usize = 256 << 10;

/// The tool by which agents ask people.
pub(super) const ASK_TOOL: &str = "AskUserQuestion";

/// How a plan says that it asks.
const ASKS: &str = "QUESTION:";

/// Who is there to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Company {
    /// People, sooner or later.
    People,
    /// Nobody.
    Nobody,
}

pub(super) fn planning(task: &Task, company: Company) -> String {
    let mut text = String::from(
        "Plan this task. Look at the code as far as you need to; nothing can be changed or run meanwhile. Reply with one specification in \
         Markdown: a section `Summary`, then a section `Details` with the files to change, how, and how to see that it \
         works. Your last reply is kept as the specification.\n",
    );
    text.push_str(match company {
        Company::People => {
            "If you cannot plan without knowing something that only people know, reply with what you have found and end \
             with a line `QUESTION: …`, followed by a line `- …` for each answer you can think of.\n"
        }
        Company::Nobody => "Nobody is there to answer questions: decide yourself, and say what you decided.\n",
    });
    about(&mut text, task);
    notes(&mut text, task);
    for (place, specification) in task.specifications.iter().enumerate() {
        section(&mut text, &format!("Earlier specification {}", place + 1), specification);
    }
    if let Some((question, answer)) = &task.asked {
        section(&mut text, "What you found before you asked", &question.context);
        let answer = answer.as_deref().unwrap_or("Nobody has answered: decide yourself.");
        section(&mut text, "Your question, and the answer", &format!("{}\n\n{answer}", question.text));
    }
    text
}

pub(super) fn implementing(task: &Task) -> String {
    let mut text = String::from(
        "Implement this specification: change the files, completely and no more than it asks for. Say briefly what you \
         did when you are done.\n",
    );
    about(&mut text, task);
    specification(&mut text, task);
    notes(&mut text, task);
    text
}

pub(super) fn reviewing(task: &Task, diff: Option<&str>) -> String {
    let mut text = String::from(
        "Review the changes of this task against its specification. Look for faults, gaps and needless parts; nothing can \
         be changed or run meanwhile. Reply with your findings in Markdown, the gravest first, and say if there are \
         none.\n",
    );
    about(&mut text, task);
    specification(&mut text, task);
    match diff {
        Some(diff) if diff.trim().is_empty() => section(&mut text, "Changes", "Nothing has changed."),
        Some(diff) => section(&mut text, "Changes", &format!("```diff\n{}\n```", diff.trim_end())),
        None => section(&mut text, "Changes", "Look at the files: there is no branch to compare with."),
    }
    text
}

fn about(text: &mut String, task: &Task) {
    let item = &task.start.item;
    section(text, "Task", &item.title);
    if !item.tags.is_empty() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "\nMarked: {}", item.tags.join(", "));
    }
    section(text, "Source", &task.start.source);
}

fn specification(text: &mut String, task: &Task) {
    if let Some(specification) = task.specifications.last() {
        section(text, "Specification", specification);
    }
}

fn notes(text: &mut String, task: &Task) {
    // What we noted while the task was set up is for people: a plugin's last words, for one, are nothing to plan by.
    let is_notice = |note: &TaskNote| note.by == Actor::Engine && note.phase == PhaseKind::Starting.word();
    let notes = task.notes.iter().filter(|note| !is_notice(note));
    let notes: Vec<&str> = notes.map(|note| note.text.as_str()).collect();
    if !notes.is_empty() {
        section(text, "Notes", &notes.join("\n\n"));
    }
}

fn section(text: &mut String, heading: &str, body: &str) {
    let body = body.trim();
    let cut = body.floor_char_boundary(MAX_QUOTED.max(if heading == "Changes" { MAX_DIFF } else { 0 }));
    let _ = write!(text, "\n## {heading}\n\n{}\n", &body[..cut]);
    if cut < body.len() {
        let _ = writeln!(text, "[… {} bytes left out …]", body.len() - cut);
    }
}

/// The question that a plan ends with, if it does.
pub(super) fn question_in(reply: &str) -> Option<TaskQuestion> {
    let lines: Vec<&str> = reply.trim_end().lines().collect();
    let asks = lines.iter().rposition(|line| line.trim_start().starts_with(ASKS))?;
    let rest = &lines[asks + 1..];
    let is_option = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('-');
    if !rest.iter().all(is_option) {
        return None;
    }
    let text = lines[asks].trim_start().trim_start_matches(ASKS).trim();
    let option = |line: &&str| line.trim_start().strip_prefix('-').map(|line| line.trim().to_owned());
    let options = rest.iter().filter_map(option).filter(|option| !option.is_empty()).collect();
    let context = lines[..asks].join("\n").trim().to_owned();
    (!text.is_empty()).then(|| TaskQuestion { text: text.to_owned(), options, context })
}

/// The question that a call asks, if that makes sense of its arguments.
pub(super) fn question_called(arguments: &str, context: &str) -> Option<TaskQuestion> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let first = arguments.get("questions").and_then(|questions| questions.get(0)).unwrap_or(&arguments);
    let text = first.get("question").and_then(Value::as_str)?.trim();
    let option = |option: &Value| {
        let label = option.get("label").unwrap_or(option).as_str()?;
        let description = option.get("description").and_then(Value::as_str);
        Some(description.map_or_else(|| label.to_owned(), |description| format!("{label}: {description}")))
    };
    let options = first.get("options").and_then(Value::as_array).into_iter().flatten();
    let options = options.filter_map(option).collect();
    let context = context.to_owned();
    (!text.is_empty()).then(|| TaskQuestion { text: text.to_owned(), options, context })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(question: Option<TaskQuestion>) -> String {
        question.map_or_else(
            || "none".to_owned(),
            |TaskQuestion { text, options, context }| format!("{text} [{}] <{context}>", options.join("|")),
        )
    }

    #[test]
    fn a_plan_asks_with_its_last_line() {
        for (reply, expected) in [
            ("QUESTION: which one?", "which one? [] <>"),
            ("Found it.\n\nQUESTION: a or b?\n- a\n- b, the other\n", "a or b? [a|b, the other] <Found it.>"),
            ("# Plan\nQUESTION: rhetorical?\nThen do it.", "none"),
            ("QUESTION:", "none"),
            ("No question here?", "none"),
            ("", "none"),
        ] {
            assert_eq!(asked(question_in(reply)), expected, "{reply}");
        }
    }

    #[test]
    fn a_plan_asks_with_a_call() {
        for (arguments, expected) in [
            (
                r#"{"questions":[{"question":"Which?","options":[{"label":"a","description":"first"},{"label":"b"}]}]}"#,
                "Which? [a: first|b] <c>",
            ),
            (r#"{"question":"Which?","options":["a"]}"#, "Which? [a] <c>"),
            (r#"{"questions":[]}"#, "none"),
            ("no json", "none"),
        ] {
            assert_eq!(asked(question_called(arguments, "c")), expected, "{arguments}");
        }
    }
}
