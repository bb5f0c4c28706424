//! What a model is told: who it is, what the workspace says, what was said so far.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use loggia_domain::{
    CodeFinding, JsonText, ModelInfo, ModelMessage, ModelRequest, OwnInstructions, ToolCall, ToolOutcome,
};

use crate::engine;
use crate::secrets::Masker;
use crate::session::{HistoryItem, Said, State};
use crate::turn::excerpt::{Excerpt, tell};
use crate::turn::images::Images;
use crate::turn::{Stop, Turn};

/// What every model is told first.
const PREAMBLE: &str = "\
You are Loggia, a coding agent. You work in one directory, the workspace. All paths are relative to its root.
Read before you change. Make small, complete changes that fit the code around them, and check them with the \
project's own tests where you can. Calls may need a person's approval; when part of a change is refused you are \
told what, so respect it and do not propose it again unchanged. When you are done, say briefly what you did.";

/// What an agent of a plugin is told first: it brings its own idea of what it is.
const GUEST_PREAMBLE: &str = "\
You work in one directory, the workspace. All paths are relative to its root. Changes and commands may need a person's \
approval. When you are done, say briefly what you did.";

impl Turn {
    /// Everything the model is told now.
    pub(super) async fn request(
        &self,
        state: &State,
        found: Vec<CodeFinding>,
        model: &ModelInfo,
    ) -> Result<ModelRequest, Stop> {
        let judge = self.workspace.judge(&self.shared, state).await?;
        let mut instructions = self.workspace.instructions(&self.shared, Arc::clone(&judge)).await;
        // A byte for each token of the window: a quarter of it.
        let most = usize::try_from(model.context_tokens).unwrap_or(usize::MAX);
        instructions.truncate(instructions.floor_char_boundary(most));
        let masker = &self.shared.masker;
        let instructions = masker.mask(&instructions);
        let found: Vec<CodeFinding> = found.into_iter().filter(|found| judge.may_read(&found.path)).collect();
        let preamble = model.name.guest().map_or(PREAMBLE, |_| GUEST_PREAMBLE);
        let mut messages = vec![ModelMessage::System(system(preamble, &instructions, state))];
        let mut said = masked(&self.shared.masker, state.history.items());
        self.add_gathered(state, &mut said);
        let images = Images::load(&self.shared.parts.store, &said, model.abilities.images).await;
        messages.extend(conversation(&said, &images));
        // A model is never left with its own words last.
        if matches!(messages.last(), Some(ModelMessage::Assistant { .. })) {
            messages
                .push(ModelMessage::User("Your reply was cut off. Go on from where it stopped.".to_owned()));
        }
        if !found.is_empty() {
            messages.push(ModelMessage::User(tell(
                "Code that may belong to this:",
                &findings(found, masker),
                most,
            )));
        }
        Ok(ModelRequest {
            messages,
            tools: self.workspace.offered().await,
            max_output: None,
            thinking: state.thinking,
        })
    }

    /// Puts what was looked up behind the instruction it was looked up for, where it stays while the turn lasts. Once the
    /// instruction has gone into a summary, so has this.
    fn add_gathered(&self, state: &State, said: &mut Vec<Arc<HistoryItem>>) {
        let Some(text) = self.gathered.as_ref().filter(|text| !text.is_empty()) else { return };
        let Some(began_at) = state.turn.as_ref().map(|turn| turn.began_at) else { return };
        let is_it = |item: &Arc<HistoryItem>| item.seq == began_at && matches!(item.said, Said::User { .. });
        if let Some(place) = said.iter().position(is_it) {
            let gathered = HistoryItem { seq: began_at, said: Said::Notice(text.to_string()) };
            said.insert(place + 1, Arc::new(gathered));
        }
    }
}

/// Who the model is, what the workspace says, and what the session's own instructions are.
fn system(preamble: &str, instructions: &str, state: &State) -> String {
    let OwnInstructions { instead, added } = &state.instructions;
    let mut text = instead.as_deref().unwrap_or(preamble).to_owned();
    if !instructions.is_empty() {
        let _ = write!(text, "\n\nThe workspace's own instructions:\n\n{instructions}");
    }
    if let Some(added) = added {
        let _ = write!(text, "\n\nInstructions for this session:\n\n{added}");
    }
    if state.turn.as_ref().is_some_and(|turn| turn.instruction.restraint.reading_only) {
        text.push_str(
            "\n\nThis turn is for reading only: whatever would change a file or run a command is refused, so do not try.",
        );
    }
    if state.turn.as_ref().is_some_and(|turn| turn.instruction.preview) {
        text.push_str(
            "\n\nChanges are only collected in this turn: files you read show them, and people decide at the end.",
        );
    }
    text
}

