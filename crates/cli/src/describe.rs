//! Tool calls in a few words.
//!
//! Knows the server's own tools by their names on the wire; one of somebody else's is shown with its arguments.

use std::borrow::Cow;

use serde_json::Value;

use crate::paint::{cut, first_line, printable};

/// The most columns a call takes before it is cut to the terminal's width.
const MAX_COLUMNS: usize = 200;

/// A call, for people.
pub(crate) fn call(tool: &str, args: &Value) -> String {
    let text = |name: &str| args.get(name).and_then(Value::as_str).map(first_line);
    let path = || text("file_path").or_else(|| text("path")).unwrap_or(Cow::Borrowed("."));
    let words = match tool {
        "read_file" => format!("Read {}{}", path(), lines(args)),
        "list_directory" => format!("List {}", path()),
        "find_files" => format!("Find {}", text("glob").unwrap_or_default()),
        "search_text" | "search_symbols" | "vector_search" => {
            format!("Search {}", text("query").unwrap_or_default())
        }
        "propose_diff" => match text("file_path") {
            Some(path) => format!("Edit {path}"),
            None => format!("Edit {}", patched(args)),
        },
        "write_file" => format!("Write {}", path()),
        "delete_file" => format!("Delete {}", path()),
        "execute_command" => format!("Run {}", text("command").unwrap_or_default()),
        "update_plan" => "Plan".to_owned(),
        tool => {
            let tool = printable(tool);
            match args {
                Value::Object(fields) if fields.is_empty() => tool.into_owned(),
                Value::Null => tool.into_owned(),
                args => format!("{tool} {}", printable(&args.to_string())),
            }
        }
    };
    cut(&words, MAX_COLUMNS).into_owned()
}

/// A model's name, for people: of one that is a file, which may lie anywhere, the file's name alone.
pub(crate) fn model(provider: &str, name: &str) -> String {
    let short = name.rsplit('/').next().filter(|_| name.starts_with('/')).unwrap_or(name);
    printable(&format!("{provider}:{short}")).into_owned()
}

/// Which lines of a file are read, if not all.
fn lines(args: &Value) -> String {
    let number = |name: &str| args.get(name).and_then(Value::as_u64);
    match (number("start_line"), number("end_line")) {
        (Some(start), Some(end)) => format!(", lines {start} to {end}"),
        (Some(start), None) => format!(" from line {start}"),
        (None, Some(end)) => format!(" up to line {end}"),
        (None, None) => String::new(),
    }
}

/// The files of a patch, by its own headers.
fn patched(args: &Value) -> String {
    let diff = args.get("diff").and_then(Value::as_str).unwrap_or_default();
    let name = |line: &str| {
        let name = line.strip_prefix("+++ ")?.trim();
        Some(printable(name.strip_prefix("b/").unwrap_or(name)).into_owned())
    };
    let mut names: Vec<String> = diff.lines().filter_map(name).filter(|name| name != "/dev/null").collect();
    names.dedup();
    match names.len() {
        0 => "files".to_owned(),
        1..=3 => names.join(", "),
        count => format!("{count} files"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_put_into_words() {
        assert_eq!(call("read_file", &json!({"file_path": "a.rs"})), "Read a.rs");
        assert_eq!(
            call("read_file", &json!({"file_path": "a.rs", "start_line": 3})),
            "Read a.rs from line 3"
        );
        assert_eq!(call("search_text", &json!({"query": "login"})), "Search login");
        assert_eq!(call("execute_command", &json!({"command": "cargo test\n--all"})), "Run cargo test");
        assert_eq!(call("propose_diff", &json!({"diff": "--- a/x\n+++ b/x\n@@"})), "Edit x");
        assert_eq!(call("weather", &json!({"city": "Bern"})), "weather {\"city\":\"Bern\"}");
        assert_eq!(call("weather", &json!({})), "weather");
    }

    #[test]
    fn a_model_that_is_a_file_is_told_by_the_files_name() {
        assert_eq!(model("scripted", "/home/ada/script.toml"), "scripted:script.toml");
        assert_eq!(model("openrouter", "qwen/qwen3:free"), "openrouter:qwen/qwen3:free");
    }

    #[test]
    fn what_is_not_as_expected_is_still_shown() {
        assert_eq!(call("read_file", &json!("not json")), "Read .");
        assert_eq!(call("weather", &json!("\u{1b}[2J")), "weather \"\\u001b[2J\"");
    }
}
