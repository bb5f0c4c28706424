//! What answers while no model is set: a search of the workspace.
//!
//! Knows how to ask the tools that search for the words of a question, and how to cite what they found. Refuses to know
//! files, policy and sessions: it calls tools as every model does, so whatever holds for calls holds for its own.
//!
//! What always holds:
//! - it says plainly that no model is set, and what to do about it;
//! - it calls only tools that search, and each question once;
//! - the same conversation gets the same answer.

mod answer;
mod catalogue;
mod places;
mod words;

use std::sync::Arc;

use futures_util::stream;
use loggia_domain::{
    BoxFuture, JsonText, Model, ModelError, ModelInfo, ModelMessage, ModelName, ModelRequest, Price,
    ReplyPart, ReplyStream, ToolSpec, Usage,
};

pub use catalogue::SearchingCatalogue;

use crate::searching::places::Places;
use crate::searching::words::Word;

/// The tool that finds lines.
const TEXT: &str = "search_text";

/// The tool that finds definitions, where there is one.
const SYMBOLS: &str = "search_symbols";

/// It reads no more than the last question and its results, so no conversation is too long for it. It would also have
/// nobody to summarise one.
const CONTEXT: u64 = 100_000_000;

/// What the engine begins with when it tells the code it found.
const FOUND: &str = "Code that may belong to this:";

/// What the engine itself says in a user's place: nobody asks that.
const NOBODY_ASKED: [&str; 5] = [
    FOUND,
    "The client's surroundings changed.",
    "The previous turn goes on.",
    "What happened so far, in short:",
    "Your reply was cut off.",
];

/// What a client tells of its surroundings comes after this.
const SURROUNDINGS: &str = "\n\nContext from the client:\n";

/// Answers by searching. It is no language model.
#[derive(Debug, Default)]
pub struct SearchingModel;

impl SearchingModel {
    /// Its name.
    pub fn name() -> ModelName {
        ModelName(format!("{}:search", ModelName::NO_PROVIDER))
    }
}

impl Model for SearchingModel {
    fn info(&self) -> ModelInfo {
        ModelInfo { price: Some(Price::FREE), ..ModelInfo::new(Self::name(), CONTEXT, true) }
    }

    fn reply(&self, request: ModelRequest) -> BoxFuture<'_, Result<ReplyStream, ModelError>> {
        let mut parts = parts(&request);
        parts.push(ReplyPart::Usage(Usage::NONE));
        let stream: ReplyStream = Box::pin(stream::iter(parts.into_iter().map(Ok)));
        Box::pin(std::future::ready(Ok(stream)))
    }
}

/// What it replies: calls first, then what came of them.
fn parts(request: &ModelRequest) -> Vec<ReplyPart> {
    let Some((place, question)) = question(&request.messages) else {
        return vec![ReplyPart::Text(answer::nothing_asked())];
    };
    if let Some(excerpts) = excerpts(&request.messages) {
        return vec![ReplyPart::Text(answer::excerpts(excerpts))];
    }
    let words = words::of(question);
    let after = &request.messages[place + 1..];
    let results = after.iter().filter(|message| matches!(message, ModelMessage::ToolResult { .. }));
    let calls = calls(&words, &request.tools);
    let text = match (results.count(), calls.is_empty()) {
        (0, false) => return calls,
        (0, true) => answer::nothing_to_search(&words),
        _ => answer::of(&words, &Places::of(&words, after)),
    };
    vec![ReplyPart::Text(text)]
}

/// The code that the engine found for the question, if it did.
fn excerpts(messages: &[ModelMessage]) -> Option<&str> {
    match messages.last() {
        Some(ModelMessage::User(text)) => text.strip_prefix(FOUND).map(str::trim_start),
        _ => None,
    }
}

/// The last thing that people asked, and where it is.
fn question(messages: &[ModelMessage]) -> Option<(usize, &str)> {
    let said = messages.iter().enumerate().rev().filter_map(|(place, message)| match message {
        ModelMessage::User(text) | ModelMessage::Shown { text, .. } => Some((place, text.as_str())),
        ModelMessage::System(_) | ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. } => None,
    });
    let mut asked = said.filter(|(_, text)| !NOBODY_ASKED.iter().any(|opening| text.starts_with(opening)));
    asked.next().map(|(place, text)| (place, text.split(SURROUNDINGS).next().unwrap_or(text)))
}

/// A search for each word, with each tool there is.
fn calls(words: &[Word], tools: &Arc<[ToolSpec]>) -> Vec<ReplyPart> {
    let offered = [SYMBOLS, TEXT].into_iter().filter(|name| tools.iter().any(|tool| tool.name == *name));
    let call = |tool: &str, word: &Word| ReplyPart::Call {
        provider_id: None,
        tool: tool.to_owned(),
        arguments: JsonText(serde_json::json!({ "query": word.query() }).to_string()),
    };
    offered.flat_map(|tool| words.iter().map(move |word| call(tool, word))).collect()
}
