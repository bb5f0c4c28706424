//! `loggia ask`: flags, exit codes, pipes, and an engine of its own.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::auto::AutoStage;
use crate::stage::Stage;

const WRITES: &[(&str, &str)] = &[("new.txt", "hello\n")];

#[test]
fn without_a_keyboard_the_answer_is_no() {
    let stage = AutoStage::writing(WRITES);
    let shown = stage.0.run(&["ask", "write it"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(6), "Done.\n"), "{shown}");
    assert!(!stage.0.path("project/new.txt").exists());
}

#[test]
fn yes_is_said_beforehand() {
    let stage = AutoStage::writing(WRITES);
    let shown = stage.0.run(&["ask", "--yes", "write it"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert_eq!(std::fs::read_to_string(stage.0.path("project/new.txt")).unwrap(), "hello\n");
}

#[test]
fn a_variable_of_the_command_is_not_the_servers() {
    let stage = AutoStage::writing(WRITES);
    // Full: nothing is asked.
    let shown = stage.0.run_with(&[("LOGGIA_POLICY_PRESET", "full")], &["ask", "write it"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert!(stage.0.path("project/new.txt").exists());
}

#[test]
fn read_only_changes_nothing_even_with_a_loose_policy() {
    let stage = AutoStage::writing(WRITES);
    let shown = stage.0.run(&["ask", "--read-only", "write it"]);
    assert_eq!(shown.code, Some(6), "{shown}");
    assert!(!stage.0.path("project/new.txt").exists());
}

#[test]
fn a_session_goes_on() {
    let stage = AutoStage::new();
    let ask = |arguments: &[&str]| {
        let shown = stage.0.run(&[&["ask", "--json"], arguments].concat());
        assert_eq!(shown.code, Some(0), "{shown}");
        let first: Value = serde_json::from_str(shown.stdout.lines().next().unwrap()).unwrap();
        first["session"]["session_id"].as_str().unwrap().to_owned()
    };
    let first = ask(&["hello"]);
    assert_eq!(ask(&["--continue", "and again"]), first);
    assert_eq!(ask(&["--session", &first, "and again"]), first);
    assert_ne!(ask(&["hello"]), first);
}

#[test]
fn wrong_usage_and_failing_models_have_codes_of_their_own() {
    let stage = AutoStage::new();
    insta::assert_snapshot!(stage.0.run(&["ask"]), @r"
    exit: 2
    --- stderr
    error: there is nothing to ask

    hint: write what you want to know or to have done
    [END]
    ");
    assert_eq!(stage.0.run(&["ask", "--yes", "--read-only", "x"]).code, Some(2));
    assert_eq!(stage.0.run(&["ask", "--budget", "5", "x"]).code, Some(2));
    let stage = AutoStage::playing(
        "[[reply]]\nrepeat = true\nparts = [{ error = { kind = \"permanent\", message = \"down\" } }]\n",
    );
    assert_eq!(stage.0.run(&["ask", "x"]).code, Some(8));
}

#[test]
fn without_a_model_an_answer_by_search_is_done() {
    let stage = AutoStage(Stage::new());
    stage.0.write("project/login.rs", "pub fn login() {}\n");
    let shown = stage.0.run(&["ask", "where is login?"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    assert!(shown.stdout.starts_with("No model is set"), "{shown}");
}

#[test]
fn colours_and_silence_are_heard_by_ask() {
    let stage = AutoStage::writing(WRITES);
    let shown = stage.0.run(&["ask", "--yes", "-q", "write it"]);
    assert_eq!(
        (shown.code, shown.stdout.as_str(), shown.stderr.as_str()),
        (Some(0), "Done.\n", ""),
        "{shown}"
    );
    let stage = AutoStage::playing("[[reply]]\nparts = [{ text = \"It is **so**.\" }]\n");
    let shown = stage.0.run(&["ask", "--color", "always", "is it?"]);
    assert!(shown.stdout.contains("\u{1b}[1mso\u{1b}["), "{shown}");
}

#[test]
fn a_program_that_ends_us_hears_how_the_turn_ended() {
    let stage = AutoStage::playing("[[reply]]\nparts = [{ text = \"Half of it.\\n\" }, { hang = true }]\n");
    let mut command = stage.0.command(&["ask", "--json", "work"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.by_ref().find(|line| line.contains("Half of it.")).unwrap();
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(lines.last().unwrap(), r#"{"type":"ask.ended","outcome":"cancelled"}"#);
    assert_eq!(child.wait().unwrap().code(), Some(7));
    let sessions = stage.0.run(&["sessions", "list", "--json"]);
    assert!(sessions.stdout.contains("\"idle\""), "{sessions}");
}

#[test]
fn what_is_piped_in_becomes_part_of_the_question() {
    let stage = AutoStage::new();
    let shown = stage.0.run_on(b"piped words", &["ask", "--json", "why?"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    let first: Value = serde_json::from_str(shown.stdout.lines().next().unwrap()).unwrap();
    let id = first["session"]["session_id"].as_str().unwrap();
    let log = stage.0.run(&["ask", "--session", id, "--json", "and?"]);
    assert_eq!(log.code, Some(0), "{log}");
    assert_eq!(stage.0.run_on(b"only piped words", &["ask"]).code, Some(0));
}

#[test]
fn an_engine_of_its_own_needs_no_server_and_leaves_nothing() {
    let stage = AutoStage::writing(WRITES);
    let temporary = stage.0.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let shown = stage.0.run_with(
        &[("TMPDIR", temporary.to_str().unwrap())],
        &["ask", "--ephemeral", "--policy", "full", "write it"],
    );
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "Done.\n"), "{shown}");
    assert!(stage.0.path("project/new.txt").exists());
    assert_eq!(stage.status()["running"], false);
    assert!(!stage.0.path("home/.local/share/loggia").exists());
    assert_eq!(std::fs::read_dir(temporary).unwrap().count(), 0);
}

#[test]
fn an_engine_of_its_own_ends_what_it_started() {
    let script = r#"
[[reply]]
parts = [{ call = { tool = "run_command", arguments = { command = "echo $$ > pid; exec sleep 600" } } }]
"#;
    let stage = AutoStage::playing(script);
    stage.0.write("project/pid", "");
    let mut command = stage.0.command(&["ask", "--ephemeral", "--policy", "full", "run it"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let running = loop {
        let text = std::fs::read_to_string(stage.0.path("project/pid")).unwrap();
        if let Ok(pid) = text.trim().parse::<i32>() {
            break pid;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before it ran anything");
        std::thread::yield_now();
    };
    let own = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(own, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(7));
    // It may take an instant, and the number may be told in a namespace of its own.
    while std::fs::read_to_string(format!("/proc/{running}/comm")).is_ok_and(|name| name.trim() == "sleep") {
        std::thread::yield_now();
    }
}
