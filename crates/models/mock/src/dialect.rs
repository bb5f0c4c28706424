//! The same reply in every provider's words.

use loggia_models::EndpointKind;
use serde_json::{Value, json};

/// One thing that a reply says.
#[derive(Debug, Clone)]
pub enum Say {
    /// A piece of the reply.
    Text(String),
    /// A piece of a thought.
    Thought(String),
    /// Calls at once: their ids, names and arguments, the last in pieces.
    Calls(Vec<(&'static str, &'static str, Vec<&'static str>)>),
    /// The end, with 100 tokens in, 40 of them cached, and 7 out.
    Done,
}

/// A piece of the reply.
pub fn text(text: &str) -> Say {
    Say::Text(text.to_owned())
}

/// The frames of a reply.
pub fn frames(kind: EndpointKind, reply: &[Say]) -> Vec<String> {
    let mut frames = Vec::new();
    if kind == EndpointKind::Anthropic {
        let usage = json!({"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 1});
        let start =
            json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "usage": usage}});
        frames.push(event("message_start", &start));
        frames.push(event("ping", &json!({"type": "ping"})));
    }
    for (block, say) in reply.iter().enumerate() {
        match kind {
            EndpointKind::OpenAi => open_ai(say, &mut frames),
            EndpointKind::Anthropic => anthropic(block * 10, say, &mut frames),
            EndpointKind::Gemini => gemini(say, &mut frames),
            EndpointKind::Ollama => ollama(say, &mut frames),
        }
    }
    frames
}

/// An error in the middle of a reply.
pub fn error(kind: EndpointKind, message: &str) -> String {
    match kind {
        EndpointKind::OpenAi => data(&json!({"error": {"message": message, "type": "server_error"}})),
        EndpointKind::Anthropic => {
            let error = json!({"type": "overloaded_error", "message": message});
            event("error", &json!({"type": "error", "error": error}))
        }
        EndpointKind::Gemini => {
            data(&json!({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}}))
        }
        EndpointKind::Ollama => line(&json!({"error": message})),
    }
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn event(name: &str, value: &Value) -> String {
    format!("event: {name}\ndata: {value}\n\n")
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn open_ai(say: &Say, frames: &mut Vec<String>) {
    let mut delta = |delta: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
        frames.push(data(&json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice]})));
    };
    match say {
        Say::Text(text) => delta(json!({"content": text})),
        Say::Thought(text) => delta(json!({"reasoning_content": text})),
        Say::Calls(calls) => {
            for (index, (id, name, _)) in calls.iter().enumerate() {
                let function = json!({"name": name, "arguments": ""});
                delta(
                    json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}),
                );
            }
            // The pieces of all calls by turns.
            let most = calls.iter().map(|(_, _, pieces)| pieces.len()).max().unwrap_or(0);
            for place in 0..most {
                for (index, (_, _, pieces)) in calls.iter().enumerate() {
                    let Some(piece) = pieces.get(place) else { continue };
                    delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}));
                }
            }
        }
        Say::Done => {
            let choice = json!({"index": 0, "delta": {}, "finish_reason": "stop"});
            frames.push(data(&json!({"choices": [choice]})));
            let details = json!({"cached_tokens": 40});
            let usage = json!({"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107,
                "prompt_tokens_details": details});
            frames.push(data(&json!({"choices": [], "usage": usage})));
            frames.push("data: [DONE]\n\n".to_owned());
        }
    }
}

fn anthropic(block: usize, say: &Say, frames: &mut Vec<String>) {
    let mut whole = |index: usize, start: Value, deltas: Vec<Value>| {
        let start = json!({"type": "content_block_start", "index": index, "content_block": start});
        frames.push(event("content_block_start", &start));
        for delta in deltas {
            let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
            frames.push(event("content_block_delta", &delta));
        }
        frames.push(event("content_block_stop", &json!({"type": "content_block_stop", "index": index})));
    };
    match say {
        Say::Text(text) => {
            whole(
                block,
                json!({"type": "text", "text": ""}),
                vec![json!({"type": "text_delta", "text": text})],
            );
        }
        Say::Thought(text) => {
            let deltas = vec![
                json!({"type": "thinking_delta", "thinking": text}),
                json!({"type": "signature_delta", "signature": "c2ln"}),
            ];
            whole(block, json!({"type": "thinking", "thinking": "", "signature": ""}), deltas);
        }
        Say::Calls(calls) => {
            for (place, (id, name, pieces)) in calls.iter().enumerate() {
                let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                let piece = |piece: &&str| json!({"type": "input_json_delta", "partial_json": piece});
                whole(block + place, start, pieces.iter().map(piece).collect());
            }
        }
        Say::Done => {
            let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                "usage": {"output_tokens": 7}});
            frames.push(event("message_delta", &delta));
            frames.push(event("message_stop", &json!({"type": "message_stop"})));
        }
    }
}

fn gemini(say: &Say, frames: &mut Vec<String>) {
    let mut parts = |parts: Vec<Value>| {
        let candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
        frames.push(data(&json!({"candidates": [candidate]})));
    };
    match say {
        Say::Text(text) => parts(vec![json!({"text": text})]),
        Say::Thought(text) => parts(vec![json!({"text": text, "thought": true})]),
        Say::Calls(calls) => {
            let call = |(id, name, pieces): &(&str, &str, Vec<&str>)| {
                let args: Value = serde_json::from_str(&pieces.concat()).unwrap();
                json!({"functionCall": {"id": id, "name": name, "args": args}})
            };
            parts(calls.iter().map(call).collect());
        }
        Say::Done => {
            let usage = json!({"promptTokenCount": 100, "cachedContentTokenCount": 40,
                "candidatesTokenCount": 7, "totalTokenCount": 107});
            let candidate =
                json!({"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "STOP"});
            frames.push(data(&json!({"candidates": [candidate], "usageMetadata": usage})));
        }
    }
}

fn ollama(say: &Say, frames: &mut Vec<String>) {
    let mut message = |message: Value| {
        frames.push(line(&json!({"model": "m", "message": message, "done": false})));
    };
    match say {
        Say::Text(text) => message(json!({"role": "assistant", "content": text})),
        Say::Thought(text) => message(json!({"role": "assistant", "content": "", "thinking": text})),
        Say::Calls(calls) => {
            let call = |(id, name, pieces): &(&str, &str, Vec<&str>)| {
                let arguments: Value = serde_json::from_str(&pieces.concat()).unwrap();
                json!({"id": id, "function": {"name": name, "arguments": arguments}})
            };
            let calls: Vec<Value> = calls.iter().map(call).collect();
            message(json!({"role": "assistant", "content": "", "tool_calls": calls}));
        }
        Say::Done => {
            let message = json!({"role": "assistant", "content": ""});
            let done = json!({"model": "m", "message": message, "done": true, "done_reason": "stop",
                "prompt_eval_count": 100, "prompt_eval_cached_count": 40, "eval_count": 7});
            frames.push(line(&done));
        }
    }
}
