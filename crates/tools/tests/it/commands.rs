//! `run_command` and `update_plan`: what is asked for comes back as asked.

use loggia_domain::{CommandRequest, Plan, PlanStep, ToolEffect};
use serde_json::json;

use crate::support::Workspace;

#[test]
fn a_command_is_asked_for_and_not_run() {
    let workspace = Workspace::new(&[("src/x", "")]);
    let arguments = json!({
        "command": "touch made && cargo test", "cwd": "./src/", "env": {"B": "2", "A": 1}, "reason": "to see", "timeout_s": "60",
    });
    let expected = CommandRequest {
        line: "touch made && cargo test".to_owned(),
        directory: "src".to_owned(),
        environment: vec![("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())],
        reason: Some("to see".to_owned()),
        timeout_s: Some(60),
    };
    assert_eq!(workspace.demand("run_command", &arguments).command.as_ref(), Some(&expected));
    assert_eq!(workspace.run("run_command", &arguments).unwrap(), ToolEffect::Command(expected));
    assert!(!workspace.path().join("src/made").exists());
}

#[test]
fn the_root_is_where_a_command_runs_if_nothing_is_said() {
    let workspace = Workspace::new(&[]);
    for arguments in [
        json!({"command": "ls"}),
        json!({"command": "ls", "cwd": "."}),
        json!({"command": "ls", "cwd": null}),
    ] {
        let expected = CommandRequest { line: "ls".to_owned(), ..CommandRequest::default() };
        assert_eq!(workspace.run("run_command", &arguments).unwrap(), ToolEffect::Command(expected));
    }
}

#[test]
fn a_command_runs_only_in_a_directory_of_the_workspace() {
    let mut workspace = Workspace::new(&[("x", ""), ("real/y", "")]);
    workspace.link("inside", "real");
    workspace.link("outside", "/");
    workspace.overlay("made/x", Some(""));
    let run = |cwd: &str| workspace.call("run_command", json!({"command": "ls", "cwd": cwd}));
    assert_eq!(run("x"), "failed: `cwd`: `x` is not a directory");
    assert_eq!(run("nowhere"), "failed: `cwd`: `nowhere` is not a directory");
    assert!(run("outside").starts_with("forbidden: `outside` leads outside"));
    assert!(run("..").starts_with("forbidden: `..` goes up"));
    assert!(run("/").starts_with("forbidden: `/` is absolute"));
    assert!(run("inside").contains("directory: \"real\""));
    assert!(run("made").contains("directory: \"made\""));
    assert_eq!(
        workspace.demand("run_command", &json!({"command": "ls", "cwd": ".."})).command.unwrap().directory,
        ".."
    );
}

#[test]
fn a_plan_comes_back_as_told() {
    let workspace = Workspace::new(&[]);
    let arguments = json!({
        "steps": [{"description": "look", "files_involved": ["src/x"]}, {"description": "change"}],
        "current": 1, "rationale": "first things first",
    });
    let expected = Plan {
        steps: vec![
            PlanStep { description: "look".to_owned(), files: vec!["src/x".to_owned()] },
            PlanStep { description: "change".to_owned(), files: Vec::new() },
        ],
        current: 1,
        rationale: "first things first".to_owned(),
    };
    assert_eq!(workspace.run("update_plan", &arguments).unwrap(), ToolEffect::Plan(expected));
    assert!(workspace.demand("update_plan", &arguments).only_reads());
}
