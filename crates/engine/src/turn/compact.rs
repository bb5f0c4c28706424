//! Replacing old history by a summary when the model's window is nearly full.
//!
//! The summary is an event, so that the journal keeps what was said and everybody can see what the model still
//! knows of it.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::StreamExt;
use loggia_domain::{
    EventBody, Model, ModelError, ModelErrorKind, ModelInfo, ModelMessage, ModelName, ModelRequest,
    ReplyPart, Usage,
};

use crate::session::{HistoryItem, Said, State};
use crate::turn::images::Images;
use crate::turn::{Stop, Turn, context, failed, reply};

/// Above this share of the window, in percent, history is compacted: what is left holds a reply and some results.
const NEARLY_FULL: u64 = 85;

/// What is kept word for word may take this share of the window, in percent.
const KEPT: u64 = 40;

/// The longest summary: it is there to be short.
const MAX_SUMMARY: usize = 64 << 10;

const ASK: &str = "\
Summarise this conversation between a user and a coding agent so that the agent can go on with it alone. Keep: what \
the user wants and decided, what was found out, which files matter and why, what was changed, what failed, what is \
left to do. Be precise with names and paths. Leave out greetings and the text of files.";

impl Turn {
    /// Compacts if the window is nearly full; says whether it did.
    pub(super) async fn compact_if_nearly_full(
        &mut self,
        state: &State,
        model: &Arc<dyn Model>,
        info: &ModelInfo,
    ) -> Result<bool, Stop> {
        let said = context::size(state.history.items(), info);
        // Besides what was said: who the model is, the workspace's instructions at most, and the tools.
        let tools: usize =
            self.workspace.specs().iter().map(|spec| spec.parameters.0.len() + spec.description.len()).sum();
        let gathered = self.gathered.as_ref().map_or(0, |text| text.len());
        let estimated = said + (tools + gathered) as u64 / context::BYTES_PER_TOKEN;
        let limit = info.context_tokens / 100 * NEARLY_FULL;
        if estimated <= limit || self.shortened {
            return Ok(false);
        }
        self.shortened = true;
        self.compact(state, model, info).await?;
        Ok(true)
    }

    /// Summarises all but the newest part of the history.
    pub(super) async fn compact(
        &self,
        state: &State,
        model: &Arc<dyn Model>,
        info: &ModelInfo,
    ) -> Result<(), Stop> {
        let items = state.history.items();
        // At most half of what there is: a provider may count more than we do, and less must be left afterwards.
        let half = context::size(items, info) / 2;
        let room = (info.context_tokens / 100 * KEPT).min(half);
        let Some(place) = boundary(items, room, info) else {
            return Err(failed(&ModelError::new(
                ModelErrorKind::TooLong,
                "the last step alone is too long for the model",
            )));
        };
        let old = &items[..place];
        let Some(through) = old.last().map(|item| item.seq) else { return Ok(()) };
        let (mut summary, usage) = self.summarise(state, model, old, info).await?;
        if let Some(turn) = state.turn.as_ref().filter(|turn| turn.began_at <= through) {
            summary.push_str("\n\nThe instruction being worked on: ");
            summary.push_str(&turn.instruction.told());
            if !turn.instruction.images.is_empty() {
                summary.push_str("\n(Its images are not shown any more.)");
            }
        }
        Ok(self.link.record(vec![EventBody::HistoryCompacted { through, summary, usage }]).await?)
    }

