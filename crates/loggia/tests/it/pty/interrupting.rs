//! Ctrl-C, and signals from elsewhere.

use rustix::process::{Pid, Signal, kill_process};

use crate::auto::AutoStage;
use crate::pty::screen::OnTerminal;

/// Begins to reply, and never goes on.
const HANGS: &str = "[[reply]]\nrepeat = true\nparts = [{ text = \"Half of it.\\n\" }, { hang = true }]\n";

/// One file, about which is asked.
const ONE_FILE: &[(&str, &str)] = &[("one.txt", "new\n")];

const CTRL_C: &str = "\x03";

fn started(stage: &AutoStage) -> OnTerminal {
    OnTerminal::start(&stage.0.command(&["ask", "work"]), 24, 100)
}

/// A server that is stopped in its tracks until this goes.
struct Frozen(Pid);

impl Frozen {
    fn new(stage: &AutoStage) -> Self {
        let frozen = Self(Pid::from_raw(stage.pid().unwrap()).unwrap());
        kill_process(frozen.0, Signal::STOP).unwrap();
        frozen
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        // It may have gone.
        let _ = kill_process(self.0, Signal::CONT);
    }
}

#[test]
fn ctrl_c_cancels_the_turn() {
    let stage = AutoStage::playing(HANGS);
    let terminal = started(&stage);
    terminal.until("Half of it.");
    terminal.press(CTRL_C);
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored, ended.shown.cursor_visible), (Some(7), true, true));
    insta::assert_snapshot!(ended.shown.settled(), @"
    Half of it.
    <dim>Cancelling; Ctrl-C again leaves.<>
    <dim>Cancelled.<>
    <dim>scripted:script.toml · 0.0 s · SESSION<>
    ");
    // It was cancelled, not left: the session is free for the next prompt.
    let sessions = stage.0.run(&["sessions", "list", "--json"]);
    assert!(sessions.stdout.contains("\"idle\""), "{sessions}");
}

#[test]
fn ctrl_c_at_a_question_changes_nothing() {
    let stage = AutoStage::writing(ONE_FILE);
    let terminal = started(&stage);
    terminal.until("o once");
    terminal.press(CTRL_C);
    let ended = terminal.end();
    assert_eq!((ended.code(), ended.restored), (Some(7), true), "{}", ended.shown.text());
    assert!(ended.shown.has("Cancelled."), "{}", ended.shown.text());
    assert!(!ended.shown.has("o once"), "{}", ended.shown.text());
    assert!(!stage.0.path("project/one.txt").exists());
}

#[test]
fn a_second_ctrl_c_leaves_at_once_although_the_server_does_not_answer() {
    let stage = AutoStage::playing(HANGS);
    let terminal = started(&stage);
    terminal.until("Half of it.");
    // A server that is stopped in its tracks cannot cancel.
    let server = Frozen::new(&stage);
    terminal.press(CTRL_C);
    terminal.until("Ctrl-C again leaves.");
    terminal.press(CTRL_C);
    let ended = terminal.end();
    drop(server);
    assert_eq!((ended.code(), ended.restored, ended.shown.cursor_visible), (Some(7), true, true));
    insta::assert_snapshot!(ended.shown.settled(), @"
    Half of it.
    <dim>Cancelling; Ctrl-C again leaves.<>
    <dim>Left; the session SESSION may go on.<>
    ");
}

#[test]
fn a_program_that_is_told_to_end_leaves_the_terminal_as_it_was() {
    let stage = AutoStage::writing(ONE_FILE);
    let terminal = started(&stage);
    terminal.until("o once");
    assert!(!terminal.is_restored());
    terminal.signal(Signal::TERM);
    let ended = terminal.end();
    assert!(ended.restored && ended.shown.cursor_visible, "{}", ended.shown.text());
    assert_eq!(ended.code(), Some(7), "{}", ended.shown.text());
}

#[test]
fn a_conversation_that_is_told_to_end_leaves_the_terminal_as_it_was() {
    let stage = AutoStage::new();
    let terminal = OnTerminal::start(&stage.0.command(&["chat"]), 24, 60);
    terminal.until_so("a line to type in", |shown| shown.current() == "›" && shown.bracketed_paste);
    assert!(!terminal.is_restored());
    terminal.signal(Signal::TERM);
    let ended = terminal.end();
    assert!(ended.restored && ended.shown.cursor_visible, "{}", ended.shown.text());
    assert!(!ended.shown.bracketed_paste);
    assert_eq!(ended.code(), Some(7), "{}", ended.shown.text());
}
