//! What tools and their arguments are called by clients of this protocol.

use loggia_domain::{FileChangeKind, JsonText, ToolCall};
use loggia_engine::Mask;
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

/// A tool's own name, by either of its names.
pub(crate) fn engine_name(name: &str) -> &str {
    match name {
        "list_tree" => "list_directory",
        "search" => "search_text",
        "search_replace" => "edit_file",
        "delete_path" => "delete_file",
        other => other,
    }
}

/// A tool's description, in which other tools have their names on the wire.
pub(crate) fn description(text: &str) -> String {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|letter| !is_name(letter)).unwrap_or(rest.len()));
        let (between, after) = after.split_at(after.find(is_name).unwrap_or(after.len()));
        told.push_str(tool_name(word));
        told.push_str(between);
        rest = after;
    }
    told
}

/// A call's arguments as the object clients expect, without secrets. What is no object is told as the text it is.
pub(crate) fn arguments(tool: &str, JsonText(text): &JsonText, mask: &Mask) -> Json {
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
    let mut value = Value::Object(fields);
    hide(&mut value, mask);
    Json(value)
}

/// Hides secrets in every text of a value. Names of fields are the tool's own.
fn hide(value: &mut Value, mask: &Mask) {
    match value {
        Value::String(text) => *text = mask.text(text),
        Value::Array(values) => values.iter_mut().for_each(|value| hide(value, mask)),
        Value::Object(fields) => fields.values_mut().for_each(|value| hide(value, mask)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A call as clients see it.
pub(crate) fn call(call: &ToolCall, mask: &Mask) -> wire::ToolCall {
    wire::ToolCall {
        id: wire::ToolId(call.id.to_string()),
        name: tool_name(&call.tool).to_owned(),
        args: arguments(&call.tool, &call.arguments, mask),
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
        arguments(tool, &JsonText(text.to_owned()), &Mask::none()).0.to_string()
    }

    #[test]
    fn tools_have_their_names_on_the_wire_in_descriptions_too() {
        assert_eq!(
            description("Prefer `edit_file` (or delete_file). Not list_directory_all; see search_text."),
            "Prefer `search_replace` (or delete_path). Not list_directory_all; see search."
        );
        assert_eq!(description("édit_file"), "édit_file");
        assert_eq!(description(""), "");
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
