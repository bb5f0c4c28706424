//! Replies of a server that does not stream: asked for whole, and told as if all of it came at once.
//!
//! Some servers that are compatible with OpenAI's answer a request for a stream with one whole reply. The library sees no
//! event in that and hands nothing on, so such a server is asked again, without the wish for a stream.

use std::sync::Arc;

use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use genai::chat::{
    ChatOptions, ChatRequest, ChatResponse, ChatStreamEvent, ContentPart, StreamChunk, StreamEnd, ToolChunk,
};
use genai::{Client, ServiceTarget};
use loggia_domain::ModelError;

use super::quiet::Quiet;
use super::reply::Blamed;
use super::watch::Watch;

/// Asks for a whole reply. Nothing is sent before the first piece is wanted.
pub(super) fn open(
    client: Client,
    target: ServiceTarget,
    chat: ChatRequest,
    options: ChatOptions,
    blamed: Arc<Blamed>,
    watch: Arc<Watch>,
) -> BoxStream<'static, Result<ChatStreamEvent, ModelError>> {
    let asked = async move { client.exec_chat(target, chat, Some(&options)).await };
    let answered = Quiet::new(stream::once(asked).boxed()).map(move |answer| {
        let response = answer.map_err(|error| blamed.blame().of_library(&error))?;
        let events = events(response, &watch);
        let events = events.ok_or_else(|| blamed.blame().transient("sent something that is not a reply"))?;
        Ok(stream::iter(events.into_iter().map(Ok)))
    });
    answered.try_flatten().boxed()
}

/// A whole reply as pieces; nothing if it is none.
fn events(response: ChatResponse, watch: &Watch) -> Option<Vec<ChatStreamEvent>> {
    let chunk = |content: String| StreamChunk { content };
    let thought = response.reasoning_content.map(|text| ChatStreamEvent::ReasoningChunk(chunk(text)));
    let mut events: Vec<ChatStreamEvent> = thought.into_iter().collect();
    for part in response.content.into_parts() {
        match part {
            ContentPart::Text(text) => events.push(ChatStreamEvent::Chunk(chunk(text))),
            ContentPart::ToolCall(tool_call) => {
                watch.expect_call(!tool_call.call_id.is_empty());
                events.push(ChatStreamEvent::ToolCallChunk(ToolChunk { tool_call }));
            }
            _ => {}
        }
    }
    if events.is_empty() && response.stop_reason.is_none() {
        return None;
    }
    let captured_usage = Some(response.usage);
    events.push(ChatStreamEvent::End(StreamEnd { captured_usage, ..StreamEnd::default() }));
    Some(events)
}
