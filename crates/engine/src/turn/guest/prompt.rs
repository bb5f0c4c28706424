//! A conversation as one text, for an agent that has none.
//!
//! Pure: text in, text out. What always holds: what is to be done now comes last and is whole; of what was said before,
//! the newest is told as far as there is room, and that something was left out is said.

use std::collections::VecDeque;
use std::fmt::Write;

use loggia_domain::ModelMessage;

use super::run::shortened;

/// How much is told of what was said before: some sixty thousand tokens, half of what agents can look at.
const MAX_BEFORE: usize = 256 << 10;

/// How much is told of a call's arguments: its result says what became of it.
const MAX_ARGUMENTS: usize = 1 << 10;

/// The whole text.
pub(super) fn render(messages: &[ModelMessage]) -> String {
    let (system, said): (Vec<_>, Vec<_>) =
        messages.iter().partition(|message| matches!(message, ModelMessage::System(_)));
    let mut text = system.into_iter().filter_map(words).collect::<Vec<_>>().join("\n\n");
    let is_asked =
        |message: &&ModelMessage| matches!(message, ModelMessage::User(_) | ModelMessage::Shown { .. });
    let now = said.iter().rposition(|message| !is_asked(message)).map_or(0, |last| last + 1);
    let (before, now) = said.split_at(now);
    if !before.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(text, "\n\n# What was said so far\n\n{}\n\n# What to do now", newest(before));
    }
    if now.is_empty() {
        text.push_str("\n\nGo on from there.");
    }
    for told in now.iter().copied().filter_map(words) {
        let _ = write!(text, "\n\n{told}");
    }
    text
}

/// What was said before, the oldest left out if it is too much.
fn newest(messages: &[&ModelMessage]) -> String {
    let mut entries = VecDeque::new();
    let mut room = MAX_BEFORE;
    for message in messages.iter().rev() {
        let entry = entry(message);
        match room.checked_sub(entry.len()) {
            Some(left) => room = left,
            None => {
                entries.push_front("(What was said before this is left out.)".to_owned());
                break;
            }
        }
        entries.push_front(entry);
    }
    Vec::from(entries).join("\n\n")
}

fn entry(message: &ModelMessage) -> String {
    match message {
        ModelMessage::System(text) | ModelMessage::User(text) | ModelMessage::Shown { text, .. } => {
            format!("User: {text}")
        }
        ModelMessage::Assistant { text, calls } => {
            let mut entry = format!("You: {text}");
            for call in calls {
                let arguments = shortened(&call.arguments.0, MAX_ARGUMENTS);
                let _ = write!(entry, "\nYou called `{}` with {arguments}", call.tool);
            }
            entry
        }
        ModelMessage::ToolResult { call, output, failed } => {
            let how = if *failed { " (an error)" } else { "" };
            format!("Result of `{}`{how}: {output}", call.tool)
        }
    }
}

/// The text of what somebody said.
fn words(message: &ModelMessage) -> Option<&str> {
    match message {
        ModelMessage::System(text) | ModelMessage::User(text) | ModelMessage::Shown { text, .. } => {
            Some(text)
        }
        ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use loggia_domain::{CallId, JsonText, ToolCall};

    use super::*;

    fn user(text: &str) -> ModelMessage {
        ModelMessage::User(text.to_owned())
    }

    fn call() -> ToolCall {
        let arguments = JsonText(r#"{"path":"a"}"#.to_owned());
        ToolCall {
            id: CallId::from_bytes([1; 16]),
            provider_id: None,
            tool: "read_file".to_owned(),
            arguments,
        }
    }

    fn answered() -> Vec<ModelMessage> {
        vec![
            ModelMessage::System("Be good.".to_owned()),
            user("Look."),
            ModelMessage::Assistant { text: "I look.".to_owned(), calls: vec![call()] },
            ModelMessage::ToolResult { call: call(), output: "it says a".to_owned(), failed: false },
        ]
    }

    #[test]
    fn a_first_instruction_is_told_as_it_is() {
        let messages = [ModelMessage::System("Be good.".to_owned()), user("Do it."), user("Code: x")];
        assert_eq!(render(&messages), "Be good.\n\nDo it.\n\nCode: x");
    }

    #[test]
    fn what_was_said_comes_before_what_is_asked_now() {
        let mut messages = answered();
        messages.push(ModelMessage::Assistant { text: "It says a.".to_owned(), calls: Vec::new() });
        messages.push(user("And now?"));
        insta::assert_snapshot!(render(&messages), @r#"
        Be good.

        # What was said so far

        User: Look.

        You: I look.
        You called `read_file` with {"path":"a"}

        Result of `read_file`: it says a

        You: It says a.

        # What to do now

        And now?
        "#);
    }

    #[test]
    fn a_turn_that_goes_on_after_a_call_says_so() {
        assert!(render(&answered()).ends_with("it says a\n\n# What to do now\n\nGo on from there."));
    }

    #[test]
    fn the_oldest_is_left_out_when_it_is_too_much() {
        let old = ModelMessage::Assistant { text: "x".repeat(MAX_BEFORE), calls: Vec::new() };
        let mut messages = answered();
        messages.insert(1, old);
        messages.push(user("And now?"));
        let text = render(&messages);
        assert!(text.contains("so far\n\n(What was said before this is left out.)\n\nUser: Look."), "{text}");
    }
}
