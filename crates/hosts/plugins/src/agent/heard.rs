//! Events of a run, from the protocol's words into ours.

use loggia_domain::{AgentPart, GuestCall, JsonText, Usage};
use loggia_protocol_mehrhof::{FileAction, FileEvent, StreamEvent, ToolUseEvent, UsageEvent};
use serde_json::Value;

use super::tools;

/// What an event comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Something to pass on.
    Part(AgentPart),
    /// The end of what it says; its answer follows.
    Complete,
    /// It says that it failed; its answer still follows.
    Failure(String),
    /// Nothing anybody can use.
    Nothing,
}

/// What an event comes to.
pub(super) fn read(event: StreamEvent) -> Heard {
    Heard::Part(match event {
        StreamEvent::Text(text) => AgentPart::Text(text),
        StreamEvent::Thinking(text) => AgentPart::Thought(text),
        StreamEvent::File(file) => read_file(file),
        StreamEvent::ToolUse(call) => AgentPart::Call(read_call(call)),
        StreamEvent::ToolResult(result) => {
            AgentPart::OwnCall { id: result.id.to_string(), result: words(&result.result.0) }
        }
        StreamEvent::Usage(usage) => AgentPart::Usage(read_usage(usage)),
        StreamEvent::Complete => return Heard::Complete,
        StreamEvent::Error(error) => return Heard::Failure(error.message),
        StreamEvent::Unknown { kind, .. } => {
            tracing::debug!(kind, "an event of a type nobody knows");
            return Heard::Nothing;
        }
        StreamEvent::Misshapen { kind, problem, .. } => {
            AgentPart::Note(format!("the agent sent a `{kind}` event that cannot be read: {problem}"))
        }
    })
}

/// How much memory a part holds, roughly.
pub(super) fn weight(part: &AgentPart) -> usize {
    match part {
        AgentPart::Text(text) | AgentPart::Thought(text) | AgentPart::Note(text) => text.len(),
        AgentPart::File(path, content) => path.len() + content.as_ref().map_or(0, String::len),
        AgentPart::Call(call) => call.arguments.0.len() + call.tool.len() + call.id.len(),
        AgentPart::OwnCall { id, result } => id.len() + result.len(),
        AgentPart::Usage(_) => 0,
    }
}

/// What a plugin tells of a sum without its parts. Nobody knows which were read; none is free.
pub(super) fn sum(tokens: u64) -> AgentPart {
    AgentPart::Usage(Usage { input: 0, cached: 0, output: tokens, micro_dollars: None })
}

fn read_usage(usage: UsageEvent) -> Usage {
    let cached = usage.cache_read_input_tokens.unwrap_or(0);
    Usage { input: usage.input_tokens, cached, output: usage.output_tokens, micro_dollars: None }
}

fn read_file(file: FileEvent) -> AgentPart {
    match (file.action, file.content) {
        (Some(FileAction::Delete), _) => AgentPart::File(file.path, None),
        // Whatever the word for it is, new text is to be written.
        (_, Some(content)) => AgentPart::File(file.path, Some(content)),
        (_, None) => AgentPart::Note(format!("the agent wants `{}` changed and does not say how", file.path)),
    }
}

fn read_call(call: ToolUseEvent) -> GuestCall {
    let arguments = if call.input.0.is_null() { "{}".to_owned() } else { call.input.0.to_string() };
    GuestCall {
        id: call.id.to_string(),
        tool: tools::from_wire(&call.name).to_owned(),
        arguments: JsonText(arguments),
        purpose: call.description,
    }
}

/// Text as it is, anything else as JSON.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(event: &str, expected: &str) {
        let event = serde_json::from_str(event).unwrap();
        assert_eq!(format!("{:?}", read(event)), expected);
    }

    #[test]
    fn events_become_parts() {
        check(r#"{"type":"text","data":{"text":"a"}}"#, r#"Part(Text("a"))"#);
        check(r#"{"type":"thinking","data":"t"}"#, r#"Part(Thought("t"))"#);
        check(r#"{"type":"file","data":{"path":"p","content":"c"}}"#, r#"Part(File("p", Some("c")))"#);
        check(r#"{"type":"file","data":{"path":"p","action":"delete"}}"#, r#"Part(File("p", None))"#);
        check(
            r#"{"type":"file","data":{"path":"p","content":"c","action":"update"}}"#,
            r#"Part(File("p", Some("c")))"#,
        );
        check(
            r#"{"type":"file","data":{"path":"p"}}"#,
            r#"Part(Note("the agent wants `p` changed and does not say how"))"#,
        );
        check(
            r#"{"type":"tool_use","data":{"id":"1","name":"list_files","input":{"path":"."},"description":"d"}}"#,
            r#"Part(Call(GuestCall { id: "1", tool: "list_directory", arguments: JsonText("{\"path\":\".\"}"), purpose: Some("d") }))"#,
        );
        check(
            r#"{"type":"tool_result","data":{"id":"1","result":{"a":1}}}"#,
            r#"Part(OwnCall { id: "1", result: "{\"a\":1}" })"#,
        );
        check(
            r#"{"type":"usage","data":{"input_tokens":3,"output_tokens":4,"cache_read_input_tokens":1}}"#,
            "Part(Usage(Usage { input: 3, cached: 1, output: 4, micro_dollars: None }))",
        );
    }

    #[test]
    fn ends_failures_and_nonsense_are_told_apart() {
        check(r#"{"type":"complete"}"#, "Complete");
        check(r#"{"type":"error","data":"no"}"#, r#"Failure("no")"#);
        check(r#"{"type":"sparkle","data":1}"#, "Nothing");
        check(
            r#"{"type":"text","data":7}"#,
            r#"Part(Note("the agent sent a `text` event that cannot be read: a text, or an object with `text`, is needed"))"#,
        );
    }
}
