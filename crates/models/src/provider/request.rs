//! A conversation as providers are told it.
//!
//! What always holds: every call and its result carry the same id, in letters every provider takes; arguments that
//! are not an object are wrapped in one, since providers refuse a conversation that holds anything else.

use base64::Engine as _;
use genai::chat::{
    Binary, CacheControl, ChatMessage, ChatOptions, ChatRequest, ContentPart, MessageContent, MessageOptions,
    ReasoningEffort, Tool, ToolCall, ToolResponse,
};
use loggia_domain::{JsonText, ModelAbilities, ModelImage, ModelMessage, ModelRequest, ToolSpec};
use serde_json::{Value, json};

use super::Thoughts;
use super::depth::Depth;
use crate::EndpointKind;

/// What stands for a picture that the model cannot look at.
const LEFT_OUT: &str = "(A picture was shown here, which you cannot look at.)";

/// Some servers refuse longer ids.
const MAX_ID_CHARS: usize = 40;

/// How many hexadecimal digits of our own ids are sent: enough to tell any two in a conversation apart.
const OWN_ID_DIGITS: usize = 24;

/// A conversation and its tools, with the thoughts that are wanted back.
pub(super) fn chat(
    kind: EndpointKind,
    abilities: ModelAbilities,
    thoughts: &Thoughts,
    request: &ModelRequest,
) -> Result<ChatRequest, serde_json::Error> {
    let mut messages: Vec<ChatMessage> = Vec::new();
    let mut results: Vec<ToolResponse> = Vec::new();
    for message in &request.messages {
        if let ModelMessage::ToolResult { call, output, failed } = message {
            let response = ToolResponse::new(id(call), said(output, *failed)).with_fn_name(&call.tool);
            // Anthropic and Gemini want all results of one step in one message, Ollama each in its own.
            match kind {
                EndpointKind::Anthropic | EndpointKind::Gemini => results.push(response),
                EndpointKind::OpenAi | EndpointKind::Ollama => {
                    messages.push(ChatMessage::tool(MessageContent::from_tool_responses(vec![response])));
                }
            }
            continue;
        }
        close(&mut messages, &mut results);
        messages.extend(told(abilities, thoughts, message));
    }
    close(&mut messages, &mut results);
    if kind == EndpointKind::Anthropic {
        mark(&mut messages);
    }
    let chat = ChatRequest::new(messages);
    if request.tools.is_empty() || !abilities.tools {
        return Ok(chat);
    }
    let tools: Result<Vec<Tool>, _> = request.tools.iter().map(tool).collect();
    Ok(chat.with_tools(tools?))
}

/// Whether a model may think before its next reply: not if it thought before the calls whose results it is about to
/// read, and nobody knows what.
pub(super) fn may_think(thoughts: &Thoughts, request: &ModelRequest) -> bool {
    let turn = request.messages.iter().rev().take_while(|message| {
        matches!(message, ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. })
    });
    let known = |message: &ModelMessage| match message {
        ModelMessage::Assistant { calls, .. } => {
            calls.first().is_none_or(|call| thoughts.before(&id(call)).is_some())
        }
        _ => true,
    };
    turn.into_iter().all(known)
}

/// What is asked of every reply. Hardly anything is gathered on the way: a reply is read once, piece by piece.
pub(super) fn options(
    kind: EndpointKind,
    abilities: ModelAbilities,
    depth: Option<Depth>,
    request: &ModelRequest,
) -> ChatOptions {
    let mut options = ChatOptions::default().with_capture_usage(true);
    if let Some(depth) = depth {
        options = options.with_reasoning_effort(depth.effort(kind));
        // What is signed is wanted back.
        options = options.with_capture_reasoning_content(kind == EndpointKind::Anthropic);
    }
    if kind == EndpointKind::Gemini && abilities.reasoning {
        // It keeps its thoughts to itself unless it is asked.
        options = options.with_capture_reasoning_content(true);
    }
    if kind == EndpointKind::OpenAi && depth.is_none() {
        // A budget is not sent to these servers. Without it, a name that ends in `-max` or `-high` would be cut.
        options = options.with_reasoning_effort(ReasoningEffort::Budget(0));
    }
    if let Some(most) = request.max_output {
        options = options.with_max_tokens(u32::try_from(most).unwrap_or(u32::MAX));
    }
    options
}

fn close(messages: &mut Vec<ChatMessage>, results: &mut Vec<ToolResponse>) {
    if !results.is_empty() {
        let content = MessageContent::from_tool_responses(std::mem::take(results));
        messages.push(ChatMessage::tool(content));
    }
}