/// What was said, without secrets. Everything else was masked before it was stored; only a notice may quote lines
/// of a change, which are stored as they are carried out.
pub(super) fn masked(masker: &Masker, items: &[Arc<HistoryItem>]) -> Vec<Arc<HistoryItem>> {
    let masked = |item: &Arc<HistoryItem>| match &item.said {
        Said::Notice(text) => match masker.mask(text) {
            Cow::Borrowed(_) => Arc::clone(item),
            Cow::Owned(text) => Arc::new(HistoryItem { seq: item.seq, said: Said::Notice(text) }),
        },
        _ => Arc::clone(item),
    };
    items.iter().map(masked).collect()
}

/// What was said, as messages. Providers want the results of calls right after the reply that made them: what was
/// said in between comes after them. A call that never got a result gets one that says so.
pub(super) fn conversation(items: &[Arc<HistoryItem>], images: &Images) -> Vec<ModelMessage> {
    let mut messages = Vec::with_capacity(items.len());
    let (mut open, mut between): (Vec<&ToolCall>, Vec<ModelMessage>) = (Vec::new(), Vec::new());
    for item in items {
        match &item.said {
            Said::Tool { call, .. } => open.retain(|waiting| waiting.id != call.id),
            Said::Assistant { message, .. } => {
                messages.extend(open.drain(..).map(unanswered));
                messages.append(&mut between);
                open.extend(&message.calls);
            }
            _ if !open.is_empty() => {
                between.push(self::message(item, images));
                continue;
            }
            _ => {}
        }
        messages.push(message(item, images));
        if open.is_empty() {
            messages.append(&mut between);
        }
    }
    messages.extend(open.into_iter().map(unanswered));
    messages.append(&mut between);
    messages
}

fn unanswered(call: &ToolCall) -> ModelMessage {
    let (output, failed) = told(&ToolOutcome::Cancelled);
    ModelMessage::ToolResult { call: call.clone(), output, failed }
}

fn message(item: &HistoryItem, images: &Images) -> ModelMessage {
    match &item.said {
        Said::User { instruction, .. } => {
            let text = with_context(&instruction.text, instruction.context.as_ref());
            images.message(item.seq, instruction, text)
        }
        Said::Context(context) => {
            ModelMessage::User(with_context("The client's surroundings changed.", Some(context)))
        }
        Said::Assistant { message, .. } => {
            ModelMessage::Assistant { text: message.text.clone(), calls: message.calls.clone() }
        }
        Said::Tool { call, outcome } => {
            let (output, failed) = told(outcome);
            ModelMessage::ToolResult { call: call.clone(), output, failed }
        }
        Said::Notice(text) => ModelMessage::User(text.clone()),
        Said::Summary(text) => ModelMessage::User(format!("What happened so far, in short:\n\n{text}")),
    }
}

fn with_context(text: &str, context: Option<&JsonText>) -> String {
    match context {
        None => text.to_owned(),
        Some(JsonText(json)) => format!("{text}\n\nContext from the client:\n```json\n{json}\n```"),
    }
}

pub(super) fn told(outcome: &ToolOutcome) -> (String, bool) {
    match outcome {
        ToolOutcome::Succeeded { output } => (output.clone(), false),
        ToolOutcome::Failed { message } => (message.clone(), true),
        ToolOutcome::Denied { reason } => (format!("Not allowed: {reason}"), true),
        ToolOutcome::Cancelled => ("Cancelled before it was done.".to_owned(), true),
    }
}

/// What was found, the best first.
fn findings(found: Vec<CodeFinding>, masker: &Masker) -> Vec<Excerpt> {
    found.into_iter().map(|found| engine::masked(masker, found).into()).collect()
}

/// A rough count of the tokens that a part of the history takes.
pub(super) fn size(items: &[Arc<HistoryItem>], model: &ModelInfo) -> u64 {
    estimate(&conversation(items, &Images::counted(items, model.abilities.images)))
}

/// A rough count of tokens: four bytes each, and a little for every message's frame.
fn estimate(messages: &[ModelMessage]) -> u64 {
    let bytes = |message: &ModelMessage| match message {
        ModelMessage::System(text) | ModelMessage::User(text) => text.len(),
        ModelMessage::Shown { text, images } => text.len() + images.len() * BYTES_PER_IMAGE,
        ModelMessage::Assistant { text, calls } => {
            text.len() + calls.iter().map(|call| call.tool.len() + call.arguments.0.len()).sum::<usize>()
        }
        ModelMessage::ToolResult { output, .. } => output.len(),
    };
    messages.iter().map(|message| bytes(message) as u64 / BYTES_PER_TOKEN + FRAME).sum()
}

/// What providers' tokenizers come to on code and English, within a fifth or so.
pub(super) const BYTES_PER_TOKEN: u64 = 4;

/// Role, separators, ids.
const FRAME: u64 = 8;

/// An image counts as so much text: providers charge up to some 1,600 tokens for one.
const BYTES_PER_IMAGE: usize = 6400;
