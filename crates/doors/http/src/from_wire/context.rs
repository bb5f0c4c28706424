//! `client.user_message` and `client.context_update`: instructions, and what the editor knows.
//!
//! The context goes to the model as JSON with the protocol's own names, and with notes on what cannot be read off it:
//! what a slash command means, and which files are older on the disk than in the editor.

use loggia_domain::{CodeContext, ContentHash, Instruction, Intent, JsonText, Restraint, WhenBusy};
use loggia_protocol_agent_server::{ContextUpdate, EditorContext, Mention, UserMessage};
use serde_json::Value;

use crate::from_wire::{report, slash};

/// What an editor says one of its files holds; whoever calls compares it with the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// The file, relative to the root.
    pub(crate) path: String,
    /// What the editor holds.
    pub(crate) hash: ContentHash,
}

impl Buffer {
    /// The buffer a context tells of, if it says what is in it.
    pub(crate) fn of(context: &EditorContext) -> Option<Self> {
        let editor = context.active_editor.as_ref()?;
        let hash = report::content_hash(&editor.content_hash.as_ref()?.0)?;
        report::leads_inside(&editor.file_path).then(|| Self { path: editor.file_path.clone(), hash })
    }
}

/// An instruction. `unsaved` is a file of which the disk holds something else than the editor.
pub(crate) fn prompt(message: UserMessage, unsaved: Option<&Buffer>, when_busy: WhenBusy) -> Intent {
    let context = message.context.unwrap_or_default();
    let command = slash::command(&message.message, &context);
    let mut notes = command.iter().flat_map(|command| slash::notes(command, &context)).collect::<Vec<_>>();
    notes.extend(unsaved_notes(&context, unsaved));
    let aim = command.and_then(|command| slash::aim(&command, &context));
    let nearby = nearby(&context);
    let context = json_text(&context, notes);
    let restraint = Restraint { reading_only: message.read_only, without: Vec::new() };
    let text = message.message;
    let instruction = Instruction { text, context, aim, nearby, restraint, ..Instruction::default() };
    Intent::Prompt { instruction, when_busy }
}

/// News during a turn; nothing if there are none.
pub(crate) fn update(update: &ContextUpdate, unsaved: Option<&Buffer>) -> Option<Intent> {
    let notes = unsaved_notes(&update.updates, unsaved);
    json_text(&update.updates, notes).map(|context| Intent::UpdateContext { context })
}

/// The files that matter to whoever sits at the editor.
fn nearby(context: &EditorContext) -> CodeContext {
    let front = context.active_editor.iter().map(|editor| &editor.file_path);
    let behind = context.open_editors.iter().flatten().map(|editor| &editor.file_path);
    let faulty = context.diagnostics.iter().flatten().map(|diagnostic| &diagnostic.file_path);
    let git = context.git_context.iter().flat_map(|git| [&git.staged_files, &git.modified_files]);
    let mut mentions = Vec::new();
    for mention in context.mentions.iter().flatten().take(CodeContext::MAX_EACH) {
        match mention {
            Mention::File { path } => mentions.push(path.clone()),
            Mention::Symbol { name, file_path, .. } => {
                mentions.push(name.clone());
                mentions.extend(file_path.clone());
            }
            Mention::Unknown => {}
        }
    }
    CodeContext {
        open_files: inside(front.chain(behind)),
        mentions,
        diagnostics: inside(faulty),
        recent: inside(git.flatten().flatten()),
    }
}

/// The paths that lead down, each once, as far as they help.
fn inside<'p>(paths: impl Iterator<Item = &'p String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for path in paths.filter(|path| report::leads_inside(path)) {
        if kept.len() < CodeContext::MAX_EACH && !kept.contains(path) {
            kept.push(path.clone());
        }
    }
    kept
}

/// What the model must know of files whose changes are not on the disk.
fn unsaved_notes(context: &EditorContext, unsaved: Option<&Buffer>) -> Vec<String> {
    let active = unsaved.map(|buffer| buffer.path.as_str());
    let open = context.open_editors.iter().flatten();
    let dirty = open.filter(|editor| editor.is_dirty == Some(true)).map(|editor| editor.file_path.as_str());
    let others = dirty.filter(|path| Some(*path) != active);
    let note = |path: &str| {
        format!(
            "`{path}` has changes in the editor that are not saved: the disk is older than what the user sees."
        )
    };
    active.into_iter().chain(others).map(note).collect()
}

fn json_text(context: &EditorContext, notes: Vec<String>) -> Option<JsonText> {
    let mut value = serde_json::to_value(context).expect("the types hold nothing that JSON cannot");
    if let Value::Object(fields) = &mut value {
        if !notes.is_empty() {
            fields.insert("notes".to_owned(), notes.into());
        }
        if fields.is_empty() {
            return None;
        }
    }
    Some(JsonText(value.to_string()))
}
