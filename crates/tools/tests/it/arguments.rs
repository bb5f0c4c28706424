//! Arguments as models send them, right and wrong, and what models are told about them.

use loggia_domain::JsonText;
use serde_json::{Value, json};

use crate::support::Workspace;

fn error(tool: &str, arguments: &str) -> String {
    let workspace = Workspace::new(&[]);
    match workspace.tool(tool).prepare(&JsonText(arguments.to_owned())) {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn schemas_and_descriptions_are_as_documented() {
    let workspace = Workspace::new(&[]);
    let told: Vec<String> = workspace
        .tools
        .iter()
        .map(|tool| {
            let spec = tool.spec();
            let parameters: Value = serde_json::from_str(&spec.parameters.0).unwrap();
            format!(
                "# {}\n{}\n{}",
                spec.name,
                spec.description,
                serde_json::to_string_pretty(&parameters).unwrap()
            )
        })
        .collect();
    insta::assert_snapshot!("tools", told.join("\n\n"));
}

#[test]
fn wrong_arguments_are_explained() {
    let cases = [
        ("read_file", r#"{"pth": "x"}"#),
        ("read_file", r#"{"file_path": "x"}"#),
        ("read_file", r#"{"zzz": "x"}"#),
        ("read_file", r#"{}"#),
        ("read_file", r#"{"path": ["x"]}"#),
        ("read_file", r#"{"path": "x", "start_line": "abc"}"#),
        ("read_file", r#"{"path": "x", "start_line": 0}"#),
        ("read_file", r#"{"path": "x", "start_line": 1.5}"#),
        ("read_file", r#"{"path": "x", "start_line": -3}"#),
        ("read_file", r#"{"path": "x", "start_line": 5, "end_line": 2}"#),
        ("read_file", r#"{"path": "#),
        ("read_file", r#"["x"]"#),
        ("read_file", r#"{"path": null}"#),
        ("search_text", r#"{"query": "x", "regex": "perhaps"}"#),
        ("search_text", r#"{"query": ""}"#),
        ("search_text", r#"{"query": "a\nb"}"#),
        ("search_text", r#"{"query": "a", "glob": "../*"}"#),
        ("find_files", r#"{"glob": "{a"}"#),
        ("edit_file", r#"{"path": "x", "old": "", "new": "y"}"#),
        ("edit_file", r#"{"path": "x", "old": "y", "new": "y"}"#),
        ("write_file", r#"{"path": "x", "content": {"a": 1}}"#),
        ("write_file", r#"{"path": "x", "content": "a\u0000b"}"#),
        ("run_command", r#"{"command": " "}"#),
        ("run_command", r#"{"command": "ls", "timeout_s": 0}"#),
        ("run_command", r#"{"command": "ls", "env": {"A=B": "x"}}"#),
        ("run_command", r#"{"command": "ls", "env": {"A": ["x"]}}"#),
        ("update_plan", r#"{"steps": [{"descripton": "x"}], "current": 0, "rationale": "r"}"#),
        ("update_plan", r#"{"steps": [{"files_involved": []}], "current": 0, "rationale": "r"}"#),
        ("update_plan", r#"{"steps": [{"description": "x"}], "current": 2, "rationale": "r"}"#),
        ("update_plan", r#"{"steps": [], "current": 0, "rationale": "r"}"#),
        ("git_status", r#"{"path": "x"}"#),
        ("git_log", r#"{"limit": 5000000000}"#),
        ("git_log", r#"{"limit": 99999999999999999999}"#),
    ];
    let told: Vec<String> =
        cases.iter().map(|(tool, arguments)| format!("{arguments}\n  {}", error(tool, arguments))).collect();
    insta::assert_snapshot!("wrong", told.join("\n"));
}

#[test]
fn a_wrong_expression_is_shown_where_it_is_wrong() {
    let error = error("search_text", r#"{"query": "a(b", "regex": true}"#);
    assert!(error.starts_with("search_text: `query` is no regular expression:"), "{error}");
    assert!(error.contains("unclosed group"), "{error}");
}

#[test]
fn values_in_quotes_are_taken_out_of_them() {
    let workspace = Workspace::new(&[("x", "one\ntwo\nthree\n")]);
    let arguments = json!({"path": "x", "start_line": "2", "end_line": " 2 "});
    assert_eq!(workspace.call("read_file", arguments), "2\ttwo\n[lines 2-2 of 3]");
    assert_eq!(
        workspace.call("read_file", json!({"path": "x", "start_line": 3.0})),
        "3\tthree\n[lines 3-3 of 3]"
    );
    assert_eq!(workspace.call("search_text", json!({"query": "t.o", "regex": "True"})), "x:2:two");
    assert_eq!(workspace.call("search_text", json!({"query": "t.o", "regex": "false"})).lines().count(), 1);
    assert_eq!(error("git_status", ""), "fine");
    assert_eq!(error("git_status", " {} "), "fine");
    assert_eq!(error("read_file", r#""{\"path\": \"x\"}""#), "fine");
    assert_eq!(error("read_file", r#"{"path": "x", "start_line": null}"#), "fine");
    assert_eq!(
        error("update_plan", r#"{"steps": "[{\"description\": \"x\"}]", "current": "1", "rationale": "r"}"#),
        "fine"
    );
}

#[test]
fn criteria_may_be_one_text_or_several() {
    let workspace = Workspace::new(&[]);
    for (sent, kept) in [
        (json!("it builds"), vec!["it builds"]),
        (json!(["it builds", " "]), vec!["it builds"]),
        (json!("[\"a\", \"b\"]"), vec!["a", "b"]),
        (json!([]), vec![]),
        (Value::Null, vec![]),
    ] {
        let arguments = json!({"path": "x", "content": "y\n", "reason": "why", "acceptance_criteria": sent});
        let effect = workspace.run("write_file", &arguments).unwrap();
        let loggia_domain::ToolEffect::Edits(edits) = effect else { panic!("no edits") };
        assert_eq!(edits[0].acceptance_criteria, kept);
        assert_eq!(edits[0].rationale.as_deref(), Some("why"));
    }
}

#[test]
fn an_enormous_argument_text_is_refused() {
    let error = error("read_file", &format!("{{\"path\": \"{}\"}}", "x".repeat(33 * 1024 * 1024)));
    assert!(error.contains("the limit is"), "{error}");
}
