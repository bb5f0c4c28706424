//! Slash commands: what is asked for, and what the agent should look at itself when the editor sent less.
//!
//! Only words for the model. What it then reads and runs goes through its tools and so through the policy.

use loggia_protocol_agent_server::{EditorContext, SlashCommand};

/// The slash command of a message: the one the editor names, else the one the text begins with.
pub(super) fn command(text: &str, context: &EditorContext) -> Option<SlashCommand> {
    context.command.clone().or_else(|| {
        let first = text.split_whitespace().next().unwrap_or_default();
        let command = SlashCommand::from(first.to_owned());
        Some(command).filter(|command| !matches!(command, SlashCommand::Other(_)))
    })
}

/// What the model is told about a slash command.
pub(super) fn notes(command: &SlashCommand, context: &EditorContext) -> Vec<String> {
    let mut notes = Vec::new();
    let mut say = |note: &str| notes.push(note.to_owned());
    match command {
        SlashCommand::Fix => {
            say("/fix: find the cause of what is wrong and repair it, with as small a change as does it.");
            if context.diagnostics.is_none() {
                say("No diagnostics were sent: find the errors with the project's own checks.");
            }
            if context.terminal_output.is_none() {
                say("No terminal output was sent: run what fails, if you can tell what that is.");
            }
            say("Look at what was changed last (`git diff`): the fault is often there.");
        }
        SlashCommand::Test => {
            say("/test: write or extend tests for the code in question, and run them.");
            say(
                "Look at the tests there are, and at the code they are about, before you write; follow their manner.",
            );
            if context.terminal_output.is_none() {
                say("No test output was sent: run the tests first to see where they stand.");
            }
        }
        SlashCommand::Explain => {
            say("/explain: explain, and change nothing.");
            let selection = context.active_editor.as_ref().and_then(|editor| editor.selection);
            match selection {
                Some(selection) if selection.start != selection.end => {
                    say("It is about the selection; read just that and what it needs to be understood.");
                }
                _ => {
                    say(
                        "Nothing is selected: it is about the function the cursor is in, or what is visible.",
                    );
                }
            }
        }
        SlashCommand::Refactor => {
            say("/refactor: improve the code without changing what it does.");
            say(
                "Before you change it, look at the whole file, at what it imports and at all that depends on it.",
            );
        }
        SlashCommand::Other(_) => {}
    }
    notes
}
