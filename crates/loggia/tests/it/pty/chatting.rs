//! A conversation, typed.

use crate::auto::AutoStage;
use crate::pty::screen::{OnTerminal, Shown};

const UP: &str = "\x1b[A";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

fn chat(stage: &AutoStage) -> OnTerminal {
    let terminal = OnTerminal::start(&stage.0.command(&["chat"]), 40, 70);
    prompted(&terminal);
    terminal
}

/// Waits until a line can be typed, and nothing is in it.
fn prompted(terminal: &OnTerminal) -> Shown {
    typed(terminal, "›")
}

/// Waits until the line that is edited is this.
fn typed(terminal: &OnTerminal, line: &str) -> Shown {
    terminal.until_so(line, |shown| shown.current() == line && shown.bracketed_paste)
}

/// Types a line, and waits for the next one.
fn says(terminal: &OnTerminal, line: &str) -> Shown {
    terminal.press(line);
    typed(terminal, &format!("› {line}"));
    terminal.press("\r");
    prompted(terminal)
}

fn leave(terminal: OnTerminal) -> Shown {
    terminal.press(CTRL_D);
    let ended = terminal.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.shown.text());
    assert!(ended.restored && ended.shown.cursor_visible && !ended.shown.bracketed_paste);
    ended.shown
}

#[test]
fn a_prompt_is_typed_and_answered() {
    let stage = AutoStage::new();
    let terminal = chat(&stage);
    says(&terminal, "who is there?");
    let shown = leave(terminal);
    insta::assert_snapshot!(shown.settled(), @"
    <dim>scripted:script.toml answers. Ask away. /help lists commands, Ctrl-D<>
    <dim>leaves.<>
    <other>› who is there?<>
    Hello from the script.
    <dim>scripted:script.toml · 0.0 s · SESSION<>
    <other>› <>
    ");
}

#[test]
fn the_arrow_brings_back_what_was_typed_also_in_the_next_conversation() {
    let stage = AutoStage::new();
    let terminal = chat(&stage);
    says(&terminal, "first");
    says(&terminal, "second");
    terminal.press(UP);
    typed(&terminal, "› second");
    terminal.press(UP);
    typed(&terminal, "› first");
    terminal.press("\r");
    let shown = prompted(&terminal);
    assert_eq!(shown.count("Hello from the script."), 3, "{}", shown.text());
    leave(terminal);
    let terminal = chat(&stage);
    terminal.press(UP);
    typed(&terminal, "› first");
    terminal.press(CTRL_C);
    prompted(&terminal);
    leave(terminal);
}

#[test]
fn tab_completes_commands_and_files() {
    let stage = AutoStage::new();
    stage.0.write("project/first.txt", "one\n");
    let terminal = chat(&stage);
    terminal.press("/he\t");
    terminal.until_so("/help", |shown| shown.current().starts_with("› /help"));
    terminal.press("\r");
    terminal.until("take the last change back");
    prompted(&terminal);
    terminal.press("read @fi\t");
    terminal.until_so("@first.txt", |shown| shown.current().starts_with("› read @first.txt"));
    terminal.press("\r");
    terminal.until("Hello from the script.");
    prompted(&terminal);
    leave(terminal);
}

#[test]
fn several_lines_are_pasted_as_one_prompt() {
    let stage = AutoStage::playing(
        "[[reply]]\nexpect = \"one\\ntwo\\nthree\"\nparts = [{ text = \"All three.\" }]\n",
    );
    let terminal = chat(&stage);
    terminal.press("\x1b[200~one\ntwo\nthree\x1b[201~");
    terminal.until_so("three", |shown| shown.current().trim() == "three");
    terminal.press("\r");
    terminal.until("All three.");
    prompted(&terminal);
    leave(terminal);
}

#[test]
fn ctrl_c_forgets_the_line_and_stays() {
    let stage = AutoStage::new();
    let terminal = chat(&stage);
    terminal.press(CTRL_C);
    terminal.until("Ctrl-D leaves.");
    prompted(&terminal);
    terminal.press("never mind");
    typed(&terminal, "› never mind");
    terminal.press(CTRL_C);
    prompted(&terminal);
    let shown = leave(terminal);
    assert!(!shown.has("Hello"), "{}", shown.text());
}

#[test]
fn ctrl_c_cancels_the_turn_and_the_conversation_goes_on() {
    let stage = AutoStage::playing(
        r#"
[[reply]]
parts = [{ text = "Half of it.\n" }, { hang = true }]

[[reply]]
repeat = true
parts = [{ text = "Hello again." }]
"#,
    );
    let terminal = chat(&stage);
    terminal.press("work\r");
    terminal.until("Half of it.");
    terminal.press(CTRL_C);
    terminal.until("Cancelled.");
    prompted(&terminal);
    says(&terminal, "and now?");
    assert!(leave(terminal).has("Hello again."));
}

#[test]
fn commands_tell_help_and_cost_and_take_changes_back() {
    let stage = AutoStage::playing(
        r#"
[[reply]]
parts = [{ call = { tool = "write_file", arguments = { path = "a.txt", content = "new\n" } } }]
usage = { input = 1000, output = 234 }

[[reply]]
repeat = true
parts = [{ text = "Written." }]
usage = { input = 1, output = 1 }
"#,
    );
    stage.0.write("project/a.txt", "old\n");
    let terminal = chat(&stage);
    let shown = says(&terminal, "/help");
    for command in ["/fix", "/test", "/explain", "/refactor", "/undo", "/plan", "/model", "/cost", "@path"] {
        assert_eq!(shown.count(&format!("  {command} ")), 1, "{}", shown.text());
    }
    terminal.press("write it\r");
    terminal.until("o once");
    terminal.press("o");
    terminal.until("Written.");
    prompted(&terminal);
    assert_eq!(stage.0.read("project/a.txt"), "new\n");
    let shown = says(&terminal, "/cost");
    assert!(shown.lines[shown.cursor.0 - 1].contains("1,236 tokens"), "{}", shown.text());
    let shown = says(&terminal, "/undo");
    assert_eq!(shown.lines[shown.cursor.0 - 2..shown.cursor.0], ["Took back 1 step.", "  a.txt"]);
    assert_eq!(stage.0.read("project/a.txt"), "old\n");
    let shown = says(&terminal, "/udno");
    assert!(shown.has("There is no /udno"), "{}", shown.text());
    leave(terminal);
}
