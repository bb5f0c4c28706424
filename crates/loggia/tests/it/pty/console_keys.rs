//! A console, typed: what is rare.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;

use serde_json::json;

use crate::console::ConsoleStage;
use crate::pty::attaching::{CTRL_C, CTRL_D, attach, leave, typed};
use crate::pty::plain::sequences;
use crate::pty::screen::OnTerminal;

#[test]
fn ctrl_d_leaves_while_nobody_is_there() {
    let stage = ConsoleStage::without_server();
    let terminal = OnTerminal::start(&stage.command(&[]), 24, 100);
    terminal.until("Ctrl-C leaves.");
    typed(&terminal, "(waiting)");
    terminal.press("half");
    typed(&terminal, "(waiting) half");
    // Not on a line that has something in it.
    terminal.press(CTRL_D);
    terminal.press(" a line");
    typed(&terminal, "(waiting) half a line");
    terminal.press("\x15");
    typed(&terminal, "(waiting)");
    terminal.press(CTRL_D);
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(0), true), "{}", ended.shown.text());
}

#[test]
fn typing_goes_on_while_the_server_thinks_about_a_completion() {
    let stage = ConsoleStage::new();
    let terminal = attach(&stage, &[]);
    terminal.press("la\t");
    stage.until_asked();
    terminal.press("st");
    typed(&terminal, "> last");
    // The answer is to another line than this.
    stage.answer();
    stage.answer();
    terminal.press(" of all");
    typed(&terminal, "> last of all");
    terminal.press(CTRL_C);
    typed(&terminal, ">");
    leave(terminal);
}

#[test]
fn a_late_answer_is_taken_when_it_comes() {
    let stage = ConsoleStage::new();
    let terminal = attach(&stage, &[]);
    terminal.press("la\t");
    stage.until_asked();
    let shown = typed(&terminal, "> la");
    assert!(!shown.has("later"), "{}", shown.text());
    stage.answer();
    typed(&terminal, "> later");
    terminal.press(CTRL_C);
    leave(terminal);
}

#[test]
fn pasted_lines_are_one_command() {
    let stage = ConsoleStage::new();
    let terminal = attach(&stage, &[]);
    terminal.press("\x1b[200~print one\rprint two\x1b[201~");
    terminal.until_so("both lines, and nothing sent", |shown| {
        shown.has("> print one") && shown.current() == "  print two"
    });
    terminal.press("\r");
    let answer = |shown: &crate::pty::screen::Shown| {
        shown.lines.windows(2).any(|lines| lines[0] == "one" && lines[1] == "print two")
    };
    terminal.until_so("what it says", answer);
    leave(terminal);
}

#[test]
fn the_environment_can_ask_for_no_colours() {
    let stage = ConsoleStage::new();
    let mut command = stage.command(&[]);
    command.env("NO_COLOR", "1");
    let terminal = OnTerminal::start(&command, 30, 80);
    typed(&terminal, ">");
    stage.until_subscribed(1);
    terminal.press("print it");
    typed(&terminal, "> print it");
    stage.console().broadcast("\u{1b}[31mred\u{1b}[m\n");
    terminal.until("red");
    terminal.press(CTRL_C);
    let ended = leave(terminal);
    let styles: Vec<String> = sequences(&ended);
    let styles: Vec<&String> = styles.iter().filter(|sequence| sequence.ends_with('m')).collect();
    assert_eq!(styles, ["\\u{1b}[0m"], "the editor's reset is all");
}

/// Refuses whoever comes, as a server of another time would.
fn refuse(listener: &UnixListener) {
    let data = json!({
        "reason": "unsupported_transport_epoch", "message": "Unsupported transport epoch",
        "expectedTransportEpoch": 18, "missingRequiredCapabilities": [],
    });
    let reject = json!({"type": "REJECT", "requestId": "hello", "data": data}).to_string();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut length = [0; 4];
        stream.read_exact(&mut length).unwrap();
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        stream.read_exact(&mut body).unwrap();
        // The byte says that it is not compressed.
        let length = u32::try_from(reject.len() + 1).unwrap();
        let answer = [&length.to_be_bytes()[..], b"\0", reject.as_bytes()].concat();
        stream.write_all(&answer).unwrap();
    }
}

#[test]
fn who_is_refused_leaves_a_terminal_that_was_not_touched() {
    let stage = ConsoleStage::without_server();
    let listener = UnixListener::bind(&stage.path).unwrap();
    std::thread::spawn(move || refuse(&listener));
    let terminal = OnTerminal::start(&stage.command(&[]), 24, 100);
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(6), true), "{}", ended.shown.text());
    assert!(ended.shown.has("the server is newer: it speaks transport epoch 18"), "{}", ended.shown.text());
    assert!(!ended.text().contains("\u{1b}[?"), "{:?}", ended.text());
    assert!(!ended.shown.has("(waiting)"), "{}", ended.shown.text());
}