    async fn summarise(
        &self,
        state: &State,
        model: &Arc<dyn Model>,
        old: &[Arc<HistoryItem>],
        info: &ModelInfo,
    ) -> Result<(String, Usage), Stop> {
        let mut text = render(&context::masked(&self.shared.masker, old));
        // The beginning of what is summarised is itself a summary or long done: the newer part matters.
        let most = usize::try_from(info.context_tokens.saturating_mul(3)).unwrap_or(usize::MAX);
        if text.len() > most {
            let from = text.ceil_char_boundary(text.len() - most);
            text.drain(..from);
        }
        let messages = vec![ModelMessage::System(ASK.to_owned()), ModelMessage::User(text)];
        let request = ModelRequest { messages, tools: Arc::from([]), max_output: None, thinking: None };
        let mut failures = 0;
        // What a failed attempt used was used, too.
        let mut used = Usage::NONE;
        loop {
            let mut switch = None;
            let summary = summary_of(model, request.clone(), &mut used, &mut switch).await;
            if let Some((from, to, reason)) = switch.filter(|(from, to, _)| !state.has_heard_of(from, to)) {
                self.link.record(vec![reply::switched(&self.shared.masker, from, to, &reason)]).await?;
            }
            match summary {
                Ok(summary) => return Ok((summary, used)),
                Err(error @ ModelError { kind: ModelErrorKind::Transient { retry_after }, .. })
                    if failures < reply::RETRIES =>
                {
                    failures += 1;
                    reply::wait(&self.feed, &self.shared.masker, &error, failures, retry_after).await;
                }
                Err(error) => return Err(failed(&error)),
            }
        }
    }
}

/// What a model makes of a conversation. One that does not stop is stopped.
async fn summary_of(
    model: &Arc<dyn Model>,
    request: ModelRequest,
    used: &mut Usage,
    switch: &mut Option<(ModelName, ModelName, String)>,
) -> Result<String, ModelError> {
    let before = *used;
    let mut stream = model.reply(request).await?;
    let mut summary = String::new();
    while let Some(part) = stream.next().await {
        match part? {
            ReplyPart::Text(piece) => summary.push_str(&piece),
            // The last one counts.
            ReplyPart::Usage(usage) => *used = before.plus(usage),
            ReplyPart::Switched { from, to, reason } => *switch = Some((from, to, reason)),
            ReplyPart::Thought(_) | ReplyPart::Call { .. } => {}
        }
        if summary.len() > MAX_SUMMARY {
            summary.truncate(summary.floor_char_boundary(MAX_SUMMARY));
            break;
        }
    }
    Ok(summary)
}

/// Where the kept part begins: as early as its size allows, at a place where no call is parted from its result.
fn boundary(items: &[Arc<HistoryItem>], room: u64, model: &ModelInfo) -> Option<usize> {
    let mut best = None;
    let mut answers = HashSet::new();
    for place in (1..items.len()).rev() {
        match &items[place].said {
            Said::Tool { call, .. } => drop(answers.insert(call.id)),
            Said::Assistant { message, .. } => {
                for call in &message.calls {
                    answers.remove(&call.id);
                }
            }
            Said::User { .. } | Said::Context(_) | Said::Notice(_) | Said::Summary(_) => {}
        }
        if context::size(&items[place..], model) > room && best.is_some() {
            break;
        }
        let begins =
            matches!(items[place].said, Said::User { .. } | Said::Assistant { .. } | Said::Notice(_));
        if begins && answers.is_empty() {
            best = Some(place);
        }
    }
    best
}

fn render(items: &[Arc<HistoryItem>]) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    // Images do not go into a summary; that they were there does.
    for message in context::conversation(items, &Images::default()) {
        let _ = match message {
            ModelMessage::System(said) | ModelMessage::User(said) => writeln!(text, "User: {said}\n"),
            ModelMessage::Shown { text: said, images } => {
                writeln!(text, "User: {said}\n({} images)\n", images.len())
            }
            ModelMessage::Assistant { text: said, calls } => {
                let names: Vec<String> =
                    calls.iter().map(|call| format!("{} {}", call.tool, call.arguments.0)).collect();
                writeln!(text, "Agent: {said}\n{}\n", names.join("\n"))
            }
            ModelMessage::ToolResult { call, output, .. } => {
                writeln!(text, "Result of {}: {output}\n", call.tool)
            }
        };
    }
    text
}
