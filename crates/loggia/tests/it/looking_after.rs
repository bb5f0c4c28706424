//! Commands that look after sessions, models and policies, each against a server it starts itself.

use rustix::process::Signal;
use serde_json::Value;

use crate::auto::AutoStage;
use crate::pty::screen::OnTerminal;
use crate::stage::Stage;

const WRITES: &[(&str, &str)] = &[("new.txt", "hello\n")];

fn json(stage: &AutoStage, arguments: &[&str]) -> Value {
    let shown = stage.0.run(arguments);
    assert_eq!(shown.code, Some(0), "{arguments:?}: {shown}");
    serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {shown}"))
}

#[test]
fn sessions_are_listed_renamed_forked_exported_imported_and_deleted() {
    let stage = AutoStage::new();
    assert_eq!(stage.0.run(&["ask", "first words"]).code, Some(0));
    let listed = json(&stage, &["sessions", "list", "--json"]);
    let id = listed["sessions"][0]["session_id"].as_str().unwrap().to_owned();
    assert!(stage.0.run(&["sessions"]).stdout.contains(&id));
    assert!(stage.0.run(&["sessions", "show", &id]).stdout.contains("Hello from the script."));
    assert_eq!(json(&stage, &["sessions", "rename", &id, "A name", "--json"])["title"], "A name");
    assert_ne!(json(&stage, &["sessions", "fork", &id, "--json"])["session_id"], id.as_str());
    let exported = stage.0.path("session.jsonl");
    let file = exported.to_str().unwrap();
    assert_eq!(stage.0.run(&["sessions", "export", &id, "-o", file]).code, Some(0));
    assert_ne!(json(&stage, &["sessions", "import", file, "--json"])["session_id"], id.as_str());
    let refused = stage.0.run(&["sessions", "delete", &id]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("--yes"), "{refused}");
    assert_eq!(stage.0.run(&["sessions", "delete", &id, "--yes"]).code, Some(0));
    let gone = stage.0.run(&["sessions", "show", &id]);
    assert_eq!(gone.code, Some(2), "{gone}");
    assert!(gone.stderr.contains("hint: "), "{gone}");
    assert_eq!(json(&stage, &["sessions", "list", "--json"])["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn listings_need_no_command() {
    let stage = AutoStage::new();
    assert_eq!(stage.0.run(&["ask", "first words"]).code, Some(0));
    for (group, command) in [("sessions", "list"), ("model", "list"), ("policy", "show")] {
        assert_eq!(json(&stage, &[group, "--json"]), json(&stage, &[group, command, "--json"]), "{group}");
    }
    let shown = stage.0.run(&["sessions", "show"]);
    assert!(shown.stdout.contains("Hello from the script."), "the latest one: {shown}");
    assert_eq!(stage.0.run(&["sessions", "--json", "list"]).code, Some(2));
}

#[test]
fn changes_are_taken_back_and_made_again() {
    let stage = AutoStage::writing(WRITES);
    assert_eq!(stage.0.run(&["ask", "--yes", "write it"]).code, Some(0));
    let file = stage.0.path("project/new.txt");
    assert!(file.exists());
    assert_eq!(stage.0.run(&["undo"]).code, Some(2), "nobody said yes");
    assert!(file.exists());
    assert_eq!(json(&stage, &["undo", "--yes", "--json"])["files"][0], "new.txt");
    assert!(!file.exists());
    assert_eq!(json(&stage, &["redo", "--yes", "--json"])["files"][0], "new.txt");
    assert!(file.exists());
}

#[test]
fn a_session_with_nothing_to_undo_is_named() {
    let stage = AutoStage::new();
    assert_eq!(stage.0.run(&["ask", "first words"]).code, Some(0));
    let listed = json(&stage, &["sessions", "list", "--json"]);
    let id = listed["sessions"][0]["session_id"].as_str().unwrap();
    for verb in ["undo", "redo"] {
        let shown = stage.0.run(&[verb, "--yes"]);
        assert_eq!(shown.code, Some(2), "{shown}");
        let here = format!("error: there is nothing to {verb} in the sessions of this workspace\n\nhint: ");
        assert!(shown.stderr.starts_with(&here), "{shown}");
        let shown = stage.0.run(&[verb, "--yes", "--session", id]);
        assert_eq!(shown.code, Some(2), "{shown}");
        let expected = format!(
            "error: there is nothing to {verb} in \"first words\" ({id})\n\n\
             hint: `loggia {verb} --session ID` looks at another session; `loggia sessions` lists them\n"
        );
        assert_eq!(shown.stderr, expected);
    }
}

#[test]
fn a_question_that_is_told_to_end_leaves_the_terminal_as_it_was() {
    let stage = AutoStage::writing(WRITES);
    assert_eq!(stage.0.run(&["ask", "--yes", "write it"]).code, Some(0));
    let terminal = OnTerminal::start(&stage.0.command(&["undo"]), 24, 100);
    terminal.until("n no");
    assert!(!terminal.is_restored());
    terminal.signal(Signal::TERM);
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(7), true), "{}", ended.shown.text());
}

#[test]
fn policies_are_shown_asked_and_edited() {
    let stage = AutoStage::new();
    assert_eq!(json(&stage, &["policy", "show", "--json"])["preset"], "ask");
    assert_eq!(json(&stage, &["policy", "check", "npm test", "--json"])["decision"], "ask");
    let editor = [("PATH", "/usr/bin:/bin"), ("EDITOR", "sed -i s/\\\"ask\\\"/\\\"read-only\\\"/")];
    let shown = stage.0.run_with(&editor, &["policy", "edit"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert_eq!(json(&stage, &["policy", "show", "--json"])["preset"], "read-only");
    let unchanged = stage.0.run_with(&[("PATH", "/usr/bin:/bin"), ("EDITOR", "true")], &["policy", "edit"]);
    assert_eq!(unchanged.stdout, "nothing was changed\n", "{unchanged}");
}

#[test]
fn models_are_listed_and_tried() {
    let stage = AutoStage::new();
    let listed = json(&stage, &["model", "list", "--json"]);
    assert_eq!(listed["models"][0]["provider"], "scripted");
    let tried = stage.0.run(&["model", "test"]);
    assert_eq!(tried.code, Some(0), "{tried}");
    assert_eq!(stage.0.run(&["model", "use", "nonsense"]).code, Some(2));
}

#[test]
fn without_a_model_there_is_none_to_try() {
    let stage = AutoStage(Stage::new());
    insta::assert_snapshot!(stage.0.run(&["model", "test"]), @r"
    exit: 8
    --- stderr
    error: no model is set
    hint: `loggia init` sets one up, with its key; `loggia doctor` tells what was found
    [END]
    ");
    let shown = stage.0.run(&["model", "test", "--json"]);
    let told: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|_| panic!("{shown}"));
    assert_eq!((shown.code, &told["works"], &told["model"]), (Some(8), &false.into(), &Value::Null));
}

#[test]
fn the_doctor_looks() {
    let stage = AutoStage::new();
    let report = json(&stage, &["doctor", "--json"]);
    assert!(!report["checks"].as_array().unwrap().is_empty());
    assert!(stage.0.run(&["doctor"]).stdout.lines().count() >= report["checks"].as_array().unwrap().len());
}
