//! Ollama's own protocol, which we speak ourselves: the library does not tell it how much a model is to look at, and
//! without that it drops the beginning of a conversation without a word.
//!
//! What always holds: a request says how much to look at, and that nothing may be dropped; everything that is read has a
//! limit.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use genai::chat::{
    BinarySource, ChatMessage, ChatRequest, ChatRole, ChatStreamEvent, ContentPart, PromptTokensDetails,
    StreamChunk, StreamEnd, Tool, ToolCall, ToolChunk, Usage,
};
use loggia_domain::ModelError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::depth::Depth;
use super::lines::{LineError, Lines, MAX_LINE_BYTES};
use super::reply::Blamed;
use super::web::{self, Web};
use crate::Effort;

/// What is asked of a reply besides the conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// How many tokens the model is to look at.
    pub(super) context: u64,
    /// How many it may say.
    pub(super) most: Option<u64>,
    /// How much it is to think.
    pub(super) depth: Option<Depth>,
}

/// The body of a request.
pub(super) fn body(model: &str, chat: ChatRequest, wanted: Wanted) -> Value {
    let mut options = Map::from_iter([("num_ctx".to_owned(), json!(wanted.context))]);
    if let Some(most) = wanted.most {
        options.insert("num_predict".to_owned(), json!(most));
    }
    let mut body = json!({
        "model": model,
        "stream": true,
        "options": options,
        // Older servers do not know these two, and drop what is too long.
        "truncate": false,
        "shift": false,
    });
    if let Some(tools) = chat.tools {
        body["tools"] = tools.into_iter().map(tool).collect();
    }
    body["messages"] = chat.messages.into_iter().map(message).collect();
    match wanted.depth {
        Some(Depth::Off) => body["think"] = json!(false),
        Some(Depth::Effort(Effort::Low)) => body["think"] = json!("low"),
        Some(Depth::Effort(Effort::Medium)) => body["think"] = json!("medium"),
        Some(Depth::Effort(Effort::High)) => body["think"] = json!("high"),
        // It takes no number, and is never sent one.
        Some(Depth::Tokens(_)) | None => {}
    }
    body
}

fn message(message: ChatMessage) -> Value {
    let role = match message.role {
        ChatRole::System => "system",
        ChatRole::User => "user",
        ChatRole::Assistant => "assistant",
        ChatRole::Tool => "tool",
    };
    let mut told = json!({ "role": role, "content": "" });
    let mut content = String::new();
    let (mut images, mut calls) = (Vec::new(), Vec::new());
    for part in message.content.into_parts() {
        match part {
            ContentPart::Text(text) => content.push_str(&text),
            ContentPart::Binary(binary) => {
                if let BinarySource::Base64(data) = binary.source {
                    images.push(json!(data));
                }
            }
            ContentPart::ToolCall(call) => {
                let function = json!({ "name": call.fn_name, "arguments": call.fn_arguments });
                calls.push(json!({ "id": call.call_id, "function": function }));
            }
            ContentPart::ToolResponse(response) => {
                content.push_str(&response.content);
                told["tool_call_id"] = json!(response.call_id);
                told["tool_name"] = json!(response.fn_name);
            }
            // It wants no thoughts back.
            ContentPart::ThoughtSignature(_) | ContentPart::ReasoningContent(_) | ContentPart::Custom(_) => {}
        }
    }
    told["content"] = json!(content);
    if !images.is_empty() {
        told["images"] = images.into();
    }
    if !calls.is_empty() {
        told["tool_calls"] = calls.into();
    }
    told
}

fn tool(tool: Tool) -> Value {
    let function = json!({
        "name": tool.name.to_string(),
        "description": tool.description,
        "parameters": tool.schema,
    });
    json!({ "type": "function", "function": function })
}

/// Asks for a reply. Nothing is sent before the first piece is wanted.
pub(super) fn open(
    web: Arc<Web>,
    blamed: Arc<Blamed>,
    body: Value,
) -> BoxStream<'static, Result<ChatStreamEvent, ModelError>> {
    stream::once(ask(web, blamed, body)).try_flatten().boxed()
}

