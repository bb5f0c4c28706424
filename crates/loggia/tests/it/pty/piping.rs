//! Pipes in and out, on a terminal.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::auto::AutoStage;
use crate::pty::screen::{Ended, OnTerminal, Streams};

const REPLIES: &str = r#"
[[reply]]
parts = [
    { text = "Let me **look**.\n" },
    { call = { tool = "read_file", arguments = { path = "a.txt" } } },
]

[[reply]]
repeat = true
parts = [{ text = "It says `hello`.\nTwice.\n" }]
"#;

fn stage() -> AutoStage {
    let stage = AutoStage::playing(REPLIES);
    stage.0.write("project/a.txt", "hello\n");
    stage
}

/// A line for a shell, in which `$0` is the binary.
fn shell(stage: &AutoStage, line: &str) -> Command {
    let mut command = stage.0.program("/bin/sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_loggia")]).env("PATH", "/usr/bin:/bin");
    command
}

fn ended(stage: &AutoStage, line: &str) -> Ended {
    OnTerminal::start(&shell(stage, line), 30, 70).end()
}

#[test]
fn a_pipe_gets_the_answer_as_it_is_and_the_terminal_the_rest() {
    let stage = stage();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let streams = Streams { stdout: Some(Stdio::from(writer)), ..Streams::default() };
    let terminal = OnTerminal::start_with(&stage.0.command(&["ask", "what is it?"]), 30, 70, streams);
    let ended = terminal.end();
    let mut answer = String::new();
    reader.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "Let me **look**.\n\nIt says `hello`.\nTwice.\n");
    assert_eq!(ended.code(), Some(0));
    insta::assert_snapshot!(ended.shown.settled(), @"
    <green>✓<> Read a.txt
    <dim>scripted:script.toml · 0.0 s · SESSION<>
    ");
}

#[test]
fn what_is_piped_in_is_read_and_questions_still_have_a_keyboard() {
    let stage = AutoStage::playing(
        r#"
[[reply]]
expect = "<stdin>\na log of yesterday\n</stdin>"
parts = [{ call = { tool = "write_file", arguments = { path = "b.txt", content = "new\n" } } }]

[[reply]]
repeat = true
parts = [{ text = "Done." }]
"#,
    );
    let (reader, mut writer) = std::io::pipe().unwrap();
    let streams = Streams { stdin: Some(Stdio::from(reader)), ..Streams::default() };
    let terminal = OnTerminal::start_with(&stage.0.command(&["ask", "why?"]), 30, 70, streams);
    writer.write_all(b"a log of yesterday\n").unwrap();
    drop(writer);
    terminal.until("o once");
    terminal.press("o");
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(0), true), "{}", ended.shown.text());
    assert_eq!(stage.0.read("project/b.txt"), "new\n");
}

#[test]
fn a_reader_that_has_enough_ends_it_quietly() {
    let stage = stage();
    // The code of `ask` itself goes to a file: that of the line is `head`'s.
    let ended = ended(&stage, "{ \"$0\" ask 'what is it?'; echo $? > code; } | head -1");
    assert!(ended.shown.has("Let me **look**."), "{}", ended.shown.text());
    for word in ["error", "hint", "pipe", "panic"] {
        assert!(!ended.shown.has(word), "{}", ended.shown.text());
    }
    assert!(ended.restored && ended.shown.cursor_visible);
    assert_eq!(stage.0.read("project/code"), "0\n");
}

#[test]
fn events_go_into_a_pipe_as_lines_of_json() {
    let stage = stage();
    let ended = ended(&stage, "\"$0\" ask --json 'what is it?' | cat > events");
    assert_eq!((ended.code(), ended.shown.text().as_str()), (Some(0), ""));
    let events = stage.0.read("project/events");
    let kinds: Vec<String> = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((kinds[0].as_str(), kinds.last().unwrap().as_str()), ("ask.session", "ask.ended"));
    assert!(kinds.iter().any(|kind| kind == "tool.execute"), "{kinds:?}");
    assert!(!events.contains('\x1b'));
}
