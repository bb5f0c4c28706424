//! Slash commands: what is asked for, and what it is about.
//!
//! Words for the model, and the aim by which the engine adds what the editor did not send. What is looked up is the
//! engine's affair, and goes through the policy there.

use loggia_domain::{Aim, AimedFile, Purpose, Spot};
use loggia_protocol_agent_server::{ActiveEditor, EditorContext, Mention, SlashCommand};

use crate::from_wire::report::leads_inside;

/// How many files an instruction is about at most: the model's window holds no more, and can be told of others by name.
const MOST_FILES: usize = 16;

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

/// What a slash command is for and about; nothing for one that nobody knows.
pub(super) fn aim(command: &SlashCommand, context: &EditorContext) -> Option<Aim> {
    let purpose = match command {
        SlashCommand::Fix => Purpose::Fix,
        SlashCommand::Test => Purpose::Test,
        SlashCommand::Explain => Purpose::Explain,
        SlashCommand::Refactor => Purpose::Refactor,
        SlashCommand::Other(_) => return None,
    };
    let editor = context.active_editor.iter();
    let editor = editor.map(|editor| AimedFile { path: editor.file_path.clone(), spot: spot(editor) });
    let mentioned = context.mentions.iter().flatten().filter_map(mentioned);
    // What is complained about is what is to be fixed.
    let complaints = context.diagnostics.iter().flatten().filter(|_| purpose == Purpose::Fix);
    let faulty = complaints.map(|diagnostic| AimedFile {
        path: diagnostic.file_path.clone(),
        spot: Some(Spot::Named { line: diagnostic.line }),
    });
    let mut files: Vec<AimedFile> = Vec::new();
    for file in editor.chain(mentioned).chain(faulty).filter(|file| leads_inside(&file.path)) {
        if files.len() < MOST_FILES && !files.iter().any(|known| known.path == file.path) {
            files.push(file);
        }
    }
    Some(Aim { purpose, files, has_output: context.terminal_output.is_some() })
}

/// Where in its file an editor is.
fn spot(editor: &ActiveEditor) -> Option<Spot> {
    let selection = editor.selection.map(|selection| {
        let (start, end) = (selection.start, selection.end);
        if start == end {
            return Spot::Cursor { line: start.line };
        }
        // Nothing of a line is selected before whose first character the selection ends.
        let last = if end.character == 0 { end.line.saturating_sub(1) } else { end.line };
        Spot::Selected { first: start.line, last: last.max(start.line) }
    });
    selection.or_else(|| editor.visible_range.map(|seen| Spot::Visible { first: seen.start, last: seen.end }))
}

fn mentioned(mention: &Mention) -> Option<AimedFile> {
    match mention {
        Mention::File { path } => Some(AimedFile { path: path.clone(), spot: None }),
        Mention::Symbol { file_path: Some(path), line, .. } => {
            Some(AimedFile { path: path.clone(), spot: line.map(|line| Spot::Named { line }) })
        }
        Mention::Symbol { file_path: None, .. } | Mention::Unknown => None,
    }
}