fn told(abilities: ModelAbilities, thoughts: &Thoughts, message: &ModelMessage) -> Option<ChatMessage> {
    match message {
        ModelMessage::System(text) => (!text.is_empty()).then(|| ChatMessage::system(text.as_str())),
        ModelMessage::User(text) => (!text.is_empty()).then(|| ChatMessage::user(text.as_str())),
        ModelMessage::Shown { text, images } => Some(shown(abilities, text, images)),
        ModelMessage::Assistant { text, calls } => {
            let thoughts = calls.first().and_then(|call| thoughts.before(&id(call))).unwrap_or_default();
            let text = (!text.trim().is_empty()).then(|| ContentPart::Text(text.clone()));
            let calls = calls.iter().map(|call| {
                ContentPart::ToolCall(ToolCall {
                    call_id: id(call),
                    fn_name: call.tool.clone(),
                    fn_arguments: arguments(&call.arguments),
                    thought_signatures: None,
                })
            });
            let parts: Vec<ContentPart> = thoughts.into_iter().chain(text).chain(calls).collect();
            (!parts.is_empty()).then(|| ChatMessage::assistant(MessageContent::from_parts(parts)))
        }
        // Gathered by the caller.
        ModelMessage::ToolResult { .. } => None,
    }
}

fn shown(abilities: ModelAbilities, text: &str, images: &[ModelImage]) -> ChatMessage {
    let text = (!text.is_empty()).then(|| ContentPart::Text(text.to_owned()));
    let images = images.iter().map(|image| {
        if !abilities.images {
            return ContentPart::Text(LEFT_OUT.to_owned());
        }
        let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
        ContentPart::Binary(Binary::from_base64(image.media_type.as_str(), data, None))
    });
    ChatMessage::user(MessageContent::from_parts(text.into_iter().chain(images).collect::<Vec<_>>()))
}

/// Tells Anthropic what to keep for the next step: what never changes, and all that was said so far.
fn mark(messages: &mut [ChatMessage]) {
    let system = messages.iter().position(|message| message.role == genai::chat::ChatRole::System);
    let places = [system, messages.len().checked_sub(1)];
    for place in places.into_iter().flatten() {
        messages[place].options = Some(MessageOptions::default().with_cache_control(CacheControl::Ephemeral));
    }
}

fn tool(spec: &ToolSpec) -> Result<Tool, serde_json::Error> {
    let schema: Value = serde_json::from_str(&spec.parameters.0)?;
    Ok(Tool::new(spec.name.as_str()).with_description(spec.description.as_str()).with_schema(schema))
}

fn said(output: &str, failed: bool) -> String {
    if failed { format!("error: {output}") } else { output.to_owned() }
}

fn arguments(JsonText(text): &JsonText) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => value,
        _ => json!({ "not_an_object": text }),
    }
}

/// The id of a call: the provider's own, or one of ours. A conversation may have begun with another provider.
fn id(call: &loggia_domain::ToolCall) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    match call.provider_id.as_deref() {
        Some(id) if (1..=MAX_ID_CHARS).contains(&id.len()) && id.bytes().all(plain) => id.to_owned(),
        _ => {
            let own = call.id.to_string();
            format!("call_{}", &own[own.len().saturating_sub(OWN_ID_DIGITS)..])
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loggia_domain::CallId;

    use super::*;

    fn call(provider_id: Option<&str>, arguments: &str) -> loggia_domain::ToolCall {
        let provider_id = provider_id.map(str::to_owned);
        let arguments = JsonText(arguments.to_owned());
        loggia_domain::ToolCall { id: CallId::new(), provider_id, tool: "read_file".to_owned(), arguments }
    }

    #[test]
    fn ids_are_in_letters_every_provider_takes() {
        assert_eq!(id(&call(Some("toolu_01-a"), "{}")), "toolu_01-a");
        for odd in [None, Some(""), Some("a:b"), Some("x".repeat(80).as_str())] {
            let call = call(odd, "{}");
            assert_eq!(id(&call), id(&call));
            assert!(id(&call).len() <= MAX_ID_CHARS && id(&call).starts_with("call_"), "{}", id(&call));
        }
    }

    #[test]
    fn arguments_that_are_no_object_are_wrapped_in_one() {
        assert_eq!(arguments(&JsonText(r#"{"a":1}"#.to_owned())), json!({"a": 1}));
        assert_eq!(arguments(&JsonText("{oops".to_owned())), json!({"not_an_object": "{oops"}));
        assert_eq!(arguments(&JsonText("[1]".to_owned())), json!({"not_an_object": "[1]"}));
    }

    #[test]
    fn results_of_one_step_are_one_message_where_that_is_wanted() {
        let calls = vec![call(Some("a"), "{}"), call(Some("b"), "{}")];
        let result = |call: &loggia_domain::ToolCall| ModelMessage::ToolResult {
            call: call.clone(),
            output: "ok".into(),
            failed: false,
        };
        let results: Vec<ModelMessage> = calls.iter().map(result).collect();
        let mut messages =
            vec![ModelMessage::User("go".into()), ModelMessage::Assistant { text: String::new(), calls }];
        messages.extend(results);
        messages.push(ModelMessage::User("on".into()));
        let request = ModelRequest { messages, tools: Arc::from([]), max_output: None, thinking: None };
        let count = |kind| {
            chat(kind, ModelAbilities::default(), &Thoughts::default(), &request)
                .map(|chat| chat.messages.len())
                .unwrap_or(0)
        };
        assert_eq!(count(EndpointKind::Anthropic), 4);
        assert_eq!(count(EndpointKind::OpenAi), 5);
        assert_eq!(count(EndpointKind::Ollama), 5);
    }
}
