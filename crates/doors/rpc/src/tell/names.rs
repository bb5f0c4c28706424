//! What tools and their arguments are called by clients of this protocol.

use loggia_domain::{FileChangeKind, JsonText, ToolCall};
use loggia_jsonrpc::{Json, exceeds_depth};
use loggia_protocol_autohand::{self as wire, ChangeType};
use serde_json::Value;

/// How deep a model's arguments may nest to be told as JSON: clients parse whole lines with readers of their own.
const MAX_DEPTH: usize = 32;

/// A tool's name on the wire. One nobody knows here keeps its own.
pub(crate) fn tool_name(tool: &str) -> &str {
    match tool {
        "list_directory" => "list_tree",
        "search_text" => "search",
        "edit_file" => "search_replace",
        "delete_file" => "delete_path",
        other => other,
    }
}

/// A call's arguments as the object clients expect. What is no object is told as the text it is.
pub(crate) fn arguments(tool: &str, JsonText(text): &JsonText) -> Json {
    let parsed = (!exceeds_depth(text, MAX_DEPTH)).then(|| serde_json::from_str(text).ok()).flatten();
    let mut fields = match parsed {
        Some(Value::Object(fields)) => fields,
        _ => serde_json::Map::from_iter([("raw".to_owned(), Value::String(text.clone()))]),
    };
    if tool == "write_file"
        && let Some(content) = fields.remove("content")
    {
        fields.insert("contents".to_owned(), content);
    }
    Json(Value::Object(fields))
}

/// A call as clients see it.
pub(crate) fn call(call: &ToolCall) -> wire::ToolCall {
    wire::ToolCall {
        id: wire::ToolId(call.id.to_string()),
        name: tool_name(&call.tool).to_owned(),
        args: arguments(&call.tool, &call.arguments),
    }
}

/// What happens to a file.
pub(crate) fn change_type(kind: FileChangeKind) -> ChangeType {
    match kind {
        FileChangeKind::Created => ChangeType::Create,
        FileChangeKind::Modified => ChangeType::Modify,
        FileChangeKind::Deleted => ChangeType::Delete,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tool: &str, text: &str) -> String {
        arguments(tool, &JsonText(text.to_owned())).0.to_string()
    }

    #[test]
    fn arguments_are_always_an_object() {
        assert_eq!(told("write_file", r#"{"path":"a","content":"x"}"#), r#"{"path":"a","contents":"x"}"#);
        assert_eq!(told("read_file", r#"{"path":"a"}"#), r#"{"path":"a"}"#);
        assert_eq!(told("read_file", "[1]"), r#"{"raw":"[1]"}"#);
        assert_eq!(told("read_file", "not json"), r#"{"raw":"not json"}"#);
        let deep = format!("{}1{}", r#"{"a":"#.repeat(40), "}".repeat(40));
        assert!(told("read_file", &deep).starts_with(r#"{"raw":"#));
    }
}