async fn ask(
    web: Arc<Web>,
    blamed: Arc<Blamed>,
    body: Value,
) -> Result<BoxStream<'static, Result<ChatStreamEvent, ModelError>>, ModelError> {
    let provider = &blamed.provider;
    let (url, headers) = (provider.address.join("api/chat"), provider.headers(blamed.key.as_ref()));
    let asked = web.post(url, headers, body.to_string()).await;
    let response = asked.map_err(|error| blamed.blame().of_web(&error))?;
    if !response.status().is_success() {
        let (status, headers) = (response.status(), response.headers().clone());
        let said = web::refusal(response).await;
        return Err(blamed.blame().of_status(status, &headers, &said));
    }
    let coming =
        Coming { lines: Lines::new(response.bytes_stream()), blamed, ready: VecDeque::new(), over: false };
    let events = stream::try_unfold(coming, |mut coming| async move {
        Ok(coming.next().await?.map(|event| (event, coming)))
    });
    Ok(events.boxed())
}

/// A reply as it comes in.
struct Coming<B> {
    lines: Lines<B>,
    blamed: Arc<Blamed>,
    ready: VecDeque<ChatStreamEvent>,
    over: bool,
}

impl<B: AsRef<[u8]>> Coming<B> {
    async fn next(&mut self) -> Result<Option<ChatStreamEvent>, ModelError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.over {
                return Ok(None);
            }
            let line = self.lines.next().await.map_err(|error| match error {
                LineError::Web(error) => self.blamed.blame().of_web(&error),
                LineError::TooLong => {
                    self.blamed.blame().permanent(&format!("sends a line of over {MAX_LINE_BYTES} bytes"))
                }
            })?;
            match line {
                Some(line) => self.take(&line)?,
                None => return Ok(None),
            }
        }
    }

    fn take(&mut self, line: &[u8]) -> Result<(), ModelError> {
        let garbled = |_| self.blamed.blame().transient("sent something that is not a reply");
        let line: Line = serde_json::from_slice(line).map_err(garbled)?;
        if let Some(error) = &line.error {
            return Err(self.blamed.blame().of_words(&error.to_string()));
        }
        let usage = line.usage();
        let message = line.message.unwrap_or_default();
        if let Some(content) = message.thinking.or(message.reasoning_content).filter(|text| !text.is_empty())
        {
            self.ready.push_back(ChatStreamEvent::ReasoningChunk(StreamChunk { content }));
        }
        if let Some(content) = message.content.filter(|text| !text.is_empty()) {
            self.ready.push_back(ChatStreamEvent::Chunk(StreamChunk { content }));
        }
        for Call { id, function } in message.tool_calls.unwrap_or_default() {
            let tool_call = ToolCall {
                call_id: id.unwrap_or_default(),
                fn_name: function.name,
                fn_arguments: function.arguments,
                thought_signatures: None,
            };
            self.ready.push_back(ChatStreamEvent::ToolCallChunk(ToolChunk { tool_call }));
        }
        if line.done {
            self.over = true;
            let end = StreamEnd { captured_usage: Some(usage), ..StreamEnd::default() };
            self.ready.push_back(ChatStreamEvent::End(end));
        } else if self.ready.is_empty() {
            // It says nothing yet, but it is alive.
            self.ready.push_back(ChatStreamEvent::Heartbeat);
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    prompt_eval_count: Option<i32>,
    #[serde(default)]
    prompt_eval_cached_count: Option<i32>,
    #[serde(default)]
    eval_count: Option<i32>,
}

impl Line {
    fn usage(&self) -> Usage {
        let details = |count| PromptTokensDetails { cached_tokens: Some(count), ..Default::default() };
        Usage {
            prompt_tokens: self.prompt_eval_count,
            prompt_tokens_details: self.prompt_eval_cached_count.map(details),
            completion_tokens: self.eval_count,
            ..Usage::default()
        }
    }
}

#[derive(Default, Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    /// What some servers call it.
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}
